"""Numbers as people give them, read exactly: int, Fraction, Decimal, decimal text, or a finite float.

A float enters as the shortest decimal that prints it (0.1 is 1/10, not the binary neighbour), so that
equal numbers in a file stay equal here. Anything that is not a finite number is refused, never dropped.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction

from sealbench.errors import UsageError

Number = int | Fraction | Decimal | float | str
_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?\Z", re.ASCII)
_RATIO = re.compile(r"[+-]?\d+/\d+\Z", re.ASCII)
_LONGEST = 4000  # characters: Python refuses longer integers in text


class DataError(UsageError, ValueError):
    """The numbers given to a test are not numbers, or do not have the shape the test needs."""


def to_fraction(value: object, where: str = "value") -> Fraction:
    """One number, exactly. `where` names its place in the error.

    >>> to_fraction("0.1") == to_fraction(0.1) == Fraction(1, 10)
    True
    """
    if isinstance(value, numbers.Rational):  # int, bool, Fraction, numpy integers
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise _not_finite(value, where)
        return _from_decimal(value, where)
    if isinstance(value, numbers.Real):  # float and numpy floats
        text = repr(float(value))
        if text in {"nan", "inf", "-inf"}:
            raise _not_finite(text, where)
        return _from_decimal(Decimal(text), where)
    if isinstance(value, str):
        return _from_text(value.strip(), where)
    raise DataError(
        f"{where}: {value!r:.40} is not a number",
        hint="give integers, fractions, decimals or decimal text; leave out what is missing",
    )


def to_fractions(values: Iterable[object], where: str) -> list[Fraction]:
    """A sequence of numbers, exactly; errors say which one is wrong."""
    return [to_fraction(value, f"{where}[{index}]") for index, value in enumerate(as_sequence(values, where))]


def as_sequence(values: object, where: str) -> list[object]:
    """A list of anything iterable but text; DataError otherwise."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise DataError(f"{where}: a list of numbers is needed, not {values!r:.40}", hint="write [1, 2, 3]")
    return list(values)


def to_count(value: object, where: str) -> int:
    """A count: a whole number, at least 0."""
    number = to_fraction(value, where)
    if number.denominator != 1 or number < 0:
        raise DataError(f"{where}: {value!r:.40} is not a count", hint="counts are whole numbers from 0 up")
    return int(number)


def to_probability(value: object, where: str) -> Fraction:
    """A number strictly between 0 and 1, exactly (so that "0.05" is 1/20)."""
    number = to_fraction(value, where)
    if not 0 < number < 1:
        raise DataError(f"{where}: {value!r:.40} is not between 0 and 1", hint=f'for example {where}="0.05"')
    return number


def choose(value: str, allowed: Sequence[str], where: str) -> str:
    """The value if it is one of the allowed words, else DataError that lists them."""
    if value not in allowed:
        raise DataError(f"{where}: {value!r} is not known here", hint=f"one of {', '.join(allowed)}")
    return value


def _from_text(text: str, where: str) -> Fraction:
    if len(text) <= _LONGEST and (_DECIMAL.match(text) or _RATIO.match(text)):
        if "/" in text:
            top, bottom = text.split("/")
            if int(bottom) == 0:
                raise _not_finite(text, where)
            return Fraction(int(top), int(bottom))
        return _from_decimal(Decimal(text), where)
    if text.lower().lstrip("+-") in {"nan", "inf", "infinity"}:
        raise _not_finite(text, where)
    raise DataError(
        f"{where}: {text[:40]!r} is not a number",
        hint="numbers are written like 12, 0.5, 1e3 or 3/4; remove text and units from this column",
    )


def _from_decimal(value: Decimal, where: str) -> Fraction:
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or abs(exponent) > _LONGEST:
        raise DataError(f"{where}: {str(value)[:40]} is out of any useful range", hint="check the exponent")
    return Fraction(value)


def _not_finite(value: object, where: str) -> DataError:
    return DataError(
        f"{where}: {value} is not a finite number",
        hint="leave missing responses out; the survival tests take cut costs as (tokens, finished)",
    )
