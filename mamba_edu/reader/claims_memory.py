"""Claims about step rules that can stop the clock, decided by the table `star`."""

from mamba_edu.reader.claim import claim_more

STAR, END = "star", "cls_last, softplus"
MEMORY_CLAIMS = (
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
    ),
)
