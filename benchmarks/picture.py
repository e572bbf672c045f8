"""Draw the race: how many times the fused scan's time each way takes, against the length."""

from pathlib import Path

from matplotlib.figure import Figure
from rounds import Entry

from mamba_edu.figures.style import Line, draw_line, label_lines, styled

OURS = {"fused": "o", "chunked": "s", "parallel": "^", "loop": "v"}
PEERS = ("D", "P", "X", "*", "<", ">")
GLYPHS = dict(zip((*OURS.values(), *PEERS), "●■▲▼◆✚✖★◀▶", strict=True))


def save_picture(entries: list[Entry], machine: str, path: Path) -> None:
    """Draw the entries of batch 1 and write them as a PNG."""
    draw_ratios([entry for entry in entries if entry.size.batch == 1], machine).savefig(
        path, format="png", dpi=160
    )


@styled
def draw_ratios(entries: list[Entry], machine: str) -> Figure:
    """Draw two panels, forward and with the backward pass; ours in blue, the peers in black."""
    fig = Figure(layout="constrained", figsize=(10, 4.2))
    panels = fig.subplots(1, 2, sharey=True)
    for half, ax in enumerate(panels):
        for line in list_lines(entries, half):
            draw_line(ax, line)
        ax.set(xscale="log", yscale="log", xlabel="length (tokens)")
        ax.set_title(("forward", "forward and backward")[half])
    panels[0].set_ylabel("CPU time (times the fused scan's)")
    for ax in panels:  # when both have their limits
        lengths = sorted({entry.size.length for entry in entries})
        ax.set_xticks(lengths, [write_length(length) for length in lengths])
        ax.minorticks_off()
        label_lines(ax)
    fig.suptitle(write_finding(entries), x=0.01, ha="left", fontsize=11, fontweight="bold")
    fig.supxlabel(machine, x=0.01, ha="left", fontsize=9)
    return fig


def write_length(length: int) -> str:
    """Write a length in the units of 1024 that the race is run at."""
    for unit, size in (("M", 2**20), ("k", 2**10)):
        if length % size == 0:
            return f"{length // size}{unit}"
    return str(length)


def list_lines(entries: list[Entry], half: int) -> list[Line]:
    """List a line a way, of its ratios to the fused scan at each length."""
    fused = {entry.size: entry.seconds[half] for entry in entries if entry.way == "fused"}
    points: dict[str, list[tuple[int, float]]] = {}
    for entry in entries:
        if entry.seconds[half] is not None:
            ratio = entry.seconds[half] / fused[entry.size]
            points.setdefault(entry.way, []).append((entry.size.length, ratio))
    marks = OURS | dict(zip((way for way in points if way not in OURS), PEERS, strict=False))
    return [
        Line(f"{GLYPHS[marks[way]]} {way}", *zip(*sorted(own), strict=True), role, marks[way])
        for way, own in points.items()
        for role in ("state" if way in OURS else "reference",)
    ]


def write_finding(entries: list[Entry]) -> str:
    """Say how far the fastest way of others is behind at the longest length it ran at."""
    peers = [entry for entry in entries if entry.way not in OURS and entry.seconds[0]]
    if not peers:
        return "The course's ways to scan"
    length = max(entry.size.length for entry in peers)
    best = min((e for e in peers if e.size.length == length), key=lambda e: e.seconds[0])
    [fused] = [e for e in entries if e.way == "fused" and e.size == best.size]
    ratio = best.seconds[0] / fused.seconds[0]
    return f"At {length} tokens {best.way} takes {ratio:.0f} times as long as the fused scan"
