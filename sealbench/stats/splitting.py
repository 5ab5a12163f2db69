"""How a tail is split: the swap view of a stratum, and the one-sided view of the strata before it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from sealbench.stats.scores import Stratum


@dataclass(frozen=True)
class Swap:
    """The largest stratum as seen from its best arrangement.

    high, low : ascending costs of giving up one of H, of taking one of L.
    delta : the least deficit of k swaps; width : the excess left to spend at k swaps.
    """

    high: list[int]
    low: list[int]
    delta: list[int]
    width: list[int]

    @property
    def swaps(self) -> int:
        """The largest number of swaps within the deficit."""
        return len(self.width) - 1


def swap_view(stratum: Stratum, deficit: int) -> Swap:
    """Split a stratum for tails of at most `deficit` (not negative)."""
    count = len(stratum.scores) - stratum.size1
    base = stratum.scores[count]
    high = [score - base for score in stratum.scores[count:]]
    low = [base - score for score in reversed(stratum.scores[:count])]
    steps = (up + down for up, down in zip(high, low, strict=False))
    delta = [step for step in accumulate(steps, initial=0) if step <= deficit]
    return Swap(high, low, delta, [deficit - step for step in delta])


def chosen_costs(stratum: Stratum) -> tuple[list[int], int]:
    """Ascending costs and how many to choose, so that the excess is the stratum's deficit.

    Choosing the smaller class is the same count with fewer tables.
    """
    size0 = len(stratum.scores) - stratum.size1
    if size0 < stratum.size1:
        return list(stratum.scores), size0
    top = stratum.scores[-1]
    return [top - score for score in reversed(stratum.scores)], stratum.size1
