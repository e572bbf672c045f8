// The rows under the strip: step sizes, the state as a map, the output, what is left of a token.

import { drawColourBar, drawCurve, drawScale, drawText, makeHeight, paintCodes } from "./draw.mjs";
import { findMiddle } from "./tokens.mjs";

/** Find the smallest and largest finite value, with 0 among them. */
export function findEnds(values) {
  let [low, high] = [0, 0];
  for (const value of values) {
    if (Number.isFinite(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
  }
  return [low, high];
}

/** List one value a token. */
function listValues(length, read) {
  return Float64Array.from({ length }, (_, t) => read(t));
}

/** Draw the step sizes as bars from 0. */
export function drawSteps(context, theme, row, { data, scale, channel }) {
  const sizes = listValues(data.length, (t) => data.stepSize(scale, channel, t));
  const [, high] = findEnds(sizes);
  const height = makeHeight(row, 0, high || 1);
  drawScale(context, theme, row, [0, high || 1], height);
  const cell = row.width / data.length;
  context.fillStyle = theme.step;
  sizes.forEach((size, t) => {
    if (!Number.isFinite(size)) return;
    const y = height(size);
    context.fillRect(row.left + t * cell, y, Math.max(cell - (cell > 6 ? 1 : 0), 0.8) + (cell > 6 ? 0 : 0.3), height(0) - y + 1);
  });
}

/** Draw one channel's state, a line a state, a column a token. */
export function drawStates(context, theme, row, scene) {
  const { data, options, scale, channel } = scene;
  const picture = paintCodes(data.codes(scale, channel), data.nStates, data.length, theme, (n, t) => t * data.nStates + n);
  context.imageSmoothingEnabled = false;
  context.drawImage(picture, row.left, row.top, row.width, row.height);
  const every = Math.ceil((theme.size * 1.05 * data.nStates) / row.height);
  for (let n = 0; n < data.nStates; n += every) {
    const y = row.top + ((n + 0.5) * row.height) / data.nStates;
    drawText(context, theme, options.states[n], row.left - 6, y, { align: "right", scale: 0.8, colour: theme.muted });
  }
  const box = { left: row.left + row.width + 6, top: row.top, width: theme.size * 0.6, height: row.height };
  drawColourBar(context, theme, box, 127 * data.quantum(scale, channel));
}

/** Draw what the scan reads. */
export function drawInput(context, theme, row, { data, channel }) {
  drawSignal(context, theme, row, listValues(data.length, (t) => data.input(channel, t)), theme.input);
}

/** Draw what the scan writes. */
export function drawOutput(context, theme, row, { data, scale, channel }) {
  drawSignal(context, theme, row, listValues(data.length, (t) => data.output(scale, channel, t)), theme.output);
}

/** Draw one value a token as a line, with 0 and the ends on its scale. */
function drawSignal(context, theme, row, values, colour) {
  const [low, high] = findEnds(values);
  const height = makeHeight(row, low, high);
  const room = 0.3 * (high - low);
  const ends = [low, 0, high].filter((value, k) => k === 1 || Math.abs(value) > room);
  drawScale(context, theme, row, ends, height);
  const xs = values.map((_, t) => findMiddle(row, values.length, t));
  drawCurve(context, xs, values.map(height), colour, 2);
  context.fillStyle = colour;
  if (values.length === 1) context.fillRect(xs[0] - 2, height(values[0]) - 2, 4, 4);
}

/** Draw how much of the followed token is left: each state thin, their mean thick. */
export function drawMemory(context, theme, row, { data, scale, channel, followed }) {
  const height = makeHeight(row, 0, 1);
  drawScale(context, theme, row, [0, 0.5, 1], height);
  if (followed === null) {
    const words = "choose a token to follow what is left of it";
    return drawText(context, theme, words, row.left + row.width / 2, row.top + row.height / 2, { align: "center", colour: theme.muted });
  }
  const times = Array.from({ length: data.length - followed }, (_, k) => followed + k);
  const xs = times.map((t) => findMiddle(row, data.length, t));
  for (let n = 0; n < data.nStates; n++) {
    drawCurve(context, xs, times.map((t) => height(data.survival(scale, channel, followed, t, n))), theme.soft, 1);
  }
  drawCurve(context, xs, times.map((t) => height(data.remaining(scale, channel, followed, t))), theme.state, 2.4);
  context.fillStyle = theme.state;
  context.beginPath();
  context.arc(xs[0], height(1), 3.5, 0, 7);
  return context.fill();
}
