import assert from "node:assert/strict";
import { test } from "node:test";

import { drawColourBar, paintCodes } from "../../mamba_edu/widgets/front/draw.mjs";
import { drawStates } from "../../mamba_edu/widgets/front/rows.mjs";
import { drawSide } from "../../mamba_edu/widgets/front/side.mjs";
import { buildColourTable, parseColour } from "../../mamba_edu/widgets/front/theme.mjs";
import { makeTimeline, chooseRows } from "../../mamba_edu/widgets/front/timeline.mjs";
import { drawShape } from "../../mamba_edu/widgets/front/tokens.mjs";
import { findPicture, findWords, list, listFilled, makeContext, makeStubElement, makeTheme } from "./canvas_stub.mjs";
import { makeScene } from "./scene.mjs";

const THEME = makeTheme();
const BOX = { left: 20, top: 30, width: 300, height: 200 };

/** Tell whether a colour is warm: more red than blue. */
function isWarm([red, , blue]) {
  return red > blue;
}

/** Paint a scene's timeline, once or again; returns what it was painted on. */
function paintTimeline(scene, width = 800) {
  const canvas = makeStubElement("canvas");
  const timeline = makeTimeline(canvas, chooseRows(scene));
  timeline.paint(THEME, { place: 0, ...scene }, width);
  const context = canvas.getContext();
  const base = list(context, "drawImage")[0].args[0].getContext();
  return { timeline, context, base };
}

test("what is above 0 is warm, what is below cold, what is no number neither", () => {
  const canvas = paintCodes(Int8Array.of(127, 1, -1, -127, -128, -128), 3, 2, THEME, (row, column) => 2 * row + column);
  const colours = Array.from({ length: 6 }, (_, k) => [...canvas.image.data.subarray(4 * k, 4 * k + 3)]);
  assert.deepEqual(colours.slice(0, 4).map(isWarm), [true, true, false, false]);
  const known = new Set(THEME.table.map(String));
  assert.ok(colours.slice(4).every((rgb) => !known.has(String(rgb)) && new Set(rgb).size === 1));
  assert.notDeepEqual(colours[4], colours[5]);
});

test("the colour bar has the largest value and its warm colour on top", () => {
  const context = makeContext();
  drawColourBar(context, THEME, BOX, 4);
  const bars = list(context, "fillRect").toSorted((one, two) => one.args[1] - two.args[1]);
  assert.ok(isWarm(parseColour(bars[0].fillStyle)));
  assert.ok(!isWarm(parseColour(bars.at(-1).fillStyle)));
  assert.deepEqual(parseColour(bars[0].fillStyle), THEME.table.at(-1));
  assert.ok(findWords(context, "4").y < findWords(context, "0").y);
  assert.ok(findWords(context, "0").y < findWords(context, "−4").y);
});

test("the middle of the colours is near the paper: dark in the dark, light in the light", () => {
  for (const isDark of [true, false]) {
    const table = buildColourTable(isDark);
    const light = table.map(([red, green, blue]) => red + green + blue);
    assert.equal(light[127] < 200, isDark);
    assert.equal(light[127] > 600, !isDark);
    for (const end of [0, 254]) assert.equal(light[end] > light[127], isDark);
  }
});

test("the map has each state beside its name, and the bar ends at the largest code", () => {
  const scene = makeScene({ channel: 1 });
  const context = makeContext();
  drawStates(context, THEME, BOX, scene);
  const { rows, columns, pixel, top, height } = findPicture(context);
  assert.deepEqual([rows, columns], [2, 3]);
  scene.options.states.forEach((name, n) => {
    const row = Math.floor(((findWords(context, name).y - top) / height) * rows);
    for (let t = 0; t < 3; t++) {
      const code = scene.data.codes(0, 1)[2 * t + n];
      assert.deepEqual(pixel(row, t), THEME.table[127 + code]);
    }
  });
  assert.ok(findWords(context, "127").y < findWords(context, "−127").y); // 127 codes of 1 each
});

test("the panel has a channel a row and a state a column, all at the token shown", () => {
  const scene = makeScene({ channel: 1 });
  for (const t of [0, 1]) {
    const context = makeContext();
    drawSide(context, THEME, BOX, scene, t);
    const { rows, pixel, top, height } = findPicture(context);
    scene.options.channels.forEach((number, c) => {
      const row = Math.floor(((findWords(context, `${number}`).y - top) / height) * rows);
      const codes = [...scene.data.codes(0, c).subarray(2 * t, 2 * t + 2)];
      assert.deepEqual([pixel(row, 0), pixel(row, 1)], codes.map((code) => THEME.table[127 + code]));
    });
  }
});

/** Draw a turning state at a token: its path, and the dot where it stands. */
function drawTurn(t) {
  const turn = [[1, 0], [0, 1], [-1, 0], [0, -1]];
  const data = { length: 4, nChannels: 1, nStates: 2, quantum: () => 2 / 127, state: (scale, channel, k, n) => turn[k][n], input: () => 0 };
  const context = makeContext();
  const options = { mode: "phase", states: ["Re h", "Im h"], channels: [0] };
  drawSide(context, THEME, BOX, { data, options, scale: 0, channel: 0, followed: null }, t);
  const path = list(context, "stroke").find(({ strokeStyle, path: points }) => strokeStyle === THEME.state && points.length > t).path;
  const [x, y] = list(context, "arc").at(-1).args;
  return { path, x, y };
}

test("the phase path runs through both parts, from the first token to the one shown", () => {
  const [right, above, left, below] = [0, 1, 2, 3].map(drawTurn);
  assert.ok(right.x > above.x && above.x > left.x);
  assert.ok(above.y < right.y && right.y < below.y);
  for (const [axis, one, two] of [["x", above, below], ["y", right, left]]) assert.ok(Math.abs(one[axis] - two[axis]) < 1e-6);
  [right, above, left, below].forEach(({ path, x, y }, t) => {
    assert.equal(path.length, t + 1);
    assert.deepEqual(path.at(-1), [x, y]);
  });
});

/** Make a scene of one state over many tokens, the first of them not token 0. */
function makeLong(length, first) {
  const scene = makeScene();
  const data = { ...scene.data, length, nChannels: 1, nStates: 1, kind: () => 0, stepSize: () => 1, input: () => 1, output: () => 1, codes: () => new Int8Array(length) };
  return { ...scene, data, options: { ...scene.options, first, labels: Array(length).fill("") } };
}

test("times are written under their tokens, at round numbers of the whole sequence", () => {
  const scene = makeLong(40, 103);
  const { timeline, base } = paintTimeline(scene);
  const footer = findWords(base, "time t");
  const times = list(base, "fillText").filter(({ args: [words, , y] }) => y === footer.y && words !== "time t");
  assert.ok(times.length >= 3);
  for (const { args: [words, x] } of times) assert.equal(timeline.pick(x, 40), Number(words) - 103);
  assert.ok(times.filter(({ args: [words] }) => Number(words) % 5 === 0).length >= 2);
});

test("what has not come yet is veiled, and nothing else; the tokens stay in sight", () => {
  for (const place of [0, 1, 2]) {
    const scene = makeScene({ place });
    const { timeline, context, base } = paintTimeline(scene);
    const [veil, ...others] = listFilled(context, THEME.veil);
    assert.equal(others.length, 0);
    if (place === 2) assert.ok(veil.width < 1);
    else assert.equal(timeline.pick(veil.left + 1, 3), place + 1);
    assert.equal(timeline.pick(veil.left - 1, 3), place);
    assert.equal(timeline.pick(veil.left + veil.width - 1, 3), 2);
    assert.ok(veil.top > findWords(base, "token").y);
    assert.ok(veil.top < findWords(base, "h1").y && veil.top + veil.height > findWords(base, "h2").y);
  }
});

test("the picture beneath is drawn anew for a scale, a channel or a followed token, not for a time", () => {
  const scene = makeScene({ place: 0 });
  const { timeline, base } = paintTimeline(scene);
  const count = (changes, theme = THEME, width = 800) => {
    const before = list(base, "clearRect").length;
    timeline.paint(theme, Object.assign(scene, changes), width);
    return list(base, "clearRect").length - before;
  };
  assert.equal(count({}), 0);
  for (const changes of [{ scale: 1 }, { channel: 1 }, { followed: 0 }, { followed: 1 }, { followed: null }]) {
    assert.equal(count(changes), 1, JSON.stringify(changes));
    assert.equal(count({ place: 1.5, hovered: 1, pointed: [0, 1] }), 0);
    assert.equal(count({ place: 0, hovered: null, pointed: null }), 0);
  }
  assert.equal(count({}, makeTheme(true)), 1);
  assert.equal(count({}, makeTheme(true), 700), 1);
});

/** Measure the area that straight lines from corner to corner shut in. */
function measureArea(corners) {
  const parts = corners.map(([x, y], k) => {
    const [nextX, nextY] = corners[(k + 1) % corners.length];
    return x * nextY - nextX * y;
  });
  return Math.abs(parts.reduce((sum, part) => sum + part, 0)) / 2;
}

test("kinds of tokens have shapes of their own: a needle three corners, CLS a square", () => {
  const shapes = [0, 1, 2, 3, 4].map((kind) => {
    const context = makeContext();
    drawShape(context, THEME, kind, 50, 50, 10);
    return context;
  });
  const [end] = list(shapes[1], "fill");
  assert.equal(end.path.length, 3);
  assert.ok(measureArea(end.path) > 25);
  assert.deepEqual(shapes.map((context) => list(context, "arc").length), [1, 0, 1, 0, 1]);
  assert.deepEqual(list(shapes[3], "rect")[0].args.slice(2), [10, 10]);
  const [input, filler] = [shapes[0], shapes[2]].map((context) => list(context, "arc")[0].args[2]);
  assert.ok(filler < input);
  assert.deepEqual(shapes.map((context) => list(context, "fill").length), [1, 1, 1, 1, 0]); // padding is hollow
});
