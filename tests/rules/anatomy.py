"""How a notebook is built: fixed headings in order, and budgets that keep each idea small."""

import re
from typing import NamedTuple

from nbformat import NotebookNode

FEWEST_CELLS, MOST_CELLS = 25, 40
MOST_WORDS, MOST_LINES, MOST_BUILD_LINES = 120, 25, 15
MOST_EQUATIONS, MOST_IN_A_ROW = 3, 2
MOST_SECONDS = 60
KINDS = ("Setup", "Why", "Predict", "Derive", "Build", "Check", "See")
ENDS = ("Exercises", "Limits", "Recap")
LETTERS = {kind: kind[0] for kind in KINDS} | {kind: kind[0].lower() for kind in ENDS}
ORDER = re.compile(r"SWPDBCS(?:W?PDBCS){0,2}elr")
ORDER_OF_THE_FIRST = re.compile(r"SWPD?BCS(?:W?PD?BCS){0,2}elr")  # 00 has nothing to derive
TITLE_MUST_SAY = {
    "a question": r"\A# [^\n]+\?\s*$",
    "what you will be able to do": r"able to",
    "which notebook it needs": r"[Nn]eeds",
    "its minutes": r"\d+ minutes",
    "its CPU seconds": r"\d+ (?:CPU seconds|s(?:econds)? of CPU|s CPU)",
}


class Section(NamedTuple):
    """One section: the whole heading, its first word, and its cells with the heading's own."""

    heading: str
    kind: str
    cells: list[NotebookNode]


def split_cell(cell: NotebookNode) -> list[NotebookNode]:
    """Split a text cell where a heading begins; a short section may share its cell."""
    if cell.cell_type != "markdown":
        return [cell]
    pieces = re.split(r"(?m)^(?=## )", cell.source)
    return [NotebookNode(cell | {"source": piece}) for piece in pieces if piece.strip()]


def split_sections(notebook: NotebookNode) -> list[Section]:
    """Split a notebook at its second-level headings; what stands before the first is the title."""
    sections = [Section("", "Title", [])]
    for piece in (piece for cell in notebook.cells for piece in split_cell(cell)):
        found = re.match(r"## +(.+)", piece.source) if piece.cell_type == "markdown" else None
        if found:
            kind = re.match(r"\w*", found[1])[0]
            sections.append(Section(found[1].strip(), kind, []))
        sections[-1].cells.append(piece)
    return sections


def is_first(notebook: NotebookNode) -> bool:
    """Tell notebook 00, which teaches how to read the others, from those."""
    return notebook.get("number") == "00"


def find_heading_faults(notebook: NotebookNode) -> list[str]:
    """Hold the headings to their fixed words and order."""
    headings = [section for section in split_sections(notebook) if section.heading]
    faults = [
        f"heading '## {section.heading}': must begin with one of {', '.join(LETTERS)}"
        for section in headings
        if section.kind not in LETTERS
    ]
    order = "".join(LETTERS.get(section.kind, "") for section in headings)
    wanted = ORDER_OF_THE_FIRST if is_first(notebook) else ORDER
    if not wanted.fullmatch(order):
        there = ", ".join(section.kind for section in headings)
        faults.append(
            f"sections are {there}; allowed: Setup, then one to three times "
            "(Why) Predict Derive Build Check See, then Exercises, Limits, Recap"
        )
    return faults


def strip_code(text: str) -> str:
    """Take out fenced code, whose # is no heading."""
    return re.sub(r"(?ms)^ *```.*?^ *```", "", text)


def find_title_faults(notebook: NotebookNode) -> list[str]:
    """Hold the first cell to what a reader wants to know before beginning."""
    title = notebook.cells[0].source if notebook.cells else ""
    faults = [
        f"the title cell does not say {what}"
        for what, pattern in TITLE_MUST_SAY.items()
        if not re.search(pattern, title, re.MULTILINE)
    ]
    seconds = re.search(TITLE_MUST_SAY["its CPU seconds"], title)
    if seconds and int(re.match(r"\d+", seconds[0])[0]) > MOST_SECONDS:
        faults.append(f"the title cell promises {seconds[0]}; allowed: {MOST_SECONDS}")
    return faults


def count_words(markdown: str) -> int:
    """Count the words of a text: a formula is one; tables, code, addresses, sources are none."""
    text = re.sub(r"(?ms)^\*\*Sources?\.\*\*.*?(?:\n\n|\Z)", "", strip_code(markdown))
    text = re.sub(r"(?m)^\s*\|.*$", "", text)
    text = re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$|`[^`\n]+`", " formula ", text, flags=re.DOTALL)
    text = re.sub(r"\]\([^)]*\)|<[^>]+>", " ", text)
    return len(re.findall(r"[^\W_][\w'’.-]*", text))


def count_code_lines(cell: NotebookNode) -> int:
    """Count the lines of a cell that are not blank."""
    return sum(bool(line.strip()) for line in cell.source.splitlines())


def find_cell_budget_faults(notebook: NotebookNode) -> list[str]:
    """Hold every cell to its words or lines, and the notebook to its number of cells."""
    faults = []
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type == "markdown" and (words := count_words(cell.source)) > MOST_WORDS:
            faults.append(f"cell {number}: {words} words; allowed: {MOST_WORDS}")
        if cell.cell_type == "code" and (lines := count_code_lines(cell)) > MOST_LINES:
            faults.append(f"cell {number}: {lines} lines of code; allowed: {MOST_LINES}")
    exercises = [s for s in split_sections(notebook) if s.kind == "Exercises"]
    count = len(notebook.cells) - sum(len(section.cells) for section in exercises)
    if not FEWEST_CELLS <= count <= MOST_CELLS:
        allowed = f"{FEWEST_CELLS} to {MOST_CELLS}"
        faults.append(f"{count} cells without the exercises'; allowed: {allowed}")
    return faults


def find_wordless_runs(notebook: NotebookNode) -> list[str]:
    """Find more code cells in a row than a reader follows without words."""
    kinds = "".join("c" if is_silent(cell) else "." for cell in notebook.cells)
    return [
        f"cell {found.start() + 1}: {len(found[0])} code cells without words between; "
        f"allowed: {MOST_IN_A_ROW}"
        for found in re.finditer(r"c{3,}", kinds)
    ]


def is_silent(cell: NotebookNode) -> bool:
    """Tell code from words; a folded solution is read, so it counts as words."""
    return cell.cell_type == "code" and not cell.source.startswith("show_solution(")


def find_section_faults(notebook: NotebookNode) -> list[str]:
    """Hold each section to what it is there for."""
    faults = []
    for section in split_sections(notebook):
        rule = SECTION_RULES.get(section.kind)
        fault = rule(section) if rule else ""
        faults += [f"section '{section.heading}': {fault}"] if fault else []
    return faults


def join_code(section: Section) -> str:
    """Join a section's code."""
    return "\n".join(cell.source for cell in section.cells if cell.cell_type == "code")


def join_words(section: Section) -> str:
    """Join a section's text."""
    return "\n\n".join(cell.source for cell in section.cells if cell.cell_type == "markdown")


def hold_setup(section: Section) -> str:
    """Setup is one cell of imports and a seed."""
    cells = [cell for cell in section.cells if cell.cell_type == "code"]
    if len(cells) != 1:
        return f"{len(cells)} code cells; allowed: one, with the imports and the seed"
    defined = re.search(r"(?m)^(?:def|class|for|while|if) .*", cells[0].source)
    return f"defines or decides, {defined[0]!r}; allowed: imports and the seed" if defined else ""


def hold_predict(section: Section) -> str:
    """Predict asks before the answer is on the page."""
    asks = re.search(r"\b(?:predict|ask)\(", join_code(section))
    return "" if asks else "asks nothing; it must call predict(...)"


def hold_derive(section: Section) -> str:
    """Derive has few displayed equations."""
    count = len(re.findall(r"\$\$.+?\$\$", join_words(section), re.DOTALL))
    return f"{count} displayed equations; allowed: {MOST_EQUATIONS}" if count > 3 else ""


def hold_build(section: Section) -> str:
    """Build is short code."""
    sizes = [count_code_lines(cell) for cell in section.cells if cell.cell_type == "code"]
    if not sizes:
        return "builds nothing: it must have a code cell"
    return f"{max(sizes)} lines; allowed: {MOST_BUILD_LINES}" if max(sizes) > 15 else ""


def hold_check(section: Section) -> str:
    """Check asserts."""
    checks = re.search(r"\bassert", join_code(section))
    return "" if checks else "asserts nothing, so it checks nothing"


def hold_see(section: Section) -> str:
    """See shows one picture, with a sentence after it: a caption or a text cell."""
    outputs = [output.get("data", {}) for c in section.cells for output in c.get("outputs", [])]
    pictures = ["image/png" in data for data in outputs]
    if sum(pictures) != 1:
        return f"shows {sum(pictures)} pictures; allowed: one"
    captions = outputs[pictures.index(True) + 1 :]
    told = section.cells[-1].cell_type == "markdown" or any("text/markdown" in d for d in captions)
    return "" if told else "ends without a sentence on what it showed"


def hold_exercises(section: Section) -> str:
    """Exercises are two or three."""
    tags = [tag for cell in section.cells for tag in cell.metadata.get("tags", [])]
    count = tags.count("exercise")
    return "" if count in (2, 3) else f"{count} exercises; allowed: two or three"


SECTION_RULES = {
    "Setup": hold_setup,
    "Predict": hold_predict,
    "Derive": hold_derive,
    "Build": hold_build,
    "Check": hold_check,
    "See": hold_see,
    "Exercises": hold_exercises,
}
