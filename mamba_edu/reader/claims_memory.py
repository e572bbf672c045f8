"""Claims about step rules that can stop the clock, decided by the table `star`."""

from collections.abc import Callable

from mamba_edu.experiments import load_results, share_snapped
from mamba_edu.reader.claim import SHARE, Claim, Rows, claim_more, gain

STAR, END = "star", "cls_last, softplus"
ALLOWED, FAR = 0.02, 8192  # of the sequences of 128 tokens, for a gain at so many


def fetch_allowed(task: str) -> Callable[[], Rows]:
    """Make what fetches a task's gain from a snap that may lose two in a hundred."""

    def fetch() -> Rows:
        return [
            {
                "seed": row["seed"],
                "better": share_snapped(row, FAR, ALLOWED),
                "worse": row[f"right_{FAR}"] / row[f"n_{FAR}"],
            }
            for row in load_results("taus")
            if row["setting"] == f"{task}, cls_last"
        ]

    return fetch


MEMORY_CLAIMS = (
    Claim(
        "n11.allowed",
        "Allowed to lose two in a hundred at 128 tokens, the snap finds more needles among 8192.",
        gain,
        0.2,
        SHARE,
        fetch_allowed("needle"),
    ),
    claim_more(
        "n11.snap_order",
        "Over 8192 tokens, snapped without training, CLS at the end tells the order better.",
        *(STAR, f"order, {END}, snapped", f"order, {END}, as trained", 8192),
    ),
    claim_more(
        "n11.snap_needle",
        "Among 8192 tokens, snapped without training, CLS at the end finds more needles.",
        *(STAR, f"needle, {END}, snapped", f"needle, {END}, as trained", 8192),
    ),
    claim_more(
        "n11.snap_trigger",
        "Among 8192 tokens, snapped without training, CLS at the end finds more triggered values.",
        *(STAR, f"trigger, {END}, snapped", f"trigger, {END}, as trained", 8192),
    ),
    claim_more(
        "n11.snap_early",
        "With early votes, over 2048 tokens, the snap helps CLS at the end.",
        *(STAR, f"early_majority, {END}, snapped", f"early_majority, {END}, as trained", 2048),
    ),
    claim_more(
        "n11.slow_early",
        "With early votes, over 2048 tokens, a clock slowed with the length helps.",
        *(STAR, f"early_majority, {END}, slowed", f"early_majority, {END}, as trained", 2048),
    ),
    claim_more(
        "n11.slow_order",
        "Over 8192 tokens, the snap keeps the order better than a clock slowed with the length.",
        *(STAR, f"order, {END}, snapped", f"order, {END}, slowed", 8192),
    ),
    claim_more(
        "n11.dead_zone",
        "Among 2048 tokens, CLS at the end finds more needles when trained with a dead zone.",
        *(STAR, "needle, cls_last, dead_zone, as trained", f"needle, {END}, as trained", 2048),
    ),
    claim_more(
        "n11.decay_alone",
        "For the order over 8192 tokens, the whole snap beats snapping the decay alone.",
        *(STAR, f"order, {END}, snapped", f"order, {END}, decay snapped", 8192),
    ),
    claim_more(
        "n11.write_alone",
        "For the order over 8192 tokens, the whole snap beats snapping the writing alone.",
        *(STAR, f"order, {END}, snapped", f"order, {END}, write snapped", 8192),
    ),
    claim_more(
        "n11.attention_order",
        "Over 8192 tokens, snapped, attention over a dead zone tells the order better.",
        *(STAR, "order, attention, dead_zone, snapped"),
        *("order, attention, dead_zone, as trained", 8192),
    ),
    claim_more(
        "n11.registers",
        "Over 8192 tokens, the snap lets the largest of many registers tell the order better.",
        *(STAR, "order, registers_max, softplus, snapped"),
        *("order, registers_max, softplus, as trained", 8192),
    ),
    claim_more(
        "n11.kept",
        "Snapped, more needle states keep a tenth of the first of 8192 tokens.",
        *(STAR, f"needle, {END}, snapped", f"needle, {END}, as trained", "kept"),
    )._replace(unit="of the states"),
)
