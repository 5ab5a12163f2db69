"""A report as headings, paragraphs and grids: what all three renderers write, each in its own way.

Also the field's words for the codes of the file, and numbers as people read them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from sealbench.formats.report import BoundedNumber, ExactNumber, IntervalRecord, PNumber
from sealbench.stats.pvalue import PValue

MEASURES = {
    "censored": "censored",
    "lost": "lost",
    "first_attempt_lost": "first attempt lost",
    "charged_tokens": "charged tokens",
    "reasoning_tokens": "reasoning tokens",
    "accuracy": "accuracy",
    "error": "errors",
}
VERDICTS = {
    "void": "void",
    "not_testable": "not testable",
    "falsified": "FALSIFIED",
    "supported": "supported",
    "not_supported": "not supported",
}
FINDINGS = {
    "asymmetric": "asymmetric",
    "not_shown": "not shown",
    "cannot_tell": "cannot tell",
    "not_estimable": "not estimable",
}
STATUSES = {"ok": "ok", "confounded": "CONFOUNDED", "not_testable": "not testable"}
DASH = "–"
BREAKS = re.compile(r"(?<=[/_-])(?=[A-Za-z])")  # where a long name may go on in the next line
QUESTIONS = {"max_over_caps": "cut by any smaller cap"}  # where the question is not the measure


@dataclass(frozen=True)
class Struck:
    """Text that is shown struck through, because it claims too much."""

    text: str


@dataclass(frozen=True)
class Link:
    """Text that leads to a file beside the page; `address` is relative."""

    text: str
    address: str


Cell = str | Struck | Link


@dataclass(frozen=True)
class Paragraph:
    """Running text; `strong` for what must not be overlooked."""

    text: str
    strong: bool = False


@dataclass(frozen=True)
class Bullets:
    """A list of sentences."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Grid:
    """A table: caption, column heads, rows of as many cells; `right` are the columns set to the right."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    right: frozenset[int] = frozenset()


Block = Paragraph | Bullets | Grid


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it; `name` is its anchor."""

    name: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    """A whole report."""

    title: str
    lead: tuple[Block, ...]
    sections: tuple[Section, ...]


def clean(text: str) -> str:
    """Text that came from outside, on one line and without control characters."""
    return "".join(char if char.isprintable() else "?" for char in text)


def p_text(number: PNumber | None) -> str:
    """A p-value: fraction and scientific form when exact, else with its method."""
    if number is None:
        return DASH
    if isinstance(number, BoundedNumber):
        return f"{_short(number.approx)} ({number.method}, error {_short(number.error)})"
    return PValue.exact(fraction(number)).text()


def fraction(number: ExactNumber) -> Fraction:
    """The exact value (by Decimal: `int` refuses texts beyond 4,300 digits)."""
    return Fraction(int(Decimal(number.num)), int(Decimal(number.den)))


def percent(number: ExactNumber | None) -> str:
    """A share in percent, one decimal where it is not whole."""
    if number is None:
        return DASH
    value = fraction(number) * 100
    return f"{int(value)}%" if value.denominator == 1 else f"{_rounded(value, 1)}%"


def amount(number: ExactNumber | None, digits: int = 1) -> str:
    """A number of tokens or a ratio, rounded to so many decimals."""
    if number is None:
        return DASH
    value = fraction(number)
    return str(int(value)) if value.denominator == 1 else _rounded(value, digits)


def range_text(low: ExactNumber | None, high: ExactNumber | None) -> str:
    """Worst-case bounds of a share."""
    if low is None or high is None:
        return DASH
    return percent(low) if low == high else f"{percent(low)} to {percent(high)}"


def signed(number: ExactNumber, scale: int = 1) -> str:
    """A difference with its sign, one decimal where it is not whole."""
    value = fraction(number) * scale
    text = str(int(value)) if value.denominator == 1 else _rounded(value, 1)
    return f"+{text}" if value > 0 else text


def range_of(interval: IntervalRecord | None, scale: int) -> str:
    """An interval in brackets, an open end as such; empty where there is none."""
    if interval is None:
        return ""
    low, high = (_end(end, scale) for end in (interval.low, interval.high))
    return f" [{low} to {high}]"


def _end(text: str | None, scale: int) -> str:
    return "no limit" if text is None else _rounded(Fraction(Decimal(text)) * scale, 0 if scale == 100 else 1)


def where_text(where: dict[str, str]) -> str:
    """Filters in the order in which people think of them: `primality, plain`."""
    order = ("family", "wording", "kind", "stratum", "endpoint")
    return ", ".join(clean(where[key]) for key in order if key in where) or "the whole battery"


def endpoint_text(name: str, reference: bool) -> str:
    """An endpoint's name, marked where no model stands behind it."""
    if not reference:
        return clean(name)
    return clean(name) if name.startswith("reference/") else f"{clean(name)} (reference endpoint)"


def columns(rows: Sequence[Sequence[Cell]]) -> tuple[tuple[Cell, ...], ...]:
    """Rows as the grid keeps them."""
    return tuple(tuple(row) for row in rows)


def _rounded(value: Fraction, digits: int) -> str:
    scaled = round(value * 10**digits)
    sign = "-" if scaled < 0 else ""
    whole, part = divmod(abs(scaled), 10**digits)
    return f"{sign}{whole}.{part:0{digits}d}" if digits else f"{sign}{whole}"


def _short(text: str) -> str:
    return f"{Decimal(text):.1e}" if "e" in text else text
