#!/usr/bin/env python3
"""Set up the course and run it. Needs only Python 3.11 or newer.

    python3 course.py                   set up (once), then open your workbook at notebook 00
    python3 course.py lab [NN]          open JupyterLab at notebook NN
            --stored                    the notebooks as they are stored, with their outputs
            --stage                     in large print, for a projector
            --port N   --no-browser     listen on this port; only print the address
    python3 course.py demo [NAME]       open the widgets as pages, without a kernel
            --list   --no-browser       say which there are; only build them
    python3 course.py test [--quick]    run all tests, or those for daily use
    python3 course.py reset NN          a fresh copy of notebook NN; yours is kept, dated
    python3 course.py build [NN ...]    run notebooks again and store what they print
            --solutions DIR             put the solutions in, run, and write into DIR instead
    python3 course.py sweep [NAME ...]  measure again what the tables in mamba_edu/results hold
            --jobs N   --fresh          so many runs at a time; forget the tables, start over
            --only WORD   --minutes N   settings that hold a word; begin no run after N minutes
            --dry-run   --dask ADDRESS  only list what is left; run it on a Dask cluster
    python3 course.py results summary   accuracy and interval of each setting in the tables
    python3 course.py results verify    run some of them again, with old seeds and with new ones
            --only WORD   --runs N      settings that hold a word; so many runs of each table
    python3 course.py bench [--quick]   race the scans, and those of others, on this machine
            --long   --longer           stream a million tokens too; ten million
            --plot FILE   --threads N   draw the ratios as a PNG; with so many threads
    python3 course.py --help            this page

In this folder, .venv holds what was installed and workbook your copies. In your home folder, pip
and matplotlib keep their usual caches, and Jupyter its signatures and what a running one needs.
"""

import os
import subprocess
import sys

# Python 3.6 must be able to read this file, to be told that it is too old.
OLDEST = (3, 11)
TORCH_CPU = "https://download.pytorch.org/whl/cpu"  # PyPI's Linux build brings 3 GB for GPUs
COMMANDS = ("lab", "test", "build", "reset", "demo", "sweep", "results", "bench")
ROOT = os.path.dirname(os.path.realpath(__file__))


def main(argv):
    """Set up what is missing, then do what was asked; return the exit code."""
    refusal = find_refusal(argv)
    if refusal:
        print(refusal)
        return 2
    if "-h" in argv or "--help" in argv:
        print(__doc__.strip())
        return 0
    sys.path.insert(0, ROOT)
    from mamba_edu.cli import make_parser, set_up, set_up_words  # need no more than a new Python

    make_parser().parse_args(argv or ["lab"])  # a slip is told now, not after minutes of set-up
    try:
        python = set_up.prepare_venv(ROOT, argv, TORCH_CPU)
        return hand_over([python, "-P", "-m", "mamba_edu.cli", *argv], set_up.clean_environment())
    except (set_up_words.SetUpError, OSError) as error:
        print("\n" + set_up_words.explain_error(error, ROOT), flush=True)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. No harm is done: the same command takes up the work again.", flush=True)
        return 130


def find_refusal(argv):
    """Return why nothing can be done, or nothing."""
    if sys.version_info[:2] < OLDEST:
        has, needs = (".".join(map(str, version)) for version in (sys.version_info[:3], OLDEST))
        return (
            f"This is Python {has}; the course needs {needs} or newer. Get one from python.org or "
            f"from your system's packages,\nthen call it by its name: python{needs} course.py"
        )
    if argv and argv[0] not in (*COMMANDS, "-h", "--help"):
        known = ", ".join(COMMANDS)
        return f"There is no command {argv[0]!r}; there are: {known}. See python3 course.py --help"
    return None


def hand_over(command, environment):
    """Become the command; return its exit code where one process cannot become another."""
    if os.name == "posix":
        os.execve(command[0], command, environment)
    child = subprocess.Popen(command, env=environment)
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:  # the child hears Ctrl-C too, and decides
            pass


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
