"""Ranks as threads of one process: real sockets, and no process that takes seconds to start."""

from concurrent.futures import ThreadPoolExecutor

from mamba_edu.scan import join_ranks


def run_ranks(works, folder, timeout=20.0):
    """Run each work with its group in a thread; return what came of it, errors among them."""
    meeting = folder / "meeting"

    def run(rank):
        try:
            return works[rank](join_ranks(rank, len(works), meeting, timeout))
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(works)) as threads:
        return list(threads.map(run, range(len(works))))
