"""Fractions as people read them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sealbench.render.numbers import number, p_value, share, signed, signed_share, usd
from sealbench.stats.pvalue import PValue


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (share(Fraction(1, 3)), "33.3%"),
        (number(Fraction(7)), "7"),
        (number(Fraction(22, 7), 2), "3.14"),
        (signed(Fraction(-3)), "-3"),
        (signed(Fraction(5, 2)), "+2.5"),
        (signed_share(Fraction(1, 8)), "+12.5%"),
        (signed_share(Fraction(0)), "0.0%"),
        (usd(Fraction(0)), "$0.0000"),
        (usd(Fraction(1, 20_000)), "< $0.0001"),
        (usd(Fraction(1, 8)), "$0.1250"),
        (usd(Fraction(766, 100)), "$7.66"),
        (p_value(PValue.exact(Fraction(1, 32))), "1/32 = 3.1e-02"),
    ],
)
def test_what_is_shown(shown: str, text: str) -> None:
    assert shown == text


def test_unknown_is_a_dash_and_never_0() -> None:
    assert {share(None), number(None), signed(None), signed_share(None), usd(None), p_value(None)} == {"–"}
