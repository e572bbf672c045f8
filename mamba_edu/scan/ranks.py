"""One sequence over several processes: each scans its own piece, and one state is passed on."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor

from mamba_edu._checks import check_counts, check_flags, check_interval
from mamba_edu.scan.dispatch import selective_scan

START = timedelta(seconds=120)  # importing torch on a busy machine takes its time
SENT = (torch.float64, torch.float32, torch.float16, torch.int64, torch.int32, torch.int8)
SENT += (torch.uint8, torch.bool)
MOST_AXES = 8


class LostRank(ConnectionError):
    """A process that others wait for has stopped, or is silent for too long."""


def join_ranks(rank: int, n_ranks: int, meeting: str | Path, timeout: float = 60.0) -> Any:
    """Join the other processes that work on the same sequence, over sockets (gloo).

    Args:
        rank: which one this is, from 0: the order of their pieces.
        n_ranks: how many there are.
        meeting: a file that does not exist yet, in a folder that all can see; there they meet.
        timeout: seconds that one may be silent when another waits for it, once all have come.

    Returns:
        Their process group. A default group of torch.distributed, `group.WORLD`, will do as well.

    Raises:
        TypeError: if a number is of another type.
        ValueError: if it is out of range.
        LostRank: if the others do not come.
    """
    check_counts(1, n_ranks=n_ranks)
    check_counts(0, rank=rank)
    check_interval(timeout=timeout)
    if rank >= n_ranks:
        raise ValueError(f"rank must be 0 to {n_ranks - 1}, of {n_ranks}; it is {rank}")
    store = dist.FileStore(str(meeting), n_ranks)
    try:
        store.set(f"here{rank}", "")
        store.wait([f"here{other}" for other in range(n_ranks)], START)
        group = dist.ProcessGroupGloo(store, rank, n_ranks, timedelta(seconds=timeout))
        store.set(f"joined{rank}", "")  # nobody leaves while others still greet
        store.wait([f"joined{other}" for other in range(n_ranks)], START)
        return group
    except RuntimeError as error:
        raise LostRank(
            f"rank {rank} must meet all of {n_ranks} ranks; they did not come: {error}"
        ) from None


def send_tensors(group: Any, to: int, *tensors: Tensor) -> None:
    """Send tensors to another process; each is told of before it comes.

    Raises:
        LostRank: if it has stopped, or takes them too late.
        ValueError: if a tensor is of a type that is not sent, or has too many axes.
    """
    headers = [_describe(tensor) for tensor in tensors]
    for number, (header, tensor) in enumerate(zip(headers, tensors, strict=True)):
        _wait(group, "send", to, 2 * number, header, tensor)
        _wait(group, "send", to, 2 * number + 1, tensor.detach().contiguous(), tensor)


def receive_tensors(group: Any, source: int, *like: Tensor) -> list[Tensor]:
    """Receive tensors from another process.

    Args:
        group: as join_ranks makes it.
        source: which process.
        like: tensors of the shapes and types that are to come; they are not changed.

    Raises:
        LostRank: if it has stopped, or sends nothing for as long as the group allows.
        ValueError: if what it sends is of another shape or type.
    """
    received = [torch.empty_like(tensor).contiguous() for tensor in like]
    for number, tensor in enumerate(received):
        wanted = _describe(tensor)
        told = torch.zeros_like(wanted)
        _wait(group, "recv", source, 2 * number, told, tensor)
        if not torch.equal(told, wanted):
            raise ValueError(
                f"rank {source} must send {_read_header(wanted)}, says rank {group.rank()}; it "
                f"sends {_read_header(told)}"
            )
        _wait(group, "recv", source, 2 * number + 1, tensor, tensor)
    return received


@torch.no_grad()
def scan_ranks(
    group: Any,
    x: Float[Tensor, "batch length d_inner"],
    delta: Float[Tensor, "batch length d_inner"],
    A: Float[Tensor, "d_inner d_state"],
    B: Float[Tensor, "batch length d_state"],
    C: Float[Tensor, "batch length d_state"],
    skip: Float[Tensor, "d_inner"] | None = None,
    gate: Float[Tensor, "batch length d_inner"] | None = None,
    wait: bool = False,
) -> tuple[Float[Tensor, "batch length d_inner"], Float[Tensor, "batch d_inner d_state"]]:
    """Scan one sequence whose pieces lie in several processes, rank 0 with the first.

    A piece is linear in the state that it is handed. So each process scans its own at once, from
    nothing, and knows besides how much of a state its piece leaves:

        end = keep start + end_from_nothing,    keep = exp(A sum of delta)

    When the state comes, a product and a sum are all that the next one has to wait for. What the
    state adds to the outputs is a second scan, of an input of 0. With wait=True no process begins
    before the one ahead has ended: half the work, and never two at a time. No gradients.

    Args:
        group: as join_ranks makes it.
        x, delta, A, B, C, skip, gate: of this process's piece, as selective_scan takes them.
        wait: whether to wait for the state instead.

    Returns:
        y of this piece, and the state at its end; on the last rank, at the end of the sequence.

    Raises:
        LostRank: if a process has stopped, or is silent for as long as the group allows.
        TypeError, ValueError: as selective_scan.

    Source: Blelloch 1990, Prefix Sums and Their Applications, Section 1.2: sums of blocks, then a
    scan over the blocks, then a correction inside each.
    """
    check_flags(wait=wait)
    rank, last = group.rank(), group.size() - 1
    nothing = A.new_zeros(len(x), *A.shape)
    start = receive_tensors(group, rank - 1, nothing)[0] if wait and rank else None
    y, end = selective_scan(x, delta, A, B, C, skip, gate, start, return_state=True)
    if not wait and rank:
        [start] = receive_tensors(group, rank - 1, nothing)
        end = torch.exp(A * delta.sum(1)[..., None]) * start + end
    if rank < last:
        send_tensors(group, rank + 1, end)
    if wait or start is None:
        return y, end
    return y + selective_scan(torch.zeros_like(x), delta, A, B, C, None, gate, start), end


def _describe(tensor: Tensor) -> Tensor:
    """Tell a tensor's type and shape in as many whole numbers for every tensor."""
    if tensor.dtype not in SENT or tensor.ndim > MOST_AXES:
        words = ", ".join(str(dtype).removeprefix("torch.") for dtype in SENT)
        raise ValueError(
            f"tensors must be {words}, of at most {MOST_AXES} axes, to be sent; one is "
            f"{tensor.dtype} of {tensor.ndim} axes"
        )
    rest = [0] * (MOST_AXES - tensor.ndim)
    return torch.tensor([SENT.index(tensor.dtype), tensor.ndim, *tensor.shape, *rest])


def _read_header(header: Tensor) -> str:
    """Say in words what _describe tells."""
    dtype, n_axes, *shape = header.tolist()
    return f"{SENT[dtype]} of shape {tuple(shape[:n_axes])}"


def _wait(group: Any, verb: str, other: int, tag: int, part: Tensor, tensor: Tensor) -> None:
    """Wait until part of what a tensor needs is sent or received."""
    try:
        getattr(group, verb)([part], other, tag).wait()
    except RuntimeError as error:
        does = "take" if verb == "send" else "send"
        reason = re.sub(r"^\[[^\]]*\]\s*", "", str(error)).split(". This")[0]
        raise LostRank(
            f"rank {other} must {does} a tensor of shape {tuple(tensor.shape)} in time; it has "
            f"stopped or is silent, says rank {group.rank()}: {reason}"
        ) from None
