"""Do people agree in what they call things? Kappa: agreement beyond what chance gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sealbench.stats.values import DataError


@dataclass(frozen=True)
class Agreement:
    """A kappa and what it is made of, all exact.

    Attributes
    ----------
    kappa : 1 is full agreement, 0 what chance gives; None where chance alone gives full agreement, or
        nothing was rated.
    observed, expected : the share of agreeing pairs of ratings, and the share expected by chance.
    subjects, raters : how many were rated, by how many each.
    """

    kappa: Fraction | None
    observed: Fraction | None
    expected: Fraction | None
    subjects: int
    raters: int


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> Agreement:
    """Cohen's kappa of two raters over the same subjects; each rater keeps their own habits.

    Parameters
    ----------
    first, second : one rating per subject, in the same order.

    Raises
    ------
    DataError : the raters rated different numbers of subjects.

    References
    ----------
    J. Cohen, Educational and Psychological Measurement 20 (1960) 37–46.

    Examples
    --------
    >>> cohen_kappa(["a", "a", "b", "b"], ["a", "a", "b", "a"]).kappa
    Fraction(1, 2)
    """
    if len(first) != len(second):
        raise DataError(
            f"one rater has {len(first)} ratings, the other {len(second)}",
            hint="give only the subjects that both rated",
        )
    size = len(first)
    if not size:
        return Agreement(None, None, None, 0, 2)
    mine, theirs = Counter(first), Counter(second)
    observed = Fraction(sum(one == other for one, other in zip(first, second, strict=True)), size)
    expected = Fraction(sum(count * theirs[rating] for rating, count in mine.items()), size * size)
    return _agreement(observed, expected, size, 2)


def fleiss_kappa(ratings: Sequence[Sequence[Hashable]]) -> Agreement:
    """Fleiss' kappa of equally many ratings per subject, whoever gave them.

    Parameters
    ----------
    ratings : per subject its ratings, at least two, equally many for all.

    Raises
    ------
    DataError : a subject has fewer than two ratings, or another number of them.

    References
    ----------
    J. L. Fleiss, Psychological Bulletin 76 (1971) 378–382.

    Examples
    --------
    >>> fleiss_kappa([["a", "a", "a"], ["b", "b", "b"], ["a", "a", "b"]]).kappa
    Fraction(11, 20)
    """
    raters = len(ratings[0]) if ratings else 0
    for place, own in enumerate(ratings):
        if len(own) < 2 or len(own) != raters:
            raise DataError(
                f"ratings[{place}]: {len(own)} ratings where {max(raters, 2)} are needed",
                hint="give only the subjects that all raters rated",
            )
    if not ratings:
        return Agreement(None, None, None, 0, 0)
    size = len(ratings)
    agreeing = sum(count * (count - 1) for own in ratings for count in Counter(own).values())
    totals = Counter(rating for own in ratings for rating in own)
    expected = Fraction(sum(count * count for count in totals.values()), (size * raters) ** 2)
    return _agreement(Fraction(agreeing, size * raters * (raters - 1)), expected, size, raters)


def _agreement(observed: Fraction, expected: Fraction, subjects: int, raters: int) -> Agreement:
    kappa = None if expected == 1 else (observed - expected) / (1 - expected)
    return Agreement(kappa, observed, expected, subjects, raters)
