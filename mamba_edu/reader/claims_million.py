"""Claims about a million tokens, decided by the tables `million` and `readouts`."""

from mamba_edu.experiments import pair_results
from mamba_edu.reader.claim import (
    Claim,
    Rows,
    claim_enough,
    claim_loss,
    claim_more,
    over_half,
)

TABLE, MILLION = "million", 2**20
TASKS = ("needle", "majority", "order")


def fetch_state() -> Rows:
    """Fetch what a query of the state, without CLS, gets right on 128 tokens of each task."""
    return [
        {"task": task, **row}
        for task in TASKS
        for row in pair_results("readouts", 128, right=f"{task}, state")
    ]


TRAINED, SNAPPED = "random, cls_last, as trained", "random, cls_last, snapped"
LATE = "random, cls_last, late zero"
MILLION_CLAIMS = (
    claim_loss(
        "n12.forgets",
        "As trained, CLS finds fewer needles among a million tokens than among 128.",
        *(TABLE, TRAINED, 128, MILLION),
    ),
    claim_more(
        "n12.zero",
        "Among a million tokens, CLS finds more needles snapped than as trained.",
        *(TABLE, SNAPPED, TRAINED, MILLION),
    ),
    claim_more(
        "n12.strict",
        "A snap that may lose one in fifty at 128 finds more among a million than a strict one.",
        *(TABLE, SNAPPED, "random, cls_last, snapped, none lost", MILLION),
    ),
    claim_enough(
        "n12.holds",
        "Snapped, CLS finds more than half of the needles among a million tokens.",
        *(TABLE, SNAPPED, MILLION),
    ),
    claim_more(
        "n12.zero_text",
        "Among a million tokens of text, CLS finds more needles snapped than as trained.",
        *(TABLE, "text, cls_last, snapped", "text, cls_last, as trained", MILLION),
    ),
    claim_more(
        "n12.late",
        "Trained with a zero that comes late, CLS finds more among a million tokens than trained "
        "as long without.",
        *(TABLE, LATE, "random, cls_last, 800 steps", MILLION),
    ),
    claim_enough(
        "n12.late_holds",
        "With the late zero, CLS finds more than half of the needles among a million tokens.",
        *(TABLE, LATE, MILLION),
    ),
    claim_enough(
        "n12.late_text",
        "With the late zero, CLS finds more than half of the needles in a million of text.",
        *(TABLE, "text, cls_last, late zero", MILLION),
    ),
    claim_more(
        "n12.text_harder",
        "With the late zero, CLS finds fewer needles in a million of text than of random filler.",
        *(TABLE, LATE, "text, cls_last, late zero", MILLION),
    ),
    claim_more(
        "n12.fixed_clock",
        "Snapped, a block that selects finds more among a million tokens than a time-invariant "
        "one.",
        *(TABLE, SNAPPED, "random, cls_last, time-invariant, snapped", MILLION),
    ),
    claim_enough(
        "n12.max",
        "The maximum finds more than half of the needles in a million tokens of text.",
        *(TABLE, "text, max", MILLION),
    ),
    Claim(
        key="n12.state_for_cls",
        says="A query of the state, without any CLS, gets more than half of each task right.",
        measure=over_half,
        margin=0.2,
        unit="above half",
        rows=fetch_state,
    ),
    claim_more(
        "n12.cls_adds",
        "Among 2048 tokens, CLS finds more needles than a query of the state.",
        *("readouts", "needle, cls_last", "needle, state", 2048),
    ),
)
