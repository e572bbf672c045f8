// The lanes of a race: what each combines in each round, and what its cells then hold.

/** Sort what Python sent into lanes of rounds; in each, what every cell holds after every round. */
export function readRace(options, arrays) {
  const length = options.labels.length;
  const lanes = options.lanes.map((lane) => ({ ...lane, made: Array.from({ length: lane.rounds }, () => []) }));
  const [{ values: spans, shape }, { values }] = [arrays.spans, arrays.values];
  for (let k = 0; k < shape[0]; k++) {
    const [lane, number, first, split, last] = spans.subarray(5 * k, 5 * k + 5);
    lanes[lane].made[number - 1].push({ first, split, last, keep: values[2 * k], write: values[2 * k + 1] });
  }
  for (const lane of lanes) lane.held = followCells(lane.made, length, arrays.steps.values);
  return { options, length, lanes, most: Math.max(...lanes.map((lane) => lane.rounds)), number: options.start, part: 0, cell: null };
}

/** Follow what every cell holds: one row of cells for the start, and one after each round. */
export function followCells(made, length, steps) {
  const ends = new Map(made.flatMap((round, k) => round.map(({ last }) => [last, k])));
  let cells = Array.from({ length }, (_, t) => ({ first: t, keep: steps[2 * t], write: steps[2 * t + 1], isReady: t === 0 }));
  const held = [cells];
  made.forEach((round, k) => {
    cells = [...cells];
    for (const { first, last, keep, write } of round) cells[last] = { first, keep, write, isReady: ends.get(last) === k };
    held.push(cells);
  });
  return held;
}

/** Find what a lane holds after a round; one that is through holds what it has. */
export function heldAfter(lane, number) {
  return lane.held[Math.min(number, lane.rounds)];
}

/** Count what a lane has done up to a round. */
export function countUp(lane, number) {
  const done = lane.made.slice(0, number);
  return {
    rounds: done.length,
    operations: done.reduce((sum, round) => sum + round.length, 0),
    now: number > 0 && number <= lane.rounds ? lane.made[number - 1].length : 0,
    ready: heldAfter(lane, number).filter((cell) => cell.isReady).length,
    isOver: number >= lane.rounds,
  };
}
