"""Reports to render come from the analysis tests' factory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "analysis"))

from factory import CONSTANT, SOLVER, hypothesis, plan, void_condition, world

from sealbench.analysis import evaluate

HOSTILE = "http://host/v1#<script>alert(1)</script>|x`\x1b[31m"


@pytest.fixture(scope="session")
def demo():
    """(report, lines) of a registered run with verdicts, cuts, repeats and a deviation."""
    registered = plan(
        [hypothesis("H1"), hypothesis("H2", measure="charged_tokens", cap=4000)],
        (SOLVER, CONSTANT),
        repeats=2,
        void_conditions=(void_condition(),),
    )
    run, lines = world(registered, lambda f: f | {"model": "solver-2"} if f["endpoint"] == SOLVER else f)
    return evaluate(run, lines, registered), lines


@pytest.fixture(scope="session")
def pilot():
    """(report, lines) of an exploratory run against an endpoint with a hostile name."""
    source = plan(endpoints=(HOSTILE,))
    run, lines = world(None)
    from factory import calls, log, run_of

    run = run_of(None, len(lines), endpoints=source.endpoints)
    lines = log(run, calls(source))
    return evaluate(run, lines, None), lines


@pytest.fixture(scope="session")
def empty():
    """The report of a run with an empty log."""
    run, _ = world(None)
    return evaluate(run, [], None), []
