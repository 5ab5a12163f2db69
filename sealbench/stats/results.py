"""What every test hands back: one frozen record with the p-value, its unit, effect, interval and reasons."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from sealbench.stats.pvalue import PValue, scientific

NOT_ESTIMABLE = "not estimable"
NOT_TESTABLE = "not testable"
TESTED = "tested"
DEGENERATE = "degenerate"


@dataclass(frozen=True)
class Interval:
    """A confidence interval or a set of possible values.

    `low` or `high` None means that the data set no limit on that side. `level` is the confidence
    (None for worst-case bounds, which hold always).
    """

    low: Fraction | None
    high: Fraction | None
    level: Fraction | None
    method: str

    def inside(self, margin_low: Fraction, margin_high: Fraction) -> bool:
        """Whether the whole interval lies within the closed margin: the only ground for "no difference"."""
        if self.low is None or self.high is None:
            return False
        return margin_low <= self.low and self.high <= margin_high

    def to_json(self) -> dict[str, str | None]:
        """Bounds as decimal strings of at most 17 digits, null where there is no limit."""
        return {
            "low": None if self.low is None else decimal_text(self.low),
            "high": None if self.high is None else decimal_text(self.high),
            "level": None if self.level is None else decimal_text(self.level),
            "method": self.method,
        }


@dataclass(frozen=True)
class ClassSize:
    """How much of each class a test rests on: instances, responses behind them, instances without any."""

    instances: int
    responses: int
    unusable: int = 0


@dataclass(frozen=True)
class TestResult:
    """The answer to one question.

    Parameters
    ----------
    question : the function's name.
    p_value : the p-value with its method.
    statistic : the observed statistic, in the unit the function documents; None if there is none.
    alternative, two_sided : direction, and which two-sided definition.
    unit : what is exchanged between the classes, "instance" unless the function says otherwise.
    class1, class0 : what the test rests on.
    effect, effect_name : the size of the difference, where there is one.
    interval : its interval, where one is defined.
    status : "tested", "degenerate" (p is 1 by definition), "not testable" or "not estimable".
    reason : why, when the status is not "tested".
    mid_p : the mid-p value where asked for or free.
    strata, informative_strata : how many there are, and how many hold both classes.
    notes : remarks a report must print with the number.
    """

    __test__ = False  # the name is the field's word; pytest must not collect it

    question: str
    p_value: PValue
    statistic: Fraction | None
    alternative: str
    two_sided: str
    unit: str
    class1: ClassSize
    class0: ClassSize
    effect: Fraction | None = None
    effect_name: str = ""
    interval: Interval | None = None
    status: str = TESTED
    reason: str = ""
    mid_p: Fraction | None = None
    strata: int = 1
    informative_strata: int = 1
    notes: tuple[str, ...] = field(default=())

    @property
    def p(self) -> Fraction | float:
        """The p-value: a Fraction when exact, else a float (its error is in `p_value`)."""
        return self.p_value.number

    @property
    def method(self) -> str:
        """How the p-value was obtained."""
        return self.p_value.method


def decimal_text(value: Fraction, digits: int = 17) -> str:
    """A number as plain decimal text where that is short, else in scientific form."""
    if value.denominator == 1 and abs(value.numerator) < 10**digits:
        return str(value.numerator)
    text = scientific(value, digits)
    mantissa, _, exponent = text.partition("e")
    power = int(exponent) if exponent else 0
    if not -5 <= power < digits:
        return text
    sign = "-" if mantissa.startswith("-") else ""
    figures = mantissa.lstrip("-").replace(".", "")
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{figures}"
    figures = figures.ljust(power + 1, "0")
    whole, part = figures[: power + 1], figures[power + 1 :]
    return f"{sign}{whole}.{part}" if part else f"{sign}{whole}"
