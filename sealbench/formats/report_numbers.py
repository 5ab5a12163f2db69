"""Numbers as the report's file keeps them: fractions whole, everything else as decimal strings.

Source: docs/report.md ("Numbers").
"""

from __future__ import annotations

from sealbench.formats.base import Count, Decimal, Digits, Record, Str


class ExactNumber(Record):
    """A fraction, whole, beside its scientific form."""

    num: Digits
    den: Digits
    approx: Decimal


class BoundedNumber(Record):
    """A p-value that is not exact: its estimate, the largest error, and how it was obtained."""

    approx: Decimal
    error: Decimal
    method: Str


PNumber = ExactNumber | BoundedNumber


class IntervalRecord(Record):
    """A confidence interval (`level` null for worst-case bounds); a null end means no limit on that side."""

    low: Decimal | None
    high: Decimal | None
    level: Decimal | None
    method: Str


class Policies(Record):
    """One score under each policy: cut counted wrong, cut dropped, and the worst-case bounds."""

    responses: Count
    cut_wrong: ExactNumber | None
    cut_dropped: ExactNumber | None
    low: ExactNumber | None
    high: ExactNumber | None
