"""Claims about read-outs and lengths, decided by the tables `readouts` and `scale`."""

from mamba_edu.reader.claim import claim_enough, claim_more, claim_nearer

END = "needle, cls_last"
TABLE = "readouts"
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
)
