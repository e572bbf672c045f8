// What the race draws of a lane: its words, the cells with the stretches they hold, its rounds.

import { drawText } from "./draw.mjs";
import { countUp, heldAfter } from "./lanes.mjs";

/** Place the lanes side by side, or one below the other where it is narrow. */
export function placeRace(width, size, { lanes, length }) {
  const isNarrow = width < 64 * size;
  const gap = 2 * size;
  const wide = isNarrow ? width : (width - gap * (lanes.length - 1)) / lanes.length;
  const cell = Math.min((wide - 4 * size) / length, (isNarrow ? 0.6 : 1.15) * size);
  const [head, rounds] = [5 * size, (isNarrow ? 3 : 4.6) * size];
  const tall = head + cell * length + size + rounds + 1.8 * size;
  const places = lanes.map((_, k) => {
    const [left, top] = isNarrow ? [0, k * (tall + size)] : [k * (wide + gap), 0];
    const across = { left: left + 2.4 * size, width: wide - 3.6 * size };
    return {
      left,
      top,
      width: wide,
      cells: { ...across, top: top + head, height: cell * length },
      rounds: { ...across, top: top + head + cell * length + size, height: rounds },
    };
  });
  return { lanes: places, height: isNarrow ? lanes.length * (tall + size) : tall };
}

/** Tell whether a point stands in a box. */
function isInside({ left, top, width, height }, x, y) {
  return x >= left && x < left + width && y >= top && y < top + height;
}

/** Find the cell under a pointer in any lane, or null. */
export function pickCell({ lanes }, { length }, x, y) {
  const lane = lanes.find(({ left, width, cells }) => isInside({ ...cells, left, width }, x, y));
  return lane ? Math.floor(((y - lane.cells.top) / lane.cells.height) * length) : null;
}

/** Find the round under a pointer over any lane's bars, or null; before the first stands 0. */
export function pickRound({ lanes }, { most }, x, y) {
  const lane = lanes.find(({ left, width, rounds }) => isInside({ ...rounds, height: 2 * rounds.height, left, width }, x, y));
  if (!lane) return null;
  return Math.min(Math.max(Math.ceil(((x - lane.rounds.left) / lane.rounds.width) * most), 0), most);
}

/** Break words into lines no wider than there is room. */
export function wrapWords(words, room, measure) {
  const lines = [""];
  for (const word of words.split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (lines.at(-1) && measure(longer) > room) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** Write a number of things. */
function countWords(count, word) {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** Write how a lane stands: its rounds and operations so far, or that it is through. */
export function writeCount(lane, number) {
  const { rounds, operations, isOver } = countUp(lane, number);
  const words = `${countWords(rounds, "round")}, ${countWords(operations, "operation")}`;
  return isOver ? `✓ through: ${words}` : `${words} so far`;
}

/** Draw a lane's words and what its cells hold. */
export function drawLane(context, theme, place, scene, lane) {
  const { cells } = place;
  const { size } = theme;
  drawText(context, theme, lane.name, place.left, place.top + 0.7 * size, { bold: true, scale: 1.15 });
  drawText(context, theme, writeCount(lane, scene.number), place.left, place.top + 2 * size, { bold: true, colour: scene.number >= lane.rounds ? theme.state : theme.ink });
  const measure = (words) => context.measureText(words).width;
  context.font = `${size * 0.85}px ${theme.family}`;
  wrapWords(`${lane.how}; up to ${lane.most} at once`, place.width, measure)
    .slice(0, 2)
    .forEach((words, k) => drawText(context, theme, words, place.left, place.top + (3.2 + k) * size, { scale: 0.85, colour: theme.muted }));
  const [wide, tall] = [cells.width / scene.length, cells.height / scene.length];
  for (let t = 0; t < scene.length; t++) {
    const look = { scale: 0.8, colour: theme.muted, align: "right", bold: t === scene.cell };
    if (t % Math.ceil((0.85 * size) / tall) === 0) drawText(context, theme, scene.options.labels[t], cells.left - 5, cells.top + (t + 0.5) * tall, look);
    drawStretch(context, theme, { left: cells.left, y: cells.top + t * tall, wide, tall }, scene, lane, t);
  }
  drawText(context, theme, "a row is a cell, a column a token", cells.left + cells.width, cells.top + 0.8 * size, { scale: 0.8, colour: theme.muted, align: "right" });
  if (scene.cell === null) return;
  [context.strokeStyle, context.lineWidth] = [theme.ink, 1.2];
  context.setLineDash([4, 3]);
  context.strokeRect(place.left, cells.top + scene.cell * tall, place.width - 2, tall);
  context.setLineDash([]);
}

/** Draw the bar of one cell, from the first to the last token that it has taken in. */
function drawStretch(context, theme, { left, y, wide, tall }, scene, lane, t) {
  const held = heldAfter(lane, scene.number)[t];
  const coming = scene.part > 0 && lane.made[scene.number]?.find(({ last }) => last === t);
  const first = coming ? held.first + (Math.min(coming.first, held.first) - held.first) * scene.part : held.first;
  const now = coming || (scene.number <= lane.rounds && lane.made[scene.number - 1]?.find(({ last }) => last === t));
  const bar = { x: left + first * wide + 1, y: y + tall * 0.14, width: (t + 1 - first) * wide - 2, height: tall * 0.72 };
  const colour = held.first === t && !held.isReady ? theme.input : theme.state;
  paintBar(context, bar, colour, held.isReady || held.first === t ? 1 : 0.28);
  if (held.isReady) drawText(context, theme, "✓", left + (t + 1) * wide + 2, y + tall / 2, { scale: Math.min(0.85, tall / theme.size), colour: theme.state, bold: true });
  if (!now) return;
  const cut = left + now.split * wide;
  context.fillStyle = theme.paper;
  if (now.split > first) context.fillRect(cut - 1.5, bar.y - 1, 3, bar.height + 2);
  [context.strokeStyle, context.lineWidth] = [theme.ink, 1.6];
  context.strokeRect(bar.x, bar.y, bar.width, bar.height);
}

/** Paint a bar full, or hollow with a rim. */
function paintBar(context, bar, colour, alpha) {
  context.fillStyle = context.strokeStyle = colour;
  context.globalAlpha = alpha;
  context.fillRect(bar.x, bar.y, bar.width, bar.height);
  context.globalAlpha = 1;
  context.lineWidth = 1;
  if (alpha < 1) context.strokeRect(bar.x + 0.5, bar.y + 0.5, bar.width - 1, bar.height - 1);
}

/** Draw how many operations each round does; the rounds to come are hollow. */
export function drawRounds(context, theme, { left, rounds }, scene, lane) {
  const wide = rounds.width / scene.most;
  const most = Math.max(...scene.lanes.map((one) => one.most), 1);
  const bottom = rounds.top + rounds.height;
  lane.made.forEach((made, k) => {
    const tall = (made.length / most) * (rounds.height - theme.size);
    const bar = { x: rounds.left + k * wide + 1.5, y: bottom - tall, width: wide - 3, height: tall };
    paintBar(context, bar, theme.step, k < scene.number ? 1 : 0.15);
    const isNow = k === scene.number - 1;
    drawText(context, theme, `${made.length}`, bar.x + bar.width / 2, bar.y - 0.5 * theme.size, { align: "center", scale: Math.min(0.8, wide / theme.size), bold: isNow, colour: isNow ? theme.ink : theme.muted });
  });
  context.fillStyle = theme.ink;
  context.fillRect(rounds.left, bottom, rounds.width, 1);
  const now = rounds.left + Math.min(scene.number + scene.part, scene.most) * wide;
  context.fillRect(now - 0.75, rounds.top, 1.5, rounds.height);
  const small = { scale: 0.85, colour: theme.muted };
  drawText(context, theme, "operations in each round", left, bottom + 0.9 * theme.size, small);
  drawText(context, theme, `${scene.most}`, rounds.left + rounds.width, bottom + 0.9 * theme.size, { ...small, align: "right" });
}
