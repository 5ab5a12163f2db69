"""A certified bracket for scores too finely divided for tables: both ends are exact tail probabilities.

With b_i = round(q·a_i) and e_i = b_i - q·a_i, every arrangement's rounding lies between the sum of the
smallest and of the largest e_i that class 1 can hold. So P(S >= t) lies between
P(B >= ceil(q·t + E+)) and P(B >= ceil(q·t + E-)).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor

from sealbench.stats.scores import Design, Stratum

UpperTail = Callable[[Design, int], Fraction | None]


def bracket_tail(
    design: Design, at_least: int, grid: int, upper_tail: UpperTail
) -> tuple[Fraction, Fraction] | None:
    """Both ends for P(S >= at_least), None if the tables would be too large.

    Parameters
    ----------
    grid : how many steps the range of scores is divided into.
    upper_tail : P(S >= t) of a design exactly, or None if that is too much work.
    """
    factor = Fraction(grid, max(stratum.scores[-1] for stratum in design.strata))
    strata, least, most = [], Fraction(0), Fraction(0)
    for stratum in design.strata:
        rounded = [floor(score * factor + Fraction(1, 2)) for score in stratum.scores]
        errors = sorted(value - score * factor for value, score in zip(rounded, stratum.scores, strict=True))
        least += sum(errors[: stratum.size1])
        most += sum(errors[len(errors) - stratum.size1 :])
        strata.append(Stratum(tuple(rounded), stratum.size1))
    coarse = Design(tuple(strata), 0)
    high = upper_tail(coarse, ceil(at_least * factor + least))
    if high is None:
        return None
    low = upper_tail(coarse, ceil(at_least * factor + most))
    return None if low is None else (low, high)
