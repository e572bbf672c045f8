"""Which read-out for which job: the table that a practitioner takes home, made of the others."""

from mamba_edu.experiments.counts import find_count
from mamba_edu.experiments.shipped import load_results
from mamba_edu.experiments.star import unfold_star
from mamba_edu.experiments.tables import Row
from mamba_edu.tasks import TASKS

JOBS = {  # task -> what it is an example of
    "needle": "find one token that says the answer",
    "needles": "find the token that a question asks for, of several",
    "trigger": "find what follows a sign",
    "far_trigger": "find what comes some tokens after a sign",
    "order": "tell which of two tokens came first",
    "majority": "count votes that lie everywhere",
    "early_majority": "count votes that come early",
    "diluted_digits": "tell a digit whose pixels lie among noise",
}
READ_BY = ("cls_last", "last", "mean", "max", "attention")
STOPPED = {  # as unfold_star names them -> as a reader does
    "cls_last, softplus, snapped": "`cls_last`, snapped",
    "attention, dead_zone, snapped": "`attention`, dead zone, snapped",
}


def tabulate_jobs(length: int = 8192) -> dict[str, dict[str, tuple[float, float] | None]]:
    """Put together how well each job is done by each way to read a long sequence.

    Args:
        length: tokens of the test sequences.

    Returns:
        task -> way to read -> the mean over seeds and the lowest seed, or None where that was not
        run. The last ways read models whose small steps were stopped after training, and one that
        could learn to stop them.

    Raises:
        ValueError: if a table has no counts at this length.
    """
    rows = [*load_results("readouts"), *load_results("hard_tasks")]
    rows += unfold_star(load_results("star"))
    ways = (*READ_BY, *STOPPED)
    return {task: {way: _weigh(rows, f"{task}, {way}", length) for way in ways} for task in JOBS}


def write_jobs(length: int = 8192) -> str:
    """Write that table in Markdown, as the README shows it."""
    heads = ["job", "guessing", *(f"`{way}`" for way in READ_BY), *STOPPED.values()]
    lines = [heads, ["---"] * len(heads)]
    for task, ways in tabulate_jobs(length).items():
        cells = [f"{pair[0]:.2f} ({pair[1]:.2f})" if pair else "" for pair in ways.values()]
        lines.append([JOBS[task], f"{TASKS[task].chance:.2f}", *cells])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _weigh(rows: list[Row], setting: str, length: int) -> tuple[float, float] | None:
    """Compute the mean share that a setting gets right, and that of its lowest seed."""
    counts = [find_count(row, length) for row in rows if row["setting"] == setting]
    shares = [right / of for right, of in counts]
    return (sum(shares) / len(shares), min(shares)) if shares else None
