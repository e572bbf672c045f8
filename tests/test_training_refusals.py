"""What training and evaluation refuse, and in which words."""

import math

import pytest
import torch
from torch import nn

from mamba_edu.tasks import Batch, sample_needle
from mamba_edu.training import evaluate, train

PLAN = {"sample": sample_needle, "lengths": (3, 5), "steps": 6, "batch": 7}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"model": len}, "model must be a torch.nn.Module; its type is builtin_function_or_method"),
        ({"model": nn.Dropout()}, "model must have parameters that require a gradient; it has no"),
        ({"lengths": ()}, r"lengths must list at least one length; it is \(\)"),
        ({"lengths": 64}, "lengths must list at least one length; it is 64"),
        ({"lengths": (8, 0)}, "length must be at least 1; it is 0"),
        ({"lengths": (8.0,)}, "length must be an int; it is 8.0"),
        ({"steps": 1}, "steps must be at least 2; it is 1"),
        ({"steps": 1e3}, "steps must be an int; it is 1000.0"),
        ({"batch": 0}, "batch must be at least 1; it is 0"),
        ({"lr": 0.0}, "lr must be a finite number above 0; it is 0.0"),
        ({"lr": math.nan}, "lr must be a finite number above 0; it is nan"),
        ({"clip": -1.0}, "clip must be a finite number above 0; it is -1.0"),
        ({"sample": lambda *_: (1, 2)}, "sequences must come as a Batch; their type is tuple"),
    ],
)
def test_training_refuses_a_plan_that_cannot_run(changed, message, as_reader):
    plan = {"model": nn.Linear(5, 5), **PLAN} | changed
    with pytest.raises((TypeError, ValueError), match=message):
        train(**plan)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda x: x.double(), r"target must count classes from 0 to 4.*runs from 1 to 5"),
        (lambda x: x[0].double(), r"logits \(2, n_classes\), a row for each.*returned \(5,\)"),
        (lambda x: x[:1].double(), r"logits \(2, n_classes\), a row for each.*returned \(1, 5\)"),
        (lambda x: (x.double(), x), r"logits \(2, n_classes\).*it returned tuple"),
    ],
)
def test_logits_that_do_not_fit_the_classes_are_named(answer, message, as_reader):
    model = nn.Linear(5, 5)
    model.forward = lambda inputs, mask: answer(inputs)
    drawn = Batch(torch.ones(2, 5).long(), torch.tensor([1, 5]))
    with pytest.raises(ValueError, match=message):
        evaluate(model, drawn)
    with pytest.raises(ValueError, match=message):
        train(**PLAN | {"model": model, "sample": lambda *_: drawn})


@pytest.mark.parametrize("batches", [[torch.ones(2, 5)], [None]])
def test_evaluation_refuses_what_is_no_batch(batches, as_reader):
    name = type(batches[0]).__name__
    with pytest.raises(TypeError, match=f"sequences must come as a Batch; their type is {name}"):
        evaluate(nn.Linear(5, 5), batches)
