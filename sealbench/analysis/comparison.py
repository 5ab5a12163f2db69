"""One test: two classes of one endpoint at one cap, from log lines to a Comparison record.

Everything that asks `stats` for a p-value of a class difference stands here, so that the unit (the
instance), the strata and the reasons for not testing are decided in one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sealbench.analysis.censoring import class_counts
from sealbench.analysis.quantities import exact_or_none, interval_record, p_number
from sealbench.analysis.question import Question
from sealbench.analysis.rows import (
    TOKEN_MEASURES,
    InstanceScores,
    Selection,
    Table,
    by_stratum,
    instance_scores,
    is_reference,
)
from sealbench.analysis.testability import Strata, remarks, why_degenerate, why_not
from sealbench.formats.report import Comparison
from sealbench.stats.caps import max_over_caps
from sealbench.stats.contingency import censoring_difference, stratified_exact
from sealbench.stats.effects import shift_interval
from sealbench.stats.permutation import mean_difference
from sealbench.stats.planning import smallest_p
from sealbench.stats.pvalue import PValue
from sealbench.stats.results import DEGENERATE, Interval, TestResult

_OPPOSITE = {"greater": "less", "less": "greater"}
_LEVEL = Fraction(19, 20)
_MOST_INVERTED = 64  # instances; an inversion takes two dozen tests


@dataclass(frozen=True)
class Tested:
    """A comparison with its numbers still as fractions.

    Attributes
    ----------
    comparison : the record, without correction and verdict.
    p : None where `blocked` says why nothing can be tested.
    opposite : the p-value of the other direction, for registered directions.
    smallest : the smallest p that this design can reach, whatever the data.
    interval : of the effect, where one is defined.
    effect : class1's mean minus class0's (over several strata weighted by n1·n0/(n1+n0)).
    reason : why p is 1 where the data are degenerate.
    """

    comparison: Comparison
    p: PValue | None
    opposite: PValue | None
    smallest: Fraction | None
    effect: Fraction | None
    interval: Interval | None
    blocked: str
    reason: str


def compare(table: Table, question: Question, *, time_limit: int) -> Tested:
    """Test one measure between two classes, instances exchanged within strata.

    `time_limit` is in seconds of an ordinary core, counted as a fixed amount of work, so that the method
    chosen depends on the data alone.
    """
    selection = table.select(question.where, question.endpoint, question.cap)
    classes = (question.class1, question.class0)
    scores = [s for s in _scores(selection, question) if s.class_label in classes]
    strata = by_stratum(scores, *classes)
    blocked = why_not(table, selection, strata, question)
    result, opposite, smallest, overstated, reason = None, None, None, None, ""
    if not blocked:
        result = _test(table, strata, question, question.alternative, time_limit, with_interval=True)
        reason = why_degenerate(scores, question.measure) or (
            result.reason if result.status == DEGENERATE else ""
        )
        sizes = [(len(first), len(second)) for first, second in strata]
        smallest = smallest_p(strata=sizes, alternative=question.alternative)
        overstated = _as_responses(scores, question)
        if question.alternative in _OPPOSITE:
            other = _OPPOSITE[question.alternative]
            opposite = _test(table, strata, question, other, time_limit, with_interval=False).p_value
    record = _record(table, question, selection, scores)
    interval = _interval(result, strata, question, reason, restricted=record.restricted)
    comparison = record.model_copy(
        update={
            "strata": len(strata),
            "informative_strata": sum(bool(first and second) for first, second in strata),
            "effect": exact_or_none(result.effect) if result is not None else None,
            "interval": interval_record(interval),
            "p": p_number(result.p_value) if result is not None else None,
            "p_opposite": p_number(opposite) if opposite is not None else None,
            "p_responses": p_number(overstated) if overstated is not None else None,
            "smallest_p": exact_or_none(smallest),
            "method": result.method if result is not None else "",
            "status": "not_testable" if blocked else "degenerate" if reason else "tested",
            "reason": blocked or reason,
        }
    )
    p_value, effect = (result.p_value, result.effect) if result is not None else (None, None)
    return Tested(comparison, p_value, opposite, smallest, effect, interval, blocked, reason)


def _scores(selection: Selection, question: Question) -> list[InstanceScores]:
    if question.kind == "difference":
        return instance_scores(selection.lines, question.measure)
    # What the largest cap cut would be cut by every smaller one, wherever the host stopped counting.
    lines = [
        line.model_copy(update={"charged_tokens": max(line.charged_tokens or 0, line.cap)})
        if line.censored
        else line
        for line in selection.lines
    ]
    return instance_scores(lines, question.measure)


def _test(
    table: Table,
    strata: Strata,
    question: Question,
    alternative: str,
    time_limit: int,
    *,
    with_interval: bool,
) -> TestResult:
    """The exact test of the instances' mean scores, labels exchanged within strata.

    The same numbers are tested once: where nothing that was cut held an answer, lost is censored.
    """
    values = tuple((_values(first), _values(second)) for first, second in strata)
    key = (question.name, values, alternative, time_limit, with_interval)
    if key not in table.tested:
        if question.kind == "max_over_caps":
            result = max_over_caps(strata=values, alternative=alternative)
        elif question.measure in TOKEN_MEASURES:
            result = mean_difference(strata=values, alternative=alternative, time_limit=time_limit)
        else:
            level = _LEVEL if with_interval else None
            result = censoring_difference(
                strata=values, alternative=alternative, time_limit=time_limit, level=level
            )
        table.tested[key] = result
    return table.tested[key]


def _values(scores: Iterable[InstanceScores]) -> tuple[tuple[int, ...], ...]:
    return tuple(score.values for score in scores)


def _interval(
    result: TestResult | None, strata: Strata, question: Question, reason: str, *, restricted: bool
) -> Interval | None:
    """The effect's interval; of token costs by test inversion, where that takes no time."""
    if result is None or result.interval is not None:
        return result.interval if result is not None else None
    size = sum(len(first) + len(second) for first, second in strata)
    if question.name != "mean_difference" or reason or restricted or size > _MOST_INVERTED:
        return None
    values = [(_values(first), _values(second)) for first, second in strata]
    return shift_interval(strata=values, level=_LEVEL)


def _record(
    table: Table, question: Question, selection: Selection, scores: Sequence[InstanceScores]
) -> Comparison:
    """The record with its counts, before any test."""
    endpoints = table.run.endpoints
    return Comparison.model_validate(
        {
            "hypothesis": None,
            "question": question.name,
            "measure": question.measure,
            "where": dict(question.where),
            "endpoint": question.endpoint,
            "reference": any(one.name == question.endpoint and is_reference(one) for one in endpoints),
            "cap": question.cap,
            "unit": "instance",
            "classes": {
                label: class_counts(selection, label, scores) for label in (question.class1, question.class0)
            },
            "class1": question.class1,
            "class0": question.class0,
            "alternative": question.alternative,
            "strata": 0,
            "informative_strata": 0,
            "restricted": question.name == "mean_difference"
            and any(line.censored for line in selection.lines),
            "effect": None,
            "interval": None,
            "p": None,
            "p_opposite": None,
            "p_adjusted": None,
            "p_responses": None,
            "smallest_p": None,
            "method": "",
            "status": "not_testable",
            "reason": "",
            "verdict": None,
            "finding": None,
            "notes": remarks(selection, question.measure),
        }
    )


def _as_responses(scores: Sequence[InstanceScores], question: Question) -> PValue | None:
    """What counting responses as if they were instances would claim; only where ids repeat.

    Strata are those of the battery; the usable repeats make none, as they would not for whoever counts so.
    """
    if question.measure in TOKEN_MEASURES or all(len(score.values) == 1 for score in scores):
        return None
    tables: dict[tuple[str, ...], list[list[int]]] = {}
    for score in scores:
        rows = tables.setdefault(score.stratum[:2], [[0, 0], [0, 0]])
        row = rows[0 if score.class_label == question.class1 else 1]
        row[0] += sum(score.values)
        row[1] += len(score.values)
    return stratified_exact([tables[key] for key in sorted(tables)], alternative=question.alternative).p_value
