"""Is censoring related to the class, whatever the cap? One test over all counterfactual caps at once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby
from math import comb

from sealbench.stats.instances import Responses, StrataArgument, read_instances
from sealbench.stats.pvalue import PValue
from sealbench.stats.results import DEGENERATE, TESTED, TestResult
from sealbench.stats.scores import Pair
from sealbench.stats.values import DataError, choose


def max_over_caps(
    class1: Responses = (),
    class0: Responses = (),
    *,
    alternative: str = "two-sided",
    strata: StrataArgument | None = None,
) -> TestResult:
    """Smirnov's test: the largest difference of cut rates over every possible cap, exact with ties.

    Null hypothesis: labels are exchangeable. Statistic: the largest over caps c of (share of class 1
    costing more than c) - (share of class 0 costing more than c); p is familywise over all caps.

    Parameters
    ----------
    class1, class0 : costs per instance; what was cut at the largest cap enters at that cap.
    alternative : "greater" (class 1 cut more often), "less", or "two-sided" (the larger difference).
    strata : only one stratum may hold both classes; with more, use `westfall_young` over the caps.

    Method: lattice paths checked at the ends of tie blocks, O(m·n) integer additions.

    References
    ----------
    N. V. Smirnov 1939; P. J. Kim, R. I. Jennrich, Selected Tables in Mathematical Statistics 1 (1973).

    Examples
    --------
    >>> result = max_over_caps([4, 6, 8, 10, 12, 14], [3, 5, 7, 9, 11, 13], alternative="greater")
    >>> result.p, result.statistic
    (Fraction(6, 7), Fraction(1, 6))
    """
    choose(alternative, ("greater", "less", "two-sided"), "alternative")
    instances = read_instances(class1, class0, strata)
    status, reason = instances.status, instances.reason
    p, statistic, cap = Fraction(1), None, None
    if status == TESTED:
        pair = _only_pair(instances.pairs)
        statistic, cap = _largest(pair, alternative)
        p = _p(pair, alternative, statistic)
        if len({*pair[0], *pair[1]}) == 1:
            status, reason = DEGENERATE, "all costs are equal"
    return TestResult(
        question="max_over_caps",
        p_value=PValue.exact(p),
        statistic=statistic,
        alternative=alternative,
        two_sided="statistic",
        unit="instance",
        class1=instances.class1,
        class0=instances.class0,
        effect=cap,
        effect_name="cap with the largest difference",
        status=status,
        reason=reason,
        strata=len(instances.pairs),
        informative_strata=instances.informative,
        notes=instances.notes,
    )


def _only_pair(pairs: Sequence[Pair]) -> Pair:
    both = [pair for pair in pairs if pair[0] and pair[1]]
    if len(both) != 1:
        raise DataError(
            f"{len(both)} strata hold both classes; the test over all caps is exact for one only",
            hint="use westfall_young with one test per cap, or max_over_caps in each stratum with holm",
        )
    return both[0]


def _blocks(pair: Pair) -> list[tuple[Fraction, int, int]]:
    """From the highest cost down: the value, how many instances have it, how many of them in class 1."""
    labelled = sorted([(value, 1) for value in pair[0]] + [(value, 0) for value in pair[1]], reverse=True)
    return [
        (value, len(labels), sum(labels))
        for value, group in groupby(labelled, key=lambda item: item[0])
        for labels in [[label for _, label in group]]
    ]


def _largest(pair: Pair, alternative: str) -> tuple[Fraction, Fraction | None]:
    """The largest difference in the direction asked for (at least 0) and the largest cap that reaches it."""
    size1, size0 = len(pair[0]), len(pair[1])
    best, cap, above1, above0 = Fraction(0), None, 0, 0
    blocks = _blocks(pair)
    for index, (_, count, ones) in enumerate(blocks[:-1]):
        above1, above0 = above1 + ones, above0 + count - ones
        difference = Fraction(above1, size1) - Fraction(above0, size0)
        if alternative == "two-sided":
            difference = abs(difference)
        elif alternative == "less":
            difference = -difference
        if difference > best:
            best, cap = difference, blocks[index + 1][0]
    return best, cap


def _p(pair: Pair, alternative: str, statistic: Fraction) -> Fraction:
    """The share of arrangements that reach the statistic, as all less those that stay below it."""
    if statistic == 0:
        return Fraction(1)
    size1, size0 = len(pair[0]), len(pair[1])
    limit = int(statistic * size1 * size0)  # a whole number: both rates have these denominators
    paths = [1] + [0] * size1  # by how many of class 1 lie among the highest instances so far
    seen = 0
    for _, count, _ in _blocks(pair):
        for _ in range(count):
            seen += 1
            for ones in range(min(seen, size1), max(1, seen - size0) - 1, -1):
                paths[ones] += paths[ones - 1]
            for ones in range(max(0, seen - size0)):
                paths[ones] = 0
        for ones in range(max(0, seen - size0), min(seen, size1) + 1):
            difference = ones * size0 - (seen - ones) * size1
            reached = {
                "greater": difference >= limit,
                "less": -difference >= limit,
                "two-sided": abs(difference) >= limit,
            }[alternative]
            if reached:
                paths[ones] = 0
    total = comb(size1 + size0, size1)
    return Fraction(total - paths[size1], total)
