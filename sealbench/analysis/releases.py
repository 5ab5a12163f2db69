"""Do newer models talk more? YapIndex against the release date of the model, for endpoints that have one.

No line is fitted: points, and an exact test of the ranks. Models of one house resemble each other, and an
endpoint is no random draw of all models, so even a small p speaks of these endpoints alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from sealbench.analysis.endpoint_facts import Facts
from sealbench.analysis.verbosity import Verbosity
from sealbench.formats.run import Run
from sealbench.stats.correlation import RankCorrelation, rank_correlation


@dataclass(frozen=True)
class Release:
    """One endpoint: the day its model was released, and its YapIndex with half its 95% interval."""

    endpoint: str
    released: date
    index: Fraction
    half_width: Fraction


@dataclass(frozen=True)
class Releases:
    """Endpoints asked the same battery in the same wordings at the same cap, oldest release first.

    `undated` have no release date configured, or no answer.
    """

    battery: str
    cap: int
    points: tuple[Release, ...]
    undated: tuple[str, ...]
    correlation: RankCorrelation


def releases(runs: Sequence[tuple[Run, Sequence[Verbosity], Facts]]) -> tuple[Releases, ...]:
    """One entry per battery, wordings and cap with a dated endpoint; of an endpoint its latest run counts.

    Parameters
    ----------
    runs : each run with its endpoints' measures and what is known of these endpoints.
    """
    groups: dict[tuple[str, tuple[str, ...], int], dict[str, tuple[Verbosity, date | None]]] = {}
    for run, measured, facts in sorted(runs, key=lambda entry: (entry[0].started_at, entry[0].name)):
        for one in measured:
            released = facts[one.endpoint].release_date if one.endpoint in facts else None
            own = groups.setdefault((run.battery, tuple(sorted(run.wordings)), one.cap), {})
            own[one.endpoint] = (one, released)
    found = (
        _group(battery, cap, own) for (battery, _, cap), own in sorted(groups.items(), key=lambda g: g[0])
    )
    return tuple(group for group in found if group.points)


def _group(battery: str, cap: int, own: Mapping[str, tuple[Verbosity, date | None]]) -> Releases:
    points = [
        Release(name, released, one.yap.index, one.yap.half_width)
        for name, (one, released) in own.items()
        if released is not None and one.yap is not None
    ]
    points.sort(key=lambda point: (point.released, point.endpoint))
    dated = {point.endpoint for point in points}
    days = [point.released.toordinal() for point in points]
    found = rank_correlation(days, [point.index for point in points])
    return Releases(battery, cap, tuple(points), tuple(name for name in own if name not in dated), found)
