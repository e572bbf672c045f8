// What the lens and the race share: a page with one picture, its frames, its keys and its hands.

import { keepKeys, makeButton, makeElement, makeVoice, splitStrong, toggleFullScreen } from "./controls.mjs";
import { makePlayer } from "./player.mjs";
import { readTheme, watchTheme } from "./theme.mjs";

/** Build what stands on the page; the picture is a slider for those who do not see it. */
export function buildStage(options, { label, help, most }) {
  const canvas = keepKeys(makeElement("canvas", { className: "mamba-timeline", tabIndex: 0, role: "slider" }));
  canvas.setAttribute("aria-label", `${options.title}: ${label}`);
  canvas.setAttribute("aria-valuemin", "0");
  canvas.setAttribute("aria-valuemax", `${most}`);
  const stage = {
    canvas,
    bar: makeElement("div", { className: "mamba-bar" }),
    body: makeElement("div", { className: "mamba-body" }, canvas),
    reading: makeElement("p", { className: "mamba-reading" }),
    live: makeElement("div", { className: "mamba-heard", role: "status" }),
    theme: null,
    told: "",
  };
  stage.root = makeElement(
    "section",
    { className: "mamba", ariaLabel: options.title },
    makeElement("h3", { className: "mamba-title", textContent: options.title }),
    stage.bar,
    stage.body,
    stage.reading,
    makeElement("p", { className: "mamba-caption" }, ...splitStrong(options.caption)),
    makeElement("details", {}, makeElement("summary", { textContent: "Keys and marks" }), makeElement("p", { textContent: help })),
    stage.live,
  );
  stage.voice = makeVoice(stage.live);
  return stage;
}

/** Make the buttons that every stage has: play, and fill the screen. */
export function makeStageButtons(stage, onPlay) {
  return {
    play: makeButton("▶ Play", "Play or pause (space)", onPlay),
    full: makeButton("Full screen", "Fill the screen, or go back (F)", () => toggleFullScreen(stage.root)),
  };
}

/** Make a stage's player; a reader who wants no motion gets jumps, and slow ones. */
export function makeStagePlayer({ length, start, speed, slow }, onFrame) {
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  return makePlayer({ length, start, speed: isStill ? slow : speed, isStill, onFrame });
}

/** Bring the words of a stage in step with its picture; returns whether they changed. */
export function tellStage(stage, { parts, value, isPlaying }) {
  const key = `${parts} ${isPlaying}`;
  if (stage.told === key) return false;
  stage.told = key;
  stage.reading.replaceChildren(...parts.map((words) => makeElement("span", { textContent: words })));
  stage.canvas.setAttribute("aria-valuenow", `${value}`);
  stage.canvas.setAttribute("aria-valuetext", parts.join(", "));
  if (!isPlaying) stage.voice.say(parts.join(", "));
  return true;
}

/** Show a stage; its player's frames call `paint(width)` once it has a place and a theme. */
export function openStage(el, stage, player, { keys, hands }) {
  el.append(stage.root);
  const restyle = () => {
    stage.theme = readTheme(stage.root);
    player.redraw();
  };
  const observer = new ResizeObserver(restyle);
  observer.observe(stage.root);
  restyle();
  const stops = [watchTheme(restyle), listenStage(stage, keys, hands), stage.voice.stop, player.stop];
  return () => {
    observer.disconnect();
    stops.forEach((stop) => stop());
    stage.root.remove();
  };
}

/** Hear keys and pointers; returns how to stop. */
function listenStage(stage, keys, hands) {
  const { root, canvas } = stage;
  let pressed = null;
  const handlers = [
    [root, "keydown", (event) => pressStageKey(event, stage, keys)],
    [canvas, "pointerdown", (event) => {
      canvas.focus({ preventScroll: true });
      canvas.setPointerCapture(event.pointerId);
      pressed = hands.press(event.offsetX, event.offsetY);
    }],
    [canvas, "pointermove", ({ offsetX, offsetY }) => (pressed ? hands.drag(pressed, offsetX, offsetY) : hands.hover(offsetX, offsetY))],
    [canvas, "pointerup", () => (pressed = null)],
    [canvas, "pointercancel", () => (pressed = null)],
    [canvas, "pointerleave", () => pressed || hands.leave()],
  ];
  handlers.forEach(([target, name, handle]) => target.addEventListener(name, handle));
  return () => handlers.forEach(([target, name, handle]) => target.removeEventListener(name, handle));
}

/** Do what a key says: letters anywhere on the stage, the others on its picture. */
export function pressStageKey(event, stage, keys) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  event.stopPropagation();
  const letter = event.key.toLowerCase();
  const isLetter = letter.length === 1 && letter >= "a" && letter <= "z";
  const action = letter === "f" ? () => toggleFullScreen(stage.root) : (isLetter || event.target === stage.canvas) && keys[isLetter ? letter : event.key];
  if (!action) return;
  event.preventDefault();
  action(event.shiftKey);
}

/** Name a token by its number, and its label where that says more. */
export function nameToken(options, kind, place) {
  const label = options.labels[place];
  return label && label !== `${place}` ? `${kind} ${place} “${label}”` : `${kind} ${place}`;
}

/** List the keys that move a player along its places. */
export function listMoves(player, moveTo, length, large) {
  const by = (step) => (isLarge) => moveTo(player.at() + (isLarge ? large * step : step));
  return {
    ArrowRight: by(1),
    ArrowLeft: by(-1),
    PageUp: () => moveTo(player.at() + large),
    PageDown: () => moveTo(player.at() - large),
    Home: () => moveTo(0),
    End: () => moveTo(length - 1),
    " ": () => player.toggle(),
  };
}
