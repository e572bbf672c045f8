// The explorer's page: what stands on it, and the words that follow the pictures.

import { keepKeys, makeButton, makeChoice, makeElement, makeRange, splitStrong, toggleFullScreen } from "./controls.mjs";
import { formatNumber, formatShare } from "./draw.mjs";
import { KIND_NAMES, listKinds } from "./tokens.mjs";

const HELP =
  "On the picture: space plays, ← → move (with shift by ten), page up and down by a tenth, ↑ ↓ change the channel, " +
  "+ − the step size, Enter follows a token, F fills the screen. Press a token to follow it, drag to move. What is left " +
  "of it: a thin line for each state, the thick one is their mean.";
const SPEEDS = [1, 4, 15, 60, 200]; // tokens a second

/** Choose how fast to play: seconds enough to watch, and slowly for who wants no motion. */
export function chooseSpeed(length, isStill) {
  const fitting = SPEEDS.filter((speed) => (isStill ? speed <= 4 : true) && length >= 5 * speed);
  return fitting.at(-1) ?? SPEEDS[0];
}

/** Build what stands on the page; nothing is drawn yet. */
export function buildPage({ options, data }) {
  const timeline = keepKeys(makeElement("canvas", { className: "mamba-timeline", tabIndex: 0, role: "slider" }));
  timeline.setAttribute("aria-label", `${options.title}: time t. Arrows move, Enter follows a token.`);
  timeline.setAttribute("aria-valuemin", `${options.first}`);
  timeline.setAttribute("aria-valuemax", `${options.first + data.length - 1}`);
  const side = makeElement("canvas", { className: "mamba-side" });
  side.setAttribute("aria-hidden", "true");
  const page = {
    timeline,
    side,
    bar: makeElement("div", { className: "mamba-bar" }),
    reading: makeElement("p", { className: "mamba-reading" }),
    live: makeElement("div", { className: "mamba-heard", role: "status" }),
    legend: makeElement("span", { className: "mamba-legend" }),
  };
  page.full = makeButton("Full screen", "Fill the screen, or go back (F)", () => toggleFullScreen(page.root));
  page.body = makeElement("div", { className: "mamba-body" }, timeline, side);
  const notice = options.notice ? [makeElement("p", { className: "mamba-notice", textContent: options.notice })] : [];
  page.root = makeElement(
    "section",
    { className: "mamba", ariaLabel: options.title },
    makeElement("div", { className: "mamba-head" }, makeElement("h3", { textContent: options.title }), page.full),
    page.bar,
    page.body,
    page.reading,
    ...notice,
    makeElement("p", { className: "mamba-caption" }, ...splitStrong(options.caption)),
    makeElement("details", {}, makeElement("summary", { textContent: "Keys and lines" }), makeElement("p", { textContent: HELP })),
    page.live,
  );
  return page;
}

/** Name the kinds of token that occur; the strip shows their shapes. */
export function writeLegend({ data, options }) {
  const marks = ["●", "▲", "·", "■", "⁄"];
  return listKinds(data)
    .map((kind) => {
      const labels = new Set(options.labels.filter((_, t) => data.kind(t) === kind));
      const own = labels.size === 1 ? [...labels][0] : ""; // they all have one name of their own
      return `${marks[kind]} ${own.length > 1 ? own : KIND_NAMES[kind]}`;
    })
    .join("   ");
}

/** Say the state under the pointer, or else the largest one, and how exactly it is known. */
function writeState({ data, options, scale, channel, pointed }, t) {
  const states = Array.from({ length: data.nStates }, (_, n) => Math.abs(data.state(scale, channel, t, n)));
  const lost = states.findIndex(Number.isNaN);
  const largest = lost >= 0 ? lost : states.indexOf(Math.max(...states));
  const [c, n] = pointed ?? [channel, largest];
  const where = c === channel ? "" : `channel ${options.channels[c]}, `;
  const which = pointed || data.nStates === 1 ? where : "largest ";
  if (lost >= 0 && !pointed) return `${options.states[lost]} is not a number`;
  const half = formatNumber(data.quantum(scale, c) / 2);
  return `${which}${options.states[n]} = ${formatNumber(data.state(scale, c, t, n))} (± ${half})`;
}

/** Say what stands at the shown token, as a row of parts. */
export function writeReading(scene, t) {
  const { data, options, scale, channel, followed } = scene;
  const label = options.labels[t] ? ` “${options.labels[t]}”` : "";
  const parts = [
    `t = ${options.first + t}${label}`,
    `Δ = ${formatNumber(data.stepSize(scale, channel, t))}`,
    `x = ${formatNumber(data.input(channel, t))} (± ${formatNumber(data.inputStep(channel) / 2)})`,
    writeState(scene, t),
    `y = ${formatNumber(data.output(scale, channel, t))} (± ${formatNumber(data.outputStep(scale, channel) / 2)})`,
  ];
  if (followed === null || t < followed) return parts;
  const name = `token ${options.first + followed}${options.labels[followed] ? ` “${options.labels[followed]}”` : ""}`;
  return [...parts, `left of ${name}: ${formatShare(data.remaining(scale, channel, followed, t))}`];
}

/** Put the controls into the bar; each says what it sets. */
export function buildControls(page, scene, player, act) {
  const { data, options } = scene;
  const play = makeButton("▶ Play", "Play or pause (space)", () => act.toggle());
  const move = makeRange("t", { max: data.length - 1, value: scene.place, read: (t) => `${options.first + t}` }, act.moveTo);
  const scale = makeRange("step size", { max: data.nScales - 1, value: scene.scale, read: (k) => options.scale_labels[k] }, act.setScale);
  const speed = makeChoice("speed", SPEEDS.map((s) => `${s} a second`), SPEEDS.indexOf(player.speed), (k) => (player.speed = SPEEDS[k]));
  const channel = makeChoice("channel", options.channels.map(String), scene.channel, act.setChannel);
  const choices = data.nChannels > 1 ? [channel.element] : [];
  page.legend.textContent = writeLegend(scene);
  page.bar.append(play, move.element, scale.element, speed.element, ...choices, page.legend);
  return { play, move, scale, channel };
}

/** Bring the words and the controls in step with what is drawn. */
export function tell(page, controls, scene, player, t, voice) {
  const key = `${t} ${scene.pointed} ${scene.scale} ${scene.channel} ${scene.followed} ${player.isPlaying}`;
  if (page.told === key) return;
  page.told = key;
  const parts = writeReading(scene, t);
  const tags = parts.map((words) => makeElement(words.startsWith("left of") ? "strong" : "span", { textContent: words }));
  page.reading.replaceChildren(...tags);
  if (!player.isPlaying) page.timeline.setAttribute("aria-valuetext", parts.join(", "));
  page.timeline.setAttribute("aria-valuenow", `${scene.options.first + t}`);
  controls.play.textContent = player.isPlaying ? "❚❚ Pause" : "▶ Play";
  controls.move.set(player.at());
  controls.scale.set(scene.scale);
  controls.channel.set(scene.channel);
  const { scale, channel, followed } = scene;
  Object.assign(page.root.dataset, { t, scale, channel, followed, playing: player.isPlaying });
  if (!player.isPlaying) voice.say(parts.join(", "));
}
