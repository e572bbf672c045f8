"""Which read-out for which job: every number stands in a table of runs."""

import pytest

from mamba_edu.experiments import JOBS, jobs, tabulate_jobs, write_jobs
from mamba_edu.tasks import TASKS


@pytest.fixture
def tables(monkeypatch):
    """Runs of two seeds; a run that stopped at chance, and tasks that were not run."""
    runs = [
        {"setting": "needle, max", "seed": 0, "right_8192": 3, "n_8192": 4},
        {"setting": "needle, max", "seed": 1, "right_8192": 1, "n_8192": 4},
        {"setting": "needle, max, no SSM", "seed": 0, "right_8192": 4, "n_8192": 4},
        {"setting": "order, last", "seed": 0, "right_512": 5, "n_512": 10},
    ]
    for row in runs:
        row |= {"right_8192": 0, "n_8192": 0} if "n_8192" not in row else {}
    star = {"setting": "needle, attention, dead_zone", "seed": 0}
    star |= {"kept": 0.25, "kept_snapped": 0.5}
    star |= {"right_8192": 0, "n_8192": 8, "snapped_8192": 7, "n_snapped_8192": 8}
    found = {"readouts": runs, "hard_tasks": [], "star": [star]}
    monkeypatch.setattr(jobs, "load_results", found.get)


def test_a_job_is_weighed_by_its_mean_and_its_lowest_seed(tables):
    made = tabulate_jobs()
    assert list(made) == list(JOBS)
    assert made["needle"]["max"] == (0.5, 0.25)
    assert made["needle"]["attention, dead_zone, snapped"] == (0.875, 0.875)
    assert made["order"]["last"] == (0.5, 0.5)  # what it had when it stopped
    assert made["needle"]["mean"] is None
    assert {way for ways in made.values() for way in ways} == {*jobs.READ_BY, *jobs.STOPPED}


def test_the_table_is_written_with_what_guessing_earns(tables):
    head, rule, *rows = write_jobs().splitlines()
    assert rule.count("---") == head.count("|") - 1 == 9
    assert rows[0] == (
        "| find one token that says the answer | 0.12 |  |  |  | 0.50 (0.25) |  |  | 0.88 (0.88) |"
    )
    assert [row.split(" | ")[1] for row in rows] == [f"{TASKS[task].chance:.2f}" for task in JOBS]


def test_every_job_is_done_with_five_seeds_in_the_tables_that_come_with_the_course():
    made = tabulate_jobs()
    assert all(ways[way] for ways in made.values() for way in jobs.READ_BY)
    assert all(low <= mean for ways in made.values() for mean, low in filter(None, ways.values()))
