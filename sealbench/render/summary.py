"""A report in ten lines: who was cut at the smallest cap, which caps do that, what became of the plan."""

from __future__ import annotations

from collections import Counter

from sealbench.formats.report import Comparison, Cost, Report
from sealbench.render.document import Block, Bullets, Grid, columns, endpoint_text, p_text

_NO_TEST = "no test of censoring: the report says why"


def render_summary(report: Report) -> str:
    """The lines that a reader must not miss; `render_terminal` has the whole report."""
    lines = [*_cut_lines(report), *_right_lines(report), *_wipe_out_lines(report), _verdict_line(report)]
    return "\n".join(line for line in lines if line)


def summary_blocks(report: Report) -> tuple[Block, ...]:
    """The same as a table and a list, for a page."""
    head, *rows = _cut_rows(report) or [()]
    sentences = [*_right_lines(report), *_wipe_out_lines(report), _verdict_line(report)]
    if not rows:
        return (Bullets((_NO_TEST, *sentences)),)
    return (Grid(head[0], ("endpoint", *head[1:]), columns(rows)), Bullets(tuple(sentences)))


def _cut_lines(report: Report) -> list[str]:
    rows = _cut_rows(report)
    if not rows:
        return [_NO_TEST]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _cut_rows(report: Report) -> list[tuple[str, ...]]:
    """A head and one row per test of censoring at the smallest cap; nothing without such a test."""
    tests = [test for test in report.tests if test.measure == "censored" and test.hypothesis is not None]
    tests = tests or [test for test in report.tests if test.measure == "censored"]
    if not tests:
        return []
    smallest = min(test.cap for test in tests)
    shown = [test for test in tests if test.cap == smallest]
    head = (f"cut at cap {smallest}", shown[0].class1, shown[0].class0, "exact p")
    return [head, *(_cut_row(test) for test in shown)]


def _cut_row(test: Comparison) -> tuple[str, str, str, str]:
    return (
        endpoint_text(test.endpoint, test.reference),
        _cut(test, test.class1),
        _cut(test, test.class0),
        f"{p_text(test.p)} ({test.alternative}, {test.method})",
    )


def _cut(test: Comparison, label: str) -> str:
    counts = test.classes[label]
    return f"{counts.instances_cut} of {counts.instances}"


def _right_lines(report: Report) -> list[str]:
    """Where nothing was cut at the largest cap, say so: the same endpoints were able to answer."""
    largest = max((test.cap for test in report.tests), default=0)
    tests = [test for test in report.tests if test.cap == largest and test.measure == "censored"]
    cut = sum(counts.cut_reported + counts.cut_inferred for test in tests for counts in test.classes.values())
    if not tests or cut:
        return []
    return [f"at cap {largest} nothing was cut"]


def _wipe_out_lines(report: Report) -> list[str]:
    lines = []
    for cost in report.costs:
        found = cost.separation
        if cost.restricted or found is None or found.wipe_out_low is None or found.wipe_out_high is None:
            continue
        if found.wipe_out_low < found.wipe_out_high:
            lines.append(
                _wipe_out(cost, found.wipe_out_low, found.wipe_out_high, found.expensive, found.cheap)
            )
    return lines


def _wipe_out(cost: Cost, low: int, high: int, expensive: str, cheap: str) -> str:
    return (
        f"{cost.endpoint}: every cap from {low} to {high - 1} tokens deletes every {expensive} and no {cheap}"
    )


def _verdict_line(report: Report) -> str:
    counted = Counter(verdict.verdict for verdict in report.verdicts)
    if not counted:
        return "exploratory: nothing was registered, so there is no verdict"
    told = ", ".join(f"{count} {verdict.replace('_', ' ')}" for verdict, count in sorted(counted.items()))
    return f"hypotheses: {told}; {len(report.deviations)} deviations from the plan"
