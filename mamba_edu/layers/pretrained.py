"""Real pretrained weights, from a folder on the reader's own disk."""

from pathlib import Path

from jaxtyping import Float
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from mamba_edu.layers.stack import MambaStack

EMBEDDINGS = ("embeddings.weight", "embedding.weight")  # transformers and the official code


def load_pretrained(directory: str | Path) -> tuple[Float[Tensor, "n_symbols d_model"], MambaStack]:
    """Load a pretrained Mamba from a folder: nothing is fetched.

    The sizes are read off the weights. What a language model adds on top (lm_head) is left out.

    Args:
        directory: a folder with *.safetensors in it, as transformers saves a Mamba.

    Returns:
        The embeddings, one row per id, and the stack that runs on such rows, both float32. Its
        norms divide with eps = 1e-5, the default of both.

    Raises:
        FileNotFoundError: if there is no folder or no *.safetensors in it. Pickled weights (*.bin,
            *.pt) are not opened: that would run whatever program stands in them.
        ValueError: if a file is damaged, or the weights are not those of a Mamba: Mamba-2, say.
    """
    files = sorted(Path(directory).glob("*.safetensors"))
    if not files:
        raise FileNotFoundError(
            f"directory must hold *.safetensors; there are none in {directory}. Pickled weights "
            "(*.bin, *.pt) are not opened: let transformers load and save them again"
        )
    weights = {name: tensor for file in files for name, tensor in _read(file).items()}
    embeddings = [weights.pop(name) for name in EMBEDDINGS if name in weights]
    stack = MambaStack(**_read_sizes(weights))
    try:
        stack.load_state_dict(weights)
    except RuntimeError as error:
        raise ValueError(f"the weights in {directory} do not make a Mamba: {error}") from None
    if not embeddings:
        raise ValueError(f"the weights in {directory} must hold {' or '.join(EMBEDDINGS)}")
    return embeddings[0], stack.eval()


def _read(file: Path) -> dict[str, Tensor]:
    """Read the weights of the backbone from one file, by the names that they have in it."""
    try:
        weights = load_file(file)
    except SafetensorError as error:
        raise ValueError(f"{file.name} must be a whole safetensors file: {error}") from None
    return {
        name.removeprefix("backbone."): tensor.float()
        for name, tensor in weights.items()
        if not name.startswith("lm_head.")
    }


def _read_sizes(weights: dict[str, Tensor]) -> dict[str, int | bool]:
    """Read the sizes of a stack off the shapes of its weights."""
    names = ("in_proj.weight", "x_proj.weight", "dt_proj.weight", "conv1d.weight", "A_log")
    parts = {name: weights.get(f"layers.0.mixer.{name}") for name in names}
    lost = [name for name, tensor in parts.items() if tensor is None]
    if lost:
        raise ValueError(
            f"the weights must be those of a Mamba of the first kind; their first layer has no "
            f"{', '.join(lost)}"
        )
    in_proj, x_proj, dt_proj, conv1d, A_log = parts.values()
    return {
        "d_model": in_proj.shape[1],
        "n_layers": len({name.split(".")[1] for name in weights if name.startswith("layers.")}),
        "d_state": A_log.shape[1],
        "d_conv": conv1d.shape[-1],
        "expand": x_proj.shape[1] // in_proj.shape[1],
        "delta_rank": dt_proj.shape[1],
        "bias": "layers.0.mixer.in_proj.bias" in weights,
        "conv_bias": "layers.0.mixer.conv1d.bias" in weights,
    }
