// The panel beside the rows: all channels at one token, a phase portrait, or a bucket.

import { drawCurve, drawScale, drawText, formatNumber, makeHeight, paintCodes } from "./draw.mjs";

export const SIDE_TALL = 34; // letters' sizes, at most

/** Choose what the panel shows. */
export function chooseSide({ data, options }) {
  if (options.mode === "phase") return "phase";
  if (data.nChannels > 1) return "channels";
  return data.nStates > 1 ? "bars" : "bucket";
}

/** Draw the panel at token t; returns the box of its map, for the pointer. */
export function drawSide(context, theme, box, scene, t) {
  const drawers = { phase: drawPhase, channels: drawChannels, bars: drawBars, bucket: drawBucket };
  const kind = chooseSide(scene);
  const titles = { phase: "state, as a point in its plane", channels: "every channel, now", bars: "the state, now", bucket: "the bucket, now" };
  drawText(context, theme, titles[kind], box.left, box.top + theme.size * 0.7, { bold: true, scale: 0.95 });
  const gutter = kind === "channels" ? 2.6 * theme.size : 0;
  const inner = {
    left: box.left + gutter,
    top: box.top + theme.size * 1.8,
    width: box.width - gutter - 2,
    height: box.height - theme.size * 3.4,
  };
  drawers[kind](context, theme, inner, scene, t);
  return inner;
}

/** Draw channel by state at t, each channel against its own largest size. */
function drawChannels(context, theme, box, { data, options, scale, channel }, t) {
  const codes = new Int8Array(data.nChannels * data.nStates);
  for (let c = 0; c < data.nChannels; c++) {
    codes.set(data.codes(scale, c).subarray(t * data.nStates, (t + 1) * data.nStates), c * data.nStates);
  }
  const picture = paintCodes(codes, data.nChannels, data.nStates, theme, (c, n) => c * data.nStates + n);
  context.imageSmoothingEnabled = false;
  context.drawImage(picture, box.left, box.top, box.width, box.height);
  const tall = box.height / data.nChannels;
  [context.strokeStyle, context.lineWidth] = [theme.ink, 2];
  context.strokeRect(box.left - 1, box.top + channel * tall, box.width + 2, tall);
  const every = Math.ceil((theme.size * 1.1) / tall);
  for (let c = 0; c < data.nChannels; c++) {
    if (c % every && c !== channel) continue;
    if (c !== channel && Math.abs(c - channel) < every) continue;
    const look = { align: "right", scale: 0.8, colour: c === channel ? theme.ink : theme.muted, bold: c === channel };
    drawText(context, theme, `${options.channels[c]}`, box.left - 6, box.top + (c + 0.5) * tall, look);
  }
  drawText(context, theme, "channel × state; colour: share of its largest", box.left + box.width, box.top + box.height + theme.size * 0.9, { align: "right", scale: 0.75, colour: theme.muted });
}

/** Draw the numbers of one channel's state at t as bars from 0. */
function drawBars(context, theme, box, { data, options, scale, channel }, t) {
  const reach = 127 * data.quantum(scale, channel);
  const height = makeHeight(box, -reach, reach);
  const room = { ...box, width: box.width - 4.6 * theme.size };
  drawScale(context, theme, room, [-reach, 0, reach], height);
  const wide = room.width / data.nStates;
  for (let n = 0; n < data.nStates; n++) {
    const value = data.state(scale, channel, t, n);
    context.fillStyle = theme.state;
    if (Number.isFinite(value)) context.fillRect(box.left + n * wide + wide * 0.15, Math.min(height(0), height(value)), wide * 0.7, Math.abs(height(value) - height(0)) + 1);
  }
  const last = data.nStates - 1;
  for (const n of new Set([0, last])) {
    drawText(context, theme, options.states[n], box.left + (n + 0.5) * wide, box.top + box.height + theme.size * 0.8, { align: "center", scale: 0.85, colour: theme.muted });
  }
}

/** Draw the path of the first two states up to t, and where it stands. */
function drawPhase(context, theme, box, { data, options, scale, channel }, t) {
  const reach = 127 * data.quantum(scale, channel);
  const side = Math.min(box.width, box.height);
  const square = { left: box.left + (box.width - side) / 2, top: box.top, width: side, height: side };
  const y = makeHeight(square, -reach, reach);
  const x = (value) => square.left + 3 + ((value + reach) / (2 * reach)) * (side - 6);
  context.fillStyle = theme.faint;
  context.fillRect(square.left, y(0), side, 1);
  context.fillRect(x(0), square.top, 1, side);
  const xs = Float64Array.from({ length: t + 1 }, (_, k) => x(data.state(scale, channel, k, 0)));
  const ys = Float64Array.from({ length: t + 1 }, (_, k) => y(data.state(scale, channel, k, 1)));
  drawCurve(context, xs, ys, theme.state, 1.6);
  context.fillStyle = theme.output;
  context.beginPath();
  context.arc(xs[t], ys[t], theme.size * 0.4, 0, 7);
  context.fill();
  const ends = `axes: ${formatNumber(-reach)} to ${formatNumber(reach)}`;
  drawText(context, theme, ends, square.left + side / 2, square.top + side + theme.size * 0.9, { align: "center", scale: 0.8, colour: theme.muted });
  drawText(context, theme, options.states[0], square.left + side, y(0) - theme.size * 0.7, { align: "right", scale: 0.85, colour: theme.muted });
  drawText(context, theme, options.states[1], x(0) + 6, square.top + theme.size * 0.6, { scale: 0.85, colour: theme.muted });
}

/** Find by how much a bucket gains and loses at a token, each as a share of the largest gain. */
export function measureFlow({ data, scale, channel }, t) {
  const gain = (k) => Math.abs(data.stepSize(scale, channel, k) * data.input(channel, k)) || 0;
  let most = 0;
  for (let k = 0; k < data.length; k++) most = Math.max(most, gain(k));
  return { pours: most ? gain(t) / most : 0, leaks: data.stepSize(scale, channel, t) * data.rate(channel, 0) < 0 };
}

/** Draw one number as the water in a bucket with a hole; a level below 0 is hatched. */
function drawBucket(context, theme, box, scene, t) {
  const { data, scale, channel } = scene;
  const reach = 127 * data.quantum(scale, channel);
  const value = data.state(scale, channel, t, 0);
  const [wide, tall] = [Math.min(box.width * 0.7, box.height * 0.9), box.height * 0.72];
  const [left, bottom] = [box.left + (box.width - wide) / 2, box.top + box.height * 0.86];
  const level = Number.isFinite(value) ? (Math.abs(value) / reach) * tall : 0;
  const { pours, leaks } = measureFlow(scene, t);
  context.fillStyle = theme.input;
  const stream = Math.max(pours * wide * 0.16, pours > 0.01 ? 2 : 0);
  context.fillRect(left + (wide - stream) / 2, box.top, stream, bottom - box.top - level);
  context.fillStyle = theme.state;
  context.fillRect(left, bottom - level, wide, level);
  if (leaks && level > 1) context.fillRect(left + wide * 0.46, bottom, wide * 0.08, tall * 0.16);
  if (value < 0) hatch(context, theme, { left, top: bottom - level, width: wide, height: level });
  drawWalls(context, theme, left, bottom, wide, tall);
  const words = value < 0 ? `h = ${formatNumber(value)} (hatched: below 0)` : `h = ${formatNumber(value)}`;
  drawText(context, theme, words, box.left + box.width / 2, box.top + box.height + theme.size * 0.9, { align: "center", bold: true });
}

/** Draw lines across a box. */
function hatch(context, theme, box) {
  context.save();
  context.beginPath();
  context.rect(box.left, box.top, box.width, box.height);
  context.clip();
  [context.strokeStyle, context.lineWidth] = [theme.paper, 3];
  context.beginPath();
  for (let x = box.left - box.height; x < box.left + box.width; x += theme.size) {
    context.moveTo(x, box.top + box.height);
    context.lineTo(x + box.height, box.top);
  }
  context.stroke();
  context.restore();
}

/** Draw the walls of a bucket and its floor, with a hole in the middle. */
function drawWalls(context, theme, left, bottom, wide, tall) {
  [context.strokeStyle, context.lineWidth] = [theme.ink, 2.5];
  context.beginPath();
  context.moveTo(left, bottom - tall * 1.08);
  context.lineTo(left, bottom);
  context.lineTo(left + wide * 0.45, bottom);
  context.moveTo(left + wide * 0.55, bottom);
  context.lineTo(left + wide, bottom);
  context.lineTo(left + wide, bottom - tall * 1.08);
  context.stroke();
}
