"""Refusals that the maths shares: each says what was wrong, what was given, what is allowed."""

import math

import torch
from torch import Tensor

REAL = (torch.float32, torch.float64)
COMPLEX = (torch.complex64, torch.complex128)
HALF = (torch.float16, torch.bfloat16)


def check_real(**tensors: object) -> None:
    """Refuse whatever is not a tensor of float32 or float64.

    Raises:
        TypeError: for a non-tensor or another dtype; half precision is told why.
    """
    _check_dtypes(REAL, tensors)


def check_numbers(**tensors: object) -> None:
    """Refuse whatever is not a tensor of float32, float64 or their complex counterparts.

    Raises:
        TypeError: for a non-tensor or another dtype; half precision is told why.
    """
    _check_dtypes(REAL + COMPLEX, tensors)


def check_floats(**tensors: object) -> None:
    """Refuse whatever is not a real tensor; half precision is for callers that raise it first.

    Raises:
        TypeError: for a non-tensor, an integer or a complex tensor.
    """
    _check_dtypes(HALF + REAL, tensors)


def check_alike(**tensors: Tensor) -> None:
    """Refuse tensors of different precision or on different devices; real and complex may mix.

    Raises:
        TypeError: if one is single and another double precision: the result would be neither.
        ValueError: if two stand on different devices.
    """
    (first, model), *others = tensors.items()
    for name, tensor in others:
        if torch.finfo(tensor.dtype).eps != torch.finfo(model.dtype).eps:
            raise TypeError(
                f"{name} is {tensor.dtype} and {first} is {model.dtype}; "
                "all must be single precision or all double"
            )
        if tensor.device != model.device:
            raise ValueError(
                f"{name} is on {tensor.device} and {first} is on {model.device}; "
                "all must be on one device"
            )


def check_finite(**tensors: Tensor) -> None:
    """Refuse NaN and infinities.

    Raises:
        ValueError: with how many there are and the index of the first.
    """
    for name, tensor in tensors.items():
        is_bad = ~tensor.isfinite()
        if is_bad.any():
            word = "NaN" if tensor.isnan().any() else "infinite"
            is_bad = tensor.isnan() if word == "NaN" else is_bad
            raise ValueError(
                f"{name} must be finite; {word} values: {int(is_bad.sum())} of "
                f"{tensor.numel()}, the first{_say_index(is_bad)}"
            )


def check_steps(delta: Tensor) -> None:
    """Refuse step sizes that are not finite or run backwards.

    Raises:
        ValueError: with the smallest step and where it stands.
    """
    check_finite(delta=delta)
    _check_forward(delta)


def check_rates(A: Tensor) -> None:
    """Refuse rates that are not finite or let the state grow.

    Raises:
        ValueError: with the largest real part and where it stands.
    """
    check_finite(A=A)
    if (A.real > 0).any():
        raise ValueError(
            f"A must have real parts of at most 0, or the state grows; the largest is "
            f"{A.real.max():.3g}{_say_index(A.real == A.real.max())}"
        )


def check_clock(delta: Tensor, A: Tensor) -> None:
    """Refuse a state that would grow. NaN is refused in A alone: elsewhere it stays visible.

    Raises:
        ValueError: if a step runs backwards, or a rate is positive or not finite.
    """
    check_rates(A)
    _check_forward(delta)


def check_broadcast(**tensors: Tensor) -> None:
    """Refuse shapes that do not broadcast together.

    Raises:
        ValueError: with every shape.
    """
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    try:
        torch.broadcast_shapes(*shapes.values())
    except RuntimeError:
        given = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(
            f"the shapes must broadcast together; they are {given}. "
            "Axes are matched from the right: equal, or one of them 1"
        ) from None


def check_shapes(**named: tuple[Tensor, str]) -> None:
    """Refuse tensors whose axes are not the named ones, or disagree on a name's size.

    Args:
        named: for each argument the tensor and its axes, as in `x=(x, "batch length d_inner")`.

    Raises:
        ValueError: with the axes that are allowed and the shape that was given.
    """
    sizes: dict[str, tuple[int, str]] = {}
    for name, (tensor, axes) in named.items():
        shape, names = tuple(tensor.shape), axes.split()
        if len(shape) != len(names):
            raise ValueError(
                f"{name} must have the axes ({', '.join(names)}); its shape is {shape}"
            )
        found = {
            axis: sizes.setdefault(axis, (size, name))
            for axis, size in zip(names, shape, strict=True)
        }
        other = [axis for axis, size in zip(names, shape, strict=True) if found[axis][0] != size]
        if other:
            expected, owner = found[other[0]]
            raise ValueError(
                f"{name} must have {other[0]} = {expected} as {owner} has; its shape "
                f"({', '.join(names)}) is {shape}"
            )


def check_mask(mask: object, **owner: Tensor) -> None:
    """Refuse what is not one truth value per token of its owner, True for a real token.

    Args:
        mask: what is to be a bool tensor (batch, length).
        owner: the tensor (batch, length, channel) whose tokens it speaks of, by its name.

    Raises:
        TypeError: for anything but a bool tensor: 0.5 of a token is not a token.
        ValueError: if the shape is another, or the device.
    """
    [(name, tensor)] = owner.items()
    _check_dtypes((torch.bool,), {"mask": mask})
    if mask.shape != tensor.shape[:2]:
        raise ValueError(
            f"mask must have the shape (batch, length) = {tuple(tensor.shape[:2])} of {name}; "
            f"its shape is {tuple(mask.shape)}"
        )
    if mask.device != tensor.device:
        raise ValueError(f"mask is on {mask.device} and {name} is on {tensor.device}")


def check_counts(at_least: int, **counts: object) -> None:
    """Refuse what is not a whole number of at least the given size.

    Raises:
        TypeError: for anything but an int; True and False are no counts.
        ValueError: for a number that is too small.
    """
    for name, count in counts.items():
        if not isinstance(count, int) or isinstance(count, bool):
            raise TypeError(f"{name} must be an int; it is {count!r}")
        if count < at_least:
            raise ValueError(f"{name} must be at least {at_least}; it is {count}")


def check_flags(**flags: object) -> None:
    """Refuse what is neither True nor False; the word "no" would count as True.

    Raises:
        TypeError: for anything but a bool.
    """
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise TypeError(f"{name} must be True or False; it is {flag!r}")


def check_interval(**intervals: object) -> None:
    """Refuse what is not a finite number above 0, such as a time between samples.

    Raises:
        TypeError: for anything but an int or a float.
        ValueError: for 0, a negative number, NaN or an infinity.
    """
    for name, number in intervals.items():
        if not isinstance(number, int | float) or isinstance(number, bool):
            raise TypeError(f"{name} must be a number; its type is {type(number).__name__}")
        if not (math.isfinite(number) and number > 0):
            raise ValueError(f"{name} must be a finite number above 0; it is {number}")


def _check_forward(delta: Tensor) -> None:
    """Refuse step sizes that run backwards; NaN is not told apart from those that do not."""
    if delta.numel() and not delta.detach().min() >= 0 and (delta < 0).any():  # NaN: look again
        smallest = torch.where(delta < 0, delta, 0).min()
        raise ValueError(
            f"delta must be at least 0, a step cannot run backwards; the smallest is "
            f"{smallest:.3g}{_say_index(delta == smallest)}"
        )


def _check_dtypes(allowed: tuple[torch.dtype, ...], tensors: dict[str, object]) -> None:
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} must be a torch.Tensor; its type is {type(tensor).__name__}")
        if tensor.dtype in allowed:
            continue
        *words, last = (str(dtype) for dtype in allowed)
        listed = f"{', '.join(words)} or {last}" if words else last
        reason = ""
        if tensor.dtype in HALF and torch.float32 in allowed:
            reason = (
                "; in half precision exp(delta A) rounds to exactly 1 for small steps "
                "and the state never forgets: use .float()"
            )
        raise TypeError(f"{name} must be {listed}; it is {tensor.dtype}{reason}")


def _say_index(is_marked: Tensor) -> str:
    """Name the first marked place, or nothing for a tensor that is a single number."""
    index = tuple(is_marked.nonzero()[0].tolist())
    return f" at index {index}" if index else ""
