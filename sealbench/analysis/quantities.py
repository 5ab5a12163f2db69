"""Numbers as the report's file keeps them: fractions whole, everything else as decimal strings."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from sealbench.formats.report import BoundedNumber, ExactNumber, IntervalRecord, PNumber
from sealbench.stats.pvalue import PValue
from sealbench.stats.results import Interval


def exact(value: Fraction) -> ExactNumber:
    """A fraction as {num, den, approx}."""
    return ExactNumber.model_validate(PValue.exact(value).to_json())


def exact_or_none(value: Fraction | None) -> ExactNumber | None:
    """The same, where there may be no value."""
    return None if value is None else exact(value)


def p_number(value: PValue) -> PNumber:
    """A p-value: whole when exact, else its estimate, error and method."""
    fields = value.to_json()
    return ExactNumber.model_validate(fields) if value.is_exact else BoundedNumber.model_validate(fields)


def interval_record(interval: Interval | None) -> IntervalRecord | None:
    """An interval's ends as decimal strings."""
    return None if interval is None else IntervalRecord.model_validate(interval.to_json())


def fraction_of(number: ExactNumber) -> Fraction:
    """The fraction back from its record (by Decimal: `int` refuses texts beyond 4,300 digits)."""
    return Fraction(int(Decimal(number.num)), int(Decimal(number.den)))


def mean(values: list[Fraction]) -> Fraction | None:
    """The mean, exactly; None of nothing."""
    return sum(values, Fraction(0)) / len(values) if values else None
