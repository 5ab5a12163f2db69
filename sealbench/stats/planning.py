"""Before the data: the smallest p a design can reach, instances for a power, and which cap is safe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from math import comb, prod

from sealbench.stats.hypergeometric import Table
from sealbench.stats.intervals import binomial_tail
from sealbench.stats.survival import CostArgument, read_costs
from sealbench.stats.values import (
    DataError,
    Number,
    as_sequence,
    choose,
    to_count,
    to_fraction,
    to_probability,
)

_MOST_PER_CLASS = 2000
_LARGEST_POWER = 120  # instances per class; power sums over all tables
_SIDES = ("greater", "less", "two-sided")
Sizes = Sequence[tuple[Number, Number]]


def smallest_p(
    class1: Number = 0, class0: Number = 0, *, alternative: str = "two-sided", strata: Sizes | None = None
) -> Fraction:
    """The smallest p-value a permutation test of this design can reach.

    Parameters
    ----------
    class1, class0 : instances per class; or `strata`, a list of such sizes.
    alternative : two-sided is by statistic: both extremes count where every stratum is balanced, one else.

    Examples
    --------
    >>> smallest_p(8, 8, alternative="greater"), smallest_p(strata=[(2, 2)] * 4, alternative="greater")
    (Fraction(1, 12870), Fraction(1, 1296))
    """
    choose(alternative, _SIDES, "alternative")
    sizes = _sizes(class1, class0, strata)
    arrangements = prod(comb(one + zero, one) for one, zero in sizes)
    if arrangements == 1:
        return Fraction(1)
    mirrored = alternative == "two-sided" and all(one == zero for one, zero in sizes if one and zero)
    return Fraction(2 if mirrored else 1, arrangements)


def _sizes(class1: Number, class0: Number, strata: Sizes | None) -> list[tuple[int, int]]:
    if strata is None:
        return [(to_count(class1, "class1"), to_count(class0, "class0"))]
    if class1 or class0:
        raise DataError("both classes and strata were given", hint="pass strata=[(n1, n0), …] alone")
    pairs = [as_sequence(pair, "strata") for pair in as_sequence(strata, "strata")]
    if any(len(pair) != 2 for pair in pairs):
        raise DataError("a stratum is a pair of sizes", hint="write strata=[(2, 2), (2, 2)]")
    return [(to_count(pair[0], "strata"), to_count(pair[1], "strata")) for pair in pairs]


@dataclass(frozen=True)
class ItemsNeeded:
    """Instances per class and stratum, with what they reach.

    smallest_p : the smallest reachable p; power : the chance to be significant (None where no rates given).
    """

    per_class: int
    strata: int
    smallest_p: Fraction
    power: Fraction | None


def items_needed(
    alpha: Number,
    *,
    alternative: str = "two-sided",
    strata: Number = 1,
    rates: tuple[Number, Number] | None = None,
    power_wanted: Number = Fraction(4, 5),
) -> ItemsNeeded:
    """The fewest instances per class and stratum with which a result can be significant at alpha.

    Parameters
    ----------
    strata : how many equal strata.
    rates : expected cut rates (class 1, class 0); then the exact power must also reach `power_wanted`.
        Without them full separation is assumed.

    Examples
    --------
    >>> items_needed("0.001", alternative="greater").per_class
    7
    """
    limit, wanted = to_probability(alpha, "alpha"), to_probability(power_wanted, "power_wanted")
    count = to_count(strata, "strata")
    if count < 1:
        raise DataError("at least one stratum is needed", hint="strata=1 for a design without strata")
    for size in range(1, _MOST_PER_CLASS + 1):
        reachable = smallest_p(strata=[(size, size)] * count, alternative=alternative)
        if reachable > limit:
            continue
        if rates is None:
            return ItemsNeeded(size, count, reachable, None)
        if size * count > _LARGEST_POWER:
            break
        reached = power(size, size, *rates, alpha=limit, alternative=alternative, strata=count)
        if reached >= wanted:
            return ItemsNeeded(size, count, reachable, reached)
    raise DataError(
        f"no design of up to {_LARGEST_POWER} instances per class reaches this",
        hint="the expected rates are too close; compare costs instead, which tell more than cuts",
    )


def power(
    class1: Number,
    class0: Number,
    rate1: Number,
    rate0: Number,
    *,
    alpha: Number,
    alternative: str = "two-sided",
    strata: Number = 1,
) -> Fraction:
    """The exact chance that the censoring test is significant, for independent instances.

    Parameters
    ----------
    class1, class0 : instances per class (and stratum); rate1, rate0 : their cut rates.
    alpha : significant if p <= alpha; two-sided is by statistic.
    strata : how many equal strata; the summed cut count is tested within them.

    Examples
    --------
    >>> power(4, 4, 1, 0, alpha="0.05", alternative="greater")
    Fraction(1, 1)
    """
    choose(alternative, _SIDES, "alternative")
    limit = to_probability(alpha, "alpha")
    size1, size0, count = to_count(class1, "class1"), to_count(class0, "class0"), to_count(strata, "strata")
    chance1, whole1 = _binomial(size1, to_fraction(rate1, "rate1"), "rate1")
    chance0, whole0 = _binomial(size0, to_fraction(rate0, "rate0"), "rate0")
    if count == 1:
        hits = _power_one(chance1, chance0, limit, alternative)
    else:
        from sealbench.stats.strata_power import power_over_margins

        hits = power_over_margins(chance1, chance0, limit, alternative, count, _significant)
    return Fraction(hits, (whole1 * whole0) ** count)


def _binomial(size: int, rate: Fraction, name: str) -> tuple[list[int], int]:
    """The chances of each count as whole numbers, and what they add up to."""
    if not 0 <= rate <= 1:
        raise DataError(f"{name}: {rate} is not a rate", hint="rates lie between 0 and 1")
    top, rest = rate.numerator, rate.denominator - rate.numerator
    chances = [comb(size, count) * top**count * rest ** (size - count) for count in range(size + 1)]
    return chances, rate.denominator**size


def _significant(
    weights: Sequence[int], lowest: int, mean: Fraction, limit: Fraction, alternative: str
) -> set[int]:
    """The summed cut counts of class 1 that are significant, given the margins."""
    most = limit.numerator * sum(weights) // limit.denominator
    if alternative == "two-sided":
        # Distances from the mean in whole numbers.
        far = [abs((lowest + place) * mean.denominator - mean.numerator) for place in range(len(weights))]
    else:
        far = list(range(len(weights))) if alternative == "greater" else list(range(len(weights), 0, -1))
    order = sorted(range(len(weights)), key=far.__getitem__, reverse=True)
    significant: set[int] = set()
    running = 0
    for _, group in groupby(order, key=far.__getitem__):
        level = list(group)
        running += sum(weights[place] for place in level)
        if running > most:
            break
        significant.update(lowest + place for place in level)
    return significant


def _power_one(chance1: list[int], chance0: list[int], limit: Fraction, alternative: str) -> int:
    size1, size0 = len(chance1) - 1, len(chance0) - 1
    hits = 0
    for cut in range(size1 + size0 + 1):
        table = Table(min(cut, size1), size1, cut - min(cut, size1), size0)
        weights = list(table.weights())
        for value in _significant(weights, table.lowest, table.mean, limit, alternative):
            hits += chance1[value] * chance0[cut - value]
    return hits


@dataclass(frozen=True)
class SafeCap:
    """A cap that, with the stated confidence, cuts at most the stated share of each class's costs.

    cap : None where these data cannot show any; reason says for which class and how many uncut it needs.
    """

    cap: Fraction | None
    content: Fraction
    confidence: Fraction
    by_class: dict[str, Fraction | None]
    reason: str


def safe_cap(
    classes: Mapping[str, CostArgument], *, content: Number = "0.95", confidence: Number = "0.95"
) -> SafeCap:
    """The smallest cap whose exact nonparametric upper tolerance bound holds for every class.

    Parameters
    ----------
    classes : label to (tokens, finished) per instance; cut costs count as longer than any finished one.
    content : the share of costs that must lie at or below the cap; confidence : how sure that is.

    Method: the r-th smallest of n costs bounds a share `content` with confidence P(Binomial(n, content) < r).

    References
    ----------
    S. S. Wilks, Annals of Mathematical Statistics 12 (1941) 91–96.

    Examples
    --------
    >>> int(safe_cap({"prime": [(tokens, 1) for tokens in range(1, 60)]}).cap)
    59
    """
    share, sure = to_probability(content, "content"), to_probability(confidence, "confidence")
    if not classes:
        raise DataError("no classes", hint='give for example {"prime": [(300, 1), …]}')
    caps: dict[str, Fraction | None] = {}
    reasons = []
    for label, data in classes.items():
        costs = read_costs(data, label)
        # Where a cost was cut, a finished one beyond it may not be the r-th smallest: count the cut as first.
        first_cut = min((tokens for tokens, done in costs if not done), default=None)
        finished = sorted(
            tokens for tokens, done in costs if done and (first_cut is None or tokens <= first_cut)
        )
        rank = tolerance_rank(len(costs), share, sure)
        caps[label] = finished[rank - 1] if rank is not None and rank <= len(finished) else None
        if caps[label] is None:
            cut = sum(not done for _, done in costs)
            reasons.append(f"{label}: {len(costs)} costs, {cut} of them cut, are not enough")
    known = [cap for cap in caps.values() if cap is not None]
    cap = max(known) if len(known) == len(caps) else None
    reason = "" if cap is not None else "not reached with these data: " + "; ".join(reasons)
    return SafeCap(cap, share, sure, caps, reason)


def tolerance_rank(size: int, content: Fraction, confidence: Fraction) -> int | None:
    """The smallest r whose order statistic bounds the content; None if even the largest does not.

    >>> [tolerance_rank(size, Fraction(19, 20), Fraction(19, 20)) for size in (58, 59)]
    [None, 59]
    """
    for rank in range(1, size + 1):
        if 1 - binomial_tail(size, rank, content) >= confidence:
            return rank
    return None
