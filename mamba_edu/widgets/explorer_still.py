"""The explorer where nothing runs: one picture of where it starts, and the same in words."""

import math

import numpy as np
from matplotlib.figure import Figure

from mamba_edu.figures import draw_phase
from mamba_edu.figures.trajectory import draw_trajectory
from mamba_edu.probes import SCALES, measure_survival
from mamba_edu.widgets.view import View


def draw_still(view: View, options: dict) -> tuple[Figure, str]:
    """Draw where the explorer starts, and say it in words with its numbers."""
    start = options["start"]
    states = view.states[start["scale"], :, start["channel"]]
    delta = SCALES[start["scale"]] * view.tokens.delta[:, start["channel"]]
    t = np.arange(view.first, view.first + len(states))
    alt = write_words(view, options, delta.numpy(), states.numpy())
    if options["mode"] == "phase":
        h = states[:, 0].numpy() + 1j * states[:, 1].numpy()
        return draw_phase(t, h, options["title"]), alt
    last, ylabel = view.outputs[start["scale"], :, start["channel"]], "output y"
    if start["followed"] is not None:
        last, ylabel = measure_memory(view, start), "left of it"
    mark = None
    if start["followed"] is not None:
        mark = (int(t[start["followed"]]), name_token(view, start["followed"]))
    return draw_trajectory(t, delta, states, last, options["title"], ylabel, mark), alt


def measure_memory(view: View, start: dict):
    """Measure which share of the followed token is left, averaged over the shown states."""
    delta = SCALES[start["scale"]] * view.tokens.delta[None, :, [start["channel"]]]
    rates = view.rates[[start["channel"]]]
    return measure_survival(delta, rates, start["followed"])[0, :, 0].mean(-1)


def name_token(view: View, place: int) -> str:
    """Name a shown token by its label, or its number in the whole sequence."""
    number, label = f"token {view.first + place}", view.tokens.labels[place]
    return f"{label} ({number})" if label else number


def write_scale(scale: float) -> str:
    """Say what the step sizes are multiplied by."""
    return "as they are" if scale == 1 else f"{scale:g} times as they are"


def write_share(share: float) -> str:
    """Write a share in percent, to two digits; neither nothing nor all unless it is."""
    if not math.isfinite(share):
        return "not a number"
    if 0 < share < 0.001:
        return "under 0.1 %"
    if share > 0.99:
        return "100 %" if share >= 1 else f"{min(100 * share, 99.9):.3g} %"
    return f"{100 * share:.2g} %"


def write_words(view: View, options: dict, delta: np.ndarray, states: np.ndarray) -> str:
    """Say in words what the still picture shows, with its numbers."""
    start, first = options["start"], view.first
    length, n_states = states.shape
    finite = np.isfinite(states)
    said = [
        f"{options['title']}. Channel {view.channels[start['channel']]}, tokens {first} to "
        f"{first + length - 1}, {n_states} {'number' if n_states == 1 else 'numbers'} of state, "
        f"step sizes {write_scale(SCALES[start['scale']])}."
    ]
    steps = delta[np.isfinite(delta)]
    if len(steps):
        said.append(f"Step sizes from {steps.min():.2g} to {steps.max():.2g}.")
    if finite.any():
        sizes = np.where(finite, np.abs(states), -1)
        t, n = np.unravel_index(sizes.argmax(), sizes.shape)
        where = f"{view.names[n]} at token {first + t}"
        said.append(f"The largest state, {states[t, n]:.2g}, is {where}.")
    if not finite.all():
        said.append(f"{(~finite).any(1).sum()} tokens leave a state that is not a number.")
    if start["followed"] is not None:
        left = float(measure_memory(view, start)[-1])
        name = name_token(view, start["followed"])
        said.append(f"Of {name} {write_share(left)} is left at the end, averaged over the states.")
    return " ".join(said)
