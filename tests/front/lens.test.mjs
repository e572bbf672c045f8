import assert from "node:assert/strict";
import { test } from "node:test";

import { readLens, writeLens } from "../../mamba_edu/widgets/front/lens.mjs";
import { columnOf, findColumn, findRow, listPowers, listRuns, measureShare, placeLens, tokenAt } from "../../mamba_edu/widgets/front/lens_view.mjs";
import { listMoves, nameToken, pressStageKey } from "../../mamba_edu/widgets/front/stage.mjs";
import { findMiddle } from "../../mamba_edu/widgets/front/tokens.mjs";

/** Make the scene of a lens over three tokens: causal, then bidirectional. */
function makeLens(start = { position: 2, direction: 0 }) {
  const causal = [0, 0, 0, 1, 0, 0, 0.1, 1, 0, 0.01, 0.1, 1];
  const values = Float32Array.from([...causal, ...causal.map((size) => size || 0.5)]);
  const options = { labels: ["a", "b", "2"], directions: ["causal", "bidirectional"], start };
  return readLens(options, { values, shape: [2, 4, 3] });
}

test("influence is read by direction, place and token", () => {
  const { influence } = makeLens();
  assert.equal(influence(0, 1, 0), 1);
  assert.equal(influence(0, 1, 1), 0);
  assert.equal(influence(1, 1, 1), 0.5);
  assert.equal(influence(0, 3, 0), Math.fround(0.01));
});

test("the words count what CLS sees and what is exactly 0", () => {
  const scene = makeLens();
  assert.deepEqual(writeLens(scene), ["CLS at 2 of 3 sees 2 tokens; 1 is exactly 0 (causal)"]);
  Object.assign(scene, { place: 1, hovered: 2 });
  assert.deepEqual(writeLens(scene), ["CLS at 1 of 3 sees 1 token; 2 are exactly 0 (causal)", "token 2: influence exactly 0"]);
  Object.assign(scene, { direction: 1, hovered: 1 });
  assert.deepEqual(writeLens(scene), ["CLS at 1 of 3 sees 3 tokens; 0 are exactly 0 (bidirectional)", "token 1 “b”: influence 0.5"]);
});

test("a map of nothing but zeros has a scale all the same", () => {
  const options = { labels: ["a"], directions: ["causal"], start: { position: 0, direction: 0 } };
  const scene = readLens(options, { values: new Float32Array(2), shape: [1, 2, 1] });
  assert.ok(scene.floor > 0 && scene.top >= scene.floor);
  assert.deepEqual(writeLens(scene), ["CLS at 0 of 1 sees 0 tokens; 1 is exactly 0 (causal)"]);
});

test("the smallest size above 0 is still told from 0, and shares grow with sizes", () => {
  const scene = makeLens();
  const shares = [scene.floor / 10, scene.floor, 0.1, scene.top].map((size) => measureShare(size, scene));
  assert.ok(shares[0] > 0.1 && shares[0] === shares[1]);
  assert.ok(shares[1] < shares[2] && shares[2] < shares[3]);
  assert.equal(shares[3], 1);
  assert.equal(measureShare(2, { floor: 2, top: 2 }), 1);
});

test("a tiny size does not stretch the scale without end", () => {
  const options = { labels: ["a", "b"], directions: ["causal"], start: { position: 2, direction: 0 } };
  const scene = readLens(options, { values: Float32Array.of(0, 0, 1, 0, 1e-37, 1), shape: [1, 3, 2] });
  assert.equal(scene.floor, 1e-9);
  assert.equal(writeLens(scene)[0], "CLS at 2 of 2 sees 2 tokens; 0 are exactly 0 (causal)");
});

test("tokens make room for CLS wherever it stands", () => {
  const box = placeLens(1000, 15, 3);
  for (let place = 0; place <= 3; place++) {
    const columns = [0, 1, 2].map((token) => columnOf(place, token));
    assert.deepEqual([...columns, place].toSorted(), [0, 1, 2, 3]);
    for (let token = 0; token < 3; token++) {
      assert.equal(tokenAt(box, { place }, findMiddle(box.strip, 4, columns[token]), 20), token);
    }
    assert.equal(tokenAt(box, { place }, findMiddle(box.strip, 4, place), 20), null);
    assert.equal(tokenAt(box, { place }, box.strip.left - 1, 20), null);
  }
});

test("CLS follows the hand along the strip and down the map, and a bar is read", () => {
  const box = placeLens(1000, 15, 3);
  const x = findMiddle(box.strip, 4, 3);
  assert.equal(findColumn(box, "strip", x, 0), 3);
  assert.equal(findColumn(box, "strip", -50, 0), 0);
  assert.equal(findColumn(box, "map", 0, box.map.top + 0.6 * box.map.height), 2);
  assert.equal(findColumn(box, "map", 0, box.height + 99), 3);
  const scene = { place: 0 };
  assert.equal(findRow(box, scene, x, box.strip.top + 1), "strip");
  assert.equal(findRow(box, scene, x, box.bars.top + 1), "bars");
  assert.equal(findRow(box, scene, findMiddle(box.strip, 4, 0), box.bars.top + 1), "strip");
  assert.equal(findRow(box, scene, x, box.map.top + 1), "map");
});

test("rows lie one below the other, at any width and length", () => {
  for (const [width, length] of [[300, 24], [1000, 1], [1400, 128]]) {
    const { strip, bars, map, height } = placeLens(width, 14, length);
    assert.ok(strip.top + strip.height <= bars.top && bars.top + bars.height < map.top && map.top + map.height < height);
    assert.ok(strip.left + strip.width < width);
  }
});

test("runs of zeros and powers of ten are listed", () => {
  assert.deepEqual(listRuns([0, 1, 0, 0, 2, 0]), [[0, 0], [2, 3], [5, 5]]);
  assert.deepEqual(listRuns([1]), []);
  assert.deepEqual(listPowers(0.005, 20), [10, 1, 0.1, 0.01]);
  assert.ok(listPowers(1e-9, 1).length <= 5);
  assert.deepEqual(listPowers(0.3, 0.4), [0.4]);
});

test("keys move a player, with shift by more; letters work from anywhere", () => {
  const player = { at: () => 7, toggle: () => "played" };
  const moved = [];
  const keys = listMoves(player, (place) => moved.push(place), 20, 5);
  for (const isLarge of [false, true]) {
    keys.ArrowRight(isLarge);
    keys.ArrowLeft(isLarge);
  }
  for (const name of ["PageUp", "PageDown", "Home", "End"]) keys[name]();
  assert.deepEqual(moved, [8, 6, 12, 2, 12, 2, 0, 19]);
  assert.equal(keys[" "](), "played");

  const [canvas, input] = [{}, {}];
  const done = [];
  const press = (key, target, more = {}) =>
    pressStageKey({ key, target, stopPropagation() {}, preventDefault: () => done.push(key), ...more }, { canvas }, { b() {}, ArrowLeft() {} });
  press("B", input);
  press("ArrowLeft", input);
  press("ArrowLeft", canvas);
  press("b", canvas, { ctrlKey: true });
  press("x", canvas);
  assert.deepEqual(done, ["B", "ArrowLeft"]);
});

test("a label is said where it says more than the number", () => {
  assert.equal(nameToken({ labels: ["a"] }, "token", 0), "token 0 “a”");
  assert.equal(nameToken({ labels: ["0"] }, "token", 0), "token 0");
  assert.equal(nameToken({ labels: [""] }, "cell", 0), "cell 0");
});
