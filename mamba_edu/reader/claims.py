"""The table of claims: what each says, the rule with its margin, and the rows that decide it.

A claim is written before its rows are measured, and its margin is not touched afterwards.
"""

from collections.abc import Callable
from typing import Any

from mamba_edu.experiments import pair_results
from mamba_edu.reader.claim import SHARE, Claim, claim_enough, claim_more
from mamba_edu.reader.claims_laws import LAW_CLAIMS
from mamba_edu.reader.claims_memory import MEMORY_CLAIMS
from mamba_edu.reader.claims_million import MILLION_CLAIMS
from mamba_edu.reader.claims_readouts import READOUT_CLAIMS
from mamba_edu.reader.claims_recipe import RECIPE_CLAIMS

Rows = list[dict[str, Any]]


def fetch_places(first_seed: int = 0) -> Callable[[], Rows]:
    """Make what fetches the accuracy with CLS at each place, on digits and on names."""

    def fetch() -> Rows:
        places = ("first", "middle", "last")
        return [
            {"task": task, **row}
            for task in ("digits", "names")
            for row in pair_results("cls_position", **{p: f"{task}, CLS {p}" for p in places})
            if row["seed"] >= first_seed
        ]

    return fetch


WHOLE = "trigger, whole block"
FIRST_CLAIMS = (
    Claim(
        key="n00.smoother",
        says="A longer memory lets less noise through (half-life 10 against 2).",
        measure=lambda row: row["short"] - row["long"],
        margin=0.1,
        unit="of the noise's own size",
    ),
    Claim(
        key="n04.listens",
        says="A trained clock that listens misses less than the best that any fixed filter can do.",
        measure=lambda row: row["bound"] - row["selective"],
        margin=0.2,
        unit="of the variance",
    ),
    claim_more(
        "n06.conv",
        "Whole, it learns trigger better in 400 steps than without convolution in 1200.",
        *("block_parts", WHOLE, "trigger, no conv, 1200 steps"),
    ),
    claim_more(
        "n06.selection",
        "On 512 tokens, the whole block gets more right than without selection.",
        *("block_parts", WHOLE, "trigger, no selection", "accuracy_512"),
    ),
    claim_enough(
        "n06.gate",
        "Without its gate the block still gets more than half of trigger right.",
        *("block_parts", "trigger, no gate"),
    ),
    claim_more(
        "n06.ln2",
        "Started with every step at ln 2, it finds fewer needles.",
        *("step_starts", "steps as ours", "steps all ln 2"),
    ),
    claim_more(
        "n06.too_long",
        "Started with steps of 3 to 10, it finds fewer needles.",
        *("step_starts", "steps as ours", "steps 3 to 10"),
    ),
    claim_more(
        "n06.short_first",
        "From short to long it finds more needles than on long only.",
        *("curriculum", "short to long", "long only"),
    ),
    claim_more(
        "n06.how_short",
        "Begun at 10 tokens it learns trigger better than from 16.",
        *("block_parts", WHOLE, "trigger, whole block, from 16 tokens"),
    ),
    Claim(
        key="n07.one_index",
        says="Moved from the front to the end, the same CLS token reads what it was blind to.",
        measure=lambda row: row["last"] - row["first"],
        margin=0.2,
        unit=SHARE,
        rows=fetch_places(),
    ),
    Claim(
        key="n07.sees_all",
        says="At the end, where it sees everything, CLS reads better than in the middle.",
        measure=lambda row: row["last"] - row["middle"],
        margin=0.1,
        unit=SHARE,
        rows=fetch_places(first_seed=5),  # those before it suggested the claim
    ),
)

TABLE = (
    *FIRST_CLAIMS,
    *READOUT_CLAIMS,
    *LAW_CLAIMS,
    *RECIPE_CLAIMS,
    *MEMORY_CLAIMS,
    *MILLION_CLAIMS,
)
CLAIMS: dict[str, Claim] = {claim.key: claim for claim in TABLE}
