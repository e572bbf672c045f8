"""What cannot be drawn is refused by name, with what is allowed."""

import numpy as np
import pytest
import torch

from mamba_edu.figures import Line, draw_lines, draw_phase

X = np.arange(4.0)
GOOD = {"lines": [Line("v", X, X)], "title": "Finding", "xlabel": "t", "ylabel": "h"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (Line("v", X, X[:3]), r"line 'v': x \(4,\) and y \(3,\) must be equal, 1-d and not empty"),
        (Line("v", X[:0], X[:0]), r"x \(0,\) and y \(0,\) must be equal, 1-d and not empty"),
        (Line("v", [X, X], [X, X]), r"x \(2, 4\) and y \(2, 4\) must be equal, 1-d"),
        (Line("v", 1.0, 2.0), r"x \(\) and y \(\) must be equal, 1-d"),
        (Line("v", X, X * 1j), r"line 'v': x and y must be real; take \.real or \.abs\(\)"),
        (Line("v", torch.zeros(4) * 1j, X), r"x and y must be real"),
        (Line("v", X, list("abcd")), r"line 'v': x and y must be numbers; got float64, <U1"),
        (Line("v", X, [1, None, 2, 3]), r"x and y must be numbers; got float64, object"),
        (Line("v", X, X, "signal"), r"role must be one of \['cls', .*line 'v' has 'signal'"),
        (Line("v", X, X, ["x"]), r"role must be one of \['cls', .*line 'v' has \['x'\]"),
        (Line(["v"], X, X), r"label must be words or empty; a line has \['v'\]"),
        (Line(None, X, X), r"label must be words or empty; a line has None"),
        (Line(r"$\frac{$", X, X), r"label must be words or TeX that matplotlib reads; got '\$"),
        (Line("v", X, X, marker="zz"), r"line 'v': marker must be one of .*'o'.*; got 'zz'"),
        (Line("v", X, X, marker=None), r"line 'v': marker must be one of .*; got None"),
        (Line("v", X, X, marker=["o"]), r"line 'v': marker must be one of .*; got \['o'\]"),
        (Line("v", X, X, width=-1), r"line 'v': width must be a finite number of at least 0 or No"),
        (Line("v", X, X, width=np.inf), r"line 'v': width must be a finite .*; got inf"),
        (Line("v", X, X, width="2"), r"line 'v': width must be a finite .*; got '2'"),
        (Line("v", X, X, width=X), r"line 'v': width must be a finite .*; got array"),
        ((X, X), r"lines must hold Line\(label, x, y, role\); one is \(array"),
    ],
)
def test_a_line_that_cannot_be_drawn_is_named(line, message):
    with pytest.raises((TypeError, ValueError), match=message):
        draw_lines(**{**GOOD, "lines": [Line("first", X, X), line]})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"lines": []}, r"lines must be a list of at least one Line; got \[\]"),
        ({"lines": Line("v", X, X)}, r"lines must be a list of at least one Line; got Line"),
        ({"lines": X}, r"lines must be a list of at least one Line"),
        ({"title": " "}, r"title must be words.*got ' '"),
        ({"xlabel": None}, r"xlabel must be words.*got None"),
        ({"ylabel": ""}, r"ylabel must be words.*got ''"),
        ({"scales": "log"}, r"scales must be two of \('linear', 'log', 'symlog'\).*got 'log'"),
        ({"scales": ("log", "logit")}, r"scales must be two of .*got \('log', 'logit'\)"),
        ({"scales": ("log",)}, r"scales must be two of"),
        ({"scales": [[1], [1, 2]]}, r"scales must be two of .*got \[\[1\], \[1, 2\]\]"),
        ({"scales": [X, X]}, r"scales must be two of .*got \[array"),
        ({"mark": 3.0}, r"mark must be a finite x and its words; got 3\.0"),
        ({"mark": (np.nan, "off")}, r"mark must be a finite x and its words; got \(nan"),
        ({"mark": (3.0, None)}, r"mark must be a finite x and its words"),
        ({"mark": ("3", "off")}, r"mark must be a finite x"),
        ({"ylim": (1.0, 1.0)}, r"ylim must be the lowest and the highest y; got \(1\.0, 1\.0\)"),
        ({"ylim": (2.0, -2.0)}, r"ylim must be the lowest and the highest y"),
        ({"ylim": (0.0, np.inf)}, r"ylim must be the lowest and the highest y"),
        ({"ylim": 3.0}, r"ylim must be the lowest and the highest y; got 3\.0"),
    ],
)
def test_bad_words_scales_marks_and_limits_are_named(changed, message):
    with pytest.raises(ValueError, match=message):
        draw_lines(**GOOD | changed)


@pytest.mark.parametrize(
    ("t", "h", "reach", "message"),
    [
        (X, X[:3] * 1j, None, r"t \(4,\) and h \(3,\) must be equal, 1-d and not empty"),
        (X[:0], X[:0] * 1j, None, r"must be equal, 1-d and not empty"),
        (X.reshape(2, 2), X.reshape(2, 2), None, r"t \(2, 2\) and h \(2, 2\) must be equal, 1-d"),
        (X * 1j, X, None, r"t must hold real numbers and h numbers; got complex128 and float64"),
        (X, list("abcd"), None, r"t must hold real numbers and h numbers; got float64 and <U1"),
        (X, X * 1j, 0, r"reach must be a finite number above 0; got 0"),
        (X, X * 1j, -1.5, r"reach must be a finite number above 0; got -1\.5"),
        (X, X * 1j, np.nan, r"reach must be a finite number above 0; got nan"),
        (X, X * 1j, "wide", r"reach must be a finite number above 0; got 'wide'"),
    ],
)
def test_a_path_that_cannot_be_drawn_is_named(t, h, reach, message):
    with pytest.raises((TypeError, ValueError), match=message):
        draw_phase(t, h, "Path", reach)
