"""What a failed set-up says: the system's and pip's errors, in words for the reader."""

import errno
import sys
import sysconfig
from pathlib import Path

GIGABYTES = 2.5  # what .venv takes, and a little more
AGAIN = "then run the same command again."

DISK_FULL = (
    f"The disk has too little room. The course takes about {GIGABYTES} GB in its folder, 6 GB on a "
    "Linux that cannot\nreach PyTorch's own index, and some where temporary files go (the variable "
    f"TMPDIR names that place).\nMake room, {AGAIN}"
)
READ_ONLY = "{} may not be written. Put the course into a folder of your own, " + AGAIN
NO_NETWORK = (
    "The download broke off: no network, or a proxy or a firewall in between. Only the set-up "
    "needs one.\nWhen it is back, run the same command again; what arrived is kept."
)
TRIED = "The course is tested with Python 3.11 and was set up once with 3.12"
NO_BUILD = (
    f"One package has no build for this Python ({sys.version.split()[0]}) on this machine "
    f"({sysconfig.get_platform()}).\n{TRIED};\n"
    "on an Intel Mac, PyTorch has stopped at 2.2. pip said:"
)
NO_VENV = (
    "This Python cannot make virtual environments. On Debian and Ubuntu, mend that by\n"
    f"    sudo apt install python{sys.version_info[0]}.{sys.version_info[1]}-venv\n{AGAIN}"
)
LONG_PATHS = f"Windows refuses paths this long: move the course to a shorter folder, {AGAIN}"
NO_RUNTIME = f"PyTorch needs Microsoft's Visual C++ Redistributable (x64): install it, {AGAIN}"
UNKNOWN = "The set-up failed, for a reason not foreseen. The last that was said:"

DISK_SIGNS = ("No space left on device", "[Errno 28]", "not enough space", "quota exceeded")
NETWORK_SIGNS = (
    "Failed to establish a new connection",
    "NameResolutionError",
    "Temporary failure in name resolution",
    "getaddrinfo failed",
    "Max retries exceeded",
    "ProxyError",
    "Network is unreachable",
    "timed out",
    "onnection broken",
    "Connection reset",
    "Connection aborted",
    "IncompleteRead",
    "SSLError",
    "SSLCertVerificationError",
    "DO NOT MATCH THE HASHES",
    "BadZipFile",
)
BUILD_SIGNS = ("No matching distribution found", "Failed building wheel", "Failed to build")
DENIED_SIGNS = ("[Errno 13]", "Permission denied", "Access is denied", "Read-only file system")


class SetUpError(Exception):
    """A set-up that failed, with words for the reader."""


class NoNetworkError(SetUpError):
    """A set-up that failed before anything was changed: nothing could be fetched."""


def read_failure(log: str, venv: Path) -> SetUpError:
    """Turn what a failed step printed into the error to raise."""
    if has_any(log, DISK_SIGNS):
        return SetUpError(DISK_FULL)
    if has_any(log, ("ensurepip is not",)):
        return SetUpError(NO_VENV)
    if has_any(log, ("Long Path",)):
        return SetUpError(LONG_PATHS)
    if has_any(log, ("[WinError 126]", "c10.dll")):
        return SetUpError(NO_RUNTIME)
    if has_any(log, NETWORK_SIGNS):
        return NoNetworkError(NO_NETWORK)
    if has_any(log, DENIED_SIGNS):
        return SetUpError(READ_ONLY.format(venv))
    cause = NO_BUILD if has_any(log, BUILD_SIGNS) else UNKNOWN
    return SetUpError(f"{cause}\n{quote_end(log)}")


def has_any(log: str, signs: tuple[str, ...]) -> bool:
    """Tell whether any of the signs stands in the log."""
    return any(sign in log for sign in signs)


def quote_end(log: str) -> str:
    """Quote the last lines that say something, indented."""
    lines = [line.rstrip() for line in log.splitlines() if line.strip()]
    return "\n".join(f"    {line[:200]}" for line in lines[-8:]) or "    (nothing)"


def explain_error(error: Exception, root: str) -> str:
    """Say in words why the set-up stopped."""
    if not isinstance(error, OSError):
        return str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DISK_FULL
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        hint = "\nIf JupyterLab runs from it, close that first." if sys.platform == "win32" else ""
        return READ_ONLY.format(error.filename or root) + hint
    return f"The system refused: {error}"
