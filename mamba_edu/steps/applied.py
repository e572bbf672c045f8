"""A rule on top of the steps of a trained model, ours or another's, until it is taken off."""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

Rule = Callable[[Tensor], Tensor]


class AppliedRule:
    """What apply_step_rule returns: take the rule off with remove(), or leave a `with` block.

    Args:
        removals: called once, to put each block back.
    """

    def __init__(self, removals: list[Callable[[], None]]):
        self._removals = removals

    def remove(self) -> None:
        """Take the rule off; a second time does nothing. Other rules on the model stay."""
        while self._removals:
            self._removals.pop()()

    def __enter__(self) -> "AppliedRule":
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def apply_step_rule(model: nn.Module, rule: Rule) -> AppliedRule:
    """Put a rule on top of the steps of every Mamba block in a model, in place.

        delta = rule(what the block's own rule says)

    All that a block does obeys it: whole sequences, pieces of a stream, single steps, either
    direction, a cache. Of several rules, the one that was put on last comes last. Names in the
    state dict stay.

    Args:
        model: any module with Mamba blocks in it. A block of ours has a step_rule; another's, such
            as transformers' Mamba, is known by its dt_proj and A_log, and its softplus is met
            while it runs.
        rule: from step sizes to as many of at least 0, such as partial(snap, tau=0.03). It must
            look at each step alone: another's block may hand them over in another order of axes.

    Returns:
        A handle: handle.remove() takes the rule off, and so does the end of a `with` block.

    Raises:
        TypeError: if the model is no module, or the rule cannot be called.
        ValueError: if the model has no Mamba block: Mamba-2, say. While it runs, if the rule
            returns steps of another shape or below 0.
        RuntimeError: while it runs, if another's block computes its steps in a compiled kernel,
            which no rule can reach.

    Source: our own.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module; its type is {type(model).__name__}")
    if not callable(rule):
        raise TypeError(f"rule must be a function of step sizes; its type is {type(rule).__name__}")
    found = list(_find_blocks(model))
    if not found:
        raise ValueError(
            "model must hold a Mamba block, a module with a step_rule, or with dt_proj and A_log; "
            f"this {type(model).__name__} holds none"
        )
    return AppliedRule([put_on(block, rule) for block, put_on in found])


def _find_blocks(model: nn.Module) -> Iterator[tuple[nn.Module, Callable[..., Any]]]:
    """Go through the Mamba blocks, each with the way to put a rule on it."""
    for block in list(model.modules()):
        if callable(getattr(block, "step_rule", None)):
            yield block, _put_on_ours
        elif isinstance(getattr(block, "A_log", None), Tensor) and hasattr(block, "dt_proj"):
            yield block, _put_on_theirs


class _Stacked(nn.Module):
    """A block's own rule with others on top; a module, so that the own one may be one too."""

    def __init__(self, own: Rule):
        super().__init__()
        self.own, self.rules = own, []
        self.register_load_state_dict_pre_hook(_name_inside)

    def forward(self, delta_raw: Tensor) -> Tensor:
        """Compute the steps: the own rule first, then the others in order."""
        delta = self.own(delta_raw)
        for [rule] in self.rules:
            delta = _obey(rule, delta)
        return delta

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """List what the own rule holds, by the names that it has when it stands alone."""
        holder = self.own if isinstance(self.own, nn.Module) else super()
        return holder.state_dict(*args, **kwargs)


def _name_inside(stacked: _Stacked, state_dict: dict[str, Any], prefix: str, *_: object) -> None:
    """Let the own rule load what is named as if it stood alone."""
    for name in [name for name in state_dict if name.startswith(prefix)]:
        state_dict[f"{prefix}own.{name.removeprefix(prefix)}"] = state_dict.pop(name)


def _put_on_ours(block: nn.Module, rule: Rule) -> Callable[[], None]:
    """Stack the rule on the block's own, and say how to take it off again."""
    if not isinstance(block.step_rule, _Stacked):
        _replace_rule(block, _Stacked(block.step_rule))
    stacked, entry = block.step_rule, [rule]  # a list of its own: the same rule may be on twice
    stacked.rules.append(entry)

    def take_off() -> None:
        stacked.rules[:] = [each for each in stacked.rules if each is not entry]
        if not stacked.rules and block.step_rule is stacked:
            _replace_rule(block, stacked.own)

    return take_off


def _replace_rule(block: nn.Module, rule: Rule) -> None:
    """Set the block's rule; torch would not let a function take the place of a module."""
    del block.step_rule
    block.step_rule = rule


class _Meet(TorchFunctionMode):
    """Meet every softplus while a block runs, and let the rules have its result."""

    def __init__(self, rules: list[list[Rule]]):
        super().__init__()
        self.rules, self.n_met = rules, 0

    def __torch_function__(
        self, func: Callable[..., Any], types: object, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        """Run whatever torch is asked for."""
        answer = func(*args, **(kwargs or {}))
        if func is not nn.functional.softplus:
            return answer
        self.n_met += 1
        for [rule] in self.rules:
            answer = _obey(rule, answer)
        return answer


def _put_on_theirs(block: nn.Module, rule: Rule) -> Callable[[], None]:
    """Let the block's forward run with the rule, and say how to take it off again."""
    if not hasattr(block.forward, "step_rules"):
        before = vars(block).get("forward")  # set on this block alone, by somebody else
        block.forward = _run_ruled(block.forward, [])
        block.forward.before = before
    ruled, entry = block.forward, [rule]
    ruled.step_rules.append(entry)

    def take_off() -> None:
        ruled.step_rules[:] = [each for each in ruled.step_rules if each is not entry]
        if not ruled.step_rules and vars(block).get("forward") is ruled:
            del block.forward
            vars(block).update({} if ruled.before is None else {"forward": ruled.before})

    return take_off


def _run_ruled(own: Callable[..., Any], rules: list[list[Rule]]) -> Callable[..., Any]:
    """Wrap a block's forward so that its steps obey the rules, or say that they cannot."""

    @wraps(own)
    def forward(*args: object, **kwargs: object) -> Any:
        with _Meet(rules) as meet:
            answer = own(*args, **kwargs)
        if not meet.n_met:
            raise RuntimeError(
                "the block must compute its steps by torch's softplus; it did not call that once. "
                "A compiled kernel ran: run it on a machine, or with an option, without"
            )
        return answer

    forward.step_rules = rules
    return forward


def _obey(rule: Rule, delta: Tensor) -> Tensor:
    """Apply a rule, refusing what the scan cannot take."""
    ruled = rule(delta)
    if not isinstance(ruled, Tensor) or ruled.shape != delta.shape:
        given = tuple(ruled.shape) if isinstance(ruled, Tensor) else type(ruled).__name__
        raise ValueError(
            f"rule must return a step for each that it is given, {tuple(delta.shape)}; it "
            f"returned {given}"
        )
    if (ruled < 0).any():
        raise ValueError(
            f"rule must return steps of at least 0; the smallest is {ruled.detach().min():.3g}"
        )
    return ruled
