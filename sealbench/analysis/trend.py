"""The same battery against the same endpoint, day after day: what moved since the earlier runs.

Each run is compared with all earlier ones together, instance by instance: an instance's score in this run
minus its mean score over the earlier runs, tested by exact sign flips. All tests are corrected together
(Holm). Nothing of this is registered.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sealbench.analysis.hypotheses import adjusted_p
from sealbench.analysis.quantities import mean
from sealbench.analysis.rows import value_of
from sealbench.formats.run import LogLine, Run
from sealbench.stats.multiplicity import holm
from sealbench.stats.paired import sign_flip
from sealbench.stats.pvalue import PValue

MEASURES = ("censored", "lost", "charged_tokens", "accuracy")
Place = tuple[str, str, str, str, int]  # battery, family, wording, endpoint, cap


@dataclass(frozen=True)
class TrendRow:
    """One run at one place and measure; the comparison is None for the first run of a place.

    Attributes
    ----------
    value, earlier : means over the instances usable in this run; over those usable in both, before.
    change : this run minus the earlier ones, mean over the shared instances.
    models : names the endpoint reported in this run, sorted.
    """

    place: Place
    measure: str
    run: str
    started_at: str
    instances: int
    value: Fraction
    earlier: Fraction | None
    change: Fraction | None
    p: PValue | None
    p_adjusted: PValue | None
    models: tuple[str, ...]


def trend(runs: Sequence[tuple[Run, Sequence[LogLine]]], *, time_limit: int = 2) -> tuple[TrendRow, ...]:
    """All rows of the places that at least two runs share, runs in the order they began."""
    ordered = sorted(runs, key=lambda pair: (pair[0].started_at, pair[0].name))
    by_place: dict[Place, list[tuple[Run, list[LogLine]]]] = defaultdict(list)
    for run, lines in ordered:
        cells: dict[Place, list[LogLine]] = defaultdict(list)
        for line in lines:
            cells[run.battery, line.family, line.wording, line.endpoint, line.cap].append(line)
        for place, own in cells.items():
            by_place[place].append((run, own))
    rows = [
        row
        for place, history in sorted(by_place.items())
        if len(history) > 1
        for measure in MEASURES
        for row in _rows(place, measure, history, time_limit)
    ]
    return _corrected(rows)


def _rows(
    place: Place, measure: str, history: Sequence[tuple[Run, list[LogLine]]], time_limit: int
) -> list[TrendRow]:
    rows: list[TrendRow] = []
    earlier: dict[str, list[Fraction]] = defaultdict(list)
    for run, lines in history:
        scores = _scores(lines, measure)
        if not scores:
            continue
        shared = sorted(set(scores) & set(earlier))
        before = {name: Fraction(sum(earlier[name]), len(earlier[name])) for name in shared}
        changes = [scores[name] - before[name] for name in shared]
        p = sign_flip(changes, time_limit=time_limit).p_value if changes else None
        models = sorted({line.model for line in lines if line.model is not None})
        rows.append(
            TrendRow(
                place,
                measure,
                run.name,
                run.started_at,
                len(scores),
                Fraction(sum(scores.values()), len(scores)),
                mean(list(before.values())),
                mean(changes),
                p,
                None,
                tuple(models),
            )
        )
        for name, score in scores.items():
            earlier[name].append(score)
    return rows


def _scores(lines: Sequence[LogLine], measure: str) -> dict[str, Fraction]:
    """Instance -> mean of its usable values."""
    values: dict[str, list[int]] = defaultdict(list)
    for line in lines:
        value = value_of(line, measure)
        if value is not None:
            values[line.instance].append(value)
    return {name: Fraction(sum(own), len(own)) for name, own in values.items()}


def _corrected(rows: Sequence[TrendRow]) -> tuple[TrendRow, ...]:
    known = {str(place): row.p for place, row in enumerate(rows) if row.p is not None}
    adjusted = holm(known) if known else {}
    return tuple(
        row if row.p is None else replace(row, p_adjusted=adjusted_p(row.p, adjusted[str(place)]))
        for place, row in enumerate(rows)
    )
