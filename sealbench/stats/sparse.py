"""Counting arrangements in a tail when scores are few but far apart: tables as dictionaries.

Same decomposition as in tail.py; a table holds only the sums that occur. Exact for any size of score, and
the way when denominators explode (log-rank scores, means over unequal repeats) and instances are few.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate

from sealbench.stats.scores import Stratum
from sealbench.stats.splitting import chosen_costs, swap_view

Table = dict[int, int]  # excess: count


def count_sparse(strata: Sequence[Stratum], deficit: int) -> int:
    """The number of arrangements whose deficit is at most `deficit`, exactly."""
    if deficit < 0:
        return 0
    start: Table = {0: 1}
    for stratum in strata[:-1]:
        costs, choose = chosen_costs(stratum)
        start = _side(costs, [deficit] * (choose + 1), start)[choose]
    swap = swap_view(strata[-1], deficit)
    high = _side(swap.high, swap.width, start)
    low = _side(swap.low, swap.width, {0: 1})
    return sum(
        _meet(first, second, width) for first, second, width in zip(high, low, swap.width, strict=True)
    )


def _side(costs: list[int], width: list[int], start: Table) -> list[Table]:
    last = len(width) - 1
    tables: list[defaultdict[int, int]] = [defaultdict(int) for _ in width]
    tables[0].update((excess, count) for excess, count in start.items() if excess <= width[0])
    for item, cost in enumerate(costs):
        for chosen in range(min(item, last - 1), -1, -1):
            shift = cost - costs[chosen]
            room = width[chosen + 1] - shift
            if room < 0:
                continue
            target = tables[chosen + 1]
            for excess, count in tables[chosen].items():
                if excess <= room:
                    target[excess + shift] += count
    return [dict(table) for table in tables]


def _meet(first: Table, second: Table, width: int) -> int:
    if not first or not second:
        return 0
    if len(first) > len(second):
        first, second = second, first
    excesses = sorted(second)
    running = list(accumulate((second[excess] for excess in excesses), initial=0))
    return sum(count * running[bisect_right(excesses, width - excess)] for excess, count in first.items())
