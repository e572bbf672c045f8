// The strip of tokens: kinds are told apart by shape and by words, not by colour alone.

import { drawText } from "./draw.mjs";

export const KIND_NAMES = ["input", "needle", "filler", "CLS", "padding"];
const FILLS = ["input", "needle", "faint", "cls", "paper"]; // colours of the theme, by kind

/** Find the middle of token t within a row. */
export function findMiddle(row, length, t) {
  return row.left + ((t + 0.5) * row.width) / length;
}

/** Find the token under a place across the row. */
export function findToken(row, length, x) {
  const t = Math.floor(((x - row.left) / row.width) * length);
  return Math.min(Math.max(t, 0), length - 1);
}

/** Draw the shape of one kind of token, about `size` wide. */
export function drawShape(context, theme, kind, x, y, size) {
  const half = size / 2;
  context.fillStyle = context.strokeStyle = theme[FILLS[kind]] || theme.ink;
  context.lineWidth = 1.4;
  context.beginPath();
  if (kind === 1) {
    context.moveTo(x, y - half);
    context.lineTo(x + half, y + half);
    context.lineTo(x - half, y + half);
  } else if (kind === 3) context.rect(x - half, y - half, size, size);
  else if (kind === 2) context.arc(x, y, Math.max(half * 0.45, 0.8), 0, 7);
  else context.arc(x, y, half * 0.75, 0, 7);
  if (kind === 2) context.fillStyle = theme.muted;
  if (kind !== 4) return context.fill();
  context.strokeStyle = theme.muted;
  context.moveTo(x - half * 0.7, y + half * 0.7);
  context.lineTo(x + half * 0.7, y - half * 0.7);
  return context.stroke();
}

/** Draw every token: its words where they fit, else its shape; rare kinds always get theirs. */
export function drawStrip(context, theme, row, { data, options }) {
  const cell = row.width / data.length;
  const middle = row.top + row.height / 2;
  const size = Math.min(theme.size * 0.8, row.height * 0.5);
  context.font = `${theme.size * 0.85}px ${theme.family}`;
  const widest = Math.max(...options.labels.map((words) => context.measureText(words).width));
  const hasWords = widest + 4 < cell;
  for (let t = 0; t < data.length; t++) {
    const kind = data.kind(t);
    const x = findMiddle(row, data.length, t);
    if (kind === 0 || kind === 2) drawCommon(context, theme, row, x, cell, kind, !hasWords);
    if (hasWords) drawText(context, theme, options.labels[t], x, row.top + row.height - size * 0.7, { align: "center", scale: 0.85 });
    if (kind === 1 || kind > 2) drawRare(context, theme, { kind, x, y: hasWords ? row.top + size * 0.6 : middle, cell, size, row });
  }
}

/** Draw a token that there are many of: a shape if there is room, else a stroke. */
function drawCommon(context, theme, row, x, cell, kind, isAlone) {
  const middle = row.top + row.height / 2;
  if (!isAlone) return;
  if (cell >= 7) return drawShape(context, theme, kind, x, middle, Math.min(cell * 0.8, theme.size * 0.7));
  context.fillStyle = kind === 2 ? theme.faint : theme.input;
  const tall = row.height * (kind === 2 ? 0.25 : 0.45);
  context.fillRect(x - cell / 2, middle - tall / 2, Math.max(cell * 0.7, 0.8), tall);
}

/** Draw a token that a reader looks for: as large as can be read, whatever the room. */
function drawRare(context, theme, { kind, x, y, cell, size, row }) {
  const isPadding = kind === 4;
  if (isPadding && cell < size) {
    context.fillStyle = theme.muted;
    return context.fillRect(x - cell / 2, row.top + row.height / 2 - 0.5, cell, 1);
  }
  return drawShape(context, theme, kind, x, y, size);
}

/** List the kinds that occur, for the line that explains the shapes. */
export function listKinds(data) {
  const kinds = new Set(Array.from({ length: data.length }, (_, t) => data.kind(t)));
  return [...kinds].toSorted((a, b) => a - b);
}
