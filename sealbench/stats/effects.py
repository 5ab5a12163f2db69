"""Effect sizes with intervals: a shift by test inversion, a ratio by the bootstrap (labelled so)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm

from sealbench.crypto.digest import sha256_hex
from sealbench.stats.engine import linear_test
from sealbench.stats.instances import Instances, Responses, StrataArgument, read_instances
from sealbench.stats.pvalue import EXACT
from sealbench.stats.results import TESTED, Interval
from sealbench.stats.values import Number, to_fraction, to_probability

_REPLICATES = 1999


def shift_interval(
    class1: Responses = (),
    class0: Responses = (),
    *,
    level: Number = Fraction(19, 20),
    strata: StrataArgument | None = None,
    grid: Number | None = None,
    time_limit: float | None = 2.0,
) -> Interval:
    """Exact interval for how much more class 1 costs, by inverting both one-sided permutation tests.

    Under a pure shift, class 1's costs minus the true shift are exchangeable with class 0's. The interval
    holds the shifts on the grid that neither one-sided test rejects at half the error.

    Parameters
    ----------
    grid : spacing of the shifts tried; by default the resolution of the data.
    time_limit : seconds of work for each test tried.

    Returns
    -------
    Interval with low or high None where even the largest shift is not rejected (too few instances).

    Examples
    --------
    >>> dear = [860, 900, 955, 990, 1010, 1100, 1200, 1300]
    >>> cheap = [300, 350, 400, 455, 500, 560, 600, 700]
    >>> interval = shift_interval(dear, cheap)
    >>> int(interval.low), int(interval.high)
    (402, 712)
    """
    confidence = to_probability(level, "level")
    instances = read_instances(class1, class0, strata)
    if instances.status != TESTED:
        return Interval(None, None, confidence, f"not estimable: {instances.reason}")
    step = _resolution(instances) if grid is None else to_fraction(grid, "grid")
    half = (1 - confidence) / 2
    methods: set[str] = set()

    def kept(shift: int, alternative: str) -> bool:
        pairs = [([score - shift * step for score in one], zero) for one, zero in instances.pairs]
        test = linear_test(pairs, alternative=alternative, time_limit=time_limit)
        methods.add(test.p_value.method)
        return test.p_value.conservative > half

    gaps = [(min(one) - max(zero), max(one) - min(zero)) for one, zero in instances.pairs if one and zero]
    lowest = floor(min(low for low, _ in gaps) / step) - 1
    highest = ceil(max(high for _, high in gaps) / step) + 1
    low = _first(lowest, highest, lambda shift: kept(shift, "greater"))
    high = _first(-highest, -lowest, lambda shift: kept(-shift, "less"))
    return Interval(
        None if low is None else low * step,
        None if high is None else -high * step,
        confidence,
        "test inversion, " + (EXACT if methods == {EXACT} else " and ".join(sorted(methods))),
    )


def _resolution(instances: Instances) -> Fraction:
    return Fraction(1, lcm(*(score.denominator for which in (0, 1) for score in instances.scores(which))))


def _first(start: int, stop: int, accepted: Callable[[int], bool]) -> int | None:
    """The first accepted number from `start` up; None if `start` itself is accepted (no limit there)."""
    if accepted(start):
        return None
    rejected, kept = start, stop
    while kept - rejected > 1:
        middle = (rejected + kept) // 2
        if accepted(middle):
            kept = middle
        else:
            rejected = middle
    return kept


@dataclass(frozen=True)
class Ratio:
    """Ratio of class means with a bootstrap interval (percentile, not exact)."""

    value: Fraction | None
    interval: Interval | None
    seed: str
    draws: int


def ratio_of_means(
    class1: Responses = (),
    class0: Responses = (),
    *,
    level: Number = Fraction(19, 20),
    strata: StrataArgument | None = None,
    draws: int = _REPLICATES,
    seed: str | None = None,
) -> Ratio:
    """Mean of class 1 over mean of class 0; the interval is a percentile bootstrap and says so.

    Instances are drawn with replacement within class and stratum. Value None where class 0's mean is 0 or a
    class is empty; no interval below two instances of each class.

    References
    ----------
    B. Efron, R. J. Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.

    Examples
    --------
    >>> ratio_of_means([900, 1000, 1100], [450, 500, 550]).value
    Fraction(2, 1)
    """
    confidence = to_probability(level, "level")
    instances = read_instances(class1, class0, strata)
    ones, zeros = instances.scores(0), instances.scores(1)
    text = seed if seed is not None else sha256_hex(repr((ones, zeros)).encode("ascii"))
    value = _ratio(ones, zeros)
    if value is None or len(ones) < 2 or len(zeros) < 2:
        return Ratio(value, None, text, 0)
    from sealbench.stats.sampling import bootstrap_rows

    groups = [(list(part), which) for pair in instances.pairs for which, part in enumerate(pair) if part]
    ratios = []
    for row in bootstrap_rows([len(part) for part, _ in groups], draws, text):
        sums, place = [Fraction(0), Fraction(0)], 0
        for part, which in groups:
            chosen = row[place : place + len(part)]
            place += len(part)
            sums[which] += sum((part[index] for index in chosen), Fraction(0))
        if sums[1]:
            ratios.append(sums[0] * len(zeros) / (sums[1] * len(ones)))
    ratios.sort()
    if not ratios:
        return Ratio(value, None, text, draws)
    edge = floor((len(ratios) + 1) * (1 - confidence) / 2)
    low, high = (ratios[edge - 1], ratios[-edge]) if edge else (ratios[0], ratios[-1])
    return Ratio(value, Interval(low, high, confidence, f"bootstrap percentile, {draws} draws"), text, draws)


def _ratio(ones: Sequence[Fraction], zeros: Sequence[Fraction]) -> Fraction | None:
    below = sum(zeros, Fraction(0))
    if not ones or not below:
        return None
    return sum(ones, Fraction(0)) * len(zeros) / (below * len(ones))
