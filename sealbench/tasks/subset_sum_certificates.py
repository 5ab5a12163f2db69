"""The separate checker of subset-sum certificates; it shares no code with the makers.

A witness must be the first one in lexicographic order of positions. That there is none is shown for
pairs by replaying a sweep of two pointers over the sorted list, each move of which rules out one number
for good, and for larger subsets by meeting in the middle: every sum of the smaller half size is looked
up among those of the larger one, and the hash says which sums were meant.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb

from sealbench.tasks.base import Json
from sealbench.tasks.certificates import fail, read_integer, read_integers, require_type

_MOST_SUBSETS = 200_000


def check_witness(numbers: Sequence[int], target: int, k: int, certificate: Mapping[str, Json]) -> None:
    """Show that a subset fits: positions, numbers, sum, and no fitting subset before its index."""
    _check_problem(numbers, k)
    require_type(certificate, "witness", ("positions", "numbers", "index"))
    positions = read_integers(certificate["positions"], "positions")
    named = read_integers(certificate["numbers"], "numbers")
    index = read_integer(certificate["index"], "index")
    if len(positions) != k or positions != sorted(set(positions)):
        fail(f"the witness does not name {k} ascending positions")
    if not 1 <= positions[0] <= positions[-1] <= len(numbers):
        fail("the witness names a position outside the list")
    if named != [numbers[place - 1] for place in positions]:
        fail("the witness's numbers do not stand at its positions")
    if sum(named) != target:
        fail(f"the witness's numbers add up to {sum(named)}, not to {target}")
    for place, subset in enumerate(combinations(range(1, len(numbers) + 1), k), 1):
        if list(subset) == positions:
            if place != index:
                fail(f"the witness's index is {place}, not {index}")
            return
        if sum(numbers[position - 1] for position in subset) == target:
            fail(f"an earlier subset, at index {place}, fits as well")


def check_refutation(numbers: Sequence[int], target: int, k: int, certificate: Mapping[str, Json]) -> None:
    """Show that no subset of k numbers adds up to the target."""
    _check_problem(numbers, k)
    if k == 2:
        _check_sweep(numbers, target, certificate)
    else:
        _check_meeting(numbers, target, k, certificate)


def _check_problem(numbers: Sequence[int], k: int) -> None:
    if not 2 <= k <= 5 or len(numbers) < k:
        fail(f"a list of {len(numbers)} numbers and subsets of {k} are no problem of this family")
    if comb(len(numbers), k) > _MOST_SUBSETS:
        fail(f"a list of {len(numbers)} numbers has more subsets than this family allows")
    if len(set(numbers)) != len(numbers):
        fail("a number stands twice in the list")


def _check_sweep(numbers: Sequence[int], target: int, certificate: Mapping[str, Json]) -> None:
    require_type(certificate, "two_pointers", ("moves",))
    moves = certificate["moves"]
    if not isinstance(moves, str) or len(moves) != len(numbers) - 1:
        fail(f"the sweep of {len(numbers)} numbers does not have {len(numbers) - 1} moves")
    ordered = sorted(numbers)
    low, high = 0, len(ordered) - 1
    for move in moves:
        total = ordered[low] + ordered[high]
        # Too small with the largest number left: the smallest is out for good; too large: the largest is.
        if move == "u" and total < target:
            low += 1
        elif move == "d" and total > target:
            high -= 1
        else:
            fail(f"the sweep's move {move!r} does not follow from {ordered[low]} + {ordered[high]}")


def _check_meeting(numbers: Sequence[int], target: int, k: int, certificate: Mapping[str, Json]) -> None:
    require_type(certificate, "meet_in_the_middle", ("sizes", "counts", "sha256"))
    sizes = [k // 2, k - k // 2]
    if read_integers(certificate["sizes"], "sizes") != sizes:
        fail(f"the half sizes of {k} are {sizes[0]} and {sizes[1]}")
    halves = [list(combinations(range(len(numbers)), size)) for size in sizes]
    sums = [sorted(sum(numbers[place] for place in subset) for subset in half) for half in halves]
    if read_integers(certificate["counts"], "counts") != [len(half) for half in sums]:
        fail("the counts of the half sums are wrong")
    text = "\n".join(",".join(str(total) for total in half) for half in sums)
    if certificate["sha256"] != hashlib.sha256(text.encode()).hexdigest():
        fail("the hash of the half sums is wrong")
    by_sum: dict[int, list[tuple[int, ...]]] = {}
    for subset in halves[1]:
        by_sum.setdefault(sum(numbers[place] for place in subset), []).append(subset)
    for subset in halves[0]:
        rest = target - sum(numbers[place] for place in subset)
        for other in by_sum.get(rest, ()):
            if not set(subset) & set(other):
                fail(f"a subset fits after all: positions {sorted(place + 1 for place in (*subset, *other))}")
