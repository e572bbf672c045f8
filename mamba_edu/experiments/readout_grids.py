"""Which read-outs are run on which tasks, with which controls."""

from mamba_edu.experiments.block_parts import FROM_TEN
from mamba_edu.experiments.readouts import LENGTHS, run_readout
from mamba_edu.experiments.sweeping import Sweep
from mamba_edu.readout import READOUTS

WIDELY = ("needle", "majority", "order")  # every read-out is run on these
FIVE = ("cls_last", "last", "mean", "max", "attention")  # and these on all the others
PLANS = {"trigger": {"lengths": FROM_TEN}, "far_trigger": {}, "early_majority": {}}
HARD_PLANS = {  # what takes longer to learn
    "needles": {"steps": 1200},
    "diluted_digits": {"lengths": (64, 128, 256), "steps": 600, "batch": 32},
}
PLACES = ("cls_first", "cls_middle", "cls_last", "cls_both")
PARTS = {"selection": "time-invariant", "state": "no SSM"}
CONTROLS = {  # what a task is solved by that does not need what the course is about
    "selection": {"cls_last": ("needle", "majority", "order", "trigger")},
    "state": dict.fromkeys(("max", "attention"), ("needle", "order", "trigger", "far_trigger")),
}
TO_512 = (*LENGTHS, 256, 512)
LONG = (  # whose curves go on to LONGEST tokens
    *("cls_last", "mean", "max", "attention"),
    *("max, no SSM", "cls_last, time-invariant", "cls_last, trained to 512"),
)
LONGEST = 131072


def name_setting(task: str, readout: str, *more: str) -> str:
    """Name a setting as the tables do: the task, the read-out, then what else is different."""
    return ", ".join([task, readout, *more])


def list_settings() -> dict[str, dict[str, object]]:
    """List the settings of the grid of read-outs: names and keywords of run_readout."""
    pairs = [(task, readout) for task in WIDELY for readout in READOUTS]
    pairs += [(task, readout) for task in PLANS for readout in FIVE]
    ways = [(task, readout) for task in ("needle", "order") for readout in PLACES]
    controls = [
        (task, readout, part)
        for part, readouts in CONTROLS.items()
        for readout, tasks in readouts.items()
        for task in tasks
    ]
    return (
        {name_setting(*pair): _plan(*pair) for pair in pairs}
        | {name_setting(*pair, "both ways"): _plan(*pair, bidirectional=True) for pair in ways}
        | {name_setting(t, r, PARTS[part]): _plan(t, r, part=part) for t, r, part in controls}
        | {name_setting("needle", "last", "1000 steps"): _plan("needle", "last", steps=1000)}
        | {
            name_setting(t, "cls_last", "trained to 512"): _plan(
                t, "cls_last", lengths=TO_512, steps=480
            )
            for t in ("needle", "order")
        }
    )


def list_scales() -> dict[str, dict[str, object]]:
    """List the settings of the scale check: more layers, or a smaller and a larger state."""
    sizes = {f"{n} layer{'s' * (n > 1)}": {"n_layers": n} for n in (1, 2, 4)}
    sizes |= {f"d_state {n}": {"d_state": n} for n in (4, 16)}
    return {
        name_setting(task, "cls_last", size): _plan(task, "cls_last", **keywords)
        for task in ("needle", "order")
        for size, keywords in sizes.items()
    }


def list_long() -> dict[str, dict[str, object]]:
    """List the settings whose curves go on: some of the grid of read-outs, asked further."""
    names = [name_setting(task, reads) for task in ("needle", "order") for reads in LONG]
    return {name: list_settings()[name] | {"longest": LONGEST} for name in names}


def list_hard() -> dict[str, dict[str, object]]:
    """List the settings of the hard tasks, which five read-outs are run on."""
    pairs = [(task, readout) for task in HARD_PLANS for readout in FIVE]
    return {name_setting(*pair): _plan(*pair, **HARD_PLANS[pair[0]]) for pair in pairs}


def _plan(task: str, readout: str, **more: object) -> dict[str, object]:
    """Put the keywords of a run together."""
    return {"task": task, "readout": readout} | PLANS.get(task, {}) | more


READOUT_GRID = Sweep(run_readout, list_settings())
HARD_GRID = Sweep(run_readout, list_hard())
LONG_GRID = Sweep(run_readout, list_long())
SCALE_GRID = Sweep(run_readout, list_scales())
