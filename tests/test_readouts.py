"""Every read-out by its name: against plain Python, under padding, and its gradient."""

import math

import pytest
import torch
from torch.testing import assert_close

from mamba_edu.layers import MambaState
from mamba_edu.readout import READOUTS, make_readout, take_registers
from mamba_edu.readout.real import pick_outputs, split_cls

D_MODEL, D_INNER, D_STATE, EVERY = 3, 6, 5, 32
LENGTHS = [71, 34, 2, 33]  # with registers: three, two, one of a short chunk, one of a full one
WIDTHS = {"registers_concat": 4 * D_MODEL, "cls_and_max": 2 * D_MODEL}
nan = float("nan")
every_name = pytest.mark.parametrize("name", READOUTS)


def to_mask(*rows):
    return torch.tensor([[letter == "x" for letter in row] for row in rows])


def make(name):
    torch.manual_seed(0)
    readout = make_readout(name, D_MODEL, D_INNER, D_STATE).double()
    with torch.no_grad():  # what starts at 0 would hide its own part
        for parameter in readout.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return readout


def draw(side="right"):
    """Rows of LENGTHS real outputs, NaN on the padding, and a state."""
    rng = torch.Generator().manual_seed(1)
    n_columns = max(LENGTHS) + 2
    places = [torch.randperm(n_columns, generator=rng)[:n].sort().values for n in LENGTHS]
    if side != "gaps":
        places = [torch.arange(n) + (n_columns - n) * (side == "left") for n in LENGTHS]
    mask = torch.stack([torch.zeros(n_columns).index_fill(0, p, 1).bool() for p in places])
    rng.manual_seed(2)
    rows = [torch.randn(n, D_MODEL, generator=rng, dtype=torch.float64) for n in LENGTHS]
    h = torch.randn(len(LENGTHS), D_INNER, D_STATE, generator=rng, dtype=torch.float64)
    outputs = torch.full((*mask.shape, D_MODEL), nan, dtype=torch.float64)
    outputs[mask] = torch.cat(rows)
    return outputs.requires_grad_(), mask, h


def average(rows, weights):
    total = sum(weights)
    return [sum(w * row[k] for w, row in zip(weights, rows, strict=True)) / total
            for k in range(D_MODEL)]  # fmt: skip


def largest(rows):
    return [max(column) for column in zip(*rows, strict=True)]


def dot(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True))


def sigmoid(number):
    return 1 / (1 + math.exp(-number))


def read_by_hand(name, readout, row, h):
    """The answer for one row of real outputs: loops over lists, no tensor of outputs."""
    weights = {key: value.tolist() for key, value in readout.state_dict().items()}
    content = row[:-1]
    if name == "state":
        y = [dot(weights["query"], channel) for channel in h.tolist()]
        return [dot(line, y) for line in weights["proj.weight"]]
    if name == "gated":
        [gate], [bias] = weights["gate.weight"], weights["gate.bias"]
        return average(row, [sigmoid(dot(gate, one) + bias) for one in row])
    if name == "attention":
        query = [dot(line, row[-1]) for line in weights["query.weight"]]
        keys = [[dot(line, one) for line in weights["key.weight"]] for one in content]
        return average(content, [math.exp(dot(query, key) / math.sqrt(D_MODEL)) for key in keys])
    if name == "length_mix":
        weight = sigmoid(weights["slope"] * math.log(len(content)) + weights["offset"])
        mean = average(content, [1] * len(content))
        return [weight * a + (1 - weight) * b for a, b in zip(row[-1], mean, strict=True)]
    return read_without_weights(row).get(name, row[-1])


def read_without_weights(row):
    """The answer of each read-out that has no weights of its own; what is not here reads CLS."""
    n = len(row)
    registers = [row[t] for t in range(n) if t % (EVERY + 1) == EVERY or t == n - 1]
    four = ([[0.0] * D_MODEL] * 3 + registers)[-4:]
    return {
        "cls_first": row[0],
        "cls_middle": row[(n - 1) // 2],
        "cls_both": [(a + b) / 2 for a, b in zip(row[0], row[-1], strict=True)],
        "mean": average(row, [1] * n),
        "max": largest(row),
        "registers_mean": average(registers, [1] * len(registers)),
        "registers_max": largest(registers),
        "registers_concat": [number for register in four for number in register],
        "hierarchy_max": largest(registers),
        "cls_and_max": row[-1] + largest(row[:-1]),
    }


@pytest.mark.parametrize("name", [name for name in READOUTS if name != "hierarchy_mamba"])
@pytest.mark.parametrize("side", ["right", "left", "gaps"])
def test_a_readout_reads_the_real_outputs_of_each_row(name, side):
    """C2, C3: against plain Python, with NaN on the padding and rows of several lengths."""
    readout, (outputs, mask, h) = make(name), draw(side)
    answer = readout(outputs, mask, h)
    rows = [row[real].tolist() for row, real in zip(outputs.detach(), mask, strict=True)]
    right = [read_by_hand(name, readout, *pair) for pair in zip(rows, h, strict=True)]
    assert answer.shape == (len(LENGTHS), WIDTHS.get(name, D_MODEL))
    assert_close(answer, torch.tensor(right, dtype=torch.float64), rtol=1e-12, atol=1e-12)


@every_name
@pytest.mark.parametrize("side", ["right", "left", "gaps"])
def test_padding_is_never_read(name, side):
    """C3: each row alone, in a batch of 1 without a mask, answers the same; no gradient leaks."""
    readout, (outputs, mask, h) = make(name), draw(side)
    answer = readout(outputs, mask, h)
    for one, row, real, own in zip(answer, outputs, mask, h, strict=True):
        assert_close(readout(row[real][None], None, own[None])[0], one, rtol=1e-12, atol=1e-12)
    answer.square().sum().backward()
    if name != "state":
        assert (outputs.grad[~mask] == 0).all()
        assert (outputs.grad[mask].abs().sum() > 0).all()


def test_chunks_are_read_by_a_second_mamba_with_a_cls_of_its_own():
    readout, (outputs, mask, _) = make("hierarchy_mamba"), draw("gaps")
    answer = readout(outputs, mask)
    for one, row, real in zip(answer, outputs, mask, strict=True):
        own = row[real]
        kept = [t for t in range(len(own)) if t % (EVERY + 1) == EVERY or t == len(own) - 1]
        tokens = torch.cat([own[kept], readout.cls_token[None]])
        assert_close(readout.blocks(tokens[None])[0, -1], one, rtol=1e-12, atol=1e-12)


@every_name
def test_a_gradient_reaches_every_parameter(name):
    readout, (outputs, mask, h) = make(name), draw()
    readout(outputs, mask, h).square().sum().backward()
    for key, parameter in readout.named_parameters():
        assert (parameter.grad != 0).any(), key


@every_name
def test_a_readout_says_what_it_needs(name):
    readout = make_readout(name, D_MODEL, D_INNER, D_STATE)
    place = {"cls_first": "first", "cls_middle": "middle", "cls_both": "both"}.get(name, "last")
    has_cls = name.startswith(("cls", "attention", "length", "heading"))
    assert readout.cls_position == (place if has_cls else None)
    in_pieces = name.startswith(("registers", "hierarchy"))
    assert getattr(readout, "registers_every", None) == (EVERY if in_pieces else None)
    assert getattr(readout, "restarts", False) == name.startswith("hierarchy")
    assert getattr(readout, "heading", False) == (name == "heading_average")
    assert (readout.d_out or D_MODEL) == WIDTHS.get(name, D_MODEL)


def test_a_state_is_read_in_whatever_it_comes():
    readout, (outputs, mask, h) = make("state"), draw()
    state = MambaState(torch.zeros(4, 3, D_INNER), h)
    answer = readout(outputs, mask, h)
    for given in (state, [state], [MambaState(state.tail, 0 * h), state], (h,)):
        assert torch.equal(readout(outputs, mask, given), answer)
    assert torch.equal(readout(state=h), answer)


def test_registers_are_taken_from_where_each_row_has_them():
    outputs = torch.arange(8.0)[None, :, None].repeat(3, 1, 1)
    mask = to_mask("xxxxxxxx", "xx..x.xx", ".x......")
    registers, real = take_registers(outputs, 2, mask)
    assert registers[..., 0].tolist() == [[2, 5, 7], [4, 7, 0], [1, 0, 0]]
    assert_close(real, to_mask("xxx", "xx.", "x.."))


def test_cls_is_taken_apart_from_the_content():
    outputs = torch.arange(4.0)[None, :, None].repeat(2, 1, 1)
    cls_output, content = split_cls(outputs, to_mask("xx.x", ".xx."))
    assert cls_output[:, 0].tolist() == [3, 2]
    assert_close(content, to_mask("xx..", ".x.."))
    picked = pick_outputs(outputs, to_mask("xx.x", ".xx."), torch.tensor([2, 0]))
    assert picked[:, 0].tolist() == [3, 1]
