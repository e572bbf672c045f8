"""Every question computes an answer that is among its choices, and shows its evidence."""

import json
import re

import pytest

from mamba_edu.exercises import (
    n00,
    n01,
    n02,
    n03,
    n04,
    n05,
    n06,
    n07,
    n08,
    n09,
    n10,
    n11,
    n12,
    six09,
)
from mamba_edu.reader import CLAIMS, Claim, Question, judge
from mamba_edu.reader.guess import write_still

MODULES = (n00, n01, n02, n03, n04, n05, n06, n07, n08, n09, n10, n11, n12, six09)
QUESTIONS = {
    question.key: question
    for module in MODULES
    for value in vars(module).values()
    for question in (value if any(value is six for six in (n00.SIX, six09.SIX)) else [value])
    if isinstance(question, Question)
}
# By hand: 0.9^10 = 0.349; noise through a_bar has the spread sqrt((1 - a_bar) / (1 + a_bar)), which
# is 0.414 and 0.186; 1/e = 0.368; exp(-0.05 + 0.5i); two rates fit to the noise; 1 - 1.6 = -0.6;
# half the step, twice the tokens; in single precision exp(-1e-8) is exactly 1.
# Over 100 steps of 0.02 the turning states are a Fourier series up to 7 turns; of a bump 0.1 wide,
# sqrt(erfc(7.5 * 0.1 pi)) = 3 % lie beyond. 0.8 / 1.8 = 44 %. With steps of 1 between marks a value
# is k tokens old with chance 0.2 * 0.8^k: 1 - 0.4 / (1 - 0.8 / e) + 0.2 / (1 - 0.8 / e^2) = 0.66.
# Half of a sum of two explains half of either. A thousand steps of softplus(-5) = 0.0067 leave
# exp(-6.7) = 0.001. Swapped, time runs backwards: 0.5 (0.9 * 3 + 2) + 1 = 3.35. Chunks of four,
# sixteen tokens: 4 * 3 combinations, 2 more, then 15. Each token's gradient fills the whole
# sequence: twice as many tokens, twice as long. exp(-ln 2) is one half. What is trained is looked
# up in the shipped tables.
RIGHT = {
    "n00.nine_tenths": ("about a third", 0.349),
    "n00.longer_memory": ("less noise", 0.186 / 0.414),
    "n01.after_one_tau": ("a bit more than a third", 0.368),
    "n01.complex_rate": ("round and inward, to 0", 0.142),
    "n01.two_states": ("hardly more than the noise", None),
    "n02.long_step": ("change sign at every step and shrink", -0.6),
    "n02.half_step": ("twice as long", 13.9),
    "n02.near_zero": ("0", 0.0),
    "n03.matrix_pattern": ("the same answer, each one step later", 12),
    "n03.which_start": ("do it as well, with small weights", 3),
    "n03.fixed_limit": ("not quite half", 44),
    "n04.held_step": ("none at all, Δ = 0", 0.66),
    "n04.drawers": ("one half", 50),
    "n04.never_zero": ("practically nothing", 0.001),
    "n05.swapped": ("wrong by so little that a plot would hide it", 3.35),
    "n05.race": ("the tree is first, the chunks work most", 29),
    "n05.guard": ("by more than a quarter", 0.39),
    "n05.double": ("4 times", 4.0),
    "n06.spare_part": ("the one without its gate", 1.0),
    "n06.dead_clock": ("1 token", 0.693),
    "n06.long_only": ("no better than guessing", 0.125),
    "n07.front": ("on none", 0),
    "n07.blind": ("as often as the most frequent language comes", 0.12),
    "n07.bound": ("fewer than 100", 63),
    "n07.depth": ("those at the back", None),
    "n08.longer": ("nearly all", 1.0),
    "n08.one_for_all": ("neither", 0.68),
    "n08.spare_mask": ("the one behind it", 0.0),
    "n09.four_times": ("a sixteenth", 1 / 16),
    "n09.order": ("the maximum most, then the mean, then CLS", 0.0),
    "n09.lost": ("nearly always the same class, and it is sure", 0.95),
    "n09.no_state": ("needle and trigger", 1.0),
    "n10.size": ("the larger one, in about half as many tokens", 42),
    "n10.start": ("zeros", None),
    "n10.saves": ("needle and majority", 2),
    "n11.for_ever": ("nothing", 0.0),
    "n11.smallest_tau": ("majority: many votes count", 0.003),
    "n11.snapped": ("nearly always", 0.97),
    "n11.half": ("neither alone", 0.7),
    "n11.one_for_all": ("attention over a clock with a dead zone, snapped", 0.95),
    "n12.carried": ("h, and the last three inputs of the convolution", 10),
    "n12.kept": ("more than 100 MB", 256),
    "n12.put_right": ("one product and one sum for each number of the state", 12),
    "n09.six.front": ("no other token at all", 0),
    "n09.six.selective": ("its step size and its weights depend on the token", 6),
    "n09.six.step": ("twice as long", 69.3),
    "n09.six.forget": ("exponentially", 0.018),
    "n09.six.failure": ("one and the same class, confidently", 0.95),
    "n09.six.pool": ("for some tasks and not for others", 1.0),
}
ANSWERED = {key: q for key, q in QUESTIONS.items() if q.answer is not None}


def read_numbers(text):
    return [float(number) for number in re.findall(r"-?\d+\.?\d*", text)]


def test_every_question_has_its_right_answer_here():
    assert set(ANSWERED) == set(RIGHT)


@pytest.mark.parametrize("key", RIGHT)
def test_an_answer_is_the_right_one_by_hand(key):
    question = QUESTIONS[key]
    index, evidence = question.answer()
    choice, number = RIGHT[key]
    assert question.choices[index] == choice
    assert read_numbers(evidence)
    if number is not None:
        assert min(abs(found - number) for found in read_numbers(evidence)) < 0.05


@pytest.mark.parametrize("key", RIGHT)
def test_the_question_does_not_give_its_answer_away(key):
    question = ANSWERED[key]
    assert question.surprised
    evidence = question.answer()[1]
    told = write_still(question)["text/html"].split("<details>")[0]
    assert evidence not in told


@pytest.mark.parametrize("key", QUESTIONS)
def test_a_question_is_short_and_offers_three_choices(key):
    question = QUESTIONS[key]
    assert re.fullmatch(r"n\d\d(\.six)?\.[a-z_]+", key)
    assert len(set(question.choices)) == 3
    assert len(question.asks.split()) <= 40
    json.dumps(question[:3])  # nothing but text


def test_six_questions_wait_for_a_later_notebook():
    assert len(n00.SIX) == 6
    assert all(question.answer is None for question in n00.SIX)
    assert len({question.key for question in n00.SIX}) == 6


@pytest.mark.parametrize(
    ("long", "word"), [(0.2, "holds"), (0.31, "depends"), (0.4, "depends"), (0.55, "fails")]
)
def test_the_first_claim_of_the_course_can_fail(long, word):
    """Margin 0.1: rows that differ by less decide nothing; rows the other way round flip it."""
    assert isinstance(n00.SMOOTHER, Claim)
    rows = [{"seed": seed, "short": 0.4 + 0.001 * seed, "long": long} for seed in range(5)]
    assert judge(n00.SMOOTHER, rows).word == word


@pytest.mark.parametrize(
    ("missed", "word"), [(0.05, "holds"), (0.3, "depends"), (0.5, "depends"), (0.7, "fails")]
)
def test_the_claim_about_a_clock_that_listens_can_fail(missed, word):
    """Margin 0.2: rows that differ by less decide nothing; rows the other way round flip it."""
    rows = [{"seed": s, "bound": 0.44 + 0.001 * s, "selective": missed} for s in range(5)]
    assert judge(n04.LISTENS, rows).word == word


def test_one_seed_that_differs_takes_a_claim_its_word():
    """As in the table of the starts at ln 2, where one seed of five does not learn."""
    rows = [{"seed": s, "better": 1.0, "worse": 0.15 if s == 1 else 1.0} for s in range(5)]
    assert judge(CLAIMS["n06.ln2"], rows).word == "depends"
