import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { listen, makeActions } from "../../mamba_edu/widgets/front/hands.mjs";
import { buildControls, buildPage, tell, writeReading } from "../../mamba_edu/widgets/front/page.mjs";
import { drawSide } from "../../mamba_edu/widgets/front/side.mjs";
import { pressStageKey, tellStage } from "../../mamba_edu/widgets/front/stage.mjs";
import { chooseRows, makeTimeline, placeRows } from "../../mamba_edu/widgets/front/timeline.mjs";
import { findMiddle } from "../../mamba_edu/widgets/front/tokens.mjs";
import { makeContext, makeStubElement, makeTheme } from "./canvas_stub.mjs";
import { makeScene } from "./scene.mjs";

const THEME = makeTheme();
let [scene, page, player, said, row] = [];

/** Make a player that stands where it is put. */
function makeStill() {
  const still = { place: 0, speed: 1, isPlaying: false, redraw() {}, at: () => still.place };
  still.moveTo = (t) => (still.place = Math.min(Math.max(t, 0), 2));
  still.toggle = (isPlaying = !still.isPlaying) => (still.isPlaying = isPlaying);
  return still;
}

beforeEach(() => {
  scene = makeScene({ place: 0 });
  Object.assign(scene.options, { title: "Title", caption: "Caption.", notice: "", scale_labels: ["1×", "2×"] });
  [page, player, said] = [buildPage(scene), makeStill(), []];
  page.sideBox = drawSide(makeContext(), THEME, { left: 0, top: 0, width: 200, height: 300 }, scene, 0);
  page.act = makeActions(scene, player);
  const rows = chooseRows(scene);
  const timeline = makeTimeline(page.timeline, rows);
  timeline.paint(THEME, scene, 800);
  [row] = placeRows(rows, 800, THEME.size);
  page.close = listen(page, scene, player, page.act, timeline);
});

/** Press a key on an element; returns what became of the event. */
function press(key, target, more = {}) {
  const done = [];
  const event = { key, target, stopPropagation: () => done.push("stopped"), preventDefault: () => done.push("prevented"), ...more };
  page.root.hear("keydown", event);
  return done;
}

/** Point at a token of the timeline, some dots beside its middle. */
function point(name, t, beside = 0) {
  const x = findMiddle(row, 3, t) + beside;
  page.timeline.hear(name, { button: 0, offsetX: x, offsetY: 40, clientX: x, clientY: 40, pointerId: 1, pointerType: "mouse" });
}

/** Press the panel in the middle of a channel's state. */
function pressPanel(c, n) {
  const { left, top, width, height } = page.sideBox;
  page.side.hear("pointerdown", { offsetX: left + ((n + 0.5) * width) / 2, offsetY: top + ((c + 0.5) * height) / 2 });
}

test("keys of the browser and the system are left to them", () => {
  for (const held of ["ctrlKey", "altKey", "metaKey"]) {
    for (const key of ["ArrowRight", "f", "+", "Enter", "End"]) assert.deepEqual(press(key, page.timeline, { [held]: true }), []);
  }
  assert.deepEqual([player.place, scene.scale, scene.followed], [0, 0, null]);
});

test("a key that does something does it alone: the notebook does not hear it", () => {
  assert.deepEqual(press("ArrowRight", page.timeline).toSorted(), ["prevented", "stopped"]);
  assert.equal(player.place, 1);
  press("ArrowDown", page.timeline);
  press("+", page.timeline);
  press("Enter", page.timeline);
  assert.deepEqual([scene.channel, scene.scale, scene.followed], [1, 1, 1]);
});

test("keys on a control stay the control's, and the notebook does not hear them either", () => {
  assert.deepEqual(press("ArrowRight", makeStubElement("input")), ["stopped"]);
  assert.equal(player.place, 0);
});

test("a press in the panel chooses the channel there, whichever its state", () => {
  for (const [c, n] of [[1, 0], [0, 1], [1, 1], [0, 0]]) {
    pressPanel(c, n);
    assert.equal(scene.channel, c);
  }
  scene.channel = 1;
  pressPanel(-2, 0);
  assert.equal(scene.channel, 1);
});

test("a press follows the token, a drag moves through time and follows none", () => {
  point("pointerdown", 1);
  point("pointermove", 1, 2); // a hand is never quite still
  point("pointerup", 1, 2);
  assert.deepEqual([scene.followed, player.place], [1, 1]);
  point("pointerdown", 0);
  point("pointermove", 1);
  point("pointermove", 2);
  assert.equal(player.place, 2);
  point("pointerup", 2);
  assert.equal(scene.followed, 1);
  point("pointermove", 0);
  assert.deepEqual([scene.hovered, player.place], [0, 2]); // the hand has let go
});

test("what is taken away hears nothing more", () => {
  page.close();
  press("ArrowRight", page.timeline);
  point("pointerdown", 2);
  assert.equal(player.place, 0);
});

test("each number of the reading is the shown channel's, at the shown scale", () => {
  const parts = writeReading(makeScene({ channel: 1, scale: 1 }), 1).map((words) => words.split(" (")[0]); // without how exact it is
  assert.deepEqual(parts, ["t = 101 “b”", "Δ = 0.5", "x = 2.5", "largest h2 = 84", "y = 16"]);
  assert.equal(makeScene().data.input(1, 0), 2);
});

test("the voice is silent while time runs, and says the reading when it stands", () => {
  const controls = buildControls(page, scene, player, page.act);
  const voice = { say: (words) => said.push(words) };
  player.isPlaying = true;
  for (const t of [0, 1]) tell(page, controls, scene, player, t, voice);
  assert.deepEqual(said, []);
  assert.equal(page.root.dataset.t, 1);
  player.isPlaying = false;
  tell(page, controls, scene, player, 1, voice);
  assert.equal(said.length, 1);
  assert.ok(said[0].includes("x = 0.5"));
  tell(page, controls, scene, player, 1, voice);
  assert.equal(said.length, 1); // nothing has changed
});

test("a stage is silent while it plays, and leaves keys alone that are not its own", () => {
  const stage = { reading: makeStubElement("p"), canvas: makeStubElement("canvas"), voice: { say: (words) => said.push(words) }, told: "" };
  tellStage(stage, { parts: ["one"], value: 1, isPlaying: true });
  assert.deepEqual(said, []);
  tellStage(stage, { parts: ["two", "three"], value: 2, isPlaying: false });
  assert.deepEqual(said, ["two, three"]);
  const done = [];
  const event = { key: "b", target: stage.canvas, stopPropagation: () => done.push("stopped"), preventDefault: () => done.push("prevented") };
  const keys = { b: () => done.push("turned") };
  for (const held of ["ctrlKey", "altKey", "metaKey"]) pressStageKey({ ...event, [held]: true }, stage, keys);
  assert.deepEqual(done, []);
  pressStageKey(event, stage, keys);
  assert.deepEqual(done.toSorted(), ["prevented", "stopped", "turned"]);
});
