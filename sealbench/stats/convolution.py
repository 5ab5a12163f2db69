"""Many large strata of cut and not cut: the summed count's tail in float64, certified.

Each stratum's distribution is divided exactly and rounded once; convolution only adds and multiplies
non-negative numbers, in an order fixed here and not by a library.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sealbench.stats.hypergeometric import Table
from sealbench.stats.tail import tree_sum

_UNIT = Fraction(1, 2**53)
_LOST = Fraction(1, 10**290)  # more than all products too small for float64 can add up to


def upper_share(tables: Sequence[Table], at_least: int) -> tuple[Fraction, Fraction]:
    """P(summed cut1 >= at_least) over independent tables, and a bound on its absolute error."""
    joint: NDArray[np.float64] = np.ones(1)
    roundings = 0
    for table in tables:
        total = table.arrangements
        single = [weight / total for weight in table.weights()]
        result = np.zeros(len(joint) + len(single) - 1)
        for place, chance in enumerate(single):
            result[place : place + len(joint)] += chance * joint
        joint = result
        roundings += len(single) + 2
    start = max(0, at_least - sum(table.lowest for table in tables))
    share = Fraction(tree_sum(joint[start:]))
    relative = _UNIT * (roundings + len(joint).bit_length() + 2) * Fraction(101, 100)
    return share, share * relative / (1 - relative) + _LOST
