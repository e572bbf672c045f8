"""Transformers' Mamba and ours with the same weights; run as a script, it writes the reference."""

import torch
from safetensors.torch import save_file
from torch import Tensor

from mamba_edu.layers import MambaStack, load_reference
from mamba_edu.layers.reference import PATH, SIZES


def build_theirs(weights: dict[str, Tensor] | None = None, seed: int = 0):
    """Build transformers' Mamba at the sizes of the reference, random or with given weights."""
    from transformers import MambaConfig, MambaModel

    torch.manual_seed(seed)
    config = MambaConfig(
        vocab_size=1,  # its tokens are given as vectors
        hidden_size=SIZES["d_model"],
        state_size=SIZES["d_state"],
        conv_kernel=SIZES["d_conv"],
        expand=SIZES["expand"],
        time_step_rank=SIZES["delta_rank"],
        num_hidden_layers=SIZES["n_layers"],
    )
    theirs = MambaModel(config).eval()
    theirs.load_state_dict(theirs.state_dict() | (weights or spread_weights(theirs)))
    return theirs


def spread_weights(theirs) -> dict[str, Tensor]:
    """Move all weights but the start of steps and rates away from how transformers starts them.

    Its conv has no bias then and its gates are all but shut: nothing would show.
    """
    return {
        name: tensor + 0.3 * torch.randn_like(tensor)
        for name, tensor in theirs.state_dict().items()
        if "A_log" not in name and "dt_proj.bias" not in name
    }


def run_theirs(theirs, tokens: Tensor) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    """Run transformers' Mamba: outputs, the layers' scan states and their conv inputs."""
    with torch.no_grad():
        result = theirs(inputs_embeds=tokens, use_cache=True)
    layers = range(SIZES["n_layers"])
    h = [result.cache.get_recurrent_state(layer, state_idx=0) for layer in layers]
    conv = [result.cache.get_conv_state(layer, state_idx=0) for layer in layers]
    # Theirs is (batch, d_inner, d_conv) and keeps one input more than the next token needs.
    return result.last_hidden_state, h, [tail[:, :, 1:].transpose(1, 2) for tail in conv]


def load_ours(theirs) -> MambaStack:
    """Load their state dict into our stack, every name of it but the embedding's."""
    weights = {k: v for k, v in theirs.state_dict().items() if not k.startswith("embeddings.")}
    ours = MambaStack(**SIZES).eval()
    ours.load_state_dict(weights)
    return ours


def write_reference() -> None:
    """Write weights, tokens, outputs and final states as transformers computes them."""
    theirs = build_theirs()
    tokens = torch.randn(3, 97, SIZES["d_model"], generator=torch.Generator().manual_seed(1))
    outputs, h, tails = run_theirs(theirs, tokens)
    weights = {f"weights.{name}": value for name, value in load_ours(theirs).state_dict().items()}
    last = {f"h.{n}": v for n, v in enumerate(h)} | {f"tail.{n}": v for n, v in enumerate(tails)}
    tensors = weights | last | {"tokens": tokens, "outputs": outputs}
    PATH.parent.mkdir(exist_ok=True)
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, PATH)


if __name__ == "__main__":
    write_reference()
    print(PATH.name, PATH.stat().st_size, "bytes;", sorted(load_reference()))
