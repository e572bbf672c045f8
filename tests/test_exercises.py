"""Every check passes its solution, leaves the stub in peace and says what went wrong."""

import ast
import inspect
import math

import pytest
import torch
from rules.trees import list_notebooks

from mamba_edu.cli.notebook import read_notebook
from mamba_edu.cli.solutions import list_tags
from mamba_edu.exercises import n00, n01, n02, n03, n04
from mamba_edu.exercises.frame import CheckFailed, Exercise, copy_case, find_difference

MODULES = (n00, n01, n02, n03, n04)
# Answers as readers write them, and a word of the sentence that each must earn. They are written
# here once more, so that the sentences are tested and not only found again.
SLIPS = {
    n00.check_share_left: [
        (lambda keep, steps: sum(keep for _ in range(steps)), "a product, not a sum"),
        (lambda keep, steps: 1 - (1 - keep) * steps, "of what is left, not of the start"),
    ],
    n00.check_shape_of_states: [
        (lambda x, A: (*x.transpose(1, 2).shape, A.shape[-1]), "length comes before the channels"),
        (lambda x, A: tuple(x.shape[:2]) + tuple(A.shape[1:]), "the channel axis is missing"),
    ],
    n01.check_steps_to_half: [
        (lambda a_bar: 1 / math.log(1 / a_bar), "time constant, to 1/e"),
        (lambda a_bar: 1 / math.log(0.5, a_bar), "upside down"),
        (lambda a_bar: math.log(2, a_bar), "a minus is missing"),
    ],
    n01.check_smooth: [
        (lambda x, half_life: filter_with(x, 0.5 ** (1 / half_life), 1.0), "weight the input by"),
        (
            lambda x, half_life: torch.cat([x[:1] * 0, n01.solve_smooth(x, half_life)[:-1]]),
            "the state before it reads the token",
        ),
        (lambda x, half_life: filter_with(x, 0.5**half_life, 1 - 0.5**half_life), "root of 0.5"),
        (
            lambda x, half_life: filter_with(x, 1 - 0.5 ** (1 / half_life), 0.5 ** (1 / half_life)),
            "swapped",
        ),
        (
            lambda x, half_life: n01.solve_smooth(x - x[0], half_life) + x[0],
            "starts empty",
        ),
    ],
    n01.check_make_oscillator: [
        (lambda period, half_life: math.log(0.5) / half_life + 1j / period, "one turn is 2 pi"),
        (lambda period, half_life: -1 / half_life + 2j * math.pi / period, "differ by ln 2"),
        (lambda period, half_life: math.log(2) / half_life + 2j * math.pi / period, "grows"),
        (lambda period, half_life: math.log(0.5) / half_life - 2j * math.pi / period, "clockwise"),
    ],
    n02.check_tokens_to_half: [
        (lambda A, delta: math.log(2) / abs(A), "half-life in time"),
        (lambda A, delta: -math.log(2) / A * delta, "divide by delta"),
        (lambda A, delta: math.log(2) / A / delta, "a minus is missing"),
    ],
    n02.check_from_average: [
        (lambda a_bar: (a_bar - 1.0, 1.0 - a_bar), "inverts Euler's rule"),
        (lambda a_bar: (math.log(a_bar), 1.0 - a_bar), "for one step already taken"),
        (lambda a_bar: (math.log(a_bar), 1), "B = 1"),
    ],
    n02.check_safe_gain: [
        (lambda z: (z.exp() - 1) / z, "0 / 0 at z = 0"),
        (lambda z: torch.where(z == 0, 1.0, (z.exp() - 1) / z), "NaN times 0 is NaN"),
        (lambda z: torch.nan_to_num(z.expm1() / z, nan=1.0), "or nan_to_num"),
        (lambda z: guard_at_zero(z), "its gradient subtracts"),
        (
            lambda z: torch.from_numpy(n02.solve_safe_gain(z).detach().numpy()),
            "no gradient",
        ),
    ],
    n03.check_pulse_answer: [
        (
            lambda a_bar, b_bar, c, length: multiply_on(c * b_bar * a_bar, a_bar, length),
            "off by one",
        ),
        (lambda a_bar, b_bar, c, length: multiply_on(c, a_bar, length), "it is missing"),
        (lambda a_bar, b_bar, c, length: multiply_on(b_bar, c * a_bar, length), "c reads once"),
    ],
    n03.check_to_matrix: [
        (lambda kernel: torch.stack([shift(kernel, s) for s in range(len(kernel))]), "transposed"),
        (lambda kernel: kernel[tell_distance(kernel) % len(kernel)], "wraps round"),
        (lambda kernel: kernel[tell_distance(kernel).abs()], "symmetric"),
    ],
    n03.check_raw_missed: [
        (lambda p: 1 - 1 / (2 - p), "handed the marked values"),
        (lambda p: p / (2 - p), "the missed one is the rest"),
        (lambda p: (1 + p) * (1 - p), "reach back over all earlier tokens"),
        (lambda p: 1 - p, "it explains p squared"),
    ],
    n04.check_choose_steps: [
        (lambda marks, at_marks: torch.where(marks > 0, 0, at_marks), "the other way round"),
        (lambda marks, at_marks: torch.where(marks > 0, at_marks, 1), "an ordinary step leaks"),
        (lambda marks, at_marks: marks.clone(), "make it at_marks"),
    ],
    n04.check_step_that_keeps: [
        (lambda A, share: (share - 1) / A, "not fall along a straight line"),
        (lambda A, share: A * math.log(share), "divide by the rate"),
        (lambda A, share: math.log(1 / share) / A, "runs backwards"),
    ],
    n04.check_bias_for: [
        (lambda delta: math.log(delta), "softplus is not exp"),
        (lambda delta: delta + math.log1p(math.exp(-delta)), "softplus itself"),
        (lambda delta: math.log(math.exp(delta) - 1), "loses its digits"),
    ],
}
EXERCISES = [v for m in MODULES for v in vars(m).values() if isinstance(v, Exercise)]
CHECKS = {check.__name__.removeprefix("check_"): check for check in SLIPS}
STUBS = {
    ast.parse(cell.source).body[0].name: cell.source
    for path in list_notebooks()
    for cell in read_notebook(path).cells
    if "exercise" in list_tags(cell)
}


def filter_with(x, a_bar, b_bar):
    """A bucket as one matrix."""
    t = torch.arange(len(x), dtype=x.dtype)
    return torch.tril(b_bar * a_bar ** (t[:, None] - t).clamp(min=0)) @ x


def guard_at_zero(z):
    """A quotient that is guarded at 0 itself and nowhere else."""
    guarded = torch.where(z == 0, 1.0, z)
    return torch.where(z == 0, 1 + z / 2, torch.expm1(z) / guarded)


def sum_twenty_terms(z):
    """A power series that is used wherever z lies."""
    return sum(z**k / math.factorial(k + 1) for k in range(20))


def multiply_on(start, factor, length):
    """A geometric series, one number after the other."""
    series = [start * factor**k for k in range(length)]
    return torch.tensor(series, dtype=torch.float64)


def shift(kernel, steps):
    """A kernel that begins some steps later."""
    return torch.cat([kernel.new_zeros(steps), kernel])[: len(kernel)]


def tell_distance(kernel):
    """How far the moment of each row lies behind the token of each column."""
    t = torch.arange(len(kernel))
    return t[:, None] - t


@pytest.fixture(params=EXERCISES, ids=lambda exercise: exercise.name)
def exercise(request):
    return request.param


def test_every_exercise_has_its_check_its_stub_and_its_slips_here():
    names = [exercise.name for exercise in EXERCISES]
    assert sorted(names) == sorted(set(names)) == sorted(CHECKS) == sorted(STUBS)
    assert all(len(slips) >= 2 for slips in SLIPS.values())


def test_a_check_passes_its_solution(exercise, capsys):
    CHECKS[exercise.name](exercise.solve)
    said = capsys.readouterr().out
    assert said == f"check_{exercise.name}: passed ({len(exercise.cases)} cases)\n"


def test_a_check_leaves_the_notebook_s_stub_in_peace(exercise, capsys):
    names = vars(inspect.getmodule(exercise.solve)).copy()
    exec(STUBS[exercise.name], names)
    CHECKS[exercise.name](names[exercise.name])
    said = capsys.readouterr().out
    assert said.startswith(f"check_{exercise.name}: not attempted yet. Write {exercise.name} above")


def test_a_stub_asks_for_what_the_solution_gives(exercise):
    stub = ast.parse(STUBS[exercise.name]).body[0]
    solution = ast.parse(inspect.getsource(exercise.solve)).body[0]
    for part in (
        lambda f: ast.unparse(f.args),
        lambda f: ast.unparse(f.returns),
        ast.get_docstring,
    ):
        assert part(stub) == part(solution)


@pytest.mark.parametrize(
    ("check", "slip", "words"),
    [(check, *slip) for check, slips in SLIPS.items() for slip in slips],
    ids=lambda part: getattr(part, "__name__", part),
)
def test_a_reader_s_slip_earns_its_sentence(check, slip, words):
    with pytest.raises(CheckFailed) as caught:
        check(slip)
    said = str(caught.value).splitlines()
    assert [line.split()[0] for line in said[1:]] == ["got", "expected", "likely"]
    assert words in said[3]


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (n00.check_share_left, lambda keep, steps: keep**steps if steps else 0.0),
        (n00.check_share_left, lambda keep, steps: float(steps**keep)),
        (n02.check_safe_gain, sum_twenty_terms),
        (n04.check_step_that_keeps, lambda A, share: math.log(share)),
    ],
    ids=["no step", "power upside down", "series", "no rate"],
)
def test_a_wrong_answer_of_its_own_is_caught_and_told_no_false_cause(check, answer):
    with pytest.raises(CheckFailed, match="not one of the usual slips"):
        check(answer)


def test_mistakes_differ_in_the_first_case(exercise):
    """Else one answer has two causes, and the reader is told the wrong one."""
    case = next(iter(exercise.cases.values()))
    results = [exercise.observe(m.function)(**copy_case(case)) for m in exercise.mistakes]
    right = exercise.observe(exercise.solve)(**copy_case(case))
    wrong = [r for r in results if find_difference(r, right, exercise.tolerance)]
    for i, result in enumerate(wrong):
        assert all(find_difference(result, other, 1e-9) for other in wrong[:i])


def test_every_known_mistake_is_caught_by_its_own_cause(exercise):
    causes = [mistake.cause for mistake in exercise.mistakes]
    assert len(set(causes)) == len(causes) >= 2
    for mistake in exercise.mistakes:
        with pytest.raises(CheckFailed) as caught:
            CHECKS[exercise.name](mistake.function)
        assert str(caught.value).endswith(f"likely cause: {mistake.cause}")


def test_no_mistake_stops_on_a_case(exercise):
    """Else the check itself would stop, while it looks for the cause."""
    for case in exercise.cases.values():
        for mistake in exercise.mistakes:
            assert exercise.observe(mistake.function)(**copy_case(case)) is not None
