"""Claims about read-outs and lengths, by `readouts`, `scale`, `long` and `hard_tasks`."""

from mamba_edu.reader.claim import (
    claim_each,
    claim_enough,
    claim_kept,
    claim_loss,
    claim_more,
    claim_nearer,
    reverse,
)

END = "needle, cls_last"
TABLE, HARD = "readouts", "hard_tasks"
READOUT_CLAIMS = (
    claim_more(
        "n07.both_ways",
        "In front, a CLS that reads from both ends finds more needles than a causal one.",
        *(TABLE, "needle, cls_first, both ways", "needle, cls_first", 128),
    ),
    claim_nearer(
        "n07.half_seen",
        "Causal in the middle of 512 tokens, CLS finds more needles before it than behind it.",
        *("needle, cls_middle", (1, 2, 3, 4), (5, 6, 7, 8)),
    ),
    claim_nearer(
        "n07.near_end",
        "Causal at the end of 512 tokens, CLS finds more in the last eighth than in the first.",
        *("needle, cls_last", (8,), (1,)),
    ),
    claim_nearer(
        "n07.near_front",
        "Both ways, in front of 512 tokens, CLS finds more in the first eighth than in the last.",
        *("needle, cls_first, both ways", (1,), (8,)),
    ),
    claim_nearer(
        "n07.near_middle",
        "Both ways, in the middle of 512 tokens, CLS finds more beside it than at the ends.",
        *("needle, cls_middle, both ways", (4, 5), (1, 8)),
    ),
    claim_more(
        "n08.last_400",
        "After 400 steps, CLS at the end finds more needles than the last output.",
        *(TABLE, END, "needle, last", 128),
    ),
    claim_more(
        "n08.last_1000",
        "The last output finds more needles after 1000 steps than after 400.",
        *(TABLE, "needle, last, 1000 steps", "needle, last", 128),
    ),
    claim_more(
        "n08.state",
        "After 400 steps, a learned query of the state, without CLS, beats the last output.",
        *(TABLE, "needle, state", "needle, last", 128),
    ),
    claim_more(
        "n08.memory",
        "On 512 tokens, CLS finds more needles than a query on the state.",
        *(TABLE, END, "needle, state", 512),
    ),
    claim_more(
        "n08.mean_dilutes",
        "Among 8192 tokens, max finds more needles than the mean.",
        *(TABLE, "needle, max", "needle, mean", 8192),
    ),
    claim_more(
        "n08.max_miscounts",
        "Over 8192 tokens, the mean tells the majority better than max.",
        *(TABLE, "majority, mean", "majority, max", 8192),
    ),
    claim_more(
        "n08.attention_needle",
        "Among 2048 tokens, attention finds more needles than CLS at the end.",
        *(TABLE, "needle, attention", END, 2048),
    ),
    claim_more(
        "n08.attention_order",
        "Over 512 tokens, attention tells the order better than CLS at the end.",
        *(TABLE, "order, attention", "order, cls_last", 512),
    ),
    claim_more(
        "n08.length_mix",
        "Among 2048 tokens, a weight that knows the length finds more needles than CLS at the end.",
        *(TABLE, "needle, length_mix", END, 2048),
    ),
    claim_more(
        "n08.gated",
        "Among 8192 tokens, a gated pool finds more needles than the plain mean.",
        *(TABLE, "needle, gated", "needle, mean", 8192),
    ),
    claim_more(
        "n08.registers",
        "Among 8192 tokens, the largest of many registers finds more needles than CLS at the end.",
        *(TABLE, "needle, registers_max", END, 8192),
    ),
    claim_more(
        "n08.hierarchy",
        "Over chunks, max finds more needles among 128 tokens than a second Mamba.",
        *(TABLE, "needle, hierarchy_max", "needle, hierarchy_mamba", 128),
    ),
    claim_each(
        "n08.fades",
        "Every pool tells order better on 128 tokens than on 2048.",
        [
            claim_loss("n08.fades", pool, TABLE, f"order, {pool}", 128, 2048)
            for pool in ("mean", "max", "attention", "gated")
        ],
    ),
    claim_each(
        "n08.anywhere",
        "In front or in the middle, CLS finds more read both ways.",
        [
            claim_more("n08.anywhere", place, TABLE, f"{place}, both ways", place, 128)
            for place in ("needle, cls_first", "needle, cls_middle")
        ],
    ),
    claim_more(
        "n08.both_ends",
        "On 512 tokens, CLS at the end finds more read both ways.",
        *(TABLE, f"{END}, both ways", END, 512),
    ),
    claim_more(
        "n09.selection",
        "Among 512 tokens, CLS at the end finds more needles with selection than without.",
        *(TABLE, END, "needle, cls_last, time-invariant", 512),
    ),
    claim_more(
        "n09.early_votes",
        "With early votes, over 2048 tokens, the mean beats CLS at the end.",
        *(TABLE, "early_majority, mean", "early_majority, cls_last", 2048),
    ),
    claim_enough(
        "n09.no_state",
        "Among 8192 tokens, max finds more than half of the needles without any SSM.",
        *(TABLE, "needle, max, no SSM", 8192),
    ),
    claim_more(
        "n09.order_state",
        "Under max, order needs the SSM at 128 tokens.",
        *(TABLE, "order, max", "order, max, no SSM", 128),
    ),
    claim_more(
        "n09.far_state",
        "Under max, a far trigger needs the SSM at 128 tokens.",
        *(TABLE, "far_trigger, max", "far_trigger, max, no SSM", 128),
    ),
    claim_more(
        "n09.longer",
        "Trained up to 512 tokens, CLS at the end finds more needles among 2048.",
        *(TABLE, "needle, cls_last, trained to 512", END, 2048),
    ),
    reverse(
        claim_kept(
            "n09.not_for_ever",
            "Even so, at 8,192 tokens it has lost more than half of the sequences it had at 128.",
            *(TABLE, "needle, cls_last, trained to 512", 128, 8192),
        ),
        unit="below half",
    ),
    claim_more(
        "n09.both_ways",
        "Reading both ways, CLS at the end finds more needles among 2048 tokens.",
        *(TABLE, "needle, cls_last, both ways", END, 2048),
    ),
    claim_more(
        "n09.layers",
        "With four layers, CLS at the end finds more needles among 2048 tokens than with one.",
        *("scale", "needle, cls_last, 4 layers", "needle, cls_last, 1 layer", 2048),
    ),
    claim_more(
        "n09.state_size",
        "With a state of 16, CLS at the end finds more needles among 2048 tokens than with 4.",
        *("scale", "needle, cls_last, d_state 16", "needle, cls_last, d_state 4", 2048),
    ),
    claim_enough(
        "n09.max_far",
        "Among 131,072 tokens, max still finds more than half of the needles.",
        *("long", "needle, max", 131072),
    ),
    claim_enough(
        "n09.attention_far",
        "Among 131,072 tokens, attention still finds more than half of the needles.",
        *("long", "needle, attention", 131072),
    ),
    claim_enough(
        "n09.votes",
        "Majority looks remembered: at 8,192 tokens CLS is right more often than a guess.",
        *(TABLE, "majority, cls_last", 8192),
    ),
    reverse(
        claim_enough(
            "n09.early",
            "Where early votes decide, it is wrong more often than a guess.",
            *(TABLE, "early_majority, cls_last", 8192),
        ),
        unit="below half",
    ),
    claim_more(
        "n09.asked",
        "Among 128 tokens, CLS at the end names the needle that is asked for better than max.",
        *(HARD, "needles, cls_last", "needles, max", 128),
    ),
    claim_more(
        "n09.asked_far",
        "Among 2048 tokens, attention names the needle that is asked for better than CLS.",
        *(HARD, "needles, attention", "needles, cls_last", 2048),
    ),
    claim_more(
        "n09.digits_max",
        "Among 2048 tokens of noise, max reads more digits than CLS at the end.",
        *(HARD, "diluted_digits, max", "diluted_digits, cls_last", 2048),
    ),
    claim_kept(
        "n09.digits_kept",
        "Among 2048 tokens, max still reads most of the digits that it read among 256.",
        *(HARD, "diluted_digits, max", 256, 2048),
    ),
    reverse(
        claim_kept(
            "n09.digits_lost",
            "Among 8192 tokens, CLS has lost more than half of the digits it read among 256.",
            *(HARD, "diluted_digits, cls_last", 256, 8192),
        ),
        unit="below half",
    ),
)
