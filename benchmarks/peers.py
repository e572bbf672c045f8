"""Who runs in the race: each peer in its own layout, each missing one with the reason.

A way takes the tensors of mamba_edu.scan.selective_scan and returns (prepare, run): what `prepare`
makes of them is not timed, so that nobody is timed while turning another's axes round.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.functional import silu

from mamba_edu.layers import MambaStack
from mamba_edu.scan import selective_scan

GGML = "ggml (llama.cpp) is a C++ program that must be compiled, forward only: not raced here"
Inputs = dict[str, Tensor]
Scan = Callable[[Inputs], Tensor]


def keep(inputs: Inputs) -> Inputs:
    """Take the tensors as they are: (batch, length, channel)."""
    return inputs


def turn(inputs: Inputs) -> Inputs:
    """Put the length last, as the official code has it."""
    turned = {name: v.mT.contiguous() if v.dim() == 3 else v for name, v in inputs.items()}
    return {name: v.detach().requires_grad_(v.requires_grad) for name, v in turned.items()}


def scan_official(v: Inputs) -> Tensor:
    """Scan as the official selective_scan_ref does: token by token."""
    delta, x = v["delta"], v["x"]
    decay = torch.exp(torch.einsum("bdl,dn->bdln", delta, v["A"]))
    write = torch.einsum("bdl,bnl,bdl->bdln", delta, v["B"], x)
    h, y = decay.new_zeros(decay.shape[0], decay.shape[1], decay.shape[3]), []
    for t in range(x.shape[2]):
        h = decay[:, :, t] * h + write[:, :, t]
        y.append(torch.einsum("bdn,bn->bd", h, v["C"][:, :, t]))
    return (torch.stack(y, dim=2) + x * v["skip"][:, None]) * silu(v["gate"])


def scan_torch(associative_scan: Callable, v: Inputs) -> Tensor:
    """Scan by torch's own associative_scan, eager: compiled, it needs a C++ compiler."""

    def combine(earlier, later):
        return earlier[0] * later[0], later[0] * earlier[1] + later[1]

    decay = torch.exp(v["delta"][..., None] * v["A"])
    write = (v["delta"] * v["x"])[..., None] * v["B"][:, :, None]
    _, h = associative_scan(combine, (decay, write), dim=1, combine_mode="generic")
    return ((h * v["C"][:, :, None]).sum(-1) + v["skip"] * v["x"]) * silu(v["gate"])


def scan_mambapy(block: type, v: Inputs) -> Tensor:
    """Scan by mambapy's parallel scan."""
    y = block.selective_scan(None, *(v[name] for name in ("x", "delta", "A", "B", "C", "skip")))
    return y * silu(v["gate"])


def scan_transformers(scan: Callable, v: Inputs) -> Tensor:
    """Scan by transformers' own function, which is a loop over the tokens unless compiled."""
    return scan(*(v[name] for name in ("x", "delta", "A", "B", "C", "skip", "gate")))


def scan_ours(method: str, v: Inputs) -> Tensor:
    """Scan by one of the course's methods."""
    return selective_scan(**v, method=method)


def list_scans() -> tuple[dict[str, tuple[Callable, Scan]], list[str]]:
    """List the ways to scan, and a sentence for each that cannot run here."""
    scans: dict[str, tuple[Callable, Scan]] = {
        name: (keep, partial(scan_ours, name)) for name in ("fused", "chunked", "parallel", "loop")
    }
    scans["official loop"] = (turn, scan_official)
    skipped = [GGML]
    try:
        from transformers.models.mamba.modeling_mamba import mamba_selective_scan

        scans["transformers"] = (turn, partial(scan_transformers, mamba_selective_scan))
    except ImportError:
        skipped.append("transformers is not installed, or too old: its scan is no function there")
    try:
        from mambapy.mamba import MambaBlock

        scans["mambapy"] = (keep, partial(scan_mambapy, MambaBlock))
    except ImportError:
        skipped.append("mambapy is not installed: pip install --no-deps mambapy")
    try:
        from torch._higher_order_ops.associative_scan import associative_scan

        scans["torch assoc."] = (keep, partial(scan_torch, associative_scan))
    except ImportError:
        skipped.append(f"torch {torch.__version__} has no associative_scan")
    return scans, skipped


class Ours(nn.Module):
    """The course's stack with one of its methods."""

    def __init__(self, method: str, d_model: int, n_layers: int):
        super().__init__()
        self.stack = MambaStack(d_model, n_layers, method=method)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.stack(tokens)


class Transformers(nn.Module):
    """transformers' Mamba, by its path for a CPU: a loop over indexed tokens."""

    def __init__(self, model: type, config: type, d_model: int, n_layers: int):
        super().__init__()
        sizes = {"hidden_size": d_model, "num_hidden_layers": n_layers, "state_size": 16}
        self.model = model(config(vocab_size=8, use_cache=False, **sizes))

    def forward(self, tokens: Tensor) -> Tensor:
        return self.model(inputs_embeds=tokens).last_hidden_state


def list_models(d_model: int, n_layers: int) -> tuple[dict[str, nn.Module], list[str]]:
    """List models of one size, and a sentence for each that cannot run here."""
    models: dict[str, nn.Module] = {
        name: Ours(name, d_model, n_layers) for name in ("fused", "chunked")
    }
    skipped = []
    try:
        from mambapy.mamba import Mamba, MambaConfig

        models["mambapy"] = Mamba(MambaConfig(d_model=d_model, n_layers=n_layers))
    except ImportError:
        skipped.append("mambapy is not installed: no training step of it")
    try:
        from transformers import MambaConfig as Config
        from transformers import MambaModel

        models["transformers"] = Transformers(MambaModel, Config, d_model, n_layers)
    except ImportError:
        skipped.append("transformers is not installed: no training step of it")
    return models, skipped
