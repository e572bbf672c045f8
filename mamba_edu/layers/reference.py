"""What another's Mamba answered, stored: small weights, tokens, outputs and final states."""

from pathlib import Path

from safetensors.torch import load_file
from torch import Tensor

PATH = Path(__file__).parents[1] / "results" / "mamba_reference.safetensors"
# All different, so that a swapped axis cannot hide.
SIZES = {"d_model": 12, "n_layers": 2, "d_state": 5, "d_conv": 4, "expand": 2, "delta_rank": 3}


def load_reference() -> dict[str, Tensor]:
    """Load what transformers' Mamba of two layers answers, in float32.

    Returns:
        "tokens" (3, 97, d_model), which went in as vectors; "outputs", of the same shape, after
        the last norm; for each layer n "h.n" and "tail.n", the final state as in MambaState; and
        the weights under "weights." and their own names, at the sizes of SIZES.

    Raises:
        FileNotFoundError: if the file is missing.

    Source: transformers (MambaModel, by its plain path on a CPU), with random weights; a test
    computes the same again.
    """
    if not PATH.is_file():
        raise FileNotFoundError(
            f"{PATH.name} must lie in mamba_edu/results; it does not: get the course again"
        )
    return load_file(PATH)
