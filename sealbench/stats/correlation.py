"""Do two numbers of the same instances rise together? Spearman's rank correlation, exact by permutation.

Within each stratum one side's ranks are exchanged against the other's. The exact distribution is built by
adding one instance at a time over all subsets of places; larger strata are drawn from the SHAKE stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import factorial, gcd, prod, sqrt

import numpy as np
from numpy.typing import NDArray

from sealbench.crypto.digest import sha256_hex
from sealbench.crypto.stream import Stream
from sealbench.stats.linear import check_sides
from sealbench.stats.pvalue import PValue
from sealbench.stats.results import DEGENERATE, NOT_ESTIMABLE, TESTED
from sealbench.stats.sampling import DRAWS, Words, estimate
from sealbench.stats.scores import midranks_doubled
from sealbench.stats.values import DataError, to_fractions

_LARGEST_EXACT = 14  # instances in one stratum
_EXACT_STEPS = 1_000_000  # subsets times places, over all strata: about two seconds
_EXACT_BITS = 1 << 26  # of the packed distribution over all strata
_DRAWN_RANKS = 10_000_000  # instances times draws: about two seconds
_FEWEST_DRAWS = 999
_CHUNK = 4_000_000

Pairs = tuple[Sequence[object], Sequence[object]]


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's correlation and its p-value.

    Attributes
    ----------
    rho : from -1 to 1, within strata; None where one side does not vary.
    p_value, smallest : the p-value, and the smallest any pairing of these ranks could give (exact only).
    instances, strata : that could be exchanged with another.
    status, reason : "tested", "degenerate" or "not estimable", and why.
    """

    rho: float | None
    p_value: PValue
    smallest: Fraction | None
    instances: int
    strata: int
    status: str
    reason: str

    @property
    def p(self) -> Fraction | float:
        """The Fraction when exact, else a float."""
        return self.p_value.number


@dataclass(frozen=True)
class _Stratum:
    """Both sides as whole numbers from 0 that are ranked like the data, and the observed sum of products."""

    first: tuple[int, ...]
    second: tuple[int, ...]

    @property
    def observed(self) -> int:
        return sum(one * other for one, other in zip(self.first, self.second, strict=True))

    @property
    def mean(self) -> Fraction:
        """Of the sum over all pairings."""
        return Fraction(sum(self.first) * sum(self.second), len(self.first))

    @property
    def highest(self) -> int:
        return sum(one * other for one, other in zip(sorted(self.first), sorted(self.second), strict=True))


def rank_correlation(
    first: Sequence[object] = (),
    second: Sequence[object] = (),
    *,
    strata: Sequence[Pairs] | None = None,
    alternative: str = "two-sided",
    seed: str | None = None,
) -> RankCorrelation:
    """Exact permutation test of Spearman's rank correlation, right with ties.

    Null hypothesis: within each stratum every pairing of the two sides is equally likely. Statistic: the sum
    over strata of the products of mid-ranks taken within them.

    Parameters
    ----------
    first, second : one number of each per instance, in the same order.
    strata : instead of these, a list of (first, second), one per stratum.
    alternative : "greater" (they rise together), "less", or "two-sided" (as far from the mean
        of all pairings).
    seed : of the Monte Carlo tier, used beyond 14 instances in a stratum; by default a digest of the ranks.

    Raises
    ------
    DataError : the two sides differ in length, or hold something that is no number.

    References
    ----------
    C. Spearman, American Journal of Psychology 15 (1904) 72–101.

    Examples
    --------
    >>> found = rank_correlation([1, 2, 3, 4], [10, 20, 40, 80])
    >>> found.rho, found.p
    (1.0, Fraction(1, 12))
    """
    check_sides(alternative, "statistic")
    given = [(first, second)] if strata is None else list(strata)
    pairs = [_read(one, other) for one, other in given]
    ranked = [(midranks_doubled(one), midranks_doubled(other)) for one, other in pairs]
    informative = [pair for pair in ranked if all(len(set(side)) > 1 for side in pair)]
    if not informative:
        count = sum(len(one) for one, _ in pairs)
        status = DEGENERATE if count else NOT_ESTIMABLE
        reason = "one side does not vary within any stratum" if count else "no instances"
        return RankCorrelation(None, PValue.exact(Fraction(1)), None, 0, 0, status, reason)
    reduced = _reduced(informative)
    exact = _is_small(reduced)
    p_value, smallest = _count(reduced, alternative) if exact else (_draw(reduced, alternative, seed), None)
    count = sum(len(one) for one, _ in informative)
    return RankCorrelation(_rho(informative), p_value, smallest, count, len(informative), TESTED, "")


def _read(first: Sequence[object], second: Sequence[object]) -> tuple[list[Fraction], list[Fraction]]:
    one, other = to_fractions(first, "first"), to_fractions(second, "second")
    if len(one) != len(other):
        raise DataError(
            f"first has {len(one)} numbers, second {len(other)}", hint="give one of each per instance"
        )
    return one, other


def _rho(pairs: Sequence[tuple[list[Fraction], list[Fraction]]]) -> float:
    """The products of centred ranks over the root of the products of their squares, summed over strata."""
    products = squares = others = Fraction(0)
    for first, second in pairs:
        middle = len(first) + 1  # the mean of doubled ranks
        products += sum((a - middle) * (b - middle) for a, b in zip(first, second, strict=True))
        squares += sum((a - middle) ** 2 for a in first)
        others += sum((b - middle) ** 2 for b in second)
    return float(products) / sqrt(squares * others)


def _reduced(pairs: Sequence[tuple[list[Fraction], list[Fraction]]]) -> list[_Stratum]:
    """Ranks minus the least of their stratum, over the common divisor of that side in all strata."""
    sides = []
    for place in (0, 1):
        least = [min(pair[place]) for pair in pairs]
        moved = [[int(rank - low) for rank in pair[place]] for pair, low in zip(pairs, least, strict=True)]
        divisor = reduce(gcd, (rank for own in moved for rank in own))
        sides.append([tuple(rank // divisor for rank in own) for own in moved])
    return [_Stratum(first, second) for first, second in zip(*sides, strict=True)]


def _is_small(strata: Sequence[_Stratum]) -> bool:
    sizes = [len(stratum.first) for stratum in strata]
    if max(sizes) > _LARGEST_EXACT or sum(size << size for size in sizes) > _EXACT_STEPS:
        return False
    return _width(strata) * sum(stratum.highest + 1 for stratum in strata) <= _EXACT_BITS


def _width(strata: Sequence[_Stratum]) -> int:
    """Bits per count, whole bytes: room for all pairings together."""
    total = prod(factorial(len(stratum.first)) for stratum in strata)
    return -(-(total.bit_length() + 1) // 8) * 8


def _count(strata: Sequence[_Stratum], alternative: str) -> tuple[PValue, Fraction]:
    """The exact p-value, and the smallest that these ranks could give."""
    width = _width(strata)
    joint = prod(_distribution(stratum, width) for stratum in strata)
    step = width // 8
    data = joint.to_bytes(-(-joint.bit_length() // width) * step, "little")
    counts = [int.from_bytes(data[at : at + step], "little") for at in range(0, len(data), step)]
    total = sum(counts)
    mean = sum((stratum.mean for stratum in strata), Fraction(0))
    observed = sum(stratum.observed for stratum in strata)
    sign = -1 if alternative == "less" else 1

    def distance(value: int) -> Fraction:
        return abs(value - mean) if alternative == "two-sided" else sign * (value - mean)

    far = max(distance(value) for value, count in enumerate(counts) if count)
    hits, least = (
        sum(count for value, count in enumerate(counts) if count and distance(value) >= limit)
        for limit in (distance(observed), far)
    )
    return PValue.exact(Fraction(hits, total)), Fraction(least, total)


def _distribution(stratum: _Stratum, width: int) -> int:
    """How many pairings give each sum, packed: the count of sum s stands at bit s·width.

    One instance after the other takes a free place; a subset of places taken is one bit mask.
    """
    layer = {0: 1}
    for rank in stratum.first:
        following: dict[int, int] = {}
        for taken, counts in layer.items():
            for place, other in enumerate(stratum.second):
                mask = taken | 1 << place
                if mask != taken:
                    following[mask] = following.get(mask, 0) + (counts << rank * other * width)
        layer = following
    return layer[(1 << len(stratum.second)) - 1]


def _draw(strata: Sequence[_Stratum], alternative: str, seed: str | None) -> PValue:
    """Random pairings within each stratum, by Fisher–Yates over all draws at once."""
    size = sum(len(stratum.first) for stratum in strata)
    draws = min(DRAWS, max(_FEWEST_DRAWS, _DRAWN_RANKS // size))
    text = ";".join(f"{stratum.first}{stratum.second}" for stratum in strata)
    words = Words(
        Stream("sealbench/v1/rank-correlation", sha256_hex(text.encode()) if seed is None else seed, draws)
    )
    mean = sum((stratum.mean for stratum in strata), Fraction(0))
    observed = sum(stratum.observed for stratum in strata)
    # Whole numbers on both sides of the comparison: nothing is rounded.
    centre, scale = mean.numerator, mean.denominator
    limit, hits = observed * scale - centre, 0
    for start in range(0, draws, chunk := max(1, _CHUNK // size)):
        count = min(chunk, draws - start)
        sums = np.zeros(count, dtype=np.int64)
        for stratum in strata:
            sums += _shuffled_sums(stratum, count, words)
        far = [int(value) * scale - centre for value in sums]
        if alternative == "two-sided":
            hits += sum(abs(value) >= abs(limit) for value in far)
        else:
            hits += sum(value >= limit if alternative == "greater" else value <= limit for value in far)
    return estimate(hits, draws)


def _shuffled_sums(stratum: _Stratum, count: int, words: Words) -> NDArray[np.int64]:
    size = len(stratum.second)
    places = np.repeat(np.array(stratum.second, dtype=np.int64)[:, None], count, axis=1)
    columns = np.arange(count)
    sums = np.zeros(count, dtype=np.int64)
    for last in range(size - 1, -1, -1):
        other = words.below(last + 1, count) if last else np.zeros(count, dtype=np.int64)
        chosen = places[other, columns]
        places[other, columns] = places[last]
        sums += stratum.first[last] * chosen
    return sums
