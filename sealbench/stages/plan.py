"""How many items a design needs, and the smallest p-value it can reach, before anything is made."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from sealbench import stats
from sealbench.errors import UsageError
from sealbench.stats.planning import ItemsNeeded

Alternative = Literal["greater", "less", "two-sided"]
_ROWS = 12


@dataclass(frozen=True)
class DesignRow:
    """One design: instances per class and stratum, smallest reachable p, power at the expected rates."""

    per_class: int
    smallest_p: Fraction
    power: Fraction | None


@dataclass(frozen=True)
class Design:
    """The smallest design that does, and what smaller and larger ones reach."""

    alpha: Fraction
    tests: int
    alternative: Alternative
    strata: int
    rates: tuple[Fraction, Fraction] | None
    power_wanted: Fraction
    needed: ItemsNeeded
    rows: tuple[DesignRow, ...]

    @property
    def level(self) -> Fraction:
        """The level one test must reach if it is the smallest of `tests` under Holm's correction."""
        return self.alpha / self.tests


def plan_design(
    *,
    alpha: str = "0.05",
    tests: int = 1,
    alternative: Alternative = "greater",
    strata: int = 1,
    rates: tuple[str, str] | None = None,
    power: str = "0.8",
) -> Design:
    """Plan a censoring test.

    Parameters
    ----------
    alpha : level of the family of tests; `tests` : how many are registered together.
    strata : equal strata; the counts are per class and stratum.
    rates : expected cut rates of class1 and class0; without them full separation is assumed.

    Raises
    ------
    UsageError : a level, rate or count outside its range, or no computable design is large enough.
    """
    level, wanted = _share(alpha, "--alpha"), _share(power, "--power")
    if tests < 1 or strata < 1:
        raise UsageError("--tests and --strata are at least 1", hint="--tests 6 --strata 1")
    expected = None if rates is None else (_share(rates[0], "--rates"), _share(rates[1], "--rates"))
    single = level / tests
    needed = stats.items_needed(
        single, alternative=alternative, strata=strata, rates=expected, power_wanted=wanted
    )
    rows = tuple(
        DesignRow(
            size,
            stats.smallest_p(strata=[(size, size)] * strata, alternative=alternative),
            None
            if expected is None
            else stats.power(size, size, *expected, alpha=single, alternative=alternative, strata=strata),
        )
        for size in _sizes(needed.per_class)
    )
    return Design(level, tests, alternative, strata, expected, wanted, needed, rows)


def _sizes(needed: int) -> list[int]:
    """About a dozen sizes around the needed one."""
    step = max(1, needed // 6)
    sizes = set(range(max(1, needed - 6 * step), needed + 6 * step, step))
    return sorted(sizes | {needed})[: _ROWS + 1]


def _share(text: str, name: str) -> Fraction:
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise UsageError(f"{name} {text}: not a number", hint=f"{name} 0.05") from error
    if not 0 <= value <= 1 or (name != "--rates" and value in (0, 1)):
        raise UsageError(f"{name} {text}: must lie between 0 and 1", hint=f"{name} 0.8")
    return value
