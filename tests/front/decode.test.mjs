import assert from "node:assert/strict";
import { test } from "node:test";

import { unpackArrays } from "../../mamba_edu/widgets/front/decode.mjs";
import { ARRAYS, makeScene, pack } from "./scene.mjs";

test("arrays come out as they went in, wherever their bytes begin", () => {
  for (const shift of [0, 3]) {
    const { view, layout } = pack(ARRAYS, shift);
    const unpacked = unpackArrays(view, layout);
    for (const [name, { values, shape }] of Object.entries(ARRAYS)) {
      assert.deepEqual(unpacked[name].values, values);
      assert.deepEqual(unpacked[name].shape, shape);
    }
  }
});

test("an unknown type is refused by name", () => {
  const layout = { odd: { dtype: "float64", shape: [1], offset: 0 } };
  assert.throws(() => unpackArrays(new DataView(new ArrayBuffer(8)), layout), /odd.*float64/);
});

test("each code is read at its own place and times its own step", () => {
  const { data } = makeScene();
  assert.equal(data.state(0, 0, 1, 1), 3 * 0.5);
  assert.equal(data.state(0, 1, 0, 1), 7 * 1);
  assert.equal(data.state(1, 0, 2, 0), 16 * 2);
  assert.equal(data.output(1, 1, 2), 5 * 4);
  assert.equal(data.input(0, 2), 3 * 0.25);
  assert.deepEqual([...data.codes(1, 1)], [18, 19, 20, 21, 22, 23]);
});

test("what is no number stays none", () => {
  const { data } = makeScene();
  assert.ok(Number.isNaN(data.state(0, 0, 2, 1)));
  assert.ok(Number.isNaN(data.input(1, 2)));
});

test("what survives is exp(scale A (clock t - clock s)), nothing before the token", () => {
  const { data } = makeScene();
  assert.equal(data.survival(0, 0, 1, 0, 0), 0);
  assert.equal(data.survival(0, 0, 1, 1, 0), 1);
  assert.equal(data.survival(0, 0, 0, 2, 0), Math.exp(-6));
  assert.equal(data.survival(1, 0, 0, 2, 1), Math.exp(-6));
  assert.equal(data.survival(1, 1, 0, 2, 0), Math.exp(2 * -2 * 0.375));
  assert.equal(data.survival(1, 1, 0, 2, 1), 1);
  assert.equal(data.remaining(0, 0, 0, 1), (Math.exp(-2) + Math.exp(-1)) / 2);
  assert.equal(data.stepSize(1, 1, 2), 0.25);
});
