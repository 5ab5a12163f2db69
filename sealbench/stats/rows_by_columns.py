"""More than two classes: the Freeman–Halton exact test of an r×c table.

Columns are filled one after the other; states that share their remaining row totals and their statistic so
far are counted together. A table's statistic is a sum over columns (Pearson) or a product (likelihood).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from math import comb, prod

from sealbench.stats.pvalue import PValue
from sealbench.stats.results import DEGENERATE, TESTED, ClassSize, TestResult
from sealbench.stats.values import DataError, as_sequence, choose, to_count

_MOST_STATES = 2_000_000


def freeman_halton(table: object, *, ordering: str = "likelihood") -> TestResult:
    """Exact test of independence in an r×c table with both margins fixed.

    Null hypothesis: the row does not depend on the column. The unit is whatever the table counts.

    Parameters
    ----------
    table : rows of counts, for example [cut per class, not cut per class].
    ordering : "likelihood" (tables no likelier than the observed one) or "pearson" (chi-squared as large).

    References
    ----------
    G. H. Freeman, J. H. Halton, Biometrika 38 (1951) 141–149.

    Examples
    --------
    >>> freeman_halton([[4, 0, 0], [0, 4, 4]]).p
    Fraction(1, 165)
    """
    choose(ordering, ("likelihood", "pearson"), "ordering")
    rows = _read(table)
    row_totals = tuple(sum(row) for row in rows)
    columns = [column for column in zip(*rows, strict=True) if sum(column)]
    total = sum(row_totals)
    degenerate = sum(1 for size in row_totals if size) < 2 or len(columns) < 2
    p = Fraction(1) if degenerate else _p(row_totals, columns, ordering)
    return TestResult(
        question="freeman_halton",
        p_value=PValue.exact(p),
        statistic=None if degenerate else _pearson(row_totals, columns),
        alternative="two-sided",
        two_sided=ordering,
        unit="count of the table",
        class1=ClassSize(total, total),
        class0=ClassSize(0, 0),
        status=DEGENERATE if degenerate else TESTED,
        reason="fewer than two rows or columns hold anything" if degenerate else "",
    )


def _read(table: object) -> list[list[int]]:
    rows = [
        [to_count(cell, "table") for cell in as_sequence(row, "table")] for row in as_sequence(table, "table")
    ]
    if len(rows) < 2 or len({len(row) for row in rows}) != 1:
        raise DataError("not an r×c table", hint="give at least two rows of counts, all of one length")
    return rows


def _pearson(row_totals: tuple[int, ...], columns: list[tuple[int, ...]]) -> Fraction:
    """Pearson's chi-squared, exactly."""
    total = sum(row_totals)
    squares = sum(
        (
            Fraction(cell * cell, size * sum(column))
            for column in columns
            for cell, size in zip(column, row_totals, strict=True)
            if size
        ),
        Fraction(0),
    )
    return total * squares - total


def _p(row_totals: tuple[int, ...], columns: list[tuple[int, ...]], ordering: str) -> Fraction:
    """The share of arrangements whose table is at least as extreme as the observed one."""
    states: dict[tuple[tuple[int, ...], Fraction], int] = {
        (row_totals, Fraction(0 if ordering == "pearson" else 1)): 1
    }
    observed = Fraction(0 if ordering == "pearson" else 1)
    for column in columns:
        observed = _extended(observed, row_totals, column, ordering)
        following: defaultdict[tuple[tuple[int, ...], Fraction], int] = defaultdict(int)
        for (rest, statistic), count in states.items():
            for filled in _fillings(rest, sum(column)):
                key = (
                    tuple(have - take for have, take in zip(rest, filled, strict=True)),
                    _extended(statistic, row_totals, filled, ordering),
                )
                following[key] += count * prod(
                    comb(have, take) for have, take in zip(rest, filled, strict=True)
                )
        if len(following) > _MOST_STATES:
            raise DataError(
                "this table has too many arrangements to enumerate", hint="compare classes in pairs"
            )
        states = dict(following)
    extreme = sum(
        count
        for (_, statistic), count in states.items()
        if (statistic >= observed if ordering == "pearson" else statistic <= observed)
    )
    return Fraction(extreme, sum(states.values()))


def _extended(
    statistic: Fraction, row_totals: tuple[int, ...], column: tuple[int, ...], ordering: str
) -> Fraction:
    """The statistic with one more column: chi-squared's sum of squares, or the product of multinomials."""
    if ordering == "pearson":
        size = sum(column)
        return statistic + sum(
            (
                Fraction(cell * cell, total * size)
                for cell, total in zip(column, row_totals, strict=True)
                if total
            ),
            Fraction(0),
        )
    left, ways = sum(column), 1
    for cell in column:
        ways *= comb(left, cell)
        left -= cell
    return statistic * ways


def _fillings(rest: tuple[int, ...], size: int) -> Iterator[tuple[int, ...]]:
    """All columns of `size` that fit in the remaining row totals."""
    if len(rest) == 1:
        if size <= rest[0]:
            yield (size,)
        return
    after = sum(rest[1:])
    for first in range(max(0, size - after), min(rest[0], size) + 1):
        for others in _fillings(rest[1:], size - first):
            yield (first, *others)
