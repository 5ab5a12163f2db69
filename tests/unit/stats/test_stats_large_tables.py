"""Bounds of large 2×2 tables against the exact fractions, at sizes where both can be had."""

from __future__ import annotations

import random
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sealbench.errors import SealError
from sealbench.stats.contingency import fisher_exact
from sealbench.stats.large_tables import fisher_bounds

SIDES = ("two-sided", "greater", "less")
WIDTH = Fraction(1, 10**18)  # relative


def _holds(hits1: int, size1: int, hits0: int, size0: int, side: str) -> bool:
    exact = fisher_exact([[hits1, size1], [hits0, size0]], alternative=side, level=None).p_value.value
    found = fisher_bounds(hits1, size1, hits0, size0, alternative=side)
    assert found.high - found.low <= WIDTH * exact
    return found.low <= exact <= found.high


@pytest.mark.parametrize("side", SIDES)
@given(data=st.data())
def test_the_exact_value_lies_between_the_bounds(side: str, data: st.DataObject) -> None:
    size1, size0 = data.draw(st.integers(1, 150)), data.draw(st.integers(1, 150))
    hits1, hits0 = data.draw(st.integers(0, size1)), data.draw(st.integers(0, size0))
    assert _holds(hits1, size1, hits0, size0, side)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(
    "table",
    [
        (700, 9000, 640, 9000),
        (12, 9000, 0, 9000),
        (9000, 9000, 8990, 9000),
        (1, 1, 3000, 15000),
        (4500, 9000, 4500, 9000),
        (5000, 9000, 4000, 9000),
        (0, 2000, 2000, 2000),
    ],
)
def test_at_thousands_of_items(table: tuple[int, int, int, int], side: str) -> None:
    assert _holds(*table, side)


def test_at_a_million_items_against_the_binomial_coefficients() -> None:
    # All 7 hits in the first of two equal classes: both extremes, each C(10^6, 7) of C(2·10^6, 7) ways.
    found = fisher_bounds(7, 10**6, 0, 10**6)
    exact = Fraction(2 * comb(10**6, 7), comb(2 * 10**6, 7))
    assert found.low <= exact <= found.high
    assert found.high - found.low <= WIDTH * exact


def test_no_p_value_is_zero_however_small() -> None:
    found = fisher_bounds(54_000, 10**6, 0, 10**6)
    assert 0 < found.low < found.high < Fraction(1, 10**16_000)
    assert "certified" in found.text()


def test_the_two_sides_add_up_to_one_and_the_table_itself() -> None:
    generator = random.Random(7)
    for _ in range(20):
        size = generator.randrange(10**5, 10**6)
        hits1, hits0 = generator.randrange(500, 600), generator.randrange(500, 600)
        above = fisher_bounds(hits1, size, hits0, size, alternative="greater")
        below = fisher_bounds(hits1 - 1, size, hits0 + 1, size, alternative="less")
        assert above.low + below.low <= 1 <= above.high + below.high


def test_degenerate_tables_and_sides() -> None:
    for side in SIDES:
        assert fisher_bounds(0, 50, 0, 50, alternative=side).value == 1
        assert fisher_bounds(50, 50, 50, 50, alternative=side).is_exact
    with pytest.raises(SealError, match="alternative"):
        fisher_bounds(1, 2, 0, 2, alternative="sideways")
