import assert from "node:assert/strict";
import { test } from "node:test";

import { formatNumber, formatShare, makeHeight } from "../../mamba_edu/widgets/front/draw.mjs";
import { makeActions } from "../../mamba_edu/widgets/front/hands.mjs";
import { chooseSpeed, writeLegend, writeReading } from "../../mamba_edu/widgets/front/page.mjs";
import { findEnds } from "../../mamba_edu/widgets/front/rows.mjs";
import { chooseSide, measureFlow } from "../../mamba_edu/widgets/front/side.mjs";
import { buildColourTable, mixColours, parseColour } from "../../mamba_edu/widgets/front/theme.mjs";
import { chooseRows, chooseStep, placeRows } from "../../mamba_edu/widgets/front/timeline.mjs";
import { findMiddle, findToken, listKinds } from "../../mamba_edu/widgets/front/tokens.mjs";
import { makeScene } from "./scene.mjs";

test("numbers are written with three digits that count", () => {
  const written = [0, 1 / 3, -1234.5, 2e-7, 1e6, NaN, -Infinity].map(formatNumber);
  assert.deepEqual(written, ["0", "0.333", "−1230", "2.0e−7", "1.0e6", "not a number", "−∞"]);
});

test("a share is nothing or all only if it is", () => {
  const written = [0, 1e-9, 0.0123, 0.99999, 1, NaN].map(formatShare);
  assert.deepEqual(written, ["0 %", "under 0.1 %", "1.23 %", "over 99.9 %", "100 %", "not a number"]);
});

test("a row's ends lie within it, high values on top", () => {
  const height = makeHeight({ top: 10, height: 50 }, -1, 3);
  assert.equal(height(-1), 57);
  assert.equal(height(3), 13);
});

/** Tell how much more red than blue a colour is. */
function lean([red, , blue]) {
  return red - blue;
}

/** Choose the panel for a trajectory of this size. */
function choose(nChannels, nStates, mode) {
  return chooseSide({ data: { nChannels, nStates }, options: { mode } });
}

test("colours: 0 in the middle, both signs as strong, what is transparent is none", () => {
  for (const isDark of [true, false]) {
    const table = buildColourTable(isDark);
    assert.equal(table.length, 255);
    const [r, g, b] = table[127];
    assert.ok(Math.max(r, g, b) - Math.min(r, g, b) <= 2);
    for (const k of [1, 20, 64, 90]) assert.ok(lean(table[127 + k]) > 0 && lean(table[127 - k]) < 0);
  }
  assert.deepEqual(parseColour("rgb(1, 2, 3)"), [1, 2, 3]);
  assert.equal(parseColour("rgba(0, 0, 0, 0)"), null);
  assert.deepEqual(mixColours([0, 0, 0], [10, 20, 30], 0.5), [5, 10, 15]);
});

test("the token under a pointer is the one drawn there", () => {
  const row = { left: 50, width: 300 };
  for (let t = 0; t < 7; t++) assert.equal(findToken(row, 7, findMiddle(row, 7, t)), t);
  assert.equal(findToken(row, 7, 0), 0);
  assert.equal(findToken(row, 7, 999), 6);
});

test("rows lie one below the other; a strip that says nothing is left out", () => {
  const scene = makeScene();
  const rows = chooseRows(scene);
  const places = placeRows(rows, 800, 10);
  places.slice(1).forEach((place, k) => assert.ok(place.top >= places[k].top + places[k].height));
  const bare = { data: { length: 2, nStates: 1, kind: () => 0 }, options: { labels: ["", ""] } };
  assert.equal(chooseRows(bare).length, rows.length - 1);
  assert.deepEqual([0.3, 3, 4.2, 51, 1].map(chooseStep), [1, 5, 5, 100, 1]);
});

test("what is drawn follows the data", () => {
  assert.deepEqual(findEnds([3, NaN, -2, Infinity]), [-2, 3]);
  assert.deepEqual(listKinds(makeScene().data), [1, 2, 3]);
  const chosen = [choose(3, 2), choose(1, 4), choose(1, 1), choose(1, 2, "phase")];
  assert.deepEqual(chosen, ["channels", "bars", "bucket", "phase"]);
});

test("the reading says the true numbers, how exact they are, and what is left", () => {
  const scene = makeScene({ followed: 0 });
  assert.deepEqual(writeReading(scene, 1), [
    "t = 101 “b”",
    "Δ = 2",
    "x = 0.5 (± 0.125)",
    "largest h2 = 1.5 (± 0.25)",
    "y = −5 (± 0.5)",
    `left of token 100 “a”: ${formatShare((Math.exp(-2) + Math.exp(-1)) / 2)}`,
  ]);
  assert.equal(writeReading(makeScene({ followed: 2 }), 1).length, 5);
  assert.equal(writeReading(makeScene({ pointed: [1, 0] }), 1)[3], "channel 9, h1 = 8 (± 0.5)");
  assert.equal(writeReading(makeScene(), 2)[3], "h2 is not a number");
});

test("play lasts long enough to watch", () => {
  assert.deepEqual([1, 8, 80, 512, 1e5].map((length) => chooseSpeed(length, false)), [1, 1, 15, 60, 200]);
  assert.deepEqual([8, 512].map((length) => chooseSpeed(length, true)), [1, 4]);
});

test("a bucket gains by step times input and leaks only while its clock moves", () => {
  const scene = makeScene(); // steps 1, 2, 4 and inputs 0.25, 0.5, 0.75
  assert.deepEqual([0, 1, 2].map((t) => measureFlow(scene, t).pours), [0.25 / 3, 1 / 3, 1]);
  assert.equal(measureFlow(scene, 0).leaks, true);
  scene.data = { ...scene.data, stepSize: () => 0 };
  assert.deepEqual(measureFlow(scene, 1), { pours: 0, leaks: false });
});

test("the legend names each kind, by the tokens' own name where they share one", () => {
  const scene = makeScene();
  assert.equal(writeLegend(scene), "▲ needle   · filler   ■ CLS");
  scene.options.labels = ["plain", "marked", ""];
  assert.equal(writeLegend(scene), "▲ marked   · plain   ■ CLS");
});

test("each action changes one thing, stays in range and asks for a frame", () => {
  const scene = makeScene();
  const calls = [];
  const player = {
    isPlaying: false,
    redraw: () => calls.push("redraw"),
    moveTo: (t) => calls.push(t),
    toggle: (isPlaying) => calls.push(isPlaying),
  };
  const act = makeActions(scene, player);
  act.setScale(9);
  act.setChannel(-1);
  act.follow(1);
  assert.deepEqual([scene.scale, scene.channel, scene.followed], [1, 0, 1]);
  act.follow(1);
  assert.equal(scene.followed, null);
  act.hover(2, [0, 1]);
  assert.deepEqual([scene.hovered, scene.pointed], [2, [0, 1]]);
  act.moveTo(1);
  assert.equal(scene.hovered, null);
  assert.deepEqual(calls, [...Array(5).fill("redraw"), false, 1]);
  player.isPlaying = true;
  act.hover(0);
  assert.equal(scene.hovered, null);
});
