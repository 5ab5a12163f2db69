"""Exact intervals for rates.

Bounds are found in 50-digit decimal arithmetic, the same on every machine, and rounded outward to 20 digits.
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from math import comb

from sealbench.stats.results import Interval
from sealbench.stats.values import DataError, Number, to_count, to_probability

_DIGITS = 50
_SHOWN = 20
_STEPS = 80


def clopper_pearson(successes: Number, total: Number, *, level: Number = Fraction(19, 20)) -> Interval:
    """The exact (Clopper–Pearson) confidence interval for a rate, right at 0 and at n.

    Parameters
    ----------
    successes, total : counts; total 0 gives [0, 1].
    level : the confidence, "0.95" by default; each tail has half of the rest.

    References
    ----------
    C. J. Clopper, E. S. Pearson, Biometrika 26 (1934) 404–413.

    Examples
    --------
    >>> interval = clopper_pearson(0, 24)
    >>> float(interval.low), round(float(interval.high), 10)
    (0.0, 0.1424735977)
    """
    count, size = to_count(successes, "successes"), to_count(total, "total")
    confidence = to_probability(level, "level")
    if count > size:
        raise DataError(f"{count} successes of {size} cannot be", hint="give successes first, then the total")
    tail = (1 - confidence) / 2
    low = Fraction(0) if count == 0 else _lower(count, size, tail)
    high = Fraction(1) if count == size else 1 - _lower(size - count, size, tail)
    return Interval(low, high, confidence, "Clopper–Pearson")


def binomial_tail(size: int, at_least: int, rate: Fraction) -> Fraction:
    """P(X >= at_least) for X binomial, exactly; the shorter side is summed."""
    if at_least <= 0:
        return Fraction(1)
    if at_least > size:
        return Fraction(0)
    if at_least > size // 2:
        return _binomial_sum(size, range(at_least, size + 1), rate)
    return 1 - _binomial_sum(size, range(at_least), rate)


def _binomial_sum(size: int, counts: range, rate: Fraction) -> Fraction:
    top, bottom = rate.numerator, rate.denominator
    rest = bottom - top
    total = sum(comb(size, count) * top**count * rest ** (size - count) for count in counts)
    return Fraction(total, bottom**size)


def _lower(count: int, size: int, tail: Fraction) -> Fraction:
    """The rate at which `count` or more of `size` has probability `tail`, rounded down."""
    with localcontext(Context(prec=_DIGITS, Emin=-(10**15), Emax=10**15)):
        wanted = Decimal(tail.numerator) / Decimal(tail.denominator)
        if count == size:
            root = (wanted.ln() / size).exp()
            return _rounded(root, ROUND_FLOOR)
        low, high = Decimal(0), Decimal(count) / size
        coefficient = Decimal(comb(size, count))
        for _ in range(_STEPS):
            middle = (low + high) / 2
            if _upper_tail(count, size, middle, coefficient) > wanted:
                high = middle
            else:
                low = middle
        return _rounded(low, ROUND_FLOOR)


def _upper_tail(count: int, size: int, rate: Decimal, coefficient: Decimal) -> Decimal:
    """P(X >= count) for a rate below count/size, where terms only fall."""
    rest = 1 - rate
    term = coefficient * rate**count * rest ** (size - count)
    total = term
    odds = rate / rest
    for value in range(count, size):
        term = term * (size - value) / (value + 1) * odds
        total += term
        if term < total.scaleb(-_DIGITS):
            break
    return total


def _rounded(value: Decimal, rounding: str) -> Fraction:
    return Fraction(Context(prec=_SHOWN, rounding=rounding).create_decimal(value))
