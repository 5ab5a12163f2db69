"""Fractions as people read them, in the sections that stand in no report file."""

from __future__ import annotations

from fractions import Fraction

from sealbench.render.document import DASH
from sealbench.stats.pvalue import PValue


def share(value: Fraction | None) -> str:
    """A share in percent with one decimal."""
    return DASH if value is None else f"{float(100 * value):.1f}%"


def number(value: Fraction | None, digits: int = 1) -> str:
    """A count or a mean: whole where it is, else rounded to so many decimals."""
    if value is None:
        return DASH
    return str(int(value)) if value.denominator == 1 else f"{float(value):.{digits}f}"


def signed(value: Fraction | None, digits: int = 1) -> str:
    """A difference with its sign."""
    return DASH if value is None else ("+" if value > 0 else "") + number(value, digits)


def signed_share(value: Fraction | None) -> str:
    """A difference of two shares, in percentage points with its sign."""
    return DASH if value is None else ("+" if value > 0 else "") + share(value)


def usd(value: Fraction | None) -> str:
    """An amount in USD, four decimals below a dollar."""
    if value is None:
        return DASH
    if 0 < value < Fraction(1, 10000):
        return "< $0.0001"
    return f"${float(value):.4f}" if value < 1 else f"${float(value):.2f}"


def p_value(value: PValue | None) -> str:
    """A p-value with its method where it is not exact."""
    return DASH if value is None else value.text()
