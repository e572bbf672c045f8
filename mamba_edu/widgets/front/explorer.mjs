// The hidden-state explorer: every view shows one scene; a change asks for one frame.

import { guard, makeVoice } from "./controls.mjs";
import { makeTrajectory, unpackArrays } from "./decode.mjs";
import { fitCanvas } from "./draw.mjs";
import { listen, makeActions } from "./hands.mjs";
import { buildControls, buildPage, chooseSpeed, tell } from "./page.mjs";
import { makePlayer } from "./player.mjs";
import { SIDE_TALL, drawSide } from "./side.mjs";
import { readTheme, watchTheme } from "./theme.mjs";
import { chooseRows, makeTimeline, sumHeights } from "./timeline.mjs";

const NARROW = 46; // under so many letters' sizes the panel stands below

/** Read what Python sent into the one scene that all views show. */
function readScene(model) {
  const options = model.get("options");
  const arrays = unpackArrays(model.get("data"), model.get("arrays"));
  const data = makeTrajectory(arrays, options.scales);
  const { t, scale, channel, followed } = options.start;
  return { data, options, scale, channel, followed, hovered: null, pointed: null, place: t };
}

/** Make the function that draws one frame of a scene onto its page. */
function makeFrame(page, scene, player, controls, voice) {
  const rows = chooseRows(scene);
  const timeline = makeTimeline(page.timeline, rows);
  const frame = { timeline, theme: null };
  frame.draw = () => {
    const width = page.body.clientWidth;
    if (!width || !frame.theme) return; // not on the page yet: its observer asks again
    const { size } = frame.theme;
    const t = scene.hovered ?? player.at();
    scene.place = scene.hovered ?? player.shown();
    const isNarrow = width < NARROW * size;
    page.body.classList.toggle("mamba-narrow", isNarrow);
    const box = { left: 0, top: 0, width: isNarrow ? width : 17 * size, height: Math.min(sumHeights(rows), isNarrow ? 18 : SIDE_TALL) * size };
    timeline.paint(frame.theme, scene, Math.floor(isNarrow ? width : width - box.width - size));
    const context = fitCanvas(page.side, box.width, box.height);
    page.sideBox = drawSide(context, frame.theme, box, scene, t);
    tell(page, controls, scene, player, t, voice);
  };
  return frame;
}

/** Make the player of a scene; a reader who wants no motion gets steps, and slow ones. */
function makeScenePlayer({ data, place }, onFrame) {
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  return makePlayer({ length: data.length, start: place, speed: chooseSpeed(data.length, isStill), isStill, onFrame });
}

/** Show the explorer in an element; returns how to take it away. */
function render({ model, el }) {
  const scene = readScene(model);
  const page = buildPage(scene);
  el.append(page.root);
  const player = makeScenePlayer(scene, () => frame.draw());
  const act = makeActions(scene, player);
  const voice = makeVoice(page.live);
  const frame = makeFrame(page, scene, player, buildControls(page, scene, player, act), voice);
  const restyle = () => {
    frame.theme = readTheme(page.root);
    player.redraw();
  };
  const observer = new ResizeObserver(restyle);
  observer.observe(page.root);
  restyle();
  if (scene.options.autoplay) act.toggle(true);
  const stops = [watchTheme(restyle), listen(page, scene, player, act, frame.timeline), voice.stop, player.stop];
  return () => {
    observer.disconnect();
    stops.forEach((stop) => stop());
    page.root.remove();
  };
}

export default { render: guard(render) };
