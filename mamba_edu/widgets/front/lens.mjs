// The lens: CLS is moved through the sequence, and what reaches it is drawn.

import { guard, makeButton, makeChoice, makeElement, makeRange } from "./controls.mjs";
import { unpackArrays } from "./decode.mjs";
import { fitCanvas, formatNumber } from "./draw.mjs";
import { drawLens, drawLensMap, findColumn, findRow, placeLens, tokenAt } from "./lens_view.mjs";
import { buildStage, listMoves, nameToken, makeStageButtons, makeStagePlayer, openStage, tellStage } from "./stage.mjs";

const PLACES = [1, 2, 4, 8]; // a second
const LENS_HELP =
  "On the picture: ← → move CLS (with shift by five), page up and down by five, home and end go to the ends, B lets the " +
  "blocks read one way or both, space plays, F fills the screen. Drag CLS, press a row of the map to put it there, or a bar to read it. A hollow circle is " +
  "exactly 0: no number of the token reaches CLS. Bars and colours are on a logarithmic scale, the same for every place.";

/** Read what Python sent into the scene of the lens. */
export function readLens(options, { values, shape }) {
  const [, nPlaces, length] = shape;
  const influence = (direction, place, token) => values[(direction * nPlaces + place) * length + token];
  const above = values.filter((value) => value > 0);
  const floor = above.reduce((least, value) => Math.min(least, value), Infinity);
  const top = above.reduce((most, value) => Math.max(most, value), 0);
  return {
    options,
    length,
    influence,
    floor: Math.max(Number.isFinite(floor) ? floor : 0.1, (top || 1) * 1e-9),
    top: top || 1,
    direction: options.start.direction,
    place: options.start.position,
    hovered: null,
  };
}

/** Say how many tokens CLS sees from where it stands. */
export function writeLens({ options, length, influence, direction, place, hovered }) {
  const sizes = Array.from({ length }, (_, token) => influence(direction, place, token));
  const hidden = sizes.filter((size) => size === 0).length;
  const sees = length - hidden;
  const are = hidden === 1 ? "is" : "are";
  const parts = [`CLS at ${place} of ${length} sees ${sees} token${sees === 1 ? "" : "s"}; ${hidden} ${are} exactly 0 (${options.directions[direction]})`];
  if (hovered === null) return parts;
  const size = sizes[hovered] === 0 ? "exactly 0" : formatNumber(sizes[hovered]);
  return [...parts, `${nameToken(options, "token", hovered)}: influence ${size}`];
}

/** Put the controls of the lens into its bar. */
function buildLensControls(stage, scene, player, act) {
  const { options, length } = scene;
  const { play, full } = makeStageButtons(stage, () => player.toggle());
  const move = makeRange("CLS behind", { max: length, value: scene.place, read: (p) => `${p} of ${length}` }, act.moveTo);
  const speed = makeChoice("speed", PLACES.map((n) => `${n} places/s`), Math.max(PLACES.indexOf(player.speed), 0), (k) => (player.speed = PLACES[k]));
  const turn = makeButton("", "Let the blocks read one way or both (B)", act.turn);
  const legend = makeElement("span", { className: "mamba-legend", textContent: "■ CLS   ○ exactly 0" });
  turn.style.minWidth = "16em"; // nothing beside it moves when its words change
  const turns = options.directions.length > 1 ? [turn] : [];
  stage.bar.append(play, ...turns, move.element, speed.element, legend, full);
  return { play, move, turn };
}

/** Make what changes the scene; each asks for one frame. */
function makeLensActions(scene, player) {
  const change = (changes) => {
    Object.assign(scene, changes);
    player.redraw();
  };
  return {
    change,
    turn: () => change({ direction: (scene.direction + 1) % scene.options.directions.length }),
    moveTo(place) {
      scene.hovered = null;
      player.toggle(false);
      player.moveTo(place);
    },
  };
}

/** Make the function that draws one frame; the map is drawn once for each look of it. */
function makeLensFrame(stage, scene, player, controls) {
  const base = document.createElement("canvas");
  let looked = "";
  return () => {
    const width = Math.floor(stage.body.clientWidth);
    if (!width || !stage.theme) return;
    scene.place = player.at();
    const box = (stage.box = placeLens(width, stage.theme.size, scene.length));
    const look = `${width} ${window.devicePixelRatio} ${stage.theme.key} ${scene.direction}`;
    if (looked !== look) drawLensMap(fitCanvas(base, width, box.height), stage.theme, box, scene);
    looked = look;
    const context = fitCanvas(stage.canvas, width, box.height);
    context.drawImage(base, 0, 0, width, box.height);
    drawLens(context, stage.theme, box, scene);
    const { isPlaying } = player;
    if (!tellStage(stage, { parts: writeLens(scene), value: scene.place, isPlaying })) return;
    controls.play.textContent = isPlaying ? "❚❚ Pause" : "▶ Play";
    controls.move.set(scene.place);
    controls.turn.textContent = `Blocks read: ${scene.options.directions[scene.direction]} ⇄`;
    const { place, direction } = scene;
    Object.assign(stage.root.dataset, { place, direction, playing: isPlaying });
  };
}

/** Show the lens in an element; returns how to take it away. */
function render({ model, el }) {
  const scene = readLens(model.get("options"), unpackArrays(model.get("data"), model.get("arrays")).influence);
  const stage = buildStage(scene.options, { label: "tokens before CLS. Arrows move it.", help: LENS_HELP, most: scene.length });
  const places = { length: scene.length + 1, start: scene.place, speed: 4, slow: 1 };
  const player = makeStagePlayer(places, () => frame());
  const act = makeLensActions(scene, player);
  const frame = makeLensFrame(stage, scene, player, buildLensControls(stage, scene, player, act));
  const hover = (x, y) => act.change({ hovered: tokenAt(stage.box, scene, x, y) });
  const drag = (row, x, y) => (row === "bars" ? hover(x, y) : act.moveTo(findColumn(stage.box, row, x, y)));
  const hands = {
    press(x, y) {
      const row = findRow(stage.box, scene, x, y);
      drag(row, x, y);
      return row;
    },
    drag,
    hover,
    leave: () => act.change({ hovered: null }),
  };
  const moves = listMoves(player, act.moveTo, scene.length + 1, 5);
  const keys = { ...moves, ArrowDown: moves.ArrowRight, ArrowUp: moves.ArrowLeft, b: act.turn };
  return openStage(el, stage, player, { keys, hands });
}

export default { render: guard(render) };
