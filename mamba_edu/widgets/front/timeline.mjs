// The rows over one axis of time: drawn once, then only what moves is drawn anew.

import { drawText, fitCanvas } from "./draw.mjs";
import { drawInput, drawMemory, drawOutput, drawStates, drawSteps } from "./rows.mjs";
import { drawStrip, findMiddle, findToken } from "./tokens.mjs";

const ROWS = [
  { name: ["token"], tall: 2.2, draw: drawStrip, isStrip: true },
  { name: ["input", "x"], tall: 3.2, draw: drawInput, role: "input" },
  { name: ["step", "Δ"], tall: 3.4, draw: drawSteps, role: "step" },
  { name: ["state", "h"], tall: 9.8, draw: drawStates, role: "state" },
  { name: ["output", "y"], tall: 3.9, draw: drawOutput, role: "output" },
  { name: ["what is", "left of it"], tall: 4.8, draw: drawMemory, role: "state" },
];
const GAP = 0.9;
const HEAD = 0.4; // room for the number on top of the first row

/** Choose the rows that say something: a strip of nameless inputs does not. */
export function chooseRows({ data, options }) {
  const hasNames = options.labels.some(Boolean) || Array.from({ length: data.length }, (_, t) => data.kind(t)).some(Boolean);
  const tall = Math.min(Math.max(1.2 * data.nStates, 3.4), ROWS.find((row) => row.draw === drawStates).tall);
  const rows = ROWS.filter((row) => hasNames || !row.isStrip);
  return rows.map((row) => (row.draw === drawStates ? Object.assign({}, row, { tall }) : row));
}

/** Sum up the height of rows, in letters' sizes, with the times below. */
export function sumHeights(rows) {
  return rows.reduce((sum, row) => sum + row.tall + GAP, HEAD + 1.6);
}

/** Place the rows in a canvas of this width; sizes follow the letters'. */
export function placeRows(rows, width, size) {
  const [left, right] = [5.6 * size, 5.2 * size];
  let top = HEAD * size;
  return rows.map((row) => {
    const place = { left, top, width: width - left - right, height: row.tall * size, isStrip: row.isStrip };
    top += (row.tall + GAP) * size;
    return place;
  });
}

/** Make the timeline: `paint` draws it, `pick` finds the token under a pointer. */
export function makeTimeline(canvas, chosen) {
  const base = document.createElement("canvas");
  const map = chosen.findIndex((row) => row.draw === drawStates);
  let [key, rows, size] = ["", [], { width: 0, height: 0 }];

  function paintBase(theme, scene) {
    const context = fitCanvas(base, size.width, size.height);
    chosen.forEach((row, k) => {
      row.draw(context, theme, rows[k], scene);
      nameRow(context, theme, rows[k], row);
    });
    drawTimes(context, theme, rows.at(-1), scene);
  }
  return {
    canvas,
    pick: (x, length) => findToken(rows[0], length, x),
    holds: (x) => x >= rows[0].left - 4 && x <= rows[0].left + rows[0].width + 4,
    pickState(y, count) {
      const place = Math.floor(((y - rows[map].top) / rows[map].height) * count);
      return place >= 0 && place < count ? place : null;
    },
    paint(theme, scene, width) {
      const now = `${width} ${window.devicePixelRatio} ${theme.key} ${scene.scale} ${scene.channel} ${scene.followed}`;
      if (now !== key) {
        [key, rows] = [now, placeRows(chosen, width, theme.size)];
        size = { width, height: sumHeights(chosen) * theme.size };
        paintBase(theme, scene);
      }
      const context = fitCanvas(canvas, size.width, size.height);
      context.drawImage(base, 0, 0, size.width, size.height);
      drawNow(context, theme, rows, scene);
    },
  };
}

/** Write a row's name before it, a word a line. */
function nameRow(context, theme, place, { name, role }) {
  name.forEach((word, k) => {
    const y = place.top + place.height / 2 + (k - (name.length - 1) / 2) * theme.size * 1.15;
    const look = { colour: role ? theme.words[role] : theme.ink, bold: true, scale: 0.92 };
    drawText(context, theme, word, 0, y, look);
  });
}

/** Round a step up to 1, 2 or 5 times a power of ten. */
export function chooseStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map((k) => k * power).find((step) => step >= least - 1e-9);
}

/** Write times under the rows: the first, the last and some between. */
function drawTimes(context, theme, row, { data, options }) {
  const y = row.top + row.height + theme.size * 0.9;
  const count = Math.max(1, Math.min(data.length - 1, Math.floor(row.width / (7 * theme.size))));
  const every = chooseStep((data.length - 1) / count);
  const start = (every - (options.first % every)) % every;
  for (let t = start; t < data.length; t += every) {
    const look = { align: "center", scale: 0.85, colour: theme.muted };
    drawText(context, theme, `${options.first + t}`, findMiddle(row, data.length, t), y, look);
  }
  drawText(context, theme, "time t", 0, y, { scale: 0.85, colour: theme.muted });
}

/** Dim what has not come yet, and mark now and the followed token. */
function drawNow(context, theme, rows, { data, followed, place }) {
  const [strip, last] = [rows[0], rows.at(-1)];
  const bottom = last.top + last.height;
  const now = findMiddle(strip, data.length, place);
  const edge = Math.min(now + strip.width / data.length / 2, strip.left + strip.width);
  context.fillStyle = theme.veil;
  const top = strip.isStrip ? rows[1].top : strip.top; // the tokens to come stay in sight
  context.fillRect(edge, top, strip.left + strip.width - edge, bottom - top);
  context.fillStyle = theme.ink;
  context.fillRect(Math.round(now) - 0.75, top - 4, 1.5, bottom - top + 4);
  if (strip.isStrip) { // a bracket over the token: a line would strike its word through
    const half = Math.max(strip.width / data.length / 2, 4);
    context.fillRect(now - half, strip.top - 2, 2 * half, 2);
  }
  if (followed === null) return;
  const x = findMiddle(strip, data.length, followed);
  [context.strokeStyle, context.lineWidth] = [theme.state, 1.5];
  context.setLineDash([4, 3]);
  context.strokeRect(x - Math.max(strip.width / data.length / 2, 3), strip.top, Math.max(strip.width / data.length, 6), bottom - strip.top);
  context.setLineDash([]);
}
