"""Do newer models talk more? YapIndex against the release date of the model, for endpoints that have one.

No line is fitted: points, and an exact test of the ranks. Models of one house resemble each other, and an
endpoint is no random draw of all models, so even a small p speaks of these endpoints alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from sealbench.analysis.endpoint_facts import Facts
from sealbench.analysis.verbosity import Verbosity
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
    """Endpoints by release date; `undated` have none configured, or no answer."""

    points: tuple[Release, ...]
    undated: tuple[str, ...]
    correlation: RankCorrelation


def releases(measured: Sequence[Verbosity], facts: Facts) -> Releases | None:
    """The dated endpoints of one run, oldest first; None if no endpoint has a release date."""
    points, undated = [], []
    for one in measured:
        released = facts[one.endpoint].release_date if one.endpoint in facts else None
        if released is None or one.yap is None:
            undated.append(one.endpoint)
        else:
            points.append(Release(one.endpoint, released, one.yap.index, one.yap.half_width))
    if not points:
        return None
    points.sort(key=lambda point: (point.released, point.endpoint))
    days = [point.released.toordinal() for point in points]
    found = rank_correlation(days, [point.index for point in points])
    return Releases(tuple(points), tuple(undated), found)
