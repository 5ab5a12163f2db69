"""Barnard's unconditional exact test, as a check on small tables.

The chance of a cut is the same unknown rate in both classes; the p-value is the largest probability, over
that rate, of tables at least as extreme. The probability is a polynomial; written in Bernstein form its
coefficients bound it, and halving the interval again and again brings the bounds together. The result is
exact where the largest value lies at a dyadic rate (as 1/2), else a bracket narrower than 1e-12 of it.
"""

from __future__ import annotations

import heapq
from fractions import Fraction
from itertools import pairwise
from math import comb

from sealbench.stats.hypergeometric import Table, read_table
from sealbench.stats.pvalue import BRACKET, PValue
from sealbench.stats.results import NOT_ESTIMABLE, TESTED, ClassSize, TestResult
from sealbench.stats.values import DataError, choose

_MOST = 120  # items; beyond it the conditional test says the same and costs nothing
_RELATIVE = Fraction(1, 10**12)
_HALVINGS = 400


def barnard_exact(table: object, *, alternative: str = "two-sided") -> TestResult:
    """Barnard's exact test with the pooled score statistic.

    Parameters
    ----------
    table : [[cut1, n1], [cut0, n0]], at most 120 items; sizes fixed, number cut not.

    References
    ----------
    G. A. Barnard, Biometrika 34 (1947) 123–138.

    Examples
    --------
    >>> barnard_exact([[8, 8], [0, 8]], alternative="greater").p
    Fraction(1, 65536)
    """
    choose(alternative, ("greater", "less", "two-sided"), "alternative")
    one = read_table(table)
    if one.size1 + one.size0 > _MOST:
        raise DataError(f"a table of more than {_MOST} items", hint="use fisher_exact, which has no limit")
    tested = one.size1 > 0 and one.size0 > 0
    return TestResult(
        question="barnard_exact",
        p_value=_largest(_coefficients(one, alternative)) if tested else PValue.exact(Fraction(1)),
        statistic=_score(one, "greater") if tested else None,
        alternative=alternative,
        two_sided="statistic",
        unit="row of the table",
        class1=ClassSize(one.size1, one.size1),
        class0=ClassSize(one.size0, one.size0),
        status=TESTED if tested else NOT_ESTIMABLE,
        reason="" if tested else "a class is empty",
        notes=("unconditional: the reference set is all tables with these class sizes",),
    )


def _score(table: Table, alternative: str) -> Fraction:
    """The squared score statistic (a constant factor left out), signed unless two-sided; 0 at the ends."""
    difference = table.cut1 * table.size0 - table.cut0 * table.size1
    spread = table.cut * (table.size1 + table.size0 - table.cut)
    squared = Fraction(difference * difference, spread) if spread else Fraction(0)
    if alternative == "two-sided":
        return squared
    return squared if (difference >= 0) == (alternative == "greater") else -squared


def _coefficients(observed: Table, alternative: str) -> list[Fraction]:
    """Bernstein coefficients of the probability of tables at least as extreme."""
    size1, size0 = observed.size1, observed.size0
    least = _score(observed, alternative)
    counts = [0] * (size1 + size0 + 1)
    for cut1 in range(size1 + 1):
        for cut0 in range(size0 + 1):
            if _score(Table(cut1, size1, cut0, size0), alternative) >= least:
                counts[cut1 + cut0] += comb(size1, cut1) * comb(size0, cut0)
    return [Fraction(count, comb(size1 + size0, cut)) for cut, count in enumerate(counts)]


def _largest(coefficients: list[Fraction]) -> PValue:
    """The maximum of a polynomial on [0, 1] from its Bernstein coefficients."""
    reached = max(coefficients[0], coefficients[-1])
    pieces = [(-max(coefficients), 0, coefficients)]
    for serial in range(1, _HALVINGS):
        bound = -pieces[0][0]
        if bound - reached <= _RELATIVE * bound:
            break
        left, right = _halved(heapq.heappop(pieces)[2])
        reached = max(reached, left[-1])
        for place, piece in enumerate((left, right)):
            heapq.heappush(pieces, (-max(piece), 2 * serial + place, piece))
    bound = -pieces[0][0]
    if bound <= reached:
        return PValue.exact(reached)
    return PValue((reached + bound) / 2, BRACKET, reached, bound)


def _halved(coefficients: list[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
    """De Casteljau's subdivision at one half."""
    left, right, row = [coefficients[0]], [coefficients[-1]], coefficients
    while len(row) > 1:
        row = [(first + second) / 2 for first, second in pairwise(row)]
        left.append(row[0])
        right.append(row[-1])
    return left, right[::-1]
