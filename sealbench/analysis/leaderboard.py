"""Endpoints of several runs on one battery, ranked as far as the cut answers allow.

Score: balanced accuracy over the classes at the largest cap, cut counted wrong, from the reports themselves,
with the bounds that hold whatever the cut and missing answers would have been. Ranks are intervals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sealbench.analysis.quantities import fraction_of
from sealbench.analysis.verbosity import Yap, yap
from sealbench.formats.report import Report
from sealbench.formats.run import LogLine
from sealbench.stats.bounds import rank_intervals


@dataclass(frozen=True)
class Standing:
    """One endpoint in one run: score, its worst-case bounds, the ranks possible, its YapIndex."""

    battery: str
    place: str
    run: str
    endpoint: str
    reference: bool
    cap: int
    score: Fraction | None
    low: Fraction
    high: Fraction
    ranks: tuple[int, int]
    yap: Yap | None


def leaderboard(found: Sequence[tuple[Report, Sequence[LogLine]]]) -> tuple[Standing, ...]:
    """Standings by battery, family, wording and cap: within these the best possible rank first."""
    groups: dict[tuple[str, str, str, int], list[tuple[Report, Sequence[LogLine], str]]] = defaultdict(list)
    for report, lines in found:
        largest = max(report.scope.caps, default=0)
        for score in report.scores:
            if score.cap == largest and score.rows and score.rows[0].balanced.low is not None:
                where = score.where
                key = (report.battery, where["family"], where["wording"], score.cap)
                groups[key].append((report, lines, score.endpoint))
    return tuple(
        row for key, entries in sorted(groups.items(), key=lambda g: g[0]) for row in _group(key, entries)
    )


def _group(
    key: tuple[str, str, str, int], entries: Sequence[tuple[Report, Sequence[LogLine], str]]
) -> list[Standing]:
    battery, family, wording, cap = key
    rows: list[Standing] = []
    for report, lines, endpoint in entries:
        score = next(
            s
            for s in report.scores
            if s.endpoint == endpoint and s.cap == cap and s.where == {"family": family, "wording": wording}
        )
        own = [
            line
            for line in lines
            if (line.endpoint, line.cap, line.family, line.wording) == (endpoint, cap, family, wording)
            and not line.missing
            and line.answer != "empty"
        ]
        balanced = score.rows[0].balanced
        rows.append(
            Standing(
                battery,
                f"{family}, {wording}",
                report.run,
                endpoint,
                score.reference,
                cap,
                None if balanced.cut_wrong is None else fraction_of(balanced.cut_wrong),
                Fraction(0) if balanced.low is None else fraction_of(balanced.low),
                Fraction(1) if balanced.high is None else fraction_of(balanced.high),
                (0, 0),
                yap(own),
            )
        )
    return _ranked(rows)


def _ranked(rows: Sequence[Standing]) -> list[Standing]:
    ranks = rank_intervals({str(place): (row.low, row.high) for place, row in enumerate(rows)}).ranks
    ranked = [replace(row, ranks=ranks[str(place)]) for place, row in enumerate(rows)]
    return sorted(ranked, key=lambda row: (row.ranks, -(row.score or 0), row.endpoint, row.run))
