"""Keep freed memory for the next tensor, where the allocator is glibc's.

glibc gives large tensors back to the system when they are freed; the next ones then wait for the
system to find and clear fresh pages. A process that trains does little else but free and ask again.
"""

import ctypes
import os

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # as glibc's malloc.h counts them
LARGE = 2**30  # bytes: larger tensors are given back all the same


def has_glibc() -> bool:
    """Tell whether this process has glibc's allocator."""
    return os.name == "posix" and hasattr(ctypes.CDLL(None), "gnu_get_libc_version")


def keep_memory() -> bool:
    """Have this process keep what it frees, from now on; nothing happens without glibc.

    What is computed stays the same. There is no way back to how glibc starts.

    Returns:
        Whether it will.
    """
    if not has_glibc():
        return False
    limits = (M_TRIM_THRESHOLD, 2 * LARGE - 1), (M_MMAP_THRESHOLD, LARGE)
    return all(ctypes.CDLL(None).mallopt(*limit) for limit in limits)


def return_memory() -> None:
    """Give what this process kept back to the system, once; nothing happens without glibc."""
    if has_glibc():
        ctypes.CDLL(None).malloc_trim(0)
