"""I1: a fresh block's steps and rates, an init that cannot undo them, and a check that sees it.

zoology#32, mad-lab#3, transformers#43717, fla#739.
"""

import math
import re

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from mamba_edu.layers import (
    MambaBlock,
    MambaStack,
    ResidualBlock,
    StepProjection,
    check_health,
    draw_steps,
    invert_softplus,
    start_rates,
)
from mamba_edu.models import SequenceClassifier

BUILDERS = {
    "block": lambda: MambaBlock(6, d_state=5),
    "residual": lambda: ResidualBlock(6, d_state=5),
    "stack": lambda: MambaStack(6, n_layers=2, d_state=5),
    "classifier": lambda: SequenceClassifier(3, n_symbols=4, d_model=6),
    "anothers": lambda: nn.Sequential(nn.Linear(6, 6), MambaBlock(6), nn.ReLU(), MambaBlock(6)),
    "wide": lambda: MambaBlock(64, d_state=64),
}


def zero_linear_biases(module):
    if isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, std=0.02)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


def zero_what_is_called_bias(module):
    if getattr(module, "bias", None) is not None:
        nn.init.zeros_(module.bias)


def zero_biases_in_all_below(module):
    for name, parameter in module.named_parameters():
        if "bias" in name:
            nn.init.zeros_(parameter)


def draw_all_anew(module):
    for parameter in module.parameters(recurse=False):
        nn.init.normal_(parameter, std=0.02)


def reset(module):
    if hasattr(module, "reset_parameters"):
        module.reset_parameters()


def list_starts(model):
    blocks = [module for module in model.modules() if isinstance(module, MambaBlock)]
    return [(block.dt_proj.bias.clone(), block.A_log.clone()) for block in blocks]


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
def test_a_fresh_model_is_alive(build):
    model = build()
    assert check_health(model) == []
    for bias, A_log in list_starts(model):
        delta = F.softplus(bias)
        assert delta.min() >= 1e-4 * (1 - 1e-5)
        assert delta.max() <= 0.1 * (1 + 1e-5)
        assert_close(A_log.exp(), torch.arange(1.0, A_log.shape[1] + 1).expand_as(A_log))


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
@pytest.mark.parametrize(
    "init", [zero_linear_biases, zero_what_is_called_bias, draw_all_anew, reset]
)
def test_an_init_cannot_undo_the_start(build, init):
    model = build()
    before = list_starts(model)
    assert model.apply(init) is model
    assert_close(list_starts(model), before, rtol=0, atol=0)
    assert check_health(model) == []


@pytest.mark.parametrize("name", ["block", "residual", "stack", "classifier"])
def test_an_init_that_reaches_down_from_the_top_cannot_either(name):
    model = BUILDERS[name]()
    model.apply(zero_biases_in_all_below)
    assert check_health(model) == []
    assert all((p == 0).all() for n, p in model.named_parameters() if n.endswith("conv1d.bias"))


def test_an_init_that_walks_through_linear_layers_finds_no_step_projection():
    model = MambaStack(6)
    for module in model.modules():
        zero_linear_biases(module)
    assert check_health(model) == []


def test_apply_runs_inside_first_and_may_set_what_is_alive():
    model, seen = MambaStack(6, d_state=5), []

    def shorten(module):
        seen.append(type(module).__name__)
        if isinstance(module, MambaBlock):
            nn.init.constant_(module.dt_proj.bias, -5.0)

    model.apply(shorten)
    assert seen[-3:] == ["ModuleList", "RMSNorm", "MambaStack"]
    assert (model.layers[0].mixer.dt_proj.bias == -5).all()


def test_apply_leaves_a_trained_model_as_it_is():
    model = MambaStack(6, d_state=5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 3 * torch.rand_like(parameter)
    before = [parameter.clone() for parameter in model.parameters()]
    model.apply(lambda module: None)
    assert_close(list(model.parameters()), before, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda b: nn.init.zeros_(b.dt_proj.bias), r"softplus.*0.693 to 0.693.*in 12 of 12"),
        (lambda b: nn.init.constant_(b.dt_proj.bias[:1], -11), r"softplus.*1.67e-05 to .*1 of 12"),
        (lambda b: nn.init.constant_(b.dt_proj.bias[3:5], math.nan), r"softplus.* in 2 of 12"),
        (lambda b: nn.init.zeros_(b.A_log), r"A_log.*48 of 60.*channel 0, state 1: 0, not 0.693"),
        (lambda b: nn.init.zeros_(b.A_log[7, 4:]), r"A_log.*1 of 60.*channel 7, state 4"),
    ],
)
def test_the_health_check_names_the_layer_that_was_undone_by_force(spoil, words):
    model = MambaStack(6, n_layers=3, d_state=5)
    spoil(model.layers[1].mixer)
    (finding,) = check_health(model)
    assert finding.startswith("layers.1.mixer: ")
    assert re.search(words, finding), finding


def test_the_health_check_names_every_finding():
    model = MambaStack(6, n_layers=2)
    for layer in model.layers:
        nn.init.zeros_(layer.mixer.A_log)
        nn.init.zeros_(layer.mixer.dt_proj.bias)
    assert [finding.split(" ")[0] for finding in check_health(model)] == [
        *("layers.0.mixer:", "layers.0.mixer:", "layers.1.mixer:", "layers.1.mixer:")
    ]
    assert check_health(model.layers[0].mixer)[0].startswith("softplus(dt_proj.bias) must")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_rounding_to_another_precision_is_no_finding(dtype):
    assert check_health(MambaStack(32, d_state=64).to(dtype)) == []


def test_steps_out_of_range_are_a_finding_if_asked_for():
    """The lesson of too long steps needs them; the check then says what they are."""
    (finding,) = check_health(MambaBlock(6, delta_range=(3.0, 10.0)))
    assert finding.startswith("softplus(dt_proj.bias) must be within 0.0001 to 0.1; it spans")


def test_a_model_without_a_block_is_refused():
    with pytest.raises(ValueError, match=r"must hold a Mamba block.*this Linear holds none"):
        check_health(nn.Linear(2, 3))


def test_steps_are_drawn_log_uniformly():
    torch.manual_seed(0)
    logs = draw_steps(20_000, (1e-3, 0.1)).log10()
    right = torch.linspace(-3, -1, 9, dtype=logs.dtype)
    assert_close(logs.quantile(torch.linspace(0, 1, 9)), right, rtol=0, atol=0.03)


def test_the_softplus_is_inverted_at_any_size():
    delta = torch.tensor([1e-12, 1e-4, 0.1, math.log(2), 5.0, 50.0], dtype=torch.float64)
    assert_close(F.softplus(invert_softplus(delta), threshold=100), delta, rtol=1e-12, atol=0)


def test_rates_start_at_the_whole_numbers():
    assert_close(start_rates(2, 3).exp(), torch.tensor([[1.0, 2, 3], [1, 2, 3]]))


def test_the_step_projection_is_linear_but_no_linear_layer():
    projection = StepProjection(4, 100, (1e-3, 0.1))
    low = torch.randn(2, 7, 4)
    right = low @ projection.weight.T + projection.bias
    assert_close(projection(low), right)
    assert not isinstance(projection, nn.Linear)
    assert 0.45 < projection.weight.abs().max() <= 0.5


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, (0.1, 0.2)), ValueError, "d_inner must be at least 1; it is 0"),
        ((3, (0.0, 0.2)), ValueError, r"delta_range\[0\] must be a finite number above 0"),
        ((3, (0.1, math.inf)), ValueError, r"delta_range\[1\] must be a finite number above 0"),
        ((3, (0.1, "1")), TypeError, r"delta_range\[1\] must be a number; its type is str"),
        ((3, (0.2, 0.1)), ValueError, r"must be \(shortest, longest\); it is \(0.2, 0.1\)"),
    ],
)
def test_step_ranges_that_make_no_sense_are_refused(arguments, error, message, as_reader):
    with pytest.raises(error, match=message):
        draw_steps(*arguments)
