"""Joint arrangements for several tests at once: every sum, or random ones, and the minP step-down count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sealbench.crypto.digest import sha256_hex
from sealbench.crypto.stream import Stream
from sealbench.stats.sampling import Words
from sealbench.stats.values import DataError

Scores = list[list[list[int]]]  # [stratum][test][instance]
Row = NDArray[np.int64]  # one sum per arrangement
Sums = NDArray[np.int64]  # [test, arrangement]
_MOST = 1 << 61


@dataclass(frozen=True)
class Counts:
    """How many arrangements are at least as extreme, per test."""

    raw: list[int]
    adjusted: list[int]
    single_step: list[int]


def all_sums(scores: Scores, sizes: Sequence[int], tests: int) -> Iterator[Row]:
    """Test by test, class 1's sum for every arrangement, always in the same order of arrangements."""
    _check_range(scores)
    for test in range(tests):
        yield _sums_of_one([stratum[test] for stratum in scores], sizes)


def _sums_of_one(strata: list[list[int]], sizes: Sequence[int]) -> Row:
    """From the sums of subsets of both halves of each stratum."""
    sums: Row = np.zeros(1, dtype=np.int64)
    for values, size1 in zip(strata, sizes, strict=True):
        half = len(values) // 2
        first, second = _by_size(values[:half]), _by_size(values[half:])
        parts = [
            _outer(first[taken], second[size1 - taken])
            for taken in range(len(first))
            if 0 <= size1 - taken < len(second)
        ]
        sums = _outer(sums, np.concatenate(parts))
    return sums


def _by_size(values: list[int]) -> list[Row]:
    """For each number of instances taken, the sums of all such subsets."""
    sizes: list[Row] = [np.zeros(1, dtype=np.int64)]
    for value in values:
        longer = [*sizes, np.zeros(0, dtype=np.int64)]
        for taken in range(len(sizes), 0, -1):
            longer[taken] = np.concatenate([longer[taken], sizes[taken - 1] + value])
        sizes = longer
    return sizes


def _outer(first: Row, second: Row) -> Row:
    return (first[:, None] + second[None, :]).reshape(-1)


def drawn_sums(scores: Scores, sizes: Sequence[int], draws: int, seed: str | None) -> Sums:
    """Class 1's sums for random arrangements from the SHAKE-256 stream, the same labels for all tests."""
    _check_range(scores)
    text = seed if seed is not None else sha256_hex(repr((scores, list(sizes))).encode("ascii"))
    words = Words(Stream("sealbench/v1/westfall-young", text, draws))
    sums: Sums = np.zeros((len(scores[0]), draws), dtype=np.int64)
    for rows, size1 in zip(scores, sizes, strict=True):
        needed = np.full(draws, size1, dtype=np.int64)
        count = len(rows[0])
        for index in range(count):
            taken = words.below(count - index, draws) < needed
            needed -= taken
            for test, row in enumerate(rows):
                sums[test] += taken * row[index]
    return sums


def _check_range(scores: Scores) -> None:
    if any(sum(map(abs, row)) >= _MOST for rows in scores for row in rows):
        raise DataError(
            "scores too finely divided for joint permutation", hint="round the scores, or use holm"
        )


def adjusted_counts(
    sums: Iterable[Row],
    observed: Sequence[int],
    means: Sequence[Fraction],
    alternative: str,
    *,
    add_observed: bool,
) -> Counts:
    """Raw, step-down and single-step counts.

    An arrangement's p-value in one test is how many arrangements are at least as extreme there; the smallest
    over the tests still in play is compared with the observed one.
    """
    ranks, own = [], []
    for row, seen, mean in zip(sums, observed, means, strict=True):
        extremes, threshold = _extremeness(row, seen, mean, alternative)
        if add_observed:
            extremes = np.append(extremes, threshold)
        ordered = np.sort(extremes)
        ranks.append((len(ordered) - np.searchsorted(ordered, extremes, side="left")).astype(np.int32))
        own.append(int(len(ordered) - np.searchsorted(ordered, threshold, side="left")))
    smallest: NDArray[np.int32] = ranks[0]
    for other in ranks[1:]:
        smallest = np.minimum(smallest, other)
    single = [int((smallest <= value).sum()) for value in own]
    order = sorted(range(len(own)), key=lambda test: own[test])
    at_place = [0] * len(own)
    lowest = ranks[order[-1]]
    for place in range(len(order) - 1, -1, -1):
        lowest = np.minimum(lowest, ranks[order[place]])
        at_place[place] = int((lowest <= own[order[place]]).sum())
    adjusted, running = [0] * len(own), 0
    for place, test in enumerate(order):
        running = max(running, at_place[place])
        adjusted[test] = running
    return Counts(own, adjusted, single)


def _extremeness(
    row: NDArray[np.int64], seen: int, mean: Fraction, alternative: str
) -> tuple[NDArray[np.int64], int]:
    """Sums on a scale where larger is more extreme, and the observed one on it."""
    if alternative == "greater":
        return row, seen
    if alternative == "less":
        return -row, -seen
    # |sum - mean| in whole numbers; sums are small enough for the product (checked by range and size).
    scaled, centre = mean.denominator, mean.numerator
    largest = max(abs(int(row.max())), abs(int(row.min())), abs(seen))
    if largest * scaled + abs(centre) >= _MOST:
        raise DataError(
            "scores too finely divided for joint permutation", hint="round the scores, or use holm"
        )
    return np.abs(row * scaled - centre), abs(seen * scaled - centre)
