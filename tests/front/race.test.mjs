import assert from "node:assert/strict";
import { test } from "node:test";

import { countUp, heldAfter, readRace } from "../../mamba_edu/widgets/front/lanes.mjs";
import { writeCell, writeRace } from "../../mamba_edu/widgets/front/race.mjs";
import { pickCell, pickRound, placeRace, wrapWords, writeCount } from "../../mamba_edu/widgets/front/race_view.mjs";

// Four tokens of keep 0.5 and write 1: the loop, a tree, and chunks of two that walk twice.
const SPANS = [
  [0, 1, 0, 1, 1], [0, 2, 0, 2, 2], [0, 3, 0, 3, 3],
  [1, 1, 0, 1, 1], [1, 1, 2, 3, 3], [1, 2, 0, 2, 3], [1, 3, 0, 2, 2],
  [2, 1, 0, 1, 1], [2, 1, 2, 3, 3], [2, 2, 0, 2, 2], [2, 3, 0, 1, 1], [2, 3, 0, 3, 3],
];

/** Compute what a stretch of equal steps does. */
function combine(count) {
  return [0.5 ** count, 2 - 0.5 ** (count - 1)];
}

/** Make the scene of the race. */
function makeRace(changes = {}) {
  const values = SPANS.flatMap(([, , first, , last]) => combine(last - first + 1));
  const options = { labels: ["a", "1", "2", "3"], start: 0, digits: 12 };
  options.lanes = [["sequential", 3, 1], ["tree", 3, 2], ["chunked", 3, 2]].map(([name, rounds, most]) => ({ name, rounds, most, how: "how" }));
  const arrays = {
    spans: { values: Uint16Array.from(SPANS.flat()), shape: [12, 5] },
    values: { values: Float32Array.from(values), shape: [12, 2] },
    steps: { values: Float32Array.from([0.5, 1, 0.5, 1, 0.5, 1, 0.5, 1]), shape: [4, 2] },
  };
  return { ...readRace(options, arrays), ...changes };
}

test("combinations are sorted into lanes and rounds", () => {
  const { lanes, most, length } = makeRace();
  assert.equal(most, 3);
  assert.equal(length, 4);
  assert.deepEqual(lanes.map((lane) => lane.made.map((round) => round.length)), [[1, 1, 1], [2, 1, 1], [2, 1, 2]]);
  assert.deepEqual(lanes[1].made[1], [{ first: 0, split: 2, last: 3, keep: 0.0625, write: 1.875 }]);
});

test("cells hold what they have taken in, and are ready when it is read", () => {
  const { lanes } = makeRace();
  const firsts = (lane, number) => heldAfter(lanes[lane], number).map((cell) => cell.first);
  const ready = (lane, number) => heldAfter(lanes[lane], number).map((cell) => cell.isReady);
  assert.deepEqual(firsts(0, 0), [0, 1, 2, 3]);
  assert.deepEqual(firsts(1, 1), [0, 0, 2, 2]);
  assert.deepEqual(firsts(1, 2), [0, 0, 2, 0]);
  assert.deepEqual(ready(1, 2), [true, true, false, true]);
  assert.deepEqual(ready(2, 1), [true, false, false, false]); // cell 1 is walked a second time
  for (const lane of [0, 1, 2]) {
    assert.deepEqual(firsts(lane, 99), [0, 0, 0, 0]);
    assert.deepEqual(ready(lane, 99), [true, true, true, true]);
    assert.deepEqual(heldAfter(lanes[lane], 3).map((cell) => cell.write), [1, 1.5, 1.75, 1.875]);
  }
});

test("rounds and operations are counted up", () => {
  const { lanes } = makeRace();
  assert.deepEqual(countUp(lanes[1], 0), { rounds: 0, operations: 0, now: 0, ready: 1, isOver: false });
  assert.deepEqual(countUp(lanes[1], 1), { rounds: 1, operations: 2, now: 2, ready: 2, isOver: false });
  assert.deepEqual(countUp(lanes[1], 7), { rounds: 3, operations: 4, now: 0, ready: 4, isOver: true });
  assert.equal(writeCount(lanes[1], 1), "1 round, 2 operations so far");
  assert.equal(writeCount(lanes[1], 3), "✓ through: 3 rounds, 4 operations");
});

test("the words say how the race stands, what a cell holds, and that all end alike", () => {
  assert.deepEqual(writeRace(makeRace({ number: 1 })), ["Round 1 of 3: sequential has 2 of 4 states, tree has 2 of 4 states, chunked has 1 of 4 states"]);
  const [, end] = writeRace(makeRace({ number: 3 }));
  assert.equal(end, "all three hold the same 4 states (computed in float64, equal to 12 digits)");
  const [, cell] = writeRace(makeRace({ number: 1, cell: 3 }));
  assert.equal(cell, "cell 3: sequential: its own step, h → 0.5 h + 1; tree: tokens 2 to 3, h → 0.25 h + 1.5; chunked: tokens 2 to 3, h → 0.25 h + 1.5");
  assert.equal(writeCell(makeRace().lanes[0], 3, 3), "sequential: h = 1.88, ready");
});

test("what is taken away is written so", () => {
  const lane = { name: "tree", rounds: 0, held: [[{ first: 0, keep: 0.5, write: -2, isReady: false }]] };
  assert.equal(writeCell(lane, 0, 0), "tree: its own step, h → 0.5 h − 2");
});

test("cells and rounds are found under the pointer, in every lane", () => {
  const scene = makeRace();
  for (const width of [320, 1200]) {
    const box = placeRace(width, 14, scene);
    for (const { cells, rounds } of box.lanes) {
      assert.equal(pickCell(box, scene, cells.left + 1, cells.top + 0.6 * cells.height), 2);
      assert.equal(pickRound(box, scene, cells.left + 1, cells.top + 0.6 * cells.height), null);
      assert.equal(pickRound(box, scene, rounds.left + 0.5 * rounds.width, rounds.top + 1), 2);
      assert.equal(pickRound(box, scene, rounds.left - 5, rounds.top + 1), 0);
      assert.equal(pickCell(box, scene, rounds.left + 1, rounds.top + 1), null);
      assert.ok(rounds.top + rounds.height < box.height && cells.left + cells.width < width);
    }
  }
});

/** Measure words by their letters. */
function measure(words) {
  return words.length;
}

test("words are broken into lines that fit", () => {
  assert.deepEqual(wrapWords("one two three", 7, measure), ["one two", "three"]);
  assert.deepEqual(wrapWords("immeasurable", 3, measure), ["immeasurable"]);
});
