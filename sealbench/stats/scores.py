"""From exact scores to the smallest integers that order all arrangements the same way.

A linear test compares S, the sum of class 1's scores, with its distribution when labels are exchanged
within strata. Scores times their common denominator, minus the stratum's minimum, divided by the greatest
common divisor, give the same distribution on a shorter range. Strata holding one class are constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb, gcd, lcm, prod

Pair = tuple[Sequence[Fraction], Sequence[Fraction]]


@dataclass(frozen=True)
class Stratum:
    """Instances exchangeable with each other: ascending integer scores from 0, `size1` of them class 1."""

    scores: tuple[int, ...]
    size1: int

    @property
    def arrangements(self) -> int:
        """In how many ways the labels can lie."""
        return comb(len(self.scores), self.size1)

    @property
    def largest(self) -> int:
        """The largest sum class 1 can have."""
        return sum(self.scores[len(self.scores) - self.size1 :])

    def mirrored(self) -> Stratum:
        """The same with the order of scores reversed, for the lower tail."""
        top = self.scores[-1]
        return Stratum(tuple(top - score for score in reversed(self.scores)), self.size1)


@dataclass(frozen=True)
class Design:
    """The informative strata in integers and the observed sum of class 1's scores."""

    strata: tuple[Stratum, ...]
    observed: int

    @cached_property
    def arrangements(self) -> int:
        """All arrangements of the labels, each equally likely under the null hypothesis."""
        return prod(stratum.arrangements for stratum in self.strata)

    @cached_property
    def mean(self) -> Fraction:
        """The permutation mean of the sum."""
        return sum(
            (Fraction(stratum.size1 * sum(stratum.scores), len(stratum.scores)) for stratum in self.strata),
            Fraction(0),
        )

    @cached_property
    def largest(self) -> int:
        """The largest sum class 1 can have."""
        return sum(stratum.largest for stratum in self.strata)

    @cached_property
    def ceiling(self) -> int:
        """size1 times the largest score, over strata: what mirroring subtracts sums from."""
        return sum(stratum.size1 * stratum.scores[-1] for stratum in self.strata)

    @cached_property
    def balanced(self) -> bool:
        """Both classes equal in every stratum: then both tails mirror each other exactly."""
        return all(2 * stratum.size1 == len(stratum.scores) for stratum in self.strata)

    def mirrored(self) -> Design:
        """The design whose upper tail is this one's lower tail."""
        strata = tuple(stratum.mirrored() for stratum in self.strata)
        return Design(strata, self.ceiling - self.observed)


def linear_design(pairs: Sequence[Pair]) -> Design:
    """Reduce the strata, each (scores of class 1, scores of class 0), to integers.

    Strata without both classes, or with all scores equal, take no part.
    """
    informative = [(one, zero) for one, zero in pairs if one and zero and len({*one, *zero}) > 1]
    scale = lcm(*(score.denominator for pair in informative for scores in pair for score in scores))
    lowest = [min((*one, *zero)) for one, zero in informative]
    integers = [
        (
            [_scaled(score - low, scale) for score in one],
            [_scaled(score - low, scale) for score in zero],
        )
        for (one, zero), low in zip(informative, lowest, strict=True)
    ]
    divisor = gcd(*(score for pair in integers for scores in pair for score in scores)) or 1
    strata = tuple(
        Stratum(tuple(sorted(score // divisor for score in (*one, *zero))), len(one))
        for one, zero in integers
    )
    observed = sum(score // divisor for one, _ in integers for score in one)
    # The largest stratum last: the engine treats that one by the faster method.
    return Design(tuple(sorted(strata, key=lambda stratum: len(stratum.scores))), observed)


def _scaled(score: Fraction, scale: int) -> int:
    return score.numerator * (scale // score.denominator)


def midranks_doubled(scores: Sequence[Fraction]) -> list[Fraction]:
    """Twice the mid-rank of each score (ties share the mean of their ranks), so always whole numbers.

    >>> [int(rank) for rank in midranks_doubled([Fraction(1), Fraction(2), Fraction(2)])]
    [2, 5, 5]
    """
    order = sorted(scores)
    first: dict[Fraction, int] = {}
    last: dict[Fraction, int] = {}
    for position, score in enumerate(order, start=1):
        first.setdefault(score, position)
        last[score] = position
    return [Fraction(first[score] + last[score]) for score in scores]
