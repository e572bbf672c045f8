"""The selective scan: the recurrence at the heart of Mamba, and who computes it."""

from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import silu

from mamba_edu._checks import check_flags
from mamba_edu.scan._arguments import last_words, prepare_scan, silence
from mamba_edu.scan.chunked import scan_chunked
from mamba_edu.scan.fused import find_hindrance, scan_fused
from mamba_edu.scan.loop import scan_loop
from mamba_edu.scan.parallel import scan_parallel

PLAIN = {"loop": scan_loop, "parallel": scan_parallel, "chunked": scan_chunked}
METHODS = (*PLAIN, "fused")


def selective_scan(
    x: Float[Tensor, "batch length d_inner"],
    delta: Float[Tensor, "batch length d_inner"],
    A: Float[Tensor, "d_inner d_state"],
    B: Float[Tensor, "batch length d_state"],
    C: Float[Tensor, "batch length d_state"],
    skip: Float[Tensor, "d_inner"] | None = None,
    gate: Float[Tensor, "batch length d_inner"] | None = None,
    state: Float[Tensor, "batch d_inner d_state"] | None = None,
    mask: Bool[Tensor, "batch length"] | None = None,
    method: str = "auto",
    return_state: bool = False,
) -> (
    Float[Tensor, "batch length d_inner"]
    | tuple[Float[Tensor, "batch length d_inner"], Float[Tensor, "batch d_inner d_state"]]
):
    """Run the selective state space recurrence.

    Each channel keeps a state of d_state numbers. For t = 0 .. length-1, from h[-1] = state:

        h[t] = exp(delta[t] A) h[t-1] + delta[t] B[t] x[t]
        y[t] = ( C[t] . h[t] + skip x[t] ) silu(gate[t])

    A long signal may be cut anywhere: run one piece with return_state=True and hand its state to
    the next.

    Args:
        x: the input signal. NaN in x or delta reaches the output of its own row and channel from
            its token on, in B that of all channels of its row, in C that of its token alone.
        delta: step sizes, at least 0, in the unit of time that A is written in.
        A: decay rates, at most 0, per unit of that time.
        B: how strongly each token writes to the state.
        C: how each token reads the state.
        skip: how much of the input is added to the output; none if not given.
        gate: what the output is multiplied by, after silu; nothing if not given.
        state: the state before the first token; zero if not given.
        mask: True for a real token. A padded one may hold anything: it leaves the state as it is
            and answers 0.
        method: "loop", "parallel", "chunked", "fused", or "auto" for the fastest that can run here;
            explain() tells which.
        return_state: whether to return the state after the last token too.

    Returns:
        y, the output signal in the type of x, or (y, state). The state is computed in float32 at
        least, and is returned so. An empty signal returns the state it was given.

    Raises:
        TypeError: for integer or complex tensors, double precision mixed with another, or a mask
            or return_state that is not of type bool.
        ValueError: if a step runs backwards or a rate is positive, so that the state would grow;
            if a rate is not finite, shapes disagree or the method is unknown.

    Source: Gu & Dao 2023 (arXiv:2312.00752), Algorithm 2; B is discretised by Euler's rule as in
    their code, not by the zero-order hold of Equation 4. They take no mask and no state.
    """
    v = prepare_scan(mask, x=x, delta=delta, A=A, B=B, C=C, skip=skip, gate=gate, state=state)
    check_flags(return_state=return_state)
    name, why = _choose(method, v["x"])
    y, last = _scan_by(name, v)
    last_words[:] = [f"{name} ran: {why}"]
    y = silence(y, mask).to(x.dtype)  # padding too may have read a state that is not finite
    return (y, last) if return_state else y


def explain() -> str:
    """Say by which method the last scan ran, and why.

    Returns:
        One sentence for a person to read.
    """
    return last_words[0]


def _choose(method: str, x: Tensor) -> tuple[str, str]:
    """Refuse an unknown method, or name the one to run and why."""
    if method not in ("auto", *METHODS):
        names = '", "'.join(METHODS)
        raise ValueError(f'method must be "auto", "{names}"; it is {method!r}')
    if method in PLAIN:
        return method, "it was asked for"
    hindrance = find_hindrance(x)
    if not hindrance:
        return "fused", "it was asked for" if method == "fused" else "it is the fastest on a CPU"
    if x.shape[1] <= 1:
        return "loop", f"one token leaves nothing to divide into chunks, and {hindrance}"
    return "chunked", f"it is the fastest that needs nothing but torch, and {hindrance}"


def _scan_by(name: str, v: dict[str, Tensor | None]) -> tuple[Tensor, Tensor]:
    """Run the recurrence, add what passes by the state, and let the gate through."""
    given = [v[k] for k in ("x", "delta", "A", "B", "C", "state")]
    if name == "fused":
        return scan_fused(*given, v["skip"], v["gate"])
    y, last = PLAIN[name](*given)
    y = y if v["skip"] is None else y + v["skip"] * v["x"]
    return (y if v["gate"] is None else y * silu(v["gate"])), last
