"""The draws of `subset_sum`, and the certificates of what was drawn; see `subset_sum.py` for the plan.

Subsets are counted on sorted lists: with bisection for pairs, by enumeration for larger k.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from sealbench.crypto.stream import Stream
from sealbench.errors import ConfigurationError
from sealbench.tasks.base import Json

_MOST_TARGETS = 300
_TRIES_PER_TARGET = 300


@dataclass(frozen=True)
class Shape:
    """What lists are wanted: k of `length` different numbers of [low, high], index range of the witness."""

    k: int
    length: int
    low: int
    high: int
    first: int
    last: int
    near: int
    step: int


def draw_list(shape: Shape, fits: bool, stream: Stream) -> tuple[list[int], int]:
    """A list and a target, with a first fitting subset in the index range, or with none."""
    for _ in range(_MOST_TARGETS):
        target = _draw_target(shape, stream)
        # The reference list fixes how many near misses this target comes with, whatever the class.
        reference = _draw_candidate(shape, target, None, stream)
        if reference is None:
            continue
        wanted = count_near(reference, target, shape.k, shape.near)
        for _ in range(_TRIES_PER_TARGET):
            numbers = _draw_candidate(shape, target, fits, stream)
            if numbers is None or count_near(numbers, target, shape.k, shape.near) != wanted:
                continue
            index = _first_fit(numbers, target, shape.k)
            if (index is None) if not fits else (index is not None and shape.first <= index <= shape.last):
                return numbers, target
    raise ConfigurationError(
        f"subset_sum: no list of {shape.length} numbers from {shape.low} to {shape.high} found "
        f"with its first fitting subset at {shape.first}..{shape.last}",
        hint="widen subset_sum.values or subset_sum.witness",
    )


def _draw_target(shape: Shape, stream: Stream) -> int:
    """A sum of k different numbers of the range, not so far out that a planted miss would leave it."""
    margin = 2 * shape.step if shape.high - shape.low > 8 * shape.step else shape.step // 2
    while True:
        target = sum(stream.sample(shape.low, shape.high, shape.k))
        if shape.k * shape.low + margin <= target <= shape.k * shape.high - margin:
            return target


def _draw_candidate(shape: Shape, target: int, fits: bool | None, stream: Stream) -> list[int] | None:
    """One list: planted subset, near miss, and the rest; None if the plants do not fit together.

    `fits` True plants a fitting subset, False one that misses by a multiple of the step, None nothing.
    """
    index = stream.between(shape.first, shape.last)
    side = 1 if stream.below(2) else -1
    miss = 0 if fits else side * shape.step * stream.between(1, 2)
    planted = _numbers_of_sum(shape, target + miss, stream)
    distance = stream.between(1, shape.near) * (1 if stream.below(2) else -1)
    almost = _numbers_of_sum(shape, target + distance, stream)
    if planted is None or almost is None:
        return None
    chosen = dict.fromkeys([*planted, *almost])
    if len(chosen) < 2 * shape.k:
        return None
    while len(chosen) < shape.length:
        chosen.setdefault(stream.between(shape.low, shape.high))
    values = list(chosen)
    rest = values[shape.k :]
    stream.shuffle(rest)
    if fits is None:
        values = rest + values[: shape.k]
        stream.shuffle(values)
        return values
    places = positions_of(index, shape.length, shape.k)
    result = list(rest)
    for place, value in zip(places, planted, strict=True):
        result.insert(place, value)
    return result


def _numbers_of_sum(shape: Shape, total: int, stream: Stream) -> list[int] | None:
    """k different numbers of the range with this sum: k - 1 drawn, the last one forced, then shuffled."""
    for _ in range(50):
        numbers = [stream.between(shape.low, shape.high) for _ in range(shape.k - 1)]
        numbers.append(total - sum(numbers))
        if shape.low <= numbers[-1] <= shape.high and len(set(numbers)) == shape.k:
            stream.shuffle(numbers)
            return numbers
    return None


def positions_of(index: int, length: int, k: int) -> tuple[int, ...]:
    """The zero-based positions of the subset at this 1-based index of lexicographic order."""
    for place, positions in enumerate(combinations(range(length), k), 1):
        if place == index:
            return positions
    raise ValueError("the index lies beyond the last subset")


def count_near(numbers: Sequence[int], target: int, k: int, near: int) -> int:
    """How many k-subsets miss the target by 1 to `near`."""
    if k > 2:
        sums = map(sum, combinations(numbers, k))
        return sum(1 for total in sums if 0 < abs(total - target) <= near)
    ordered = sorted(numbers)
    count = 0
    for place, value in enumerate(ordered):
        rest = target - value
        below = bisect_left(ordered, rest - near, place + 1)
        above = bisect_right(ordered, rest + near, below)
        count += above - below
        if above > below:
            fitting = bisect_left(ordered, rest, below, above)
            count -= fitting < above and ordered[fitting] == rest
    return count


def _first_fit(numbers: Sequence[int], target: int, k: int) -> int | None:
    """The 1-based index of the first fitting subset in lexicographic order, or None."""
    if k == 2 and not _has_pair(numbers, target):
        return None
    return next((i for i, total in enumerate(map(sum, combinations(numbers, k)), 1) if total == target), None)


def _has_pair(numbers: Sequence[int], target: int) -> bool:
    present = set(numbers)
    return any(target - value in present and target != 2 * value for value in numbers)


def witness(numbers: Sequence[int], target: int, k: int) -> dict[str, Json]:
    """The first fitting subset: its 1-based positions, its numbers, its index in lexicographic order."""
    for index, positions in enumerate(combinations(range(len(numbers)), k), 1):
        if sum(numbers[place] for place in positions) == target:
            return {
                "type": "witness",
                "positions": [place + 1 for place in positions],
                "numbers": [numbers[place] for place in positions],
                "index": index,
            }
    raise ValueError("no subset fits")


def refutation(numbers: Sequence[int], target: int, k: int) -> dict[str, Json]:
    """The argument that no subset fits: a sweep of two pointers for pairs, else a meet in the middle."""
    return _sweep(numbers, target) if k == 2 else _meeting(numbers, k)


def _sweep(numbers: Sequence[int], target: int) -> dict[str, Json]:
    """One letter a move on the sorted list: `u` the low pointer goes up, `d` the high one goes down."""
    ordered = sorted(numbers)
    low, high = 0, len(ordered) - 1
    moves: list[str] = []
    while low < high:
        if ordered[low] + ordered[high] < target:
            moves.append("u")
            low += 1
        else:
            moves.append("d")
            high -= 1
    return {"type": "two_pointers", "moves": "".join(moves)}


def _meeting(numbers: Sequence[int], k: int) -> dict[str, Json]:
    """The sums of all subsets of both half sizes, sorted, as their counts and one SHA-256 of them."""
    halves = (k // 2, k - k // 2)
    sums = [sorted(_sums(numbers, size)) for size in halves]
    text = "\n".join(",".join(str(total) for total in half) for half in sums)
    return {
        "type": "meet_in_the_middle",
        "sizes": list(halves),
        "counts": [len(half) for half in sums],
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }


def _sums(numbers: Sequence[int], size: int) -> Iterator[int]:
    return map(sum, combinations(numbers, size))
