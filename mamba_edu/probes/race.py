"""Three ways to the same prefixes: who is combined with whom in which round, and what it makes."""

import itertools
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

from mamba_edu._checks import check_alike, check_counts, check_finite, check_real, check_shapes
from mamba_edu.scan import combine_steps

LANES = ("sequential", "tree", "chunked")
TIGHT = 1e-12  # by which the lanes may differ, measured by the sum of all sizes

Span = tuple[int, int]  # first and last token of a stretch of time
Plan = list[list[tuple[int, int, int]]]  # rounds of (first, split, last): see Combination


class Combination(NamedTuple):
    """Two neighbouring stretches made into one by combine_steps.

    Fields:
        first, split, last: tokens first .. split-1 come first, then split .. last.
        keep, write: what the whole stretch does to a state: h -> keep h + write.
    """

    first: int
    split: int
    last: int
    keep: float
    write: float


def plan_sequential(length: int) -> Plan:
    """Plan the loop: each token is combined with all before it, one in a round."""
    check_counts(1, length=length)
    return [[(0, t, t)] for t in range(1, length)]


def plan_tree(length: int) -> Plan:
    """Plan the tree of accumulate_steps: neighbours up, then the tokens in between down.

    2 length - 2 - log2(length) combinations in 2 log2(length) - 1 rounds, for a power of 2 above 1.

    Source: Blelloch 1990, Prefix Sums and Their Applications, Section 1.3: the tree that is
    efficient in work. That of Hillis & Steele 1986 takes log2(length) rounds, and
    length log2(length) - length + 1 combinations.
    """
    check_counts(1, length=length)
    return _climb([(t, t) for t in range(length)])


def plan_chunked(length: int, chunk: int) -> Plan:
    """Plan the walk of scan_chunked: all chunks side by side, then chunk by chunk, then again.

    A first walk, each chunk from an empty state, finds what each does as a whole; those are handed
    on one by one; a second walk starts each chunk from what came before it. A single chunk is
    walked once. What a token does to an empty state, and the padding of the last chunk, is not
    counted.

    Raises:
        TypeError: if a size is no int.
        ValueError: if a size is below 1.
    """
    check_counts(1, length=length, chunk=chunk)
    starts = range(0, length, chunk)
    first = [[(s, s + k, s + k) for s in starts if s + k < length] for k in range(1, chunk)]
    hand_on = [[(0, s, s + chunk - 1)] for s in starts[1:-1]]
    second = [[(0, s + k, s + k) for s in starts if 0 < s + k < length] for k in range(chunk)]
    walks = [*first, *hand_on, *second] if len(starts) > 1 else second
    return [step for step in walks if step]


def run_plan(
    plan: Plan, keep: Float[Tensor, " length"], write: Float[Tensor, " length"]
) -> list[list[Combination]]:
    """Run a plan by combine_steps; a round uses only what earlier rounds have made.

    Args:
        plan: rounds of (first, split, last).
        keep, write: the step of each token.

    Raises:
        ValueError: if a round needs a stretch that is not there yet.
    """
    held = {(t, t): step for t, step in enumerate(zip(keep, write, strict=True))}
    rounds = []
    for number, planned in enumerate(plan, start=1):
        _require_held(planned, held, number)
        made = {
            (first, split, last): combine_steps(held[first, split - 1], held[split, last])
            for first, split, last in planned
        }
        held |= {(first, last): pair for (first, _, last), pair in made.items()}
        rounds.append([Combination(*span, *map(float, pair)) for span, pair in made.items()])
    return rounds


def race_scans(
    keep: Float[Tensor, " length"], write: Float[Tensor, " length"], chunk: int
) -> dict[str, list[list[Combination]]]:
    """Run the loop, the tree and the chunked scan on the same steps, round by round.

    Args:
        keep, write: the step of each token, h -> keep h + write, as in combine_steps.
        chunk: how many tokens a chunk has.

    Returns:
        For each of LANES its rounds. All end with the same states.

    Raises:
        TypeError: for anything but float32 or float64 tensors, or a chunk that is no int.
        ValueError: if shapes disagree, there is no token, a number is not finite, or the chunk is
            not 1 to length.
        ArithmeticError: if the lanes end with different states, as where numbers overflow.
    """
    check_real(keep=keep, write=write)
    check_alike(keep=keep, write=write)
    check_shapes(keep=(keep, "length"), write=(write, "length"))
    check_finite(keep=keep, write=write)
    length = len(keep)
    plans = (plan_sequential(length), plan_tree(length), plan_chunked(length, chunk))
    if chunk > length:
        raise ValueError(f"chunk must be 1 to {length}, the number of tokens; it is {chunk}")
    keep, write = keep.detach().double(), write.detach().double()
    lanes = {n: run_plan(p, keep, write) for n, p in zip(LANES, plans, strict=True)}
    sizes = run_plan(plans[0], keep.abs(), write.abs())
    allowed = TIGHT * find_states(sizes, write.abs())
    right = find_states(lanes["sequential"], write)
    for name, rounds in lanes.items():
        if not ((find_states(rounds, write) - right).abs() <= allowed).all():
            raise ArithmeticError(f"the {name} scan must end with the states of the loop")
    return lanes


def find_states(
    rounds: list[list[Combination]], write: Float[Tensor, " length"]
) -> Float[Tensor, " length"]:
    """Find the state after each token, from an empty start: what all up to it have written."""
    states = write.clone()
    for one in itertools.chain(*rounds):
        if one.first == 0:
            states[one.last] = one.write
    return states


def _require_held(planned: list[tuple[int, int, int]], held: dict, number: int) -> None:
    """Refuse to combine what no earlier round has made."""
    for first, split, last in planned:
        lost = [span for span in ((first, split - 1), (split, last)) if span not in held]
        if lost:
            raise ValueError(
                f"round {number} needs tokens {lost[0][0]} to {lost[0][1]} combined by an earlier "
                "one; they are not"
            )


def _climb(spans: list[Span]) -> Plan:
    """Plan one level of the tree and all above it; spans tile the sequence from token 0 on."""
    if len(spans) < 2:
        return []
    pairs = list(zip(spans[0::2], spans[1::2], strict=False))
    up = [(first, split, last) for (first, _), (split, last) in pairs]
    above = _climb([(first, last) for first, _, last in up])
    down = [(0, first, last) for first, last in spans[2::2]]
    return [up, *above, *([down] if down else [])]
