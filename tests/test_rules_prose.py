"""Each rule on what is written catches a bad sentence and lets a good one pass."""

import pytest
from rules import prose, symbols
from rules.make import make_notebook, make_text

FILES = ["course.py", "notebooks/01_linear_ssm.ipynb", "mamba_edu/linear/fitting.py"]


@pytest.mark.parametrize(
    "text",
    [
        "`course.py`, `notebooks/`, `mamba_edu/linear/`, `fitting.py`, `linear/fitting.py`",
        "`python3 course.py test`, `course.py reset NN`, `notebooks/NN_*.ipynb`",
        "`notebooks/NN_<name>.ipynb`, `workbook/progress.json`, `membrane.dat`, `a / b`",
        "```\nrun lost.py\n```",
        "`A_bar`, `h[t]`, `3 / 4`, `Float[Tensor, 'batch length']`",
    ],
)
def test_names_of_files_that_are_there_pass(text):
    assert prose.find_lost_files(text, FILES) == []


@pytest.mark.parametrize("name", ["cours.py", "notebook/", "linear/fit.py", "run lost.md now"])
def test_a_lost_file_is_caught(name):
    (fault,) = prose.find_lost_files(f"See `{name}`.", FILES)
    assert "names no file" in fault


def test_names_that_exist_pass():
    text = "`torch.exp`, `mamba_edu.reader.show(fig, ...)`, `leak(x)`, `len(x)`, `x.shape`, `delta`"
    assert prose.find_lost_names(text, prose.list_known_names([]) | {"leak", "x"}) == []


@pytest.mark.parametrize(
    ("span", "says"),
    [
        ("torch.expp", "does not exist"),
        ("mamba_edu.reader.shout(fig)", "does not exist"),
        ("mamba_edu.nothing", "does not exist"),
        ("leek(x)", "calls a function"),
        ("z.shape", "hangs on a name"),
    ],
)
def test_a_name_that_nothing_defines_is_caught(span, says):
    (fault,) = prose.find_lost_names(f"Call `{span}`.", prose.list_known_names([]) | {"leak", "x"})
    assert says in fault


@pytest.mark.parametrize(
    "text",
    [
        "With $p = 0.2$ and `tau=0.5`, over 12 tokens and 5 seeds in 40 minutes.",
        "| a | 0.5 |\n|---|---|",
        "**Sources.** Gu (arXiv:2312.00752), 3.5 pages.",
        "Python 3.11, section 2.1, Equation 4.2, [paper](https://a.org/1.5).",
        "```\n0.5\n```",
    ],
)
def test_numbers_that_are_defined_or_cited_pass(text):
    assert prose.find_measured_numbers(text) == []


@pytest.mark.parametrize("text", ["It reached 0.93.", "It loses 3 % of them.", "97% of runs"])
def test_a_measured_number_is_caught(text):
    (fault,) = prose.find_measured_numbers(text)
    assert "belongs in an output" in fault


def test_a_picture_needs_words_and_a_file(tmp_path):
    (tmp_path / "a.png").touch()
    good = '![a bucket](a.png) <img src="a.png" alt="a bucket"> [x](https://a.org)'
    assert prose.find_silent_pictures(good) == []
    assert prose.find_lost_pictures(good, tmp_path) == []
    bad = '![](b.png) <img src="c.png" alt="">'
    assert len(prose.find_silent_pictures(bad)) == 2
    assert prose.find_lost_pictures(bad, tmp_path) == [
        "'b.png' leads nowhere",
        "'c.png' leads nowhere",
    ]


def test_a_lost_backslash_is_caught():
    assert prose.find_control_characters("$\\bar A$\n\tand") == []
    (fault,) = prose.find_control_characters("$\bar A$")
    assert "ar A" in fault


@pytest.mark.parametrize(
    "text",
    [
        r"$h_t = \bar A h_{t-1} + \bar{B} x_t$ and $$y = \sum_n C_n h_n$$",
        r"$e^{i\pi}$, $h'(t)$, $\mathrm{Re}\,h$, \$5 and \$6, $\frac{d h}{d t}$",
        "| symbol | code |\n|---|---|\n| $\\tau$, $r$ | `tau`, `rate` |\n\nSo $\\tau = 1 / r$.",
    ],
)
def test_symbols_of_the_course_and_of_the_table_pass(text):
    assert symbols.find_untold_symbols(make_notebook(make_text(text))) == []


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        (r"$\tau = 3$", r"\tau"),
        ("$$h = q x$$", "q"),
        (r"$\hat x$", r"\hat x"),
        ("| $r$ | the rate |\n\nSo $r$.", "r"),
    ],
)
def test_an_untold_symbol_is_caught(text, symbol):
    faults = symbols.find_untold_symbols(make_notebook(make_text("# A?"), make_text(text)))
    assert faults == [f"cell 2: ${symbol}$ is in no table"]
