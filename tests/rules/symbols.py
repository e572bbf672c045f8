"""A symbol in a formula is one of the course's, or stands in the notebook's own table."""

import re

from nbformat import NotebookNode

COURSE = {  # the names that stay the same all course long; the rest is told where it is used
    *("x", "y", "h", "A", "B", "C", "D", "z", "t", "s"),
    *(r"\Delta", r"\bar A", r"\bar B"),
    *("e", "i", "d", r"\pi"),  # constants and the differential
}
GREEK = {
    *("alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "kappa"),
    *("lambda", "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "phi", "varphi", "chi", "psi"),
    *("omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega"),
    "ell",
}
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$([^$\n]+)\$", re.DOTALL)
WORDS = re.compile(r"\\(?:text|mathrm|operatorname|mathtt|texttt|textbf|begin|end)\*?\{[^{}]*\}")
ACCENT = r"\\(bar|hat|tilde|dot|overline|vec)\s*(?:\{\s*(\\?[A-Za-z]+)\s*\}|(\\[A-Za-z]+|[A-Za-z]))"
INDEX = re.compile(r"_\s*(?:\{[^{}]*\}|\\?[A-Za-z]+\b|\w)")


def list_formulas(text: str) -> list[str]:
    """List what stands between dollars."""
    return [one or other for one, other in FORMULA.findall(text)]


def list_symbols(formula: str) -> set[str]:
    """List the symbols of one formula; an index belongs to its symbol and is not counted."""
    rest = INDEX.sub(" ", WORDS.sub(" ", formula))
    symbols = {rf"\{accent} {one or other}" for accent, one, other in re.findall(ACCENT, rest)}
    rest = re.sub(ACCENT, " ", rest)
    commands = set(re.findall(r"\\([A-Za-z]+)", rest))
    symbols |= {rf"\{name}" for name in commands & GREEK}
    return symbols | set(re.findall(r"[A-Za-z]", re.sub(r"\\[A-Za-z]+", " ", rest)))


def list_told_symbols(text: str) -> set[str]:
    """List the symbols in the table rows that also give a name in code."""
    rows = [line for line in text.splitlines() if line.lstrip().startswith("|") and "`" in line]
    return {s for row in rows for formula in list_formulas(row) for s in list_symbols(formula)}


def find_untold_symbols(notebook: NotebookNode) -> list[str]:
    """List the symbols that a notebook uses without a row in its tables or the course's."""
    texts = [cell.source if cell.cell_type == "markdown" else "" for cell in notebook.cells]
    told = COURSE.union(*(list_told_symbols(text) for text in texts))
    faults = []
    for number, text in enumerate(texts, start=1):
        used = {s for formula in list_formulas(text) for s in list_symbols(formula)}
        faults += [f"cell {number}: ${symbol}$ is in no table" for symbol in sorted(used - told)]
    return faults
