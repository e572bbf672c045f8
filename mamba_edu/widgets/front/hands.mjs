// What a hand, a finger or a key does to the scene.

import { toggleFullScreen } from "./controls.mjs";

/** Keep a place within a list. */
function clamp(k, count) {
  return Math.min(Math.max(k, 0), count - 1);
}

/** Make the actions; each changes the scene or the player and asks for one frame. */
export function makeActions(scene, player) {
  const { data } = scene;
  const change = (changes) => {
    Object.assign(scene, changes);
    player.redraw();
  };
  return {
    toggle(isPlaying) {
      [scene.hovered, scene.pointed] = [null, null];
      player.toggle(isPlaying);
    },
    moveTo(t) {
      [scene.hovered, scene.pointed] = [null, null];
      player.toggle(false);
      player.moveTo(t);
    },
    hover: (t, pointed = null) => player.isPlaying || change({ hovered: t, pointed }),
    setScale: (k) => change({ scale: clamp(k, data.nScales) }),
    setChannel: (k) => change({ channel: clamp(k, data.nChannels), pointed: null }),
    follow: (t) => change({ followed: scene.followed === t ? null : t }),
  };
}

/** Name what each key does on the timeline. */
function listKeys(scene, player, act, isLarge) {
  const shown = scene.hovered ?? player.at(); // what the reader looks at
  const by = (step) => act.moveTo(shown + step);
  const tenth = Math.max(1, Math.round(scene.data.length / 10));
  return {
    ArrowRight: () => by(isLarge ? 10 : 1),
    ArrowLeft: () => by(isLarge ? -10 : -1),
    ArrowDown: () => act.setChannel(scene.channel + 1),
    ArrowUp: () => act.setChannel(scene.channel - 1),
    PageUp: () => by(tenth),
    PageDown: () => by(-tenth),
    Home: () => act.moveTo(0),
    End: () => act.moveTo(scene.data.length - 1),
    Enter: () => act.follow(shown),
    " ": () => act.toggle(),
    "+": () => act.setScale(scene.scale + 1),
    "-": () => act.setScale(scene.scale - 1),
  };
}

/** Hear keys and pointers; returns how to stop. */
export function listen(page, scene, player, act, timeline) {
  const pick = (event) => timeline.pick(event.offsetX, scene.data.length);
  const point = ({ offsetY }) => {
    const n = timeline.pickState(offsetY, scene.data.nStates);
    return n === null ? null : [scene.channel, n];
  };
  let pressed = null;
  const handlers = [
    [page.root, "keydown", (event) => pressKey(event, page, listKeys(scene, player, act, event.shiftKey))],
    [page.timeline, "pointerdown", (event) => {
      if (event.button !== 0 || !timeline.holds(event.offsetX)) return;
      page.timeline.focus({ preventScroll: true });
      page.timeline.setPointerCapture(event.pointerId);
      pressed = { x: event.clientX, isDrag: false };
      act.moveTo(pick(event));
    }],
    [page.timeline, "pointermove", (event) => {
      if (!pressed) return event.pointerType === "mouse" && act.hover(timeline.holds(event.offsetX) ? pick(event) : null, point(event));
      pressed.isDrag ||= Math.abs(event.clientX - pressed.x) > 4;
      return act.moveTo(pick(event));
    }],
    [page.timeline, "pointerup", (event) => {
      if (pressed && !pressed.isDrag) act.follow(pick(event));
      pressed = null;
    }],
    [page.timeline, "pointercancel", () => (pressed = null)],
    [page.timeline, "pointerleave", () => pressed || act.hover(null)],
    [page.side, "pointerdown", (event) => act.setChannel(pickCell(event, page, scene)?.[0] ?? scene.channel)],
    [page.side, "pointermove", (event) => act.hover(scene.hovered, pickCell(event, page, scene))],
    [page.side, "pointerleave", () => act.hover(scene.hovered)],
  ];
  handlers.forEach(([target, name, handle]) => target.addEventListener(name, handle));
  return () => handlers.forEach(([target, name, handle]) => target.removeEventListener(name, handle));
}

/** Do what a key says; keys of the page's own controls stay theirs. */
function pressKey(event, page, keys) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isFull = event.key.toLowerCase() === "f" && event.target.tagName !== "SELECT"; // there a letter chooses
  const action = isFull ? () => toggleFullScreen(page.root) : event.target === page.timeline && keys[event.key];
  event.stopPropagation();
  if (!action) return;
  event.preventDefault();
  action();
}

/** Find the channel and state under the pointer in the panel, where there are several. */
function pickCell(event, page, { data }) {
  const box = page.sideBox;
  if (data.nChannels < 2 || !box) return null;
  const c = Math.floor(((event.offsetY - box.top) / box.height) * data.nChannels);
  const n = Math.floor(((event.offsetX - box.left) / box.width) * data.nStates);
  return c >= 0 && c < data.nChannels && n >= 0 && n < data.nStates ? [c, n] : null;
}
