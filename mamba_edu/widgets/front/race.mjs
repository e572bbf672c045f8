// The race: three scans on the same tokens, round by round, side by side.

import { guard, makeChoice, makeElement, makeRange } from "./controls.mjs";
import { unpackArrays } from "./decode.mjs";
import { fitCanvas, formatNumber } from "./draw.mjs";
import { countUp, heldAfter, readRace } from "./lanes.mjs";
import { drawLane, drawRounds, pickCell, pickRound, placeRace } from "./race_view.mjs";
import { buildStage, listMoves, nameToken, makeStageButtons, makeStagePlayer, openStage, tellStage } from "./stage.mjs";

const PACES = [0.5, 1, 2, 4]; // rounds a second
const RACE_HELP =
  "On the picture: → ← go on and back by a round, home and end go to the ends, ↑ ↓ choose a cell, space plays, F fills " +
  "the screen. A row is a cell; its bar runs from the first to the last token that it has taken in. Grey: its own step " +
  "alone. Hollow: a stretch that begins later than token 0, or is not yet read. Full, with ✓: the state is ready. " +
  "What is combined now has a gap where its two parts meet. An operation combines two stretches into one.";

/** Say what one cell of a lane holds. */
export function writeCell(lane, number, t) {
  const { first, keep, write, isReady } = heldAfter(lane, number)[t];
  if (isReady) return `${lane.name}: h = ${formatNumber(write)}, ready`;
  const tokens = first === t ? "its own step" : `tokens ${first} to ${t}`;
  return `${lane.name}: ${tokens}, h → ${formatNumber(keep)} h ${write < 0 ? "−" : "+"} ${formatNumber(Math.abs(write))}`;
}

/** Say how the race stands. */
export function writeRace({ options, lanes, length, most, number, cell }) {
  const counts = lanes.map((lane) => countUp(lane, number));
  const states = counts.map(({ ready, isOver }, k) => (isOver ? `${lanes[k].name} is through` : `${lanes[k].name} has ${ready} of ${length} states`));
  const parts = [`Round ${number} of ${most}: ${states.join(", ")}`];
  if (cell !== null) parts.push(`${nameToken(options, "cell", cell)}: ${lanes.map((lane) => writeCell(lane, number, cell)).join("; ")}`);
  else if (number >= most) parts.push(`all three hold the same ${length} states (computed in float64, equal to ${options.digits} digits)`);
  return parts;
}

/** Put the controls of the race into its bar. */
function buildRaceControls(stage, scene, player, act) {
  const { play, full } = makeStageButtons(stage, () => player.toggle());
  const move = makeRange("round", { max: scene.most, value: scene.number, read: (k) => `${k} of ${scene.most}` }, act.moveTo);
  const speed = makeChoice("speed", PACES.map((n) => `${n} ${n === 1 ? "round" : "rounds"}/s`), PACES.indexOf(player.speed), (k) => (player.speed = PACES[k]));
  const legend = makeElement("span", { className: "mamba-legend", textContent: "▪ own step   ▭ part of the tokens before   ▬ ✓ ready" });
  stage.bar.append(play, move.element, speed.element, legend, full);
  return { play, move };
}

/** Make the function that draws one frame. */
function makeRaceFrame(stage, scene, player, controls) {
  return () => {
    const width = Math.floor(stage.body.clientWidth);
    if (!width || !stage.theme) return;
    scene.number = player.at();
    scene.part = player.shown() - scene.number;
    const box = (stage.box = placeRace(width, stage.theme.size, scene));
    const context = fitCanvas(stage.canvas, width, box.height);
    scene.lanes.forEach((lane, k) => {
      drawLane(context, stage.theme, box.lanes[k], scene, lane);
      drawRounds(context, stage.theme, box.lanes[k], scene, lane);
    });
    const { isPlaying } = player;
    if (!tellStage(stage, { parts: writeRace(scene), value: scene.number, isPlaying })) return;
    controls.play.textContent = isPlaying ? "❚❚ Pause" : "▶ Play";
    controls.move.set(scene.number);
    const { number, cell } = scene;
    Object.assign(stage.root.dataset, { round: number, cell, playing: isPlaying });
  };
}

/** Make what changes the scene; each asks for one frame. */
function makeRaceActions(scene, player) {
  const choose = (cell) => {
    scene.cell = cell;
    player.redraw();
  };
  return {
    choose,
    step: (by) => choose(Math.min(Math.max((scene.cell ?? (by > 0 ? -1 : scene.length)) + by, 0), scene.length - 1)),
    moveTo(number) {
      player.toggle(false);
      player.moveTo(number);
    },
  };
}

/** Show the race in an element; returns how to take it away. */
function render({ model, el }) {
  const scene = readRace(model.get("options"), unpackArrays(model.get("data"), model.get("arrays")));
  const stage = buildStage(scene.options, { label: "round of the race. Arrows move on and back.", help: RACE_HELP, most: scene.most });
  stage.reading.style.minHeight = "2.8em"; // a chosen cell takes a second line
  const rounds = { length: scene.most + 1, start: scene.number, speed: 1, slow: 1 };
  const player = makeStagePlayer(rounds, () => frame());
  const act = makeRaceActions(scene, player);
  const frame = makeRaceFrame(stage, scene, player, buildRaceControls(stage, scene, player, act));
  const choose = (x, y) => act.choose(pickCell(stage.box, scene, x, y));
  const drag = (place, x, y) => (place.number === null ? choose(x, y) : act.moveTo(pickRound(stage.box, scene, x, y) ?? scene.number));
  const hands = {
    press(x, y) {
      const place = { number: pickRound(stage.box, scene, x, y) };
      drag(place, x, y);
      return place;
    },
    drag,
    hover: choose,
    leave: () => act.choose(null),
  };
  const keys = { ...listMoves(player, act.moveTo, scene.most + 1, 4), ArrowDown: () => act.step(1), ArrowUp: () => act.step(-1), Escape: () => act.choose(null) };
  return openStage(el, stage, player, { keys, hands });
}

export default { render: guard(render) };
