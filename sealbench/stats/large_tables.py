"""Fisher's exact test of a 2×2 table too large for fractions: its p-value between two proved bounds.

One hypergeometric probability is taken by logarithms of factorials, the rest of its tail by exact ratios of
neighbouring probabilities in integers rounded down and up. The error has three parts:

- ln n! by Stirling's series with four terms, n >= 100: the remainder has the sign of the first term left
  out, 1/(1188 n^9), and is smaller (DLMF 5.11(ii)), so below 8.5e-22; nine such logarithms, 7.7e-21.
- Decimal arithmetic at 60 digits on numbers below 1e12: below 1e-45 for each of fewer than a hundred steps.
  `ln` and `exp` of `decimal` are correctly rounded.
- The tail stops where what is left, at most a geometric series since the ratios fall (the distribution is
  log-concave), is below 2^-80 of the sum; it is added to the upper bound.

Together the relative error of a tail is below 1e-19; a complement's absolute error is that of its tail.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from math import factorial

from sealbench.stats.linear import check_sides
from sealbench.stats.pvalue import FLOAT, PValue

_CONTEXT = Context(prec=60, rounding=ROUND_HALF_EVEN, Emin=-(10**15), Emax=10**15)
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
_SERIES = ((1, 12, 1), (-1, 360, 3), (1, 1260, 5), (-1, 1680, 7))  # numerator, denominator, power of 1/n
_FEWEST = 100  # below it the factorial itself
_PROBABILITY_ERROR = Fraction(1, 10**20)  # relative
_UNIT = 1 << 160
_NEGLIGIBLE = 1 << 80

_Bounds = tuple[Fraction, Fraction]


def fisher_bounds(
    hits1: int, size1: int, hits0: int, size0: int, *, alternative: str = "two-sided"
) -> PValue:
    """The p-value of (hits, size) in two classes; two-sided by the distance from the mean.

    Null hypothesis, method and sides: as `fisher_exact`. Exact only where it is 1.

    Parameters
    ----------
    hits1, size1, hits0, size0 : counts, hits at most the size; the sizes add up to less than 1e11.

    Examples
    --------
    >>> p = fisher_bounds(4, 4, 0, 4, alternative="greater")
    >>> p.low <= Fraction(1, 70) <= p.high
    True
    """
    check_sides(alternative, "statistic")
    table = _Table(size1, size0, hits1 + hits0)
    # Twice the distance from the mean, times the size, in whole numbers: ties are exact.
    middle, whole = table.hits * size1, size1 + size0
    distance = abs(hits1 * whole - middle)
    if alternative == "greater":
        low, high = table.tail(hits1, 1)
    elif alternative == "less":
        low, high = table.tail(hits1, -1)
    elif distance == 0:
        low = high = Fraction(1)
    else:
        above = table.tail(-(-(middle + distance) // whole), 1)
        below = table.tail((middle - distance) // whole, -1)
        low, high = above[0] + below[0], above[1] + below[1]
    if low >= 1:
        return PValue.exact(Fraction(1))
    high = min(Fraction(1), high)
    return PValue((low + high) / 2, FLOAT, low, high)


class _Table:
    """The hypergeometric distribution of the first class's hits, given all totals."""

    def __init__(self, size1: int, size0: int, hits: int) -> None:
        self.size1, self.size0, self.hits = size1, size0, hits
        self.least, self.most = max(0, hits - size0), min(hits, size1)

    def tail(self, start: int, step: int) -> _Bounds:
        """P(X >= start) for step 1, P(X <= start) for -1."""
        if start * step <= (self.least if step > 0 else self.most) * step:
            return Fraction(1), Fraction(1)
        if start * step > (self.most if step > 0 else self.least) * step:
            return Fraction(0), Fraction(0)
        over, under = self.ratio(start, step)
        if over >= under:  # the start lies before the mode: the other tail is the short one
            low, high = self.tail(start - step, -step)
            return 1 - high, 1 - low
        low, high = self.probability(start)
        least, most = self.sum_from(start, step)
        return low * least, high * most

    def ratio(self, value: int, step: int) -> tuple[int, int]:
        """P(X = value + step) / P(X = value), as numerator and denominator."""
        if step > 0:
            over = (self.size1 - value) * (self.hits - value)
            return over, (value + 1) * (self.size0 - self.hits + value + 1)
        over = value * (self.size0 - self.hits + value)
        return over, (self.size1 - value + 1) * (self.hits - value + 1)

    def sum_from(self, start: int, step: int) -> _Bounds:
        """Bounds of the tail's sum in units of its first probability; the ratios are below 1."""
        low = high = least = most = _UNIT
        value = start
        while True:
            over, under = self.ratio(value, step)
            rest = -(-most * over // (under - over))  # all that follows, if no ratio rises again
            if rest * _NEGLIGIBLE <= low:
                return Fraction(low, _UNIT), Fraction(high + rest, _UNIT)
            least, most = least * over // under, -(-most * over // under)
            low, high, value = low + least, high + most, value + step

    def probability(self, value: int) -> _Bounds:
        """Bounds of P(X = value)."""
        with localcontext(_CONTEXT):
            logarithm = (
                _log_choose(self.size1, value)
                + _log_choose(self.size0, self.hits - value)
                - _log_choose(self.size1 + self.size0, self.hits)
            )
            middle = Fraction(logarithm.exp())
        return middle * (1 - _PROBABILITY_ERROR), middle * (1 + _PROBABILITY_ERROR)


def _log_choose(size: int, count: int) -> Decimal:
    return _log_factorial(size) - _log_factorial(count) - _log_factorial(size - count)


def _log_factorial(n: int) -> Decimal:
    if n < _FEWEST:
        return Decimal(factorial(n)).ln()
    number = Decimal(n)
    series = sum((Decimal(over) / (under * number**power) for over, under, power in _SERIES), Decimal(0))
    return (number + Decimal("0.5")) * number.ln() - number + (2 * _PI).ln() / 2 + series
