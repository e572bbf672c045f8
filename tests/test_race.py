"""The race's plans against the scans themselves: the same pairs, as many, and the same states."""

import pytest
import torch
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode

from mamba_edu.probes import (
    LANES,
    find_states,
    plan_chunked,
    plan_sequential,
    plan_tree,
    race_scans,
    run_plan,
)
from mamba_edu.scan import accumulate_steps, parallel
from mamba_edu.scan._chunks import fold, list_steps, run_steps, start_chunks

LENGTHS = [1, 2, 3, 7, 8, 13, 16]


def draw_steps_of(length):
    rng = torch.Generator().manual_seed(length)
    keep = torch.rand(length, generator=rng, dtype=torch.float64)
    return keep, torch.randn(length, generator=rng, dtype=torch.float64)


def run_loop(keep, write):
    h, states = torch.tensor(0.0, dtype=torch.float64), []
    for keep_t, write_t in zip(keep, write, strict=True):
        h = keep_t * h + write_t
        states.append(h)
    return torch.stack(states)


def count(plan):
    return [len(planned) for planned in plan]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("chunk", [1, 2, 4, 5, 16])
def test_every_lane_ends_with_the_states_of_the_loop(length, chunk):
    keep, write = draw_steps_of(length)
    lanes = race_scans(keep, write, min(chunk, length))
    assert tuple(lanes) == LANES
    for rounds in lanes.values():
        assert_close(find_states(rounds, write), run_loop(keep, write), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("length", LENGTHS)
def test_the_tree_is_that_of_the_parallel_scan(length, monkeypatch):
    """As many combinations in as many rounds as accumulate_steps really makes."""
    made, combine = [], parallel.combine_steps

    def counting(earlier, later):
        made.append(earlier[0].shape[1])
        return combine(earlier, later)

    monkeypatch.setattr(parallel, "combine_steps", counting)
    keep, write = draw_steps_of(length)
    _, states = accumulate_steps(keep[None], write[None])
    assert count(plan_tree(length)) == [n for n in made if n]
    rounds = run_plan(plan_tree(length), keep, write)
    assert torch.equal(find_states(rounds, write), states[0])


class Counter(TorchDispatchMode):
    """Note how many chunks each update of a state is for."""

    def __init__(self):
        super().__init__()
        self.made = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.overloadpacket is torch.ops.aten.addcmul_:
            self.made.append(len(args[0]))
        if func.overloadpacket is torch.ops.aten.addcmul:
            self.made.append(1)
        return func(*args, **kwargs or {})


@pytest.mark.parametrize(("length", "chunk"), [(8, 8), (8, 4), (12, 4), (16, 4), (16, 2), (15, 5)])
def test_the_chunks_are_walked_as_the_chunked_scan_walks_them(length, chunk):
    """The same updates but for those of an empty state: first in walk 1, hand-on and walk 2."""
    n_chunks = length // chunk
    tokens = torch.ones(1, length, 1, dtype=torch.float64)
    A = torch.full((1, 1), -1.0, dtype=torch.float64)
    steps = list_steps(*(fold(tokens, chunk) for _ in range(4)))
    with Counter() as counter:
        before = start_chunks(steps, A, torch.zeros(1, 1, 1, dtype=torch.float64))
        run_steps(steps, A, before)
    made = counter.made
    if n_chunks > 1:
        assert made[0] == n_chunks
        hand_on = made[chunk]
        assert hand_on == 1
        made = made[1:chunk] + made[chunk + 1 :]
    first_of_walk = -chunk
    made[first_of_walk] -= 1
    assert count(plan_chunked(length, chunk)) == [n for n in made if n]


def test_plans_have_the_sizes_of_their_formulas():
    for log in range(1, 6):
        length = 2**log
        assert count(plan_sequential(length)) == [1] * (length - 1)
        assert len(plan_tree(length)) == 2 * log - 1
        assert sum(count(plan_tree(length))) == 2 * length - 2 - log
    assert count(plan_tree(16)) == [8, 4, 2, 1, 1, 3, 7]
    assert count(plan_chunked(16, 4)) == [4, 4, 4, 1, 1, 3, 4, 4, 4]
    assert plan_chunked(7, 7) == plan_sequential(7)


@pytest.mark.parametrize("chunk", [2, 3, 5])
def test_a_shorter_last_chunk_is_walked_to_its_end(chunk):
    keep, write = draw_steps_of(11)
    rounds = run_plan(plan_chunked(11, chunk), keep, write)
    assert {one.last for one in rounds[-1]} | {10} <= set(range(11))
    assert_close(find_states(rounds, write), run_loop(keep, write))


def test_a_round_uses_only_what_earlier_rounds_have_made():
    keep, write = draw_steps_of(4)
    run_plan([[(0, 1, 1)], [(0, 2, 2)]], keep, write)
    with pytest.raises(ValueError, match="round 1 needs tokens 0 to 1 combined by an earlier one"):
        run_plan([[(0, 1, 1), (0, 2, 2)]], keep, write)


def test_a_combination_is_two_steps_in_their_order():
    [[one]] = run_plan([[(0, 1, 1)]], *(torch.tensor(v).double() for v in ([0.5, 0.25], [1, 2])))
    assert one == (0, 1, 1, 0.125, 2.25)


def test_lanes_that_disagree_are_not_shown():
    keep = torch.full((16,), 1e40, dtype=torch.float64)
    with pytest.raises(ArithmeticError, match="must end with the states of the loop"):
        race_scans(keep, torch.ones(16, dtype=torch.float64), 4)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"keep": torch.ones(3, 2)}, ValueError, r"keep must have the axes \(length\)"),
        ({"write": torch.ones(4)}, ValueError, "write must have length = 8 as keep has"),
        ({"keep": torch.full((8,), torch.nan)}, ValueError, "keep must be finite; NaN values: 8"),
        ({"keep": torch.ones(8).long()}, TypeError, "keep must be torch.float32 or"),
        ({"keep": torch.ones(0), "write": torch.ones(0)}, ValueError, "length must be at least 1"),
        ({"chunk": 0}, ValueError, "chunk must be at least 1; it is 0"),
        ({"chunk": 9}, ValueError, "chunk must be 1 to 8, the number of tokens; it is 9"),
        ({"chunk": 2.0}, TypeError, "chunk must be an int; it is 2.0"),
    ],
)
def test_a_race_refuses_what_does_not_fit(changes, error, message, as_reader):
    given = {"keep": torch.ones(8), "write": torch.ones(8), "chunk": 4}
    with pytest.raises(error, match=message):
        race_scans(**given | changes)
