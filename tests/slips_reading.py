"""The slips of notebooks 07 to 09, written as those in slips.py are."""

import math

import torch
from slip_parts import age, age_by_clock, entropy, most_frequent

from mamba_edu.exercises import n07, n08, n09

SLIPS = {
    n07.check_can_see: [
        (
            lambda cls_index, length, is_causal: torch.tensor(
                [t >= cls_index for t in range(length)]
            ),
            "looks back, not ahead",
        ),
        (
            lambda cls_index, length, is_causal: torch.tensor(
                [t < cls_index for t in range(length)]
            ),
            "CLS sees itself too",
        ),
        (lambda cls_index, length, is_causal: torch.ones(length) > 0, "not causal; a causal one"),
        (
            lambda cls_index, length, is_causal: ~(torch.arange(length) > cls_index),
            "from any place",
        ),
    ],
    n07.check_read_middle: [
        (lambda outputs: outputs[:, 4], "derive the place"),
        (lambda outputs: outputs[:, (outputs.shape[1] - 2) // 2], "one too early"),
        (lambda outputs: outputs[:, outputs.shape[1] - 1], "the last output"),
    ],
    n07.check_blind_loss: [
        (lambda counts: torch.ones(len(counts)).sum().log().item(), "classes are alike"),
        (lambda counts: (counts.sum() / counts.max()).log().item(), "the others are paid for"),
        (lambda counts: entropy(counts).item() / math.log(2), "in bits"),
        (lambda counts: entropy(counts).item(), "0 times ln 0"),
    ],
    n08.check_needed_lead: [
        (lambda n_tokens, share: math.log(n_tokens * share / (1 - share)), "not with itself"),
        (lambda n_tokens, share: math.log(n_tokens - 1), "the lead for one half"),
        (lambda n_tokens, share: (n_tokens - 1) / (1 / share - 1), "in the exponent"),
    ],
    n08.check_read_last: [
        (lambda outputs, mask: outputs.select(1, mask.shape[1] - 1), "may be padding"),
        (
            lambda outputs, mask: torch.stack(
                [row[n - 1] for row, n in zip(outputs, mask.sum(1), strict=True)]
            ),
            "a count is a place only if",
        ),
        (lambda outputs, mask: outputs[:, mask[0].nonzero().amax()], "that of the first row"),
        (
            lambda outputs, mask: torch.stack(
                [row[real][0] for row, real in zip(outputs, mask, strict=True)]
            ),
            "the first real token",
        ),
    ],
    n08.check_flip_real: [
        (
            lambda tokens, mask: torch.where(tokens.isnan(), 0, tokens).flip(1),
            "the padding is turned round too",
        ),
        (lambda tokens, mask: tokens.flip(1) * mask[..., None].double(), "NaN times 0 is NaN"),
        (lambda tokens, mask: torch.where(mask[..., None], tokens, 0), "nothing is turned round"),
    ],
    n09.check_find_horizon: [
        (lambda half_life, share: half_life * -math.log(share), "the time to 1/2"),
        (lambda half_life, share: half_life * 2 * (1 - share), "a straight line"),
        (lambda half_life, share: half_life * math.log(share, 2), "a minus is missing"),
    ],
    n09.check_survive_to_end: [
        (age_by_clock, "the code as it was"),
        (lambda delta, A, s: age(delta[:, s:], A), "its own step does not count"),
        (lambda delta, A, s: age(delta[:, s + 1 : -1], A), "the last token's step counts"),
    ],
    n09.check_describe_answers: [
        (
            lambda logits: (
                most_frequent(logits.softmax(1)),
                logits.softmax(1).sum(0).max().item() / len(logits),
            ),
            "how sure it is of each answer comes first",
        ),
        (lambda logits: (most_frequent(logits), logits.max(1).values.mean().item()), "softmax is"),
    ],
}
