"""p-values as they are kept, compared, printed and stored.

Exact ones are fractions. All others know the interval they are certain to lie in (or, for Monte Carlo,
the 99% Clopper–Pearson interval) and are labelled by their method everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

EXACT = "exact"
FLOAT = "float (certified)"
BRACKET = "bracket"
MONTE_CARLO = "Monte Carlo"
_LONGEST_SHOWN = 12  # digits of a numerator or denominator that a reader still takes in


@dataclass(frozen=True)
class PValue:
    """A p-value and how it was obtained.

    Parameters
    ----------
    value : the exact value, or the estimate.
    method : "exact", "float (certified)", "bracket" or "Monte Carlo".
    low, high : the value lies between them; both equal `value` when exact.
    hits, draws : of a Monte Carlo estimate, else None.

    Examples
    --------
    >>> PValue.exact(Fraction(1, 12870)).text()
    '1/12870 = 7.8e-05'
    >>> PValue.exact(Fraction(1, 4)).to_json()
    {'num': '1', 'den': '4', 'approx': '2.5e-01'}
    """

    value: Fraction
    method: str
    low: Fraction
    high: Fraction
    hits: int | None = None
    draws: int | None = None

    @classmethod
    def exact(cls, value: Fraction) -> PValue:
        """An exactly known p-value."""
        return cls(value, EXACT, value, value)

    @property
    def is_exact(self) -> bool:
        """Whether the value is the exact one."""
        return self.method == EXACT

    @property
    def number(self) -> Fraction | float:
        """The Fraction when exact, else a float."""
        return self.value if self.is_exact else float(self.value)

    @property
    def conservative(self) -> Fraction:
        """What verdicts compare with alpha: never smaller than the truth where a bound is certain.

        A Monte Carlo estimate (b+1)/(m+1) is a valid p-value as it stands.
        """
        return self.value if self.method in {EXACT, MONTE_CARLO} else self.high

    @property
    def error(self) -> Fraction:
        """The largest distance between the value and the ends of its interval."""
        return max(self.value - self.low, self.high - self.value)

    def to_json(self) -> dict[str, str]:
        """{"num", "den", "approx"} when exact, else {"approx", "error", "method"}; all decimal strings."""
        approx = scientific(self.value, 17)
        if self.is_exact:
            return {
                "num": integer_text(self.value.numerator),
                "den": integer_text(self.value.denominator),
                "approx": approx,
            }
        return {"approx": approx, "error": scientific(self.error, 3, up=True), "method": self.method}

    def text(self, digits: int = 2) -> str:
        """For people: the fraction (shortened if long) and the scientific form."""
        if self.is_exact:
            if self.value.denominator == 1:
                return integer_text(self.value.numerator)
            return f"{fraction_text(self.value)} = {scientific(self.value, digits)}"
        if self.method == MONTE_CARLO and self.hits == 0:
            return f"p < {scientific(self.high, digits, up=True)} (Monte Carlo, none of {self.draws} draws)"
        if self.method == MONTE_CARLO:
            low, high = scientific(self.low, digits), scientific(self.high, digits, up=True)
            return f"{scientific(self.value, digits)} (Monte Carlo, 99% interval {low} to {high})"
        if self.method == BRACKET:
            low, high = scientific(self.low, digits + 2), scientific(self.high, digits + 2, up=True)
            return f"between {low} and {high} (bracket)"
        return f"{scientific(self.value, digits)} (float, certified to {scientific(self.error, 1, up=True)})"


def scientific(value: Fraction, digits: int, *, up: bool = False) -> str:
    """A correctly rounded scientific form of at most `digits` significant digits, at any size.

    `up` rounds towards plus infinity, for upper bounds.

    >>> scientific(Fraction(1, 12870), 5)
    '7.77e-05'
    """
    if value == 0:
        return "0"
    rounding = ROUND_CEILING if up else ROUND_HALF_EVEN
    context = Context(prec=digits, rounding=rounding, Emin=-(10**15), Emax=10**15)
    quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    sign, figures, _ = quotient.as_tuple()
    exponent = quotient.adjusted()
    text = "".join(map(str, figures)).rstrip("0") or "0"
    mantissa = text[0] + ("." + text[1:] if len(text) > 1 else "")
    return f"{'-' if sign else ''}{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def integer_text(value: int) -> str:
    """All decimal digits of an integer of any size (`str` refuses beyond 4,300)."""
    return format(Decimal(value), "f")


def fraction_text(value: Fraction) -> str:
    """The fraction as numerator/denominator, each with its middle left out when long."""
    return f"{_shorten(value.numerator)}/{_shorten(value.denominator)}"


def _shorten(value: int) -> str:
    digits = integer_text(value)
    if len(digits) <= _LONGEST_SHOWN + 3:
        return digits
    return f"{digits[:4]}…{digits[-3:]}"
