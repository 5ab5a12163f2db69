"""2×2 tables with fixed margins in integers: weights, strata by a product tree, odds ratios.

The weight of a table is the number of arrangements that give it, C(n1, x)·C(n0, c - x). Weights follow each
other by an exact ratio, so tables of tens of thousands of items need no factorials.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from importlib import import_module
from math import comb
from typing import Any, cast

from sealbench.stats.values import DataError, as_sequence, to_count

_CONTEXT = Context(prec=60, Emin=-(10**15), Emax=10**15)
_SHOWN = Context(prec=20)
_DECIMAL_FROM = 1_000_000  # bytes of a packed product from which decimal multiplication is faster
_STEPS = 160  # halvings of the logarithm's bracket, from 400 wide to below the digits shown


@dataclass(frozen=True)
class Table:
    """One 2×2 table: cut and total of class 1 and of class 0."""

    cut1: int
    size1: int
    cut0: int
    size0: int

    @property
    def cut(self) -> int:
        """Cut in both classes together."""
        return self.cut1 + self.cut0

    @property
    def lowest(self) -> int:
        """The smallest number of class 1 that can be cut, given the margins."""
        return max(0, self.cut - self.size0)

    @property
    def highest(self) -> int:
        """The largest number of class 1 that can be cut, given the margins."""
        return min(self.size1, self.cut)

    @property
    def arrangements(self) -> int:
        """All ways to choose which items are cut."""
        return comb(self.size1 + self.size0, self.cut)

    @property
    def mean(self) -> Fraction:
        """The mean of cut1 given the margins (0 for an empty table)."""
        total = self.size1 + self.size0
        return Fraction(self.size1 * self.cut, total) if total else Fraction(0)

    def weights(self) -> Iterator[int]:
        """The weights from the lowest to the highest cut1, one after the other."""
        low, high = self.lowest, self.highest
        weight = comb(self.size1, low) * comb(self.size0, self.cut - low)
        for value in range(low, high + 1):
            yield weight
            top = (self.size1 - value) * (self.cut - value)
            weight = weight * top // ((value + 1) * (self.size0 - self.cut + value + 1))

    def upper_count(self, at_least: int) -> int:
        """The number of arrangements with cut1 >= at_least, by binary splitting of the sum of weights."""
        start = max(self.lowest, at_least)
        if start > self.highest:
            return 0
        first = comb(self.size1, start) * comb(self.size0, self.cut - start)
        _, below, above = self._split(start, self.highest + 1)
        return first * above // below

    def _split(self, start: int, stop: int) -> tuple[int, int, int]:
        """P, Q, T of the weights from start to stop - 1 over the first one: their sum is T/Q."""
        if stop - start == 1:
            below = (start + 1) * (self.size0 - self.cut + start + 1)
            return (self.size1 - start) * (self.cut - start), below, below
        middle = (start + stop) // 2
        (top1, below1, sum1), (top2, below2, sum2) = self._split(start, middle), self._split(middle, stop)
        return (
            _multiply(top1, top2),
            _multiply(below1, below2),
            _multiply(sum1, below2) + _multiply(top1, sum2),
        )


def upper_count(tables: Sequence[Table], at_least: int) -> int:
    """The number of joint arrangements of independent tables with a summed cut1 of at least this."""
    if len(tables) == 1:
        return tables[0].upper_count(at_least)
    lowest, weights = convolved(tables)
    return sum(weights[max(0, at_least - lowest) :])


def read_table(table: object, where: str = "table") -> Table:
    """[[cut1, n1], [cut0, n0]] as a Table; DataError for any other shape or impossible counts."""
    rows = [as_sequence(row, where) for row in as_sequence(table, where)]
    if len(rows) != 2 or any(len(row) != 2 for row in rows):
        raise DataError(f"{where}: not a 2×2 table", hint="write [[cut1, n1], [cut0, n0]]")
    (cut1, size1), (cut0, size0) = ([to_count(cell, where) for cell in row] for row in rows)
    if cut1 > size1 or cut0 > size0:
        raise DataError(
            f"{where}: more are cut than there are", hint="each row is [cut, total], not [cut, uncut]"
        )
    return Table(cut1, size1, cut0, size0)


def convolved(tables: Sequence[Table]) -> tuple[int, list[int]]:
    """The distribution of the summed cut1 over independent tables: its lowest value and its weights."""
    weights = [list(table.weights()) for table in tables]
    while len(weights) > 1:  # the shortest two first: a balanced product tree
        weights.sort(key=len)
        weights.append(_product(weights.pop(0), weights.pop(0)))
    return sum(table.lowest for table in tables), weights[0] if weights else [1]


def _product(first: list[int], second: list[int]) -> list[int]:
    """The product of two polynomials, each packed into one long integer (Kronecker substitution)."""
    size = ((sum(first) * sum(second)).bit_length() + 8) // 8
    length = len(first) + len(second) - 1
    if length * size > _DECIMAL_FROM and _long_integer() is None:
        return _decimal_product(first, second, length)
    packed = [
        int.from_bytes(b"".join(value.to_bytes(size, "little") for value in values), "little")
        for values in (first, second)
    ]
    raw = _multiply(*packed).to_bytes(length * size, "little")
    return [int.from_bytes(raw[start : start + size], "little") for start in range(0, length * size, size)]


def _decimal_product(first: list[int], second: list[int], length: int) -> list[int]:
    """The same packed in decimal digits: `decimal` multiplies by number-theoretic transform."""
    width = len(format(Decimal(sum(first) * sum(second)), "f"))
    context = Context(prec=width * length, Emin=-MAX_EMAX, Emax=MAX_EMAX)
    packed = [
        Decimal("".join(format(Decimal(value), "f").zfill(width) for value in values))
        for values in (first, second)
    ]
    digits = format(context.multiply(*packed), "f").zfill(width * length)
    return [int(Decimal(digits[start : start + width])) for start in range(0, width * length, width)]


@cache
def _long_integer() -> Callable[[int], Any] | None:
    """gmpy2's integer, which multiplies long ones faster, where it is present."""
    try:
        return cast("Callable[[int], Any]", import_module("gmpy2").mpz)
    except ImportError:
        return None


def _multiply(first: int, second: int) -> int:
    make = _long_integer()
    return first * second if make is None else int(make(first) * make(second))


@dataclass(frozen=True)
class OddsRatio:
    """The conditional maximum-likelihood odds ratio with its exact interval (infinite or NaN where so)."""

    estimate: Decimal
    low: Decimal
    high: Decimal
    level: Fraction


def odds_ratio_of(table: Table, level: Fraction) -> OddsRatio:
    """Odds ratio of being cut, class 1 to class 0, conditional on the margins (J. Cornfield 1956)."""
    low, high = table.lowest, table.highest
    infinity, nothing = Decimal("Infinity"), Decimal(0)
    if low == high:
        return OddsRatio(Decimal("NaN"), nothing, infinity, level)
    index, last = table.cut1 - low, high - low
    with localcontext(_CONTEXT):
        weights = [Decimal(weight) for weight in table.weights()]
        tail = Decimal(((1 - level) / 2).numerator) / Decimal(((1 - level) / 2).denominator)

        def mean(ratio: Decimal) -> Decimal:
            total, moment = _moments(weights, ratio)
            return moment / total

        def share(keep: range) -> Callable[[Decimal], Decimal]:
            return lambda ratio: _share(weights, ratio, keep)

        estimate = nothing if index == 0 else infinity if index == last else _solve(mean, Decimal(index))
        lower = nothing if index == 0 else _solve(share(range(index, last + 1)), tail)
        upper = infinity if index == last else _solve(share(range(index + 1, last + 1)), 1 - tail)
        return OddsRatio(_SHOWN.plus(estimate), _SHOWN.plus(lower), _SHOWN.plus(upper), level)


def _moments(weights: list[Decimal], ratio: Decimal) -> tuple[Decimal, Decimal]:
    total = moment = Decimal(0)
    power = Decimal(1)
    for index, weight in enumerate(weights):
        term = weight * power
        total += term
        moment += index * term
        power *= ratio
    return total, moment


def _share(weights: list[Decimal], ratio: Decimal, keep: range) -> Decimal:
    """The probability of the values in `keep` when the odds ratio is `ratio`."""
    total = kept = Decimal(0)
    power = Decimal(1)
    for index, weight in enumerate(weights):
        term = weight * power
        total += term
        if index in keep:
            kept += term
        power *= ratio
    return kept / total


def _solve(rising: Callable[[Decimal], Decimal], wanted: Decimal) -> Decimal:
    """The ratio at which a rising function has the wanted value, by halving its logarithm."""
    low, high = Decimal(-200), Decimal(200)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if rising(middle.exp()) < wanted:
            low = middle
        else:
            high = middle
        if high - low < Decimal("1e-24"):
            break
    return ((low + high) / 2).exp()
