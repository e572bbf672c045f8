"""What every threshold of a snap costs where a model was trained, and buys further on."""

from collections.abc import Sequence
from functools import partial
from itertools import product

from mamba_edu._checks import check_counts
from mamba_edu.experiments.block_parts import N_WINDOWS
from mamba_edu.experiments.readout_grids import PLANS, name_setting
from mamba_edu.experiments.readouts import LENGTHS, fit_lengths, mark_pieces, start_readout
from mamba_edu.experiments.sweeping import Sweep
from mamba_edu.experiments.tables import Row
from mamba_edu.steps import apply_step_rule, snap
from mamba_edu.tasks import TASKS
from mamba_edu.training import TAUS, train

TRIED = {128: 384, 2048: 64, 8192: 32}  # length -> sequences


def run_taus(
    task: str,
    readout: str = "cls_last",
    seed: int = 0,
    steps: int = 400,
    lengths: Sequence[int] = LENGTHS,
) -> dict[str, int | float]:
    """Train as run_readout does, and count what is right with every threshold of TAUS.

    Args:
        task, readout, seed, steps, lengths: as in run_readout.

    Returns:
        right_L of n_L as trained, for each length L of TRIED; tau1_L of n_tau1_L with the first
        threshold, and so on to the fifth.

    Raises:
        ValueError: for another task or read-out, or a number that is out of range.
    """
    check_counts(N_WINDOWS, steps=steps)
    plan, model = TASKS[task], start_readout(task, readout, seed)
    train(model, plan.sample, fit_lengths(lengths, plan.shortest), steps, seed=seed)
    counts = {}
    for (length, n), (number, tau) in product(TRIED.items(), enumerate((0.0, *TAUS))):
        with apply_step_rule(model, partial(snap, tau=tau)):
            right = int(mark_pieces(model, plan.sample_test(n, length, seed)).sum())
        counts |= dict(zip(name_counts(number, length), (right, n), strict=True))
    return counts


def name_counts(number: int, length: int) -> tuple[str, str]:
    """Name the columns of a threshold, counted from 1, or of none at 0."""
    kind = f"tau{number}_" if number else ""
    return f"{kind or 'right_'}{length}", f"n_{kind}{length}"


def share_snapped(row: Row, length: int, allowed: float = 0.0) -> float:
    """Find which share was right at a length with the threshold that choose_tau would choose.

    Args:
        row: of the table `taus`.
        length: one of TRIED.
        allowed: the share of sequences that may be lost at the first of them.
    """
    near, chosen = min(TRIED), 0
    for number in range(1, 1 + len(TAUS)):
        lost = row[f"right_{near}"] - row[name_counts(number, near)[0]]
        if lost > allowed * row[f"n_{near}"]:
            break
        chosen = number
    ours, of = name_counts(chosen, length)
    return row[ours] / row[of]


TAU_GRID = Sweep(
    run_taus,
    {
        name_setting(task, "cls_last"): {"task": task} | PLANS.get(task, {})
        for task in ("needle", "order", "trigger", "majority", "early_majority")
    },
)
