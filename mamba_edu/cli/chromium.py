"""Find the browser that the browser tests drive."""

import os
import shutil
import subprocess

NAMES = ("chromium", "chromium-browser", "google-chrome")
APT = ("apt-get", "-o", "DPkg::Lock::Timeout=120")


def find_or_install_chromium() -> tuple[str | None, str]:
    """Find a Chromium, or in CI, as root, install Debian's.

    Returns:
        Its path, and nothing; or nothing, and the reason.
    """
    path, reason = find_chromium()
    if path or reason:
        return path, reason
    is_ci_root = os.environ.get("CI") == "true" and getattr(os, "geteuid", lambda: 1)() == 0
    if not is_ci_root or not shutil.which("apt-get"):
        return None, "no Chromium or Chrome is on the PATH; the variable CHROMIUM can name one"
    reason = install_chromium()
    return (find_chromium()[0], "") if not reason else (None, reason)


def find_chromium() -> tuple[str | None, str]:
    """Look where $CHROMIUM points, or else on the PATH."""
    if named := os.environ.get("CHROMIUM"):
        path = shutil.which(named)
        return path, "" if path else f"CHROMIUM names {named!r}, which is no program"
    return next(filter(None, map(shutil.which, NAMES)), None), ""


def install_chromium() -> str:
    """Install Debian's Chromium, and return why that failed, or nothing."""
    quiet = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    steps = ["update"], ["install", "-y", "--no-install-recommends", "chromium"]
    for step in steps:
        done = subprocess.run([*APT, *step], env=quiet, capture_output=True, text=True)
        if done.returncode != 0:
            said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
            return f"apt-get {step[0]} failed and said: {said}"
    return ""
