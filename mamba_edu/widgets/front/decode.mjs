// From the one buffer that Python sent to numbers by name and place.

const VIEWS = { int8: Int8Array, uint8: Uint8Array, uint16: Uint16Array, float32: Float32Array };
export const NO_NUMBER = -128; // the code of NaN and infinity among quantised values

/** Unpack the buffer: name -> { values, shape }. The view may start anywhere in its buffer. */
export function unpackArrays(view, layout) {
  const whole = view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);
  const unpacked = {};
  for (const [name, { dtype, shape, offset }] of Object.entries(layout)) {
    if (!VIEWS[dtype]) throw new Error(`array ${name} is of the unknown type ${dtype}`);
    const size = shape.reduce((product, side) => product * side, 1);
    unpacked[name] = { values: new VIEWS[dtype](whole, offset, size), shape };
  }
  return unpacked;
}

/** Turn a quantised value back: a code times its step. */
function restore(code, step) {
  return code === NO_NUMBER ? NaN : code * step;
}

/** Make what adds up a channel's step sizes behind a token; no difference of clocks loses digits.
 *
 * The sums of the last few tokens asked for are kept: a frame asks for one of them all the time.
 */
function makeElapsed({ values, shape }) {
  const [kept, length] = [new Map(), shape[1]];
  return (channel, s) => {
    const key = channel * length + s;
    if (kept.has(key)) return kept.get(key);
    const elapsed = new Float64Array(length);
    for (let t = s + 1; t < length; t++) elapsed[t] = elapsed[t - 1] + values[channel * length + t];
    if (kept.size > 32) kept.clear();
    kept.set(key, elapsed);
    return elapsed;
  };
}

/** Read a trajectory by (scale, channel, time, state); what survives follows from delta and A. */
export function makeTrajectory(arrays, scales) {
  const [nScales, nChannels, length, nStates] = arrays.states.shape;
  const elapsed = makeElapsed(arrays.delta);
  const rate = (channel, n) => arrays.rates.values[channel * nStates + n];
  const offset = (scale, channel) => (scale * nChannels + channel) * length;
  const survival = (scale, channel, s, t, n) => {
    if (t < s) return 0;
    return Math.exp(scales[scale] * rate(channel, n) * elapsed(channel, s)[t]);
  };
  const readState = (scale, channel, t, n) =>
    restore(
      arrays.states.values[(offset(scale, channel) + t) * nStates + n],
      arrays.state_step.values[scale * nChannels + channel],
    );
  return {
    nScales,
    nChannels,
    length,
    nStates,
    rate,
    survival,
    state: readState,
    codes: (scale, channel) =>
      arrays.states.values.subarray(
        offset(scale, channel) * nStates,
        (offset(scale, channel) + length) * nStates,
      ),
    quantum: (scale, channel) => arrays.state_step.values[scale * nChannels + channel],
    output: (scale, channel, t) =>
      restore(
        arrays.outputs.values[offset(scale, channel) + t],
        arrays.output_step.values[scale * nChannels + channel],
      ),
    outputStep: (scale, channel) => arrays.output_step.values[scale * nChannels + channel],
    inputStep: (channel) => arrays.input_step.values[channel],
    input: (channel, t) =>
      restore(arrays.inputs.values[channel * length + t], arrays.input_step.values[channel]),
    stepSize: (scale, channel, t) => scales[scale] * arrays.delta.values[channel * length + t],
    kind: (t) => arrays.kinds.values[t],
    remaining(scale, channel, s, t) {
      let sum = 0;
      for (let n = 0; n < nStates; n++) sum += survival(scale, channel, s, t, n);
      return sum / nStates;
    },
  };
}
