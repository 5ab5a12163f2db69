"""Exact power of the stratified censoring test over equal strata: a sum over multisets of margins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb, factorial, prod

from sealbench.stats.hypergeometric import Table, convolved
from sealbench.stats.values import DataError

Significant = Callable[[Sequence[int], int, Fraction, Fraction, str], set[int]]
_MOST = 20_000  # multisets of margins


def power_over_margins(
    chance1: list[int],
    chance0: list[int],
    limit: Fraction,
    alternative: str,
    count: int,
    significant: Significant,
) -> int:
    """The chance of significance, as a whole number on the scale of the chances given.

    Given the margins of all strata the test is fixed, and so is its chance.
    """
    size1, size0 = len(chance1) - 1, len(chance0) - 1
    margins = range(size1 + size0 + 1)
    if comb(len(margins) + count - 1, count) > _MOST:
        raise DataError("too many strata for exact power", hint="plan with fewer strata, or one stratum")
    tables = [Table(min(cut, size1), size1, cut - min(cut, size1), size0) for cut in margins]
    # The joint chance of (cut1, margin) in one stratum, from the lowest cut1 up.
    joint = [
        [chance1[value] * chance0[cut - value] for value in range(table.lowest, table.highest + 1)]
        for cut, table in zip(margins, tables, strict=True)
    ]
    total = 0
    for chosen in combinations_with_replacement(margins, count):
        if not all(any(joint[cut]) for cut in chosen):
            continue
        ways = factorial(count) // prod(factorial(times) for times in Counter(chosen).values())
        lowest, weights = convolved([tables[cut] for cut in chosen])
        mean = sum((tables[cut].mean for cut in chosen), Fraction(0))
        kept = significant(weights, lowest, mean, limit, alternative)
        if kept:
            together = [1]
            for cut in chosen:
                together = _multiplied(together, joint[cut])
            total += ways * sum(together[value - lowest] for value in kept)
    return total


def _multiplied(first: list[int], second: list[int]) -> list[int]:
    result = [0] * (len(first) + len(second) - 1)
    for place, one in enumerate(first):
        for shift, other in enumerate(second):
            result[place + shift] += one * other
    return result
