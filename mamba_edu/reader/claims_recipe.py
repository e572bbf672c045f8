"""Claims of the recipe that circulates for a CLS token in Mamba, put so that they can fail.

*Solves* means everywhere: gets more than half of the way from guessing to all right. The margin is
the course's usual one, a fifth of that way, so that a claim holds from seven tenths of it and fails
up to three. The tables `readouts` and `step_starts` were there when these claims were written. The
runs of the table `recipe` were not; one run of each setting, with a seed that is not among them,
had been looked at.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from mamba_edu.experiments import load_results, pair_results
from mamba_edu.reader.claim import Claim, Rows, claim_loss, gain, over_half
from mamba_edu.tasks import TASKS

FIRST_STEPS = 10
FAR = 8192
STRATEGIES = {  # what the recipe recommends, and the plain CLS that it is to mend
    "cls_last": "Plain CLS at the end",
    "length_mix": "A weight by length between CLS and the mean",
    "hierarchy_mamba": "A second Mamba over chunks",
    "hierarchy_max": "A maximum over chunks",
    "attention": "Light attention at CLS",
    "gated": "A gate on the pool",
}
JUDGED_ON = ("needle", "majority", "order")


def claim_solves(
    key: str, says: str, table: str, setting: str, at: str | int = "accuracy", task: str = "needle"
) -> Claim:
    """State that a setting gets more than half of the way from guessing to all right.

    Args:
        key, says, table, at: as claim_more takes them.
        setting: one of the table.
        task: one of TASKS; what guessing earns is its own.
    """

    def fetch() -> Rows:
        rows = pair_results(table, at, right=setting)
        return [{"seed": row["seed"], "right": rescale(row["right"], task)} for row in rows]

    return Claim(key, says, over_half, 0.2, "of the way from its middle", fetch)


def rescale(share: float, task: str) -> float:
    """Rescale a share of right answers: 0 for guessing at a task, 1 for all right."""
    chance = TASKS[task].chance
    return (share - chance) / (1 - chance)


def claim_pair(
    key: str,
    says: str,
    settings: tuple[str, str],
    compare: Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, float]],
    margin: float,
    unit: str,
) -> Claim:
    """State something about two settings of the table `recipe`, seed by seed.

    Args:
        key, says, margin, unit: as a Claim has them.
        settings: two of the table.
        compare: from their rows to what is "better" and what is "worse".
    """

    def fetch() -> Rows:
        runs = [
            {row["seed"]: row for row in load_results("recipe") if row["setting"] == setting}
            for setting in settings
        ]
        return [{"seed": s, **compare(runs[0][s], runs[1][s])} for s in sorted(runs[0])]

    return Claim(key, says, gain, margin, unit, fetch)


def compare_gradients(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, float]:
    """Compare how many powers of ten lie between the largest first gradients, and one of them."""
    largest = [max(row[f"gradient_{n + 1}"] for n in range(FIRST_STEPS)) for row in (one, other)]
    return {"better": math.log10(largest[0] / largest[1]), "worse": 1}


def compare_pace(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, float]:
    """Compare how many steps the other took to learn, in units of those, with those of the one."""
    return {"better": 1, "worse": one["to_90"] / other["to_90"]}


def compare_ends(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, float]:
    """Compare a fifth with how far apart two ended."""
    return {"better": 0.2, "worse": abs(one["accuracy"] - other["accuracy"])}


def claim_strategy(strategy: str, task: str, at: int = FAR) -> Claim:
    """State that a strategy solves a task at a length that is far beyond training."""
    says = f"{STRATEGIES[strategy]} solves {task.replace('_', ' ')} at {at} tokens."
    key = f"n10.{strategy}_{task}"
    return claim_solves(key, says, "readouts", f"{task}, {strategy}", at, task)


TEN = "powers of ten beyond one"
RECIPE_CLAIMS = (
    claim_solves(
        "n10.front",
        "A causal CLS token in front solves needle at 128 tokens.",
        *("readouts", "needle, cls_first", 128),
    ),
    claim_solves(
        "n10.constant",
        "With constant A, B and C, CLS at the end solves needle at 8192 tokens.",
        *("readouts", "needle, cls_last, time-invariant", FAR),
    ),
    *(claim_strategy(strategy, task) for strategy in STRATEGIES for task in JUDGED_ON),
    *(claim_strategy("attention", task) for task in ("trigger", "early_majority")),
    claim_strategy("attention", "far_trigger", at=128),
    claim_strategy("cls_last", "early_majority"),
    claim_loss(
        "n10.dilution",
        "CLS at the end finds more needles among 128 tokens than among 8192.",
        *("readouts", "needle, cls_last", 128, FAR),
    ),
    claim_pair(
        "n10.random_start",
        "A random CLS has more than ten times the first gradients of a mean of embeddings.",
        ("CLS randn, no clip", "CLS mean, no clip"),
        *(compare_gradients, 0.2, TEN),
    ),
    claim_pair(
        "n10.zeros_start",
        "A CLS of zeros has more than ten times the first gradients of a random one.",
        ("CLS zeros, no clip", "CLS randn, no clip"),
        *(compare_gradients, 0.2, TEN),
    ),
    claim_pair(
        "n10.mean_faster",
        "CLS started at the mean of pretrained embeddings learns in fewer steps than at random.",
        ("CLS mean, pretrained, clip 1", "CLS 0.02 randn, pretrained, clip 1"),
        *(compare_pace, 0.2, "of the steps"),
    ),
    claim_pair(
        "n10.zeros_hidden",
        "Clipped, CLS from zeros ends as right as from random numbers, to within a tenth.",
        ("CLS zeros, clip 1", "CLS randn, clip 1"),
        *(compare_ends, 0.1, "closer than a fifth"),
    ),
    claim_solves(
        "n10.clip_cures",
        "Clipping lets the recipe's unbounded A solve needle at 32 tokens.",
        *("recipe", "A randn, 32 tokens, clip 1"),
    ),
    claim_solves(
        "n10.clip_spared",
        "Without clipping, Mamba solves needle at 128 tokens.",
        *("recipe", "CLS 0.02 randn, no clip"),
    ),
    claim_solves(
        "n10.bounded",
        "An A that cannot grow solves needle at 32 tokens, without clipping.",
        *("recipe", "A bounded, 32 tokens, no clip"),
    ),
    claim_solves(
        "n10.bounded_far",
        "An A that cannot grow solves needle at 96 tokens, clipped.",
        *("recipe", "A bounded, 96 tokens, clip 1"),
    ),
    claim_solves(
        "n10.steps_short",
        "Started with steps ten times shorter, Mamba solves needle at 128 tokens.",
        *("recipe", "steps 0.0001 to 0.001"),
    ),
    claim_solves(
        "n10.steps_long",
        "Started with steps of 0.3 to 1, Mamba solves needle at 128 tokens.",
        *("recipe", "steps 0.3 to 1"),
    ),
    claim_solves(
        "n10.steps_longest",
        "Started with steps of 3 to 10, Mamba solves needle at 128 tokens.",
        *("recipe", "steps 3 to 10"),
    ),
    claim_solves(
        "n10.information",
        "As trained, CLS at the end solves needle at 32768 tokens.",
        *("readouts", "needle, cls_last", 32768),
    ),
    claim_solves(
        "n10.state",
        "A learned query of the state, without a CLS token, solves needle at 128 tokens.",
        *("readouts", "needle, state", 128),
    ),
    claim_solves(
        "n10.state_far",
        "A learned query of the state, without a CLS token, solves needle at 8192 tokens.",
        *("readouts", "needle, state", FAR),
    ),
    Claim(  # rows: "worse", how many times as much is written for twice the tokens
        "n10.linear_cost",
        "Twice the tokens cost a CLS in Mamba twice the work.",
        gain,
        *(0.1, "times less than 2.2"),
    ),
    Claim(  # rows: "better", how many times as many weights there are for twice the tokens
        "n10.all_pairs",
        "For its CLS alone, a layer of attention needs a weight for each pair of tokens.",
        gain,
        *(0.5, "times more than 3"),
    ),
)
