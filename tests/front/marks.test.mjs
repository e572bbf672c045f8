import assert from "node:assert/strict";
import { test } from "node:test";

import { readRace } from "../../mamba_edu/widgets/front/lanes.mjs";
import { readLens } from "../../mamba_edu/widgets/front/lens.mjs";
import { drawLens, drawLensMap, findColumn, placeLens, tokenAt } from "../../mamba_edu/widgets/front/lens_view.mjs";
import { drawRounds, placeRace } from "../../mamba_edu/widgets/front/race_view.mjs";
import { findWords, list, listFilled, makeContext, makeTheme } from "./canvas_stub.mjs";

const THEME = makeTheme();

/** Make the scene of a causal lens: nothing behind CLS reaches it. */
function makeLens(length) {
  const values = Float32Array.from({ length: (length + 1) * length }, (_, k) => (k % length < Math.floor(k / length) ? 1 / (k + 1) : 0));
  const options = { labels: Array.from({ length }, (_, s) => `${s}`), directions: ["causal"], start: { position: 0, direction: 0 } };
  return readLens(options, { values, shape: [1, length + 1, length] });
}

test("tokens that are exactly 0 have a circle, the others a bar", () => {
  const scene = makeLens(4);
  const box = placeLens(1000, THEME.size, 4);
  const { top, height } = box.bars;
  for (const place of [0, 1, 2, 3, 4]) {
    const [context, shown] = [makeContext(), { ...scene, place }];
    drawLens(context, THEME, box, shown);
    const circles = list(context, "arc").map(({ args }) => args).filter(([, y]) => y > top && y < top + height + 1);
    const bars = listFilled(context, THEME.state).filter((bar) => bar.height > 1);
    const marked = circles.map(([x, y]) => tokenAt(box, shown, x, y));
    const measured = bars.map((bar) => tokenAt(box, shown, bar.left + bar.width / 2, bar.top));
    assert.deepEqual(marked, [0, 1, 2, 3].slice(place));
    assert.deepEqual(measured, [0, 1, 2, 3].slice(0, place));
  }
});

test("each cell of the map that is exactly 0 is marked, and no other", () => {
  const scene = makeLens(4);
  const box = placeLens(1000, THEME.size, 4);
  const context = makeContext();
  drawLensMap(context, THEME, box, scene);
  const found = list(context, "arc").map(({ args: [x, y] }) => {
    const place = findColumn(box, "map", x, y);
    return `${place} ${tokenAt(box, { place }, x, y)}`;
  });
  const zeros = ["0 0", "0 1", "0 2", "0 3", "1 1", "1 2", "1 3", "2 2", "2 3", "3 3"];
  assert.deepEqual(found.toSorted(), zeros);
});

test("where there is no room for circles the zeros of the map are dots", () => {
  const scene = makeLens(100);
  const context = makeContext();
  drawLensMap(context, THEME, placeLens(400, THEME.size, 100), scene);
  const dots = listFilled(context, THEME.muted).filter(({ width, height }) => width < 2 && height < 2);
  assert.equal(list(context, "arc").length + dots.length, (101 * 100) / 2);
});

test("the bars of rounds are as tall as their operations; those to come are pale", () => {
  const options = { labels: ["a", "b", "c", "d"], start: 0, digits: 12, lanes: [{ name: "tree", rounds: 2, most: 2, how: "how" }] };
  const arrays = {
    spans: { values: Uint16Array.of(0, 1, 0, 1, 1, 0, 1, 2, 3, 3, 0, 2, 0, 2, 3), shape: [3, 5] },
    values: { values: new Float32Array(6), shape: [3, 2] },
    steps: { values: new Float32Array(8), shape: [4, 2] },
  };
  const scene = { ...readRace(options, arrays), number: 1 };
  const context = makeContext();
  const { lanes: [place] } = placeRace(1000, THEME.size, scene);
  drawRounds(context, THEME, place, scene, scene.lanes[0]);
  const [first, second] = listFilled(context, THEME.step);
  assert.ok(first.left + first.width <= second.left);
  assert.ok(Math.abs(first.height - 2 * second.height) < 1e-6);
  assert.ok(Math.abs(first.top + first.height - second.top - second.height) < 1e-6);
  assert.ok(first.globalAlpha === 1 && second.globalAlpha < 0.5);
  assert.ok(findWords(context, "2").y < findWords(context, "1").y);
});
