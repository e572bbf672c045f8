// A small scene for the tests: two scales, two channels, three tokens, two states.

import { makeTrajectory, unpackArrays } from "../../mamba_edu/widgets/front/decode.mjs";

/** Pack arrays as Python does, after `shift` bytes that are not theirs. */
export function pack(arrays, shift = 0) {
  const layout = {};
  let size = 0;
  for (const [name, { values, shape }] of Object.entries(arrays)) {
    layout[name] = { dtype: values.constructor.name.replace("Array", "").toLowerCase(), shape, offset: size };
    size += Math.ceil(values.byteLength / 8) * 8;
  }
  const bytes = new Uint8Array(shift + size);
  for (const [name, { values }] of Object.entries(arrays)) {
    bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), shift + layout[name].offset);
  }
  return { view: new DataView(bytes.buffer, shift, size), layout };
}

export const ARRAYS = {
  states: { values: Int8Array.from({ length: 24 }, (_, k) => (k === 5 ? -128 : k)), shape: [2, 2, 3, 2] },
  state_step: { values: Float32Array.of(0.5, 1, 2, 4), shape: [2, 2] },
  outputs: { values: Int8Array.from({ length: 12 }, (_, k) => k - 6), shape: [2, 2, 3] },
  output_step: { values: Float32Array.of(1, 2, 3, 4), shape: [2, 2] },
  inputs: { values: Int8Array.of(1, 2, 3, 4, 5, -128), shape: [2, 3] },
  input_step: { values: Float32Array.of(0.25, 0.5), shape: [2] },
  delta: { values: Float32Array.of(1, 2, 4, 0.5, 0.25, 0.125), shape: [2, 3] },
  rates: { values: Float32Array.of(-1, -0.5, -2, 0), shape: [2, 2] },
  kinds: { values: Uint8Array.of(2, 1, 3), shape: [3] },
};
export const SCALES = [1, 2];

/** Make the scene as the explorer makes it. */
export function makeScene(changes = {}) {
  const { view, layout } = pack(ARRAYS);
  const data = makeTrajectory(unpackArrays(view, layout), SCALES);
  const options = { first: 100, labels: ["a", "b", ""], states: ["h1", "h2"], channels: [7, 9] };
  return { data, options, scale: 0, channel: 0, followed: null, hovered: null, pointed: null, ...changes };
}
