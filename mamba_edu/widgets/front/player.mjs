// Time: where it stands, whether it runs, how fast. One frame, one call.

/** Make a player over tokens 0 .. length - 1.
 *
 * onFrame() is called once a frame while something changed; several moves within a frame are one.
 * With isStill (a reader who wants no motion) time jumps from token to token.
 */
export function makePlayer({ length, start = 0, speed = 30, isStill = false, onFrame }) {
  const player = { place: start, speed, isPlaying: false };
  let request = 0;
  let before = null;

  const ask = () => (request ||= requestAnimationFrame(run));
  function run(now) {
    request = 0;
    if (player.isPlaying) advance(now);
    onFrame();
    if (player.isPlaying) ask();
  }
  function advance(now) {
    const seconds = before === null ? 0 : Math.min((now - before) / 1000, 0.25);
    before = now;
    player.place = Math.min(player.place + seconds * player.speed, length - 1);
    if (player.place >= length - 1) player.isPlaying = false;
  }
  return Object.assign(player, {
    redraw: ask,
    at: () => Math.floor(player.place + 1e-9),
    shown: () => (isStill ? Math.floor(player.place + 1e-9) : player.place),
    moveTo(t) {
      player.place = Math.min(Math.max(Math.round(t), 0), length - 1);
      ask();
    },
    toggle(isPlaying = !player.isPlaying) {
      if (isPlaying && player.place >= length - 1) player.place = 0;
      player.isPlaying = isPlaying && length > 1;
      before = null;
      ask();
    },
    stop() {
      player.isPlaying = false;
      cancelAnimationFrame(request);
      request = -1; // nothing is drawn after the end
    },
  });
}
