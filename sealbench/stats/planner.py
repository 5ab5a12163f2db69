"""Choosing the tier: the loops of the engine run without arrays, counting what they would do.

Work is counted in elementary additions, never in clock time, so that every machine chooses the same tier
for the same data and a verifier meets the same method. A time limit in seconds is a fixed number of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from sealbench.stats.limbs_size import limbs_needed
from sealbench.stats.scores import Stratum
from sealbench.stats.splitting import chosen_costs, swap_view

ADDITIONS_PER_SECOND = 1_000_000_000  # what one core of an ordinary machine does with arrays
DEFAULT_TIME_LIMIT = 2.0
_CALL = 600  # additions one array operation costs before it starts
_DICTIONARY = 100  # additions one dictionary update costs
MEMORY_LIMIT = 1_400_000_000  # bytes of tables, well below the promised 2 GB
_MOST_BITS = 1800  # float64 holds 2^-900 to 2^1000 with the scale split off
_MOST_BITS_UNSCALED = 980
_MOST_BINARY = 50_000  # instances
_MOST_PACKED = 2_000_000  # bytes of a product of distributions


@dataclass(frozen=True)
class Cost:
    """What one method would need: additions and bytes. `possible` is False beyond any limit."""

    work: int
    memory: int
    possible: bool = True


IMPOSSIBLE = Cost(0, 0, False)


def limit_in_additions(time_limit: float | None) -> int | None:
    """Seconds as a fixed number of additions; None for no limit."""
    return None if time_limit is None else int(time_limit * ADDITIONS_PER_SECOND)


def binary_scores(strata: Sequence[Stratum]) -> bool:
    """Whether all scores are 0 or 1 and there are not too many of them for sums over tables."""
    items = sum(len(stratum.scores) for stratum in strata)
    return items <= _MOST_BINARY and all(stratum.scores[-1] == 1 for stratum in strata)


def binary_exact(strata: Sequence[Stratum]) -> bool:
    """Whether exact hypergeometric sums do: one table always, several while their product is short."""
    if not binary_scores(strata):
        return False
    entries = sum(min(stratum.size1, len(stratum.scores) - stratum.size1) for stratum in strata)
    digits = sum(len(stratum.scores) for stratum in strata) // 8  # bytes, as C(n, m) < 2^n
    return len(strata) == 1 or entries * digits <= _MOST_PACKED


def dense_cost(strata: Sequence[Stratum], deficit: int, *, exact: bool, limit: int | None) -> Cost:
    """The cost of tail.count_exact or tail.count_float, or impossible within `limit` additions."""
    if deficit < 0:
        return Cost(0, 0)
    meter = _Meter(exact, limit)
    length, bits = 1, 1
    for stratum in strata[:-1]:
        costs, choose = chosen_costs(stratum)
        lengths = meter.side(costs, [deficit] * (choose + 1), length, bits, final_only=True)
        if lengths is None:
            return IMPOSSIBLE
        length = max(1, lengths[choose])
        bits += comb(len(costs), choose).bit_length()
    swap = swap_view(strata[-1], deficit)
    high = meter.side(swap.high, swap.width, length, bits)
    low = meter.side(swap.low, swap.width, 1, 1) if high else None
    if high is None or low is None:
        return IMPOSSIBLE
    for swaps, (first, second) in enumerate(zip(high, low, strict=True)):
        size = limbs_needed(len(swap.high), swaps, bits) if exact else 1
        # 9 products of 16-bit pieces for each pair of limbs, by fast matrix routines
        meter.work += _CALL * 4 + (first + second) * size * 8 + min(first, second) * size * size
    if limit is not None and meter.work > limit:
        return IMPOSSIBLE
    return Cost(meter.work, meter.memory) if meter.memory <= MEMORY_LIMIT else IMPOSSIBLE


def float_scale(strata: Sequence[Stratum]) -> int | None:
    """The power of two that keeps all counts within float64, None if there is none."""
    bits = sum(stratum.arrangements.bit_length() for stratum in strata)
    size = len(strata[-1].scores)
    rest = comb(size - strata[-1].size1, min(strata[-1].size1, (size - strata[-1].size1) // 2)).bit_length()
    if bits > _MOST_BITS or rest > _MOST_BITS_UNSCALED:
        return None
    return max(0, bits - _MOST_BITS_UNSCALED)


def sparse_cost(strata: Sequence[Stratum], deficit: int, limit: int | None) -> Cost:
    """An upper bound on the cost of sparse.count_sparse."""
    if deficit < 0:
        return Cost(0, 0)
    work, entries = 0, 1
    most = min(MEMORY_LIMIT // 4, limit) if limit is not None else MEMORY_LIMIT // 4
    for stratum in strata[:-1]:
        costs, choose = chosen_costs(stratum)
        work += _dictionary_side(len(costs), [deficit] * (choose + 1), entries, most)
        entries = min(entries * stratum.arrangements, deficit + 1)
        if work > most:
            return IMPOSSIBLE
    swap = swap_view(strata[-1], deficit)
    work += _dictionary_side(len(swap.high), swap.width, entries, most)
    work += _dictionary_side(len(swap.low), swap.width, 1, most)
    memory = 4 * work  # about 200 bytes per entry, and every entry was written at least once
    return Cost(work, memory) if work <= most and memory <= MEMORY_LIMIT else IMPOSSIBLE


def _dictionary_side(items: int, width: list[int], entries: int, most: int) -> int:
    work = 0
    for item in range(items):
        for chosen in range(min(item, len(width) - 2), -1, -1):
            work += _DICTIONARY * min(entries * comb(item, chosen), width[chosen] + 1)
        if work > most:
            break
    return work


class _Meter:
    """Adds up the work and the memory of one-sided tables."""

    def __init__(self, exact: bool, limit: int | None) -> None:
        self.exact = exact
        self.limit = limit
        self.work = 0
        self.memory = 0

    def side(
        self, costs: list[int], width: list[int], start: int, bits: int, final_only: bool = False
    ) -> list[int] | None:
        """Lengths of the tables of tail._side, None as soon as a limit is passed."""
        last = len(width) - 1
        lengths = [0] * (last + 1)
        lengths[0] = min(start, width[0] + 1)
        sizes = [limbs_needed(len(costs), chosen, bits) if self.exact else 1 for chosen in range(last + 1)]
        for item, cost in enumerate(costs):
            least = max(0, last - len(costs) + item) if final_only else 0
            for chosen in range(min(item, last - 1), least - 1, -1):
                shift = cost - costs[chosen]
                length = min(lengths[chosen], width[chosen + 1] - shift + 1)
                if length <= 0:
                    continue
                lengths[chosen + 1] = max(lengths[chosen + 1], shift + length)
                size = limbs_needed(item + 1, chosen, bits) if self.exact else 1
                self.work += (length + _CALL) * size
            if self.limit is not None and self.work > self.limit:
                return None
        # Arrays are allocated up to twice as long as needed while they grow.
        allocated = [min(2 * length, most + 1) for length, most in zip(lengths, width, strict=True)]
        self.memory += sum(8 * length * size for length, size in zip(allocated, sizes, strict=True))
        return None if self.memory > MEMORY_LIMIT else lengths
