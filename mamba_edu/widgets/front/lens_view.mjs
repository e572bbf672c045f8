// What the lens draws: the strip with CLS in it, a bar a token, and the map of all places.

import { drawText, formatNumber } from "./draw.mjs";
import { writeColour } from "./theme.mjs";
import { drawShape, findMiddle, findToken } from "./tokens.mjs";

const LEAST_ROOM = 7; // dots on the screen that a circle needs
const FAINTEST = 0.12; // of the colours: even the smallest size above 0 is no paper

/** Place the rows of the lens in a canvas of this width; sizes follow the letters'. */
export function placeLens(width, size, length) {
  const isNarrow = width < 46 * size;
  const [left, right] = isNarrow ? [4.4 * size, 4 * size] : [6.2 * size, 5 * size];
  const across = { left, width: Math.min(width - left - right, 6 * size * (length + 1)) };
  const strip = { ...across, top: 0, height: 3.2 * size };
  const bars = { ...across, top: 4 * size, height: 7.6 * size };
  const tall = Math.min(Math.max(0.75 * size * (length + 1), 6 * size), 15 * size);
  const map = { ...across, top: 13.8 * size, height: tall };
  return { strip, bars, map, cells: length + 1, height: map.top + tall + 2.2 * size };
}

/** Find how many tokens stand before CLS where a pointer drags it: along the strip, down the map. */
export function findColumn({ strip, map, cells }, row, x, y) {
  if (row === "strip") return findToken(strip, cells, x);
  return findToken({ left: map.top, width: map.height }, cells, y);
}

/** Find what a pointer takes hold of: CLS in the strip, one bar, or a row of the map. */
export function findRow(box, scene, x, y) {
  if (y > box.map.top) return "map";
  return y > box.bars.top && tokenAt(box, scene, x, y) !== null ? "bars" : "strip";
}

/** Find the token under a pointer, as CLS stands; null on CLS and beside the columns. */
export function tokenAt({ strip, cells }, { place }, x, y) {
  const column = Math.floor(((x - strip.left) / strip.width) * cells);
  if (column < 0 || column >= cells || column === place || y < 0) return null;
  return column > place ? column - 1 : column;
}

/** Find the column of a token, as CLS stands. */
export function columnOf(place, token) {
  return token < place ? token : token + 1;
}

/** Find where a size stands between the smallest and the largest, 0 to 1, by its logarithm. */
export function measureShare(value, { floor, top }) {
  if (floor >= top) return 1;
  const share = Math.log(value / floor) / Math.log(top / floor);
  return FAINTEST + (1 - FAINTEST) * Math.min(Math.max(share, 0), 1);
}

/** List powers of ten between two sizes, no more than five; the ends if there are none. */
export function listPowers(floor, top) {
  const [low, high] = [Math.ceil(Math.log10(floor) - 1e-9), Math.floor(Math.log10(top) + 1e-9)];
  if (high < low) return [top];
  const every = Math.ceil((high - low + 1) / 5);
  return Array.from({ length: Math.floor((high - low) / every) + 1 }, (_, k) => 10 ** (high - k * every));
}

/** List the runs of tokens that are exactly 0, as [first, last]. */
export function listRuns(sizes) {
  const runs = [];
  sizes.forEach((size, token) => {
    if (size !== 0) return;
    if (runs.length && runs.at(-1)[1] === token - 1) runs.at(-1)[1] = token;
    else runs.push([token, token]);
  });
  return runs;
}

/** Draw a hollow circle: exactly 0. */
function drawCircle(context, colour, x, y, radius) {
  [context.strokeStyle, context.lineWidth] = [colour, Math.min(1.4, radius / 2)];
  context.beginPath();
  context.arc(x, y, radius, 0, 7);
  context.stroke();
}

/** Draw what hangs on the place of CLS: the strip, the bars and the row of the map. */
export function drawLens(context, theme, box, scene) {
  const { strip, bars, map, cells } = box;
  const sizes = Array.from({ length: scene.length }, (_, token) => scene.influence(scene.direction, scene.place, token));
  drawTokens(context, theme, box, scene, sizes);
  drawSizes(context, theme, box, scene, sizes);
  const tall = map.height / cells;
  [context.strokeStyle, context.lineWidth] = [theme.ink, 2];
  context.strokeRect(map.left - 1, map.top + scene.place * tall, map.width + 2, tall);
  drawText(context, theme, `${scene.place} ▸`, map.left - 4, map.top + (scene.place + 0.5) * tall, { align: "right", bold: true, scale: 0.9 });
  for (const place of [0, scene.length]) {
    if (Math.abs(place - scene.place) * tall < theme.size) continue;
    drawText(context, theme, `${place}`, map.left - 4, map.top + (place + 0.5) * tall, { align: "right", scale: 0.85, colour: theme.muted });
  }
  if (scene.hovered === null) return;
  const x = findMiddle(strip, cells, columnOf(scene.place, scene.hovered)) - strip.width / cells / 2;
  context.setLineDash([4, 3]);
  context.lineWidth = 1.5;
  context.strokeRect(x, strip.top + 1, strip.width / cells, bars.top + bars.height - strip.top);
  context.setLineDash([]);
}

/** Draw the strip: the tokens by their words or as dots, and CLS among them. */
function drawTokens(context, theme, { strip, cells }, { place, options, length }, sizes) {
  const cell = strip.width / cells;
  const [above, y] = [strip.top + 0.7 * theme.size, strip.top + 2.2 * theme.size];
  context.font = `600 ${theme.size}px ${theme.family}`;
  const widest = Math.max(...options.labels.map((words) => context.measureText(words).width));
  const scale = [1, 0.75].find((k) => k * widest < cell); // none: they are drawn as dots
  for (let token = 0; token < length; token++) {
    const x = findMiddle(strip, cells, columnOf(place, token));
    const isHidden = sizes[token] === 0;
    if (scale) drawText(context, theme, options.labels[token], x, y, { align: "center", scale, colour: isHidden ? theme.muted : theme.ink, bold: !isHidden });
    else drawShape(context, theme, 0, x, y, Math.min(cell * 0.8, theme.size * 0.7));
  }
  const x = findMiddle(strip, cells, place);
  drawShape(context, theme, 3, x, y, Math.min(Math.max(cell * 0.85, theme.size * 0.7), theme.size * 1.3));
  drawText(context, theme, "CLS", x, above, { align: "center", bold: true, colour: theme.cls });
  context.fillStyle = theme.cls;
  context.globalAlpha = 0.13;
  context.fillRect(x - cell / 2, strip.top + 3 * theme.size, cell, 8.6 * theme.size);
  context.globalAlpha = 1;
}

/** Draw a bar a token on a logarithmic scale; what is exactly 0 has a circle and says so. */
function drawSizes(context, theme, { bars, cells }, scene, sizes) {
  const cell = bars.width / cells;
  const bottom = bars.top + bars.height;
  const middle = (token) => findMiddle(bars, cells, columnOf(scene.place, token));
  const tall = (size) => measureShare(size, scene) * bars.height;
  nameAxis(context, theme, bars, ["influence", "on CLS"]);
  for (const size of listPowers(scene.floor, scene.top)) {
    context.fillStyle = theme.faint;
    context.fillRect(bars.left, Math.round(bottom - tall(size)), bars.width, 1);
    drawText(context, theme, formatNumber(size), bars.left + bars.width + 6, bottom - tall(size), { scale: 0.85, colour: theme.muted });
  }
  context.fillStyle = theme.state;
  sizes.forEach((size, token) => {
    if (size > 0) context.fillRect(middle(token) - cell * 0.4, bottom - tall(size), Math.max(cell * 0.8, 1), tall(size));
  });
  const radius = Math.min(cell * 0.32, theme.size * 0.32);
  sizes.forEach((size, token) => size === 0 && drawCircle(context, theme.ink, middle(token), bottom - radius - 1, radius));
  for (const [first, last] of listRuns(sizes)) {
    const isWide = (last - first + 1) * cell > 4.6 * theme.size || sizes.length < 4;
    if (isWide) drawText(context, theme, "exactly 0", (middle(first) + middle(last)) / 2, bottom - 2.4 * radius - theme.size * 0.8, { align: "center", bold: true });
  }
  context.fillStyle = theme.ink;
  context.fillRect(bars.left, bottom, bars.width, 1);
}

/** Write a row's name before it. */
function nameAxis(context, theme, row, words) {
  const scale = row.left < 5 * theme.size ? 0.78 : 0.92;
  words.forEach((word, k) => {
    drawText(context, theme, word, 0, row.top + (k + 0.6) * theme.size * 1.15, { bold: true, scale });
  });
}

/** Draw the map: a row for each place of CLS, what it sees in colour, what it does not as circles. */
export function drawLensMap(context, theme, box, scene) {
  const { map, cells } = box;
  const [wide, tall] = [map.width / cells, map.height / cells];
  for (let place = 0; place < cells; place++) {
    const y = map.top + (place + 0.5) * tall;
    for (let token = 0; token < scene.length; token++) {
      const x = findMiddle(map, cells, columnOf(place, token));
      const size = scene.influence(scene.direction, place, token);
      if (size === 0) drawNothing(context, theme, x, y, Math.min(wide, tall));
      else fillCell(context, writeColour(theme.table[127 - Math.round(127 * measureShare(size, scene))]), x, y, wide, tall);
    }
    fillCell(context, theme.cls, findMiddle(map, cells, place), y, wide * 0.9, tall * 0.9);
  }
  nameMap(context, theme, box, scene);
}

/** Fill a cell, over its edges by a hair so that neighbours touch. */
function fillCell(context, colour, x, y, wide, tall) {
  context.fillStyle = colour;
  context.fillRect(x - wide / 2 - 0.2, y - tall / 2 - 0.2, wide + 0.4, tall + 0.4);
}

/** Mark a cell that is exactly 0: a circle, or a dot where that would be a blur. */
function drawNothing(context, theme, x, y, room) {
  if (room >= LEAST_ROOM) return drawCircle(context, theme.muted, x, y, Math.min(room * 0.22, 3.5));
  context.fillStyle = theme.muted;
  return context.fillRect(x - 0.5, y - 0.5, 1, 1);
}

/** Write names and numbers beside the map, and the bar that explains its colours. */
function nameMap(context, theme, { map, cells }, scene) {
  const isNarrow = map.left < 5 * theme.size;
  nameAxis(context, theme, { ...map, top: map.top - (isNarrow ? 1.7 : 0.2) * theme.size }, isNarrow ? ["before", "CLS"] : ["tokens", "before", "CLS"]);
  const small = { scale: 0.85, colour: theme.muted };
  const foot = map.top + map.height + theme.size;
  const isFine = Math.min(map.width, map.height) / cells < LEAST_ROOM;
  const words = `a row for each place of CLS${isFine ? "; dots: exactly 0" : ""}`;
  const isWide = map.width > 36 * theme.size;
  drawText(context, theme, isWide ? `${words}; the stronger the colour, the more a token reaches it` : words, map.left + 2, map.top - 0.9 * theme.size, small);
  drawText(context, theme, `0 … ${cells - 1}: place in the sequence`, map.left + map.width / 2, foot, { ...small, align: "center" });
  const bar = { left: map.left + map.width + 6, width: theme.size * 0.6 };
  for (let k = 0; k < 64; k++) {
    const share = FAINTEST + ((1 - FAINTEST) * k) / 63;
    context.fillStyle = writeColour(theme.table[127 - Math.round(127 * share)]);
    context.fillRect(bar.left, map.top + map.height * (1 - (k + 1) / 64), bar.width, map.height / 64 + 0.6);
  }
  for (const size of listPowers(scene.floor, scene.top)) {
    const share = (measureShare(size, scene) - FAINTEST) / (1 - FAINTEST);
    drawText(context, theme, formatNumber(size), bar.left + bar.width + 4, map.top + map.height * (1 - share) + (0.5 - (1 - share)) * theme.size * 0.85, small);
  }
}
