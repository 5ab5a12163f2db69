"""Several runs: what moved since the earlier ones, and standings no stronger than the bounds."""

from __future__ import annotations

from fractions import Fraction

from factory import SOLVER, failed, plan, world

from sealbench.analysis import evaluate
from sealbench.analysis.leaderboard import leaderboard
from sealbench.analysis.trend import trend
from sealbench.render.across import (
    across_document,
    leaderboard_section,
    summary_section,
    trend_section,
)
from sealbench.render.terminal import render_terminal_document


def day(number, change=dict):
    source = plan(endpoints=(SOLVER,))
    run, lines = world(None, change)
    run = run.model_copy(
        update={
            "name": f"day{number}",
            "started_at": f"2026-12-0{number}T12:00:00Z",
            "endpoints": source.endpoints,
        }
    )
    return run, lines


def dearer(fields):
    return fields | ({"charged_tokens": fields["charged_tokens"] + 5} if fields["end"] == "finished" else {})


def find(rows, run, measure, cap=4000, family="primality"):
    return next(r for r in rows if (r.run, r.measure, r.place[1], r.place[4]) == (run, measure, family, cap))


def test_a_run_is_tested_against_the_mean_of_all_earlier_ones():
    rows = trend([day(3, dearer), day(1), day(2)])  # in any order
    first, second, third = (find(rows, f"day{n}", "charged_tokens") for n in (1, 2, 3))
    assert first.p is None
    assert first.change is None
    assert second.change == 0
    assert second.p is not None
    assert second.p.value == 1
    assert third.change == 5
    assert third.p is not None
    assert third.p.value == Fraction(2, 2**16)  # all 16 instances moved the same way
    assert third.p_adjusted is not None
    assert third.p_adjusted.value > third.p.value


def test_one_run_has_no_trend():
    assert trend([day(1)]) == ()
    assert "No two of these runs" in render_terminal_document(across_document([trend_section(())], ["x"]))


def test_other_batteries_and_caps_are_not_compared():
    run, lines = day(2)
    other = run.model_copy(update={"battery": "other"})
    assert trend([day(1), (other, lines)]) == ()


def test_a_changed_model_is_named():
    rows = trend([day(1), day(2, lambda f: f | {"model": "solver-2"})])
    text = render_terminal_document(across_document([trend_section(rows)], []))
    assert "reported different models: solver (day1); solver-2 (day2)" in " ".join(text.split())


def wrong(fields):
    return fields | ({"answer": "wrong"} if fields["end"] == "finished" else {})


def one_missing(fields):
    first = fields["class_label"] == "prime" and fields["charged_tokens"] == 600
    return failed(fields) if first else fields


def test_standings_have_the_ranks_their_bounds_allow():
    found = []
    for pair in (day(1), day(2, wrong), day(3, one_missing)):
        found.append((evaluate(*pair, None), pair[1]))
    rows = [row for row in leaderboard(found) if row.place == "primality, plain"]
    assert [(row.run, row.ranks) for row in rows] == [("day1", (1, 1)), ("day3", (1, 2)), ("day2", (3, 3))]
    assert [row.score for row in rows][::2] == [1, 0]
    assert rows[1].low < 1
    sections = [summary_section([report for report, _ in found]), leaderboard_section(leaderboard(found))]
    text = render_terminal_document(across_document(sections, ["limits"]))
    assert "1–2" in text
    assert all(len(one) <= 80 for one in text.splitlines())
    assert text.splitlines()[0].startswith("EXPLORATORY")


def test_a_run_without_a_line_stands_in_no_table():
    run, _ = world(None)
    report = evaluate(run, [], None)
    assert leaderboard([(report, [])]) == ()
    assert summary_section([report]).name == "summary"
