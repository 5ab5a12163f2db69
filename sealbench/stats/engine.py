"""One linear test: from scores in strata to a p-value, by the best tier within the time limit.

Order of tiers: exact (dense tables or dictionaries), float (certified), bracket, Monte Carlo. The first one
whose planned work is within the limit is used, and the p-value says which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from sealbench.stats import planner
from sealbench.stats.bracket import bracket_tail
from sealbench.stats.hypergeometric import Table, upper_count
from sealbench.stats.pvalue import BRACKET, FLOAT, PValue
from sealbench.stats.scores import Design, Pair, Stratum, linear_design
from sealbench.stats.sparse import count_sparse

ALTERNATIVES = ("greater", "less", "two-sided")
LINEAR_TWO_SIDED = ("statistic", "double")
_GRIDS = (1 << 17, 1 << 15, 1 << 13, 1 << 11)
_MOST_DRY = 3000  # instances beyond which even planning the tables takes too long


@dataclass(frozen=True)
class Tail:
    """Arrangements with a sum of at least a threshold: those of `design` with at most this deficit.

    `complement` means that the others were easier to count.
    """

    design: Design
    deficit: int
    complement: bool


@dataclass(frozen=True)
class LinearTest:
    """A p-value of a linear test with its mid-p value (None unless exact and asked for)."""

    p_value: PValue
    mid_p: Fraction | None
    design: Design


def linear_test(
    pairs: Sequence[Pair],
    *,
    alternative: str,
    two_sided: str = "statistic",
    mid_p: bool = False,
    time_limit: float | None = planner.DEFAULT_TIME_LIMIT,
    seed: str | None = None,
) -> LinearTest:
    """Test whether class 1's scores are larger, labels being exchangeable within each stratum.

    Parameters
    ----------
    pairs : per stratum the scores of class 1 and of class 0.
    alternative, two_sided : checked by the caller.
    mid_p : also count half of the observed value only (exact tier).
    time_limit : seconds of an ordinary core, as a fixed amount of work; None for no limit but memory.
    """
    design = linear_design(pairs)
    if not design.strata:
        return LinearTest(PValue.exact(Fraction(1)), Fraction(1, 2) if mid_p else None, design)
    at_least, at_most, factor = _thresholds(design, alternative, two_sided)
    if at_least is not None and at_most is not None and at_least <= at_most:
        return LinearTest(
            PValue.exact(Fraction(1)), _mid(design, alternative, Fraction(1), mid_p, time_limit), design
        )
    tails = _tails(design, at_least, at_most)
    p_value = _exact(tails, time_limit)
    middle = None
    if p_value is None:
        p_value = _float(tails, time_limit) or _bracket(design, at_least, at_most, time_limit)
    if p_value is None:
        from sealbench.stats.sampling import sample_tail

        p_value = sample_tail(design, at_least, at_most, seed=seed)
    elif p_value.is_exact and factor == 1:
        middle = _mid(design, alternative, p_value.value, mid_p, time_limit)
    if factor != 1:
        p_value = _doubled(design, p_value, time_limit, seed)
    return LinearTest(p_value, middle, design)


def sampled_test(pairs: Sequence[Pair], alternative: str, draws: int, seed: str | None) -> PValue | None:
    """The Monte Carlo p-value on its own; None where nothing can differ."""
    from sealbench.stats.sampling import sample_tail

    design = linear_design(pairs)
    if not design.strata:
        return None
    at_least, at_most, _ = _thresholds(design, alternative, "statistic")
    if at_least is not None and at_most is not None and at_least <= at_most:
        return PValue.exact(Fraction(1))
    return sample_tail(design, at_least, at_most, draws=draws, seed=seed)


def upper_tail(design: Design, at_least: int, time_limit: float | None = None) -> Fraction | None:
    """P(S >= at_least) exactly, None if the work is beyond the limit."""
    p_value = _exact(_tails(design, at_least, None), time_limit)
    return None if p_value is None else p_value.value


def _thresholds(design: Design, alternative: str, two_sided: str) -> tuple[int | None, int | None, int]:
    """Sums that count: at least the first, at most the second; and 2 where the tail is doubled."""
    observed, mean = design.observed, design.mean
    if alternative == "greater":
        return observed, None, 1
    if alternative == "less":
        return None, observed, 1
    if two_sided == "double":
        return (observed, None, 2) if observed >= mean else (None, observed, 2)
    distance = abs(observed - mean)
    return ceil(mean + distance), floor(mean - distance), 1


def _tails(design: Design, at_least: int | None, at_most: int | None) -> list[Tail]:
    """One or two tails; a mirror-symmetric pair shares its count (the same tail twice)."""
    tails = []
    if at_least is not None:
        tails.append(_tail(design, at_least))
    if at_most is not None:
        if tails and design.balanced:
            return tails * 2
        tails.append(_tail(design.mirrored(), design.ceiling - at_most))
    return tails


def _tail(design: Design, at_least: int) -> Tail:
    if at_least > design.mean:
        return Tail(design, design.largest - at_least, False)
    mirror = design.mirrored()
    return Tail(mirror, mirror.largest - (design.ceiling - at_least + 1), True)


def _exact(tails: Sequence[Tail], time_limit: float | None) -> PValue | None:
    limit = planner.limit_in_additions(time_limit)
    counts: dict[Tail, int] = {}
    for tail in tails:
        if tail in counts:
            continue
        strata = tail.design.strata
        if planner.binary_exact(strata):
            tables = [_as_table(stratum) for stratum in strata]
            counts[tail] = upper_count(tables, tail.design.largest - tail.deficit)
            continue
        sparse = planner.sparse_cost(strata, tail.deficit, limit)
        ceiling = sparse.work if sparse.possible else limit
        dense = _dense_cost(strata, tail.deficit, exact=True, limit=ceiling)
        if dense.possible:
            from sealbench.stats.tail import count_exact

            counts[tail] = count_exact(strata, tail.deficit, dense.work)
        elif sparse.possible:
            counts[tail] = count_sparse(strata, tail.deficit)
        else:
            return None
    value = sum(
        (
            1 - Fraction(counts[tail], tail.design.arrangements)
            if tail.complement
            else Fraction(counts[tail], tail.design.arrangements)
            for tail in tails
        ),
        Fraction(0),
    )
    return PValue.exact(value)


def _as_table(stratum: Stratum) -> Table:
    """A stratum of scores 0 and 1 as a table whose weights count labels: class 1 among ones and zeros."""
    ones = sum(stratum.scores)
    first = min(ones, stratum.size1)
    return Table(first, ones, stratum.size1 - first, len(stratum.scores) - ones)


def _dense_cost(strata: Sequence[Stratum], deficit: int, *, exact: bool, limit: int | None) -> planner.Cost:
    if sum(len(stratum.scores) for stratum in strata) > _MOST_DRY:
        return planner.IMPOSSIBLE
    return planner.dense_cost(strata, deficit, exact=exact, limit=limit)


def _float(tails: Sequence[Tail], time_limit: float | None) -> PValue | None:
    limit = planner.limit_in_additions(time_limit)
    value = low = high = Fraction(0)
    done: dict[Tail, tuple[Fraction, Fraction]] = {}
    for tail in tails:
        if tail not in done:
            found = _float_tail(tail, limit)
            if found is None:
                return None
            done[tail] = found
        part, error = done[tail]
        value += 1 - part if tail.complement else part
        low, high = low + error, high + error
    return PValue(value, FLOAT, max(Fraction(0), value - low), min(Fraction(1), value + high))


def _float_tail(tail: Tail, limit: int | None) -> tuple[Fraction, Fraction] | None:
    """The share of arrangements in a tail and its absolute error; None beyond the limit."""
    strata = tail.design.strata
    if planner.binary_scores(strata):
        from sealbench.stats.convolution import upper_share

        return upper_share([_as_table(stratum) for stratum in strata], tail.design.largest - tail.deficit)
    scale = planner.float_scale(strata)
    if scale is None:
        return None
    cost = _dense_cost(strata, tail.deficit, exact=False, limit=limit)
    if not cost.possible:
        return None
    from sealbench.stats.tail import count_float

    count, bound = count_float(strata, tail.deficit, scale, cost.work)
    part = count / tail.design.arrangements
    return part, part * bound / (1 - bound)


def _bracket(
    design: Design, at_least: int | None, at_most: int | None, time_limit: float | None
) -> PValue | None:
    """Scores rounded to a grid, and thresholds moved by the largest rounding an arrangement can have."""

    def exactly(side: Design, threshold: int) -> Fraction | None:
        return upper_tail(side, threshold, time_limit)

    for grid in _GRIDS:
        low = high = Fraction(0)
        for side, threshold in ((design, at_least), (design.mirrored(), at_most)):
            if threshold is None:
                continue
            wanted = threshold if side is design else design.ceiling - threshold
            ends = bracket_tail(side, wanted, grid, exactly)
            if ends is None:
                break
            low, high = low + ends[0], high + ends[1]
        else:
            high = min(high, Fraction(1))
            return PValue((low + high) / 2, BRACKET, low, high)
    return None


def _mid(
    design: Design, alternative: str, value: Fraction, wanted: bool, time_limit: float | None
) -> Fraction | None:
    """The p-value less half the probability of the observed sum (one-sided tests only)."""
    if not wanted or alternative == "two-sided":
        return None
    side = design if alternative == "greater" else design.mirrored()
    beyond = upper_tail(side, side.observed + 1, time_limit)
    return None if beyond is None else (value + beyond) / 2


def _doubled(design: Design, p_value: PValue, time_limit: float | None, seed: str | None) -> PValue:
    """Twice the smaller tail, at most 1. The tail on the observed side of the mean can be the larger one."""
    other = (None, design.observed, 1) if design.observed >= design.mean else (design.observed, None, 1)
    if p_value.value > Fraction(1, 2):
        second = _exact(_tails(design, other[0], other[1]), time_limit)
        if second is not None and second.value < p_value.value:
            p_value = second
    one = Fraction(1)
    return PValue(
        min(one, 2 * p_value.value),
        p_value.method,
        min(one, 2 * p_value.low),
        min(one, 2 * p_value.high),
        p_value.hits,
        p_value.draws,
    )
