"""The tests of a report: the registered ones with their verdicts, and those that nobody registered.

The latter stand under a heading that begins with EXPLORATORY.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from sealbench.formats.report import ClassCounts, Comparison, Report
from sealbench.render.document import (
    DASH,
    FINDINGS,
    MEASURES,
    QUESTIONS,
    VERDICTS,
    Block,
    Bullets,
    Grid,
    Paragraph,
    Section,
    Struck,
    amount,
    clean,
    columns,
    endpoint_text,
    p_text,
    percent,
    range_of,
    signed,
    where_text,
)

_COUNTED = ("censored", "lost", "first_attempt_lost", "error", "accuracy")


def registered_section(report: Report) -> Section | None:
    tests = [test for test in report.tests if test.hypothesis is not None]
    if not tests:
        return None
    rows = [
        (
            clean(test.hypothesis or ""),
            f"{_place(test)}: {measure_text(test)}, {_direction(test)}",
            f"{class_text(test, test.class1)} v {class_text(test, test.class0)}; {_sizes(test)}",
            effect_text(test),
            _p_cell(test),
            p_text(test.p_adjusted),
            VERDICTS[test.verdict or "not_testable"],
        )
        for test in tests
    ]
    header = ("id", "question", "classes", "effect", "exact p", "corrected p", "verdict")
    caption = (
        f"Unit: instance. Corrected over all registered tests ({report.correction}), alpha {report.alpha}"
    )
    blocks: list[Block] = [Grid(caption, header, columns(rows)), *_overstated(tests), *_test_notes(tests)]
    return Section("registered", "Registered tests", tuple(blocks))


def measure_text(test: Comparison) -> str:
    """What was compared, in the field's words."""
    return QUESTIONS.get(test.question, MEASURES[test.measure])


def _place(test: Comparison) -> str:
    return f"{endpoint_text(test.endpoint, test.reference)}, {where_text(test.where)}, cap {test.cap}"


def _sizes(test: Comparison) -> str:
    first, second = (test.classes[label].instances_used for label in (test.class1, test.class0))
    return f"{first} v {second} instances"


def effect_text(test: Comparison) -> str:
    """The difference of class means with its interval: percentage points, or tokens."""
    if test.effect is None:
        return DASH
    if test.measure not in _COUNTED:
        text = ("≥ " if test.restricted else "") + signed(test.effect)
        return text + range_of(test.interval, 1)
    return f"{signed(test.effect, 100)} pts{range_of(test.interval, 100)}"


def _direction(test: Comparison) -> str:
    sign = {"greater": ">", "less": "<", "two-sided": "≠"}[test.alternative]
    return f"{test.class1} {sign} {test.class0}"


def standard_section(report: Report) -> Section | None:
    tests = [test for test in report.tests if test.hypothesis is None]
    if not tests:
        return None
    blocks: list[Block] = [
        Paragraph(
            "Every family, wording, endpoint and cap, two-sided by statistic, corrected together (Holm). "
            '"Asymmetric" means that the corrected p is at or below alpha; "cannot tell" that this design '
            "could not have reached alpha. A mean with ≥ is a restricted mean: the cap cut something."
        )
    ]
    quiet = [
        test for test in tests if test.measure == "first_attempt_lost" and test.reason.startswith("no first")
    ]
    if quiet and len(quiet) == sum(test.measure == "first_attempt_lost" for test in tests):
        blocks.append(
            Paragraph("No first attempt was lost (to a time-out, a dropped connection or a stopped run).")
        )
    shown = [test for test in tests if test not in quiet] if len(tests) < 2000 else tests
    shown.sort(key=lambda test: (where_text(test.where), test.cap))
    for (where, cap), group in groupby(shown, key=lambda test: (where_text(test.where), test.cap)):
        blocks.append(_test_grid(f"{where}, cap {cap}", list(group)))
    blocks.extend(_effects(tests))
    blocks.extend(_overstated(tests))
    blocks.extend(_test_notes(shown))
    return Section("exploratory", "EXPLORATORY: tests that nobody registered", tuple(blocks))


def _test_grid(caption: str, tests: Sequence[Comparison]) -> Grid:
    pairs = {(test.class1, test.class0) for test in tests}
    first, second = pairs.pop() if len(pairs) == 1 else ("first class", "second class")
    rows = [
        (
            endpoint_text(test.endpoint, test.reference),
            measure_text(test),
            class_text(test, test.class1, named=bool(pairs)),
            class_text(test, test.class0, named=bool(pairs)),
            _p_cell(test),
            p_text(test.p_adjusted),
            FINDINGS[test.finding or "not_estimable"],
        )
        for test in tests
    ]
    header = ("endpoint", "measure", first, second, "exact p", "corrected p", "says")
    return Grid(caption, header, columns(rows), right=frozenset({2, 3}))


def class_text(test: Comparison, label: str, *, named: bool = False) -> str:
    """What a class did: responses as cut/all, or the mean; with its name where a column mixes classes."""
    counts = test.classes[label]
    text = _count_text(test.measure, counts)
    return f"{label} {text}" if named else text


def _count_text(measure: str, counts: ClassCounts) -> str:
    if measure == "censored":
        return f"{counts.cut_reported + counts.cut_inferred}/{counts.responses}"
    if measure == "lost":
        return f"{counts.lost}/{counts.responses}"
    if measure in _COUNTED:
        return percent(counts.mean)
    is_cut = counts.cut_reported + counts.cut_inferred > 0
    return ("≥ " if is_cut else "") + amount(counts.mean)


def _p_cell(test: Comparison) -> str:
    if test.p is None:
        return DASH
    text = p_text(test.p)
    return text if test.method == "exact" or test.method in text else f"{text} ({test.method})"


def _effects(tests: Iterable[Comparison]) -> list[Block]:
    rows = [
        (
            _place(test),
            f"{measure_text(test)}, {test.class1} less {test.class0}",
            effect_text(test),
            _sizes(test),
        )
        for test in tests
        if test.status == "tested" and test.effect is not None
    ]
    if not rows:
        return []
    caption = "Effects where something differs, with 95% intervals where one is defined"
    return [Grid(caption, ("where", "measure", "effect", "unit"), columns(rows))]


def _overstated(tests: Iterable[Comparison]) -> list[Block]:
    rows = [
        (_place(test), measure_text(test), p_text(test.p), Struck(p_text(test.p_responses)))
        for test in tests
        if test.p_responses is not None
    ]
    if not rows:
        return []
    header = ("where", "measure", "p by instances", "p by responses (overstated)")
    return [
        Grid(
            "Repeats of one instance are not independent: no result rests on the last column",
            header,
            columns(rows),
        )
    ]


def _test_notes(tests: Iterable[Comparison]) -> list[Block]:
    """Reasons and remarks, each once, with where it applies."""
    places: dict[str, list[str]] = {}
    for test in tests:
        for remark in ([test.reason] if test.reason else []) + list(test.notes):
            places.setdefault(remark, []).append(f"{_place(test)} ({measure_text(test)})")
    if not places:
        return []
    return [Bullets(tuple(f"{clean(remark)}: {_several(where)}" for remark, where in places.items()))]


def _several(places: Sequence[str]) -> str:
    shown = "; ".join(places[:3])
    return shown if len(places) <= 3 else f"{shown}; and {len(places) - 3} more"
