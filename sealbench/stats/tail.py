"""Counting arrangements in a tail: swap-distance dynamic programming over instances.

The deficit of an arrangement is how far class 1's sum falls short of the largest one possible. In the
largest stratum it is the cost of swapping k of the m largest scores H for k of the rest L:
delta_k + (excess among H) + (excess among L). Both excesses are counted by one-sided tables cut off at the
deficit asked for, so that near separation there is almost nothing to do; a product of one table with the
running sums of the other gives the count. Smaller strata go first, as one table of their joint deficit,
which is where the table of H begins.

Two number types share the loops: limbs (exact) and float64, where only non-negative numbers are added and
multiplied, so that the relative error is bounded even far out in the tail.
Complexity: O(items · swaps · deficit), less all that the cut-off removes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sealbench.stats import limbs as lb
from sealbench.stats.scores import Stratum
from sealbench.stats.splitting import Swap, chosen_costs, swap_view

Table = list[NDArray[Any]]  # one row of counts by excess: limbs, or a single float64 array
_PARALLEL = 1_000_000_000  # additions from which a second thread pays
_ROW = 4096  # running sums in rows of this length keep their rounding error small
_UNIT = 2.0**-53


def count_exact(strata: Sequence[Stratum], deficit: int, work: int = 0) -> int:
    """The number of arrangements whose deficit is at most `deficit`, exactly.

    `work` is the planner's estimate of additions; it only decides whether a second thread is used.
    """
    if deficit < 0:
        return 0
    start: Table = [np.ones(1, dtype=np.int64)]
    for stratum in strata[:-1]:
        start = _joined(start, stratum, deficit)
    swap = swap_view(strata[-1], deficit)
    high, low = _both_sides(swap, start, [np.ones(1, dtype=np.int64)], work)
    result = 0
    for swaps in range(swap.swaps + 1):
        first, second = high[swaps], low[swaps]
        high[swaps] = low[swaps] = None
        if first is not None and second is not None:
            result += _meet_exact(first, second, swap.width[swaps])
    return result


def count_float(
    strata: Sequence[Stratum], deficit: int, scale: int, work: int = 0
) -> tuple[Fraction, Fraction]:
    """The same in float64: the count and a bound on its relative error.

    `scale` is the power of two by which counts are made smaller, so that none overflows.
    """
    if deficit < 0:
        return Fraction(0), Fraction(0)
    start: Table = [np.full(1, 2.0**-scale)]
    for stratum in strata[:-1]:
        start = _joined(start, stratum, deficit)
    swap = swap_view(strata[-1], deficit)
    high, low = _both_sides(swap, start, [np.ones(1)], work)
    result, longest = 0.0, 1
    for swaps in range(swap.swaps + 1):
        first, second = high[swaps], low[swaps]
        high[swaps] = low[swaps] = None
        if first is not None and second is not None:
            longest = max(longest, len(first[0]), len(second[0]))
            result += _meet_float(first[0], second[0], swap.width[swaps])
    items = sum(len(stratum.scores) for stratum in strata)
    # One rounding per item, per entry of a running sum's row and column, per level of the tree, per swap.
    roundings = items + _ROW + longest // _ROW + 2 * longest.bit_length() + swap.swaps + 8
    bound = Fraction(_UNIT) * roundings * Fraction(101, 100)
    return Fraction(result) * 2**scale, bound


def _both_sides(
    swap: Swap, start: Table, one: Table, work: int
) -> tuple[list[Table | None], list[Table | None]]:
    """The tables of H and of L; on two threads when it pays, which does not change a bit of them."""
    sides: tuple[Callable[[], list[Table | None]], ...] = (
        lambda: _side(swap.high, swap.width, start),
        lambda: _side(swap.low, swap.width, one),
    )
    if work < _PARALLEL:
        return sides[0](), sides[1]()
    with ThreadPoolExecutor(max_workers=2) as executor:
        tasks = [executor.submit(side) for side in sides]
        return tasks[0].result(), tasks[1].result()


def _joined(start: Table, stratum: Stratum, deficit: int) -> Table:
    """The table of the joint deficit after one more stratum."""
    costs, choose = chosen_costs(stratum)
    tables = _side(costs, [deficit] * (choose + 1), start, final_only=True)
    result = tables[choose]
    return result if result is not None else [np.zeros(1, dtype=start[0].dtype)]


def _side(costs: list[int], width: list[int], start: Table, final_only: bool = False) -> list[Table | None]:
    """For each k: in how many ways k of the ascending costs can be chosen, by excess over the cheapest k.

    Parameters
    ----------
    width : the largest excess kept, for each k.
    start : the counts by excess before anything is chosen.
    final_only : only the last k is wanted, so tables that no longer lead to it are dropped.
    """
    last = len(width) - 1
    exact = start[0].dtype == np.int64
    tables: list[Table | None] = [None] * (last + 1)
    begin = [array[: width[0] + 1].copy() for array in start]
    tables[0] = begin
    lengths = [0] * (last + 1)
    lengths[0] = len(begin[0])
    since = 0
    for item, cost in enumerate(costs):
        least = max(0, last - len(costs) + item) if final_only else 0
        for chosen in range(min(item, last - 1), least - 1, -1):
            source = tables[chosen]
            shift = cost - costs[chosen]
            room = width[chosen + 1] - shift + 1
            if source is None or room <= 0:
                continue
            length = min(lengths[chosen], room)
            stop = shift + length
            target = tables[chosen + 1]
            if target is None:
                target = tables[chosen + 1] = _empty(source, width[chosen + 1] + 1, stop)
            elif len(target[0]) < stop:
                target[:] = [_grown(array, width[chosen + 1] + 1, stop) for array in target]
            while len(target) < len(source):
                target.append(np.zeros_like(target[0]))
            lengths[chosen + 1] = max(lengths[chosen + 1], stop)
            for into, array in zip(target, source, strict=False):
                view = into[shift:stop]
                np.add(view, array[:length], out=view)
        if final_only and least:
            tables[least - 1] = None
        since += 1
        if exact and since == lb.DOUBLINGS:
            since = 0
            _carry_all(tables, lengths)
    if exact:
        _carry_all(tables, lengths)
    return [
        None if table is None else [array[:length] for array in table]
        for table, length in zip(tables, lengths, strict=True)
    ]


def _empty(source: Table, most: int, needed: int) -> Table:
    size = min(most, 2 * needed)
    return [np.zeros(size, dtype=array.dtype) for array in source]


def _grown(array: NDArray[Any], most: int, needed: int) -> NDArray[Any]:
    larger = np.zeros(min(most, 2 * needed), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


def _carry_all(tables: list[Table | None], lengths: list[int]) -> None:
    for table, length in zip(tables, lengths, strict=True):
        if table is not None:
            views = [array[:length] for array in table]
            lb.carry(views)
            for overflow in views[len(table) :]:
                whole = np.zeros_like(table[0])
                whole[:length] = overflow
                table.append(whole)


def _meet_exact(first: Table, second: Table, width: int) -> int:
    """The sum over excesses a, b with a + b <= width of first[a] · second[b]."""
    if len(first[0]) > len(second[0]):
        first, second = second, first
    running = lb.cumulative(second)
    used = min(len(first[0]), width + 1)
    whole = max(0, min(used, width - len(second[0]) + 2))  # here all of `second` fits
    result = 0
    if whole:
        result += lb.entry(running, len(second[0]) - 1) * lb.total(first, whole)
    if used > whole:
        low, high = width - used + 1, width - whole + 1
        result += lb.dot([array[whole:used] for array in first], [array[low:high][::-1] for array in running])
    return result


def _meet_float(first: NDArray[Any], second: NDArray[Any], width: int) -> float:
    if len(first) > len(second):
        first, second = second, first
    running = _running_sums(second)
    used = min(len(first), width + 1)
    whole = max(0, min(used, width - len(second) + 2))
    result = 0.0
    if whole:
        result += float(running[len(second) - 1]) * tree_sum(first[:whole])
    if used > whole:
        low, high = width - used + 1, width - whole + 1
        result += tree_sum(first[whole:used] * running[low:high][::-1])
    return result


def _running_sums(values: NDArray[Any]) -> NDArray[Any]:
    """Running sums by rows: few roundings, and the same additions on every machine."""
    rows = -(-len(values) // _ROW)
    if rows == 1:
        return np.cumsum(values)
    padded = np.zeros(rows * _ROW)
    padded[: len(values)] = values
    table = np.cumsum(padded.reshape(rows, _ROW), axis=1)
    table[1:] += np.cumsum(table[:-1, -1])[:, None]
    return table.reshape(-1)


def tree_sum(values: NDArray[Any]) -> float:
    """The sum by halving: additions in an order that no library or processor chooses."""
    while len(values) > 1:
        half = len(values) // 2
        folded = values[:half] + values[half : 2 * half]
        if len(values) % 2:
            folded[-1] += values[-1]
        values = folded
    return float(values[0]) if len(values) else 0.0
