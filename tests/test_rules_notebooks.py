"""Each rule on notebooks catches a bad notebook and lets a good one pass."""

import pytest
from nbformat import NotebookNode
from rules import anatomy, cells, exercises
from rules.make import PNG, make_code, make_display, make_notebook, make_text

TITLE = """# How does a bucket remember?

**You will be able to** step, read, decide.

Needs notebook 00 · 40 minutes · 15 CPU seconds"""
STUB = 'def double(x):\n    """Double x."""\n    raise NotImplementedError'
STUBS = [STUB, STUB.replace("double", "triple")]
PICTURE = make_display({"image/png": PNG, "text/plain": "a line"})


def make_idea(number: int) -> list[NotebookNode]:
    """One idea, whole: why, predict, derive, build, check, see."""
    return [
        make_text(f"## Why: idea {number}"),
        make_code("print('it fails')"),
        make_text("## Predict: what happens"),
        make_code("predict(n01.GUESS)"),
        make_text("## Derive\n\n$$h = x$$"),
        make_text("## Build: in few lines"),
        make_code(f"def build_{number}(x):\n    return x"),
        make_text("## Check"),
        make_code(f"assert build_{number}(1) == 1"),
        make_text("## See"),
        make_code("show(draw(), 'a', 'b')", PICTURE),
        make_text("It fell."),
    ]


def make_course(ideas: int = 2) -> NotebookNode:
    """A whole notebook that keeps every rule."""
    return make_notebook(
        make_text(TITLE),
        make_text("## Setup"),
        make_code("import torch\n\ntorch.manual_seed(0)"),
        *(cell for number in range(ideas) for cell in make_idea(number)),
        make_text("## Exercises"),
        make_code(STUBS[0], tags=("exercise",)),
        make_code("n01.check_double(double)"),
        make_code("show_solution(n01.solve_double)"),
        make_text("**2.** Now three."),
        make_code(STUBS[1], tags=("exercise",)),
        make_code("n01.check_triple(triple)"),
        make_text("## Limits\n\nNone.\n\n## Recap\n\nOne line."),
    )


RULES = [
    anatomy.find_heading_faults,
    anatomy.find_title_faults,
    anatomy.find_cell_budget_faults,
    anatomy.find_wordless_runs,
    anatomy.find_section_faults,
    cells.find_unrun_cells,
    cells.find_odd_metadata,
    cells.find_hidden_actions,
    cells.find_rebound_names,
    cells.find_changes_from_afar,
    exercises.find_stub_faults,
    exercises.find_unchecked_exercises,
    exercises.find_uses_of_exercises,
]


@pytest.mark.parametrize("rule", RULES)
def test_a_whole_notebook_keeps_every_rule(rule):
    assert rule(make_course()) == []


def change(old: str, new: str) -> NotebookNode:
    """Change a text wherever it stands in the whole notebook."""
    notebook = make_course()
    assert any(old in cell.source for cell in notebook.cells)
    for cell in notebook.cells:
        cell.source = cell.source.replace(old, new)
    return notebook


HEADINGS, TITLES = anatomy.find_heading_faults, anatomy.find_title_faults
BUDGETS, SECTIONS = anatomy.find_cell_budget_faults, anatomy.find_section_faults
HIDDEN, REBOUND, AFAR = (
    cells.find_hidden_actions,
    cells.find_rebound_names,
    cells.find_changes_from_afar,
)
STUBBED, UNCHECKED = exercises.find_stub_faults, exercises.find_unchecked_exercises
USED = exercises.find_uses_of_exercises

BAD = [  # a rule, a text of the good notebook, what it becomes, what the rule must say
    (HEADINGS, "## Derive", "## Theory", "must begin with one of"),
    (HEADINGS, "## Derive", "## Build", "sections are Setup, Why, Predict, Build"),
    (HEADINGS, "## Limits\n\nNone.\n\n", "", "then Exercises, Limits, Recap"),
    (TITLES, "remember?", "remember", "does not say a question"),
    (TITLES, "able to", "going to", "what you will be able to do"),
    (TITLES, "40 minutes", "long", "its minutes"),
    (TITLES, "15 CPU", "90 CPU", "promises 90 CPU seconds; allowed: 60"),
    (BUDGETS, "It fell.", "word " * 121, "121 words; allowed: 120"),
    (BUDGETS, "print('it fails')", "x = 1\n" * 26, "26 lines of code; allowed: 25"),
    (SECTIONS, "torch.manual_seed(0)", "def f():\n    pass", "'Setup': defines"),
    (SECTIONS, "predict(n01.GUESS)", "print(1)", "asks nothing"),
    (SECTIONS, "$$h = x$$", "$$h = x$$\n" * 4, "4 displayed equations; allowed: 3"),
    (SECTIONS, "    return x", "    x\n" * 16, "17 lines; allowed: 15"),
    (SECTIONS, "assert ", "print ", "checks nothing"),
    (HIDDEN, "print('it fails')", "%time 1", "a magic"),
    (HIDDEN, "print('it fails')", "!ls", "a magic or a shell command"),
    (HIDDEN, "print('it fails')", "import pip; pip.main(['install', 'x'])", "an installation"),
    (HIDDEN, "print('it fails')", "import urllib.request", "a download"),
    (HIDDEN, "print('it fails')", "fetch_openml('mnist')", "a download"),
    (HIDDEN, "print('it fails')", "draw();", "a semicolon"),
    (HIDDEN, "print('it fails')", "interact(f, x=3)", "never repeats"),
    (HIDDEN, "print('it fails')", "from tqdm import tqdm", "never repeats"),
    (HIDDEN, "print('it fails')", "# NBVAL_SKIP\ndraw()", "steers nbval"),
    (HIDDEN, "print('it fails')", "if x", "no Python"),
    (REBOUND, "print('it fails')", "rate = 3", "rate means something else since cell 5"),
    (REBOUND, "build_1", "build_0", "build_0 means something else since cell 10"),
    (REBOUND, "print('it fails')", "def f(): ...\ndef f(): ...", "f is defined twice"),
    (AFAR, "assert build_1(1) == 1", "build_0.cache = 1", "changes build_0 of cell 10 in place"),
    (AFAR, "assert build_1(1) == 1", "build_0[1] += 2", "changes build_0"),
    (AFAR, "assert build_1(1) == 1", "build_0.append(2)", "changes build_0"),
    (AFAR, "assert build_1(1) == 1", "build_0.add_(2)", "changes build_0"),
    (STUBBED, "    raise NotImplementedError", "    return 2 * x", "must be a docstring"),
    (STUBBED, "def double", "import os\n\ndef double", "one function and no more"),
    (STUBBED, "print('it fails')", STUB, "a stub without the tag"),
    (UNCHECKED, "n01.check_double(double)", "1", "no later cell calls check_double(double)"),
    (UNCHECKED, "check_double(double)", "check_double(triple)", "check_double(double)"),
    (USED, "show_solution(n01.solve_double)", "print(double(2))", "needs the exercise double"),
    (USED, "assert build_1(1) == 1", "use = triple", "needs the exercise triple"),
]


@pytest.mark.parametrize(("rule", "old", "new", "says"), BAD)
def test_a_rule_catches_its_bad_notebook(rule, old, new, says):
    faults = rule(change(old, new))
    assert any(says in fault for fault in faults), faults


def test_notebook_00_needs_no_derivation():
    notebook = change("## Derive\n\n$$h = x$$", "Words only.")
    assert anatomy.find_heading_faults(notebook)
    notebook["number"] = "00"
    assert anatomy.find_heading_faults(notebook) == []


@pytest.mark.parametrize(("ideas", "count"), [(1, 16), (4, 52)])
def test_the_number_of_cells_counts_without_the_exercises(ideas, count):
    (fault,) = anatomy.find_cell_budget_faults(make_course(ideas))
    assert fault == f"{count} cells without the exercises'; allowed: 25 to 40"


def test_four_ideas_are_one_too_many():
    assert anatomy.find_heading_faults(make_course(3)) == []
    assert anatomy.find_heading_faults(make_course(4))


def test_see_needs_one_picture_and_a_sentence_after_it():
    notebook = make_course(1)
    see = notebook.cells[13]
    assert see.outputs
    for outputs, says in (([], "shows 0 pictures"), ([PICTURE, PICTURE], "shows 2 pictures")):
        see.outputs = outputs
        assert says in anatomy.find_section_faults(notebook)[0]
    see.outputs = [PICTURE]
    del notebook.cells[14]
    assert "without a sentence" in anatomy.find_section_faults(notebook)[0]
    see.outputs = [PICTURE, make_display({"text/markdown": "It fell.", "text/plain": "It fell."})]
    assert anatomy.find_section_faults(notebook) == []


def test_exercises_are_two_or_three():
    notebook = make_course(1)
    notebook.cells[-3].metadata.pop("tags")
    assert "1 exercises; allowed: two or three" in anatomy.find_section_faults(notebook)[0]


def test_three_code_cells_without_words_are_caught_and_a_fold_counts_as_words():
    pair = [make_code("a = 1"), make_code("b = 1")]
    fold = [make_code("show_solution(n01.solve_x)")]
    assert anatomy.find_wordless_runs(make_notebook(*pair, *fold, *pair)) == []
    (fault,) = anatomy.find_wordless_runs(make_notebook(make_text("a"), *pair, *pair))
    assert fault == "cell 2: 4 code cells without words between; allowed: 2"


def test_a_cell_stored_unrun_or_out_of_order_is_caught():
    notebook = make_notebook(make_text("a"), make_code("a = 1"), make_code("b = 1"))
    notebook.cells[1].execution_count = None
    notebook.cells[2].execution_count = 7
    assert cells.find_unrun_cells(notebook) == [
        "cell 2: stored as In [None]; must be In [1]",
        "cell 3: stored as In [7]; must be In [2]",
    ]


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("widgets", {"state": {}}, "metadata holds 'widgets'"),
        ("kernelspec", {"name": "mine"}, "metadata's kernelspec is {'name': 'mine'}"),
        ("language_info", {"name": "python", "version": "3.11"}, "metadata's language_info"),
    ],
)
def test_what_a_front_end_leaves_behind_is_caught(key, value, says):
    notebook = make_course(1)
    notebook.metadata[key] = NotebookNode(value)
    assert says in cells.find_odd_metadata(notebook)[0]


def test_a_mistyped_tag_and_a_second_hidden_output_are_caught():
    notebook = make_course(1)
    notebook.cells[4].metadata["tags"] = ["excercise"]
    assert "tag 'excercise'; allowed" in cells.find_odd_metadata(notebook)[0]
    for cell in notebook.cells[4:6]:
        cell.metadata["tags"] = ["nbval-ignore-output"]
    assert "2 cells hide their output" in cells.find_odd_metadata(notebook)[0]


def test_an_exercise_module_needs_pairs_and_callers(tmp_path):
    module = tmp_path / "n01.py"
    module.write_text("def solve_a(): ...\ndef check_a(s): ...\ndef solve_b(): ...\n")
    faults = exercises.find_exercise_module_faults(module, ["n01.check_a(b)"], [])
    assert faults == [
        "n01.py: no notebook calls check_a(a)",
        "n01.py: no test names check_a",
        "n01.py: solve_b has no check_b",
    ]
    module.write_text("def solve_a(): ...\ndef check_a(s): ...\n")
    good = exercises.find_exercise_module_faults(module, ["n01.check_a(a)"], ["n01.check_a"])
    assert good == []
