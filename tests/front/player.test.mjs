import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { makePlayer } from "../../mamba_edu/widgets/front/player.mjs";

let [waiting, now] = [[], 0];
globalThis.requestAnimationFrame = (call) => waiting.push(call);
globalThis.cancelAnimationFrame = () => (waiting = []);

/** Let time pass and show one frame. */
function showFrame(milliseconds) {
  now += milliseconds;
  const calls = waiting;
  waiting = [];
  calls.forEach((call) => call(now));
  return calls.length;
}

beforeEach(() => ([waiting, now] = [[], 0]));

/** Make a player that counts its frames. */
function count(options) {
  const frames = { count: 0 };
  const player = makePlayer({ length: 100, onFrame: () => frames.count++, ...options });
  return { player, frames };
}

test("many moves within a frame are drawn once", () => {
  const { player, frames } = count();
  for (let t = 0; t < 1000; t++) player.moveTo(t);
  assert.equal(showFrame(16), 1);
  assert.equal(frames.count, 1);
  assert.equal(player.at(), 99);
  assert.equal(showFrame(16), 0);
});

test("playing covers its speed in tokens a second and stops at the end", () => {
  const { player } = count({ speed: 40 });
  player.toggle();
  for (let k = 0; k < 11; k++) showFrame(100);
  assert.equal(player.at(), 40);
  for (let k = 0; k < 30; k++) showFrame(100);
  assert.equal(player.at(), 99);
  assert.equal(player.isPlaying, false);
  assert.equal(showFrame(100), 0);
});

test("play at the end begins anew; a hidden page does not leap", () => {
  const { player } = count({ start: 99, speed: 10 });
  player.toggle();
  assert.equal(player.at(), 0);
  showFrame(16);
  showFrame(60_000);
  assert.equal(player.at(), 2);
});

test("one token cannot play", () => {
  const { player } = count({ length: 1 });
  player.toggle();
  assert.equal(player.isPlaying, false);
});

test("without motion the cursor stands on tokens, with motion between them", () => {
  for (const isStill of [true, false]) {
    const { player } = count({ speed: 10, isStill });
    player.toggle();
    showFrame(0);
    showFrame(150);
    assert.equal(player.shown(), isStill ? 1 : 1.5);
    player.stop();
  }
});

test("after the end nothing is drawn", () => {
  const { player, frames } = count();
  player.moveTo(3);
  player.stop();
  player.moveTo(4);
  assert.equal(showFrame(16), 0);
  assert.equal(frames.count, 0);
});
