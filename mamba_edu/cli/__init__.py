"""The commands behind course.py: lab, test, build, reset, demo, sweep, results, bench."""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = make_parser()
    given = sys.argv[1:] if argv is None else argv
    arguments = parser.parse_args(given or ["lab"])
    if not (ROOT / "notebooks").is_dir():
        print(f"The course's folder is needed: {ROOT} holds no notebooks. Use course.py in it.")
        return 2
    try:
        return arguments.run(arguments)
    except (ValueError, OSError) as error:
        print(f"{arguments.command}: {error}")
        return 2
    except KeyboardInterrupt:
        print("\nStopped.")
        return 130


def make_parser() -> argparse.ArgumentParser:
    """Describe the commands; `course.py --help` explains them in the same words."""
    parser = argparse.ArgumentParser(prog="course.py", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)

    lab = commands.add_parser("lab", help="open JupyterLab on your workbook")
    lab.add_argument("notebook", nargs="?", default="00", metavar="NN", help="which to open")
    lab.add_argument("--stored", action="store_true", help="the notebooks with their outputs")
    lab.add_argument("--stage", action="store_true", help="in large print, for a projector")
    lab.add_argument("--port", type=int, metavar="N", help="listen on this port")
    lab.add_argument("--no-browser", action="store_true", help="only print the address")
    lab.set_defaults(run=run_lab)

    test = commands.add_parser("test", help="run the tests")
    test.add_argument("--quick", action="store_true", help="those for daily use")
    test.set_defaults(run=run_test)

    build = commands.add_parser("build", help="run notebooks again and store what they print")
    build.add_argument("numbers", nargs="*", metavar="NN", help="which; all, if none is named")
    build.add_argument("--solutions", type=Path, metavar="DIR", help="write solved copies here")
    build.set_defaults(run=run_build)

    reset = commands.add_parser("reset", help="a fresh copy of a notebook; yours is kept")
    reset.add_argument("number", metavar="NN", help="which")
    reset.set_defaults(run=run_reset)
    add_demo(commands)
    add_sweep(commands)
    add_results(commands)
    add_bench(commands)
    return parser


def add_demo(commands: argparse._SubParsersAction) -> None:
    """Describe the command for live demonstrations."""
    demo = commands.add_parser("demo", help="open widgets as pages, without a kernel")
    demo.add_argument("name", nargs="?", metavar="NAME", help="which; all, if none is named")
    demo.add_argument("--list", action="store_true", help="say which there are")
    demo.add_argument("--no-browser", action="store_true", help="only build them")
    demo.set_defaults(run=run_demo)


def add_sweep(commands: "argparse._SubParsersAction") -> None:
    """Describe the command that measures again what the tables hold."""
    sweep = commands.add_parser("sweep", help="measure again what the tables in results hold")
    sweep.add_argument("names", nargs="*", metavar="NAME", help="which; all, if none is named")
    sweep.add_argument("--jobs", type=int, default=1, metavar="N", help="so many runs at a time")
    sweep.add_argument("--fresh", action="store_true", help="forget the tables and start over")
    sweep.add_argument("--only", default="", metavar="WORD", help="settings that hold this word")
    sweep.add_argument("--minutes", type=float, metavar="N", help="begin no run after so many")
    sweep.add_argument("--dry-run", action="store_true", help="only list what would be run")
    sweep.add_argument("--dask", metavar="ADDRESS", help="on the cluster of this Dask scheduler")
    sweep.set_defaults(run=run_grids)


def add_results(commands: "argparse._SubParsersAction") -> None:
    """Describe the command that reads the tables, and tries them again."""
    results = commands.add_parser("results", help="read the tables, or run some of them again")
    results.add_argument("what", choices=["summary", "verify", "jobs"], help="what is wanted")
    results.add_argument("names", nargs="*", metavar="NAME", help="which; all, if none is named")
    results.add_argument("--only", default="", metavar="WORD", help="settings that hold this word")
    results.add_argument("--runs", type=int, default=2, metavar="N", help="verify so many of each")
    results.set_defaults(run=run_results)


def add_bench(commands: "argparse._SubParsersAction") -> None:
    """Describe the command that races the scans."""
    bench = commands.add_parser(
        "bench", help="race the scans, and those of others, on this machine"
    )
    bench.add_argument("--quick", action="store_true", help="short sequences, few rounds")
    bench.add_argument("--long", action="store_true", help="stream a million tokens too")
    bench.add_argument("--longer", action="store_true", help="stream ten million tokens too")
    bench.add_argument("--plot", type=Path, metavar="FILE", help="draw the ratios as a PNG")
    bench.add_argument("--threads", type=int, default=1, metavar="N", help="so many threads")
    bench.set_defaults(run=run_bench)


# Each command imports what it needs when it runs, so that the others start at once.


def run_lab(arguments: argparse.Namespace) -> int:
    """Open JupyterLab."""
    from mamba_edu.cli.lab import open_lab

    return open_lab(
        ROOT,
        stored=arguments.stored,
        stage=arguments.stage,
        port=arguments.port,
        browser=not arguments.no_browser,
        notebook=arguments.notebook,
    )


def run_test(arguments: argparse.Namespace) -> int:
    """Run the tests."""
    from mamba_edu.cli.suite import run_suite

    return run_suite(ROOT, quick=arguments.quick)


def run_build(arguments: argparse.Namespace) -> int:
    """Store executed notebooks, or write solved ones elsewhere."""
    if arguments.solutions is not None:
        from mamba_edu.cli.solutions import build_solutions

        return build_solutions(ROOT, arguments.solutions, arguments.numbers)
    from mamba_edu.cli.build import build

    return build(ROOT, arguments.numbers)


def run_reset(arguments: argparse.Namespace) -> int:
    """Give the reader a fresh copy and say where the old one went."""
    from mamba_edu.cli.workbook import reset

    kept = reset(ROOT, arguments.number)
    print(f"Your workbook has a fresh copy of notebook {arguments.number}.")
    print(f"Yours is kept: {kept.relative_to(ROOT)}" if kept else "There was none of yours yet.")
    return 0


def run_demo(arguments: argparse.Namespace) -> int:
    """Open widgets as pages, or list them."""
    from mamba_edu.cli.demo import list_demos, open_demo

    if arguments.list:
        return list_demos()
    return open_demo(ROOT, arguments.name, browser=not arguments.no_browser)


def run_grids(arguments: argparse.Namespace) -> int:
    """Run grids of experiments and store their tables."""
    from mamba_edu.cli.sweep import list_left, sweep_grids

    if arguments.dry_run:
        return list_left(arguments.names, arguments.only, arguments.jobs)
    how = {name: getattr(arguments, name) for name in ("jobs", "fresh", "minutes", "dask")}
    return sweep_grids(arguments.names, only=arguments.only, **how)


def run_results(arguments: argparse.Namespace) -> int:
    """Sum the tables up, verify them, or put together which read-out is for which job."""
    from mamba_edu.cli.results import print_jobs, summarize_tables, verify_tables

    if arguments.what == "jobs":
        return print_jobs()
    if arguments.what == "summary":
        return summarize_tables(arguments.names, arguments.only)
    return verify_tables(arguments.names, arguments.only, arguments.runs)


def run_bench(arguments: argparse.Namespace) -> int:
    """Race the ways to scan."""
    from mamba_edu.cli.bench import run_race

    flags = [f"--{word}" for word in ("quick", "long", "longer") if getattr(arguments, word)]
    return run_race(ROOT, flags, arguments.plot, arguments.threads)
