"""Monte Carlo: random arrangements of the labels from the SHAKE-256 stream, the same on every machine.

Each stratum's labels are drawn by selection sampling: walking through the instances, each is taken with
probability (still needed)/(still left), for all draws at once. Uniform integers come from 32-bit words, with
the words that would bias a remainder drawn again.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sealbench.crypto.digest import sha256_hex
from sealbench.crypto.stream import Stream
from sealbench.stats.intervals import clopper_pearson
from sealbench.stats.pvalue import MONTE_CARLO, PValue
from sealbench.stats.scores import Design

DRAWS = 99_999
LABEL = "sealbench/v1/monte-carlo"
_PIECE = 40  # bits of a score per int64 accumulator: room for 2^23 instances
_WORDS = 1 << 32


def estimate(hits: int, draws: int) -> PValue:
    """The estimate (hits+1)/(draws+1), never 0, with its 99% Clopper–Pearson interval.

    >>> str(estimate(0, 9999).value)
    '1/10000'
    """
    interval = clopper_pearson(hits, draws, level=Fraction(99, 100))
    value = Fraction(hits + 1, draws + 1)
    low, high = interval.low or Fraction(0), interval.high if interval.high is not None else Fraction(1)
    return PValue(value, MONTE_CARLO, min(low, value), max(high, value), hits, draws)


def design_seed(design: Design) -> str:
    """The default seed: a digest of the reduced design, so that nobody picks it."""
    parts = [f"{stratum.size1}:{','.join(map(hex, stratum.scores))}" for stratum in design.strata]
    return sha256_hex(";".join(parts).encode("ascii"))


def sample_tail(
    design: Design, at_least: int | None, at_most: int | None, *, draws: int = DRAWS, seed: str | None = None
) -> PValue:
    """Estimate P(S >= at_least or S <= at_most) over the arrangements of a design.

    Parameters
    ----------
    at_least, at_most : thresholds of the reduced sum; None leaves that tail out.
    draws : how many arrangements; seed : text, by default a digest of the design.
    """
    stream = Stream(LABEL, seed if seed is not None else design_seed(design), draws)
    words = Words(stream)
    largest = max((stratum.scores[-1] for stratum in design.strata), default=0)
    pieces = max(1, -(-largest.bit_length() // _PIECE))
    sums = np.zeros((pieces, draws), dtype=np.int64)
    for stratum in design.strata:
        needed = np.full(draws, stratum.size1, dtype=np.uint32)
        for index, score in enumerate(stratum.scores):
            taken = words.below(len(stratum.scores) - index, draws) < needed
            needed -= taken
            for piece in range(pieces):
                sums[piece] += taken * ((score >> (_PIECE * piece)) & ((1 << _PIECE) - 1))
    hit = np.zeros(draws, dtype=bool)
    if at_least is not None:
        hit |= ~_below(sums, at_least)
    if at_most is not None:
        hit |= _below(sums, at_most + 1)
    return estimate(int(hit.sum()), draws)


def _below(sums: NDArray[np.int64], threshold: int) -> NDArray[np.bool_]:
    """Whether the sums, given in pieces, are below a threshold."""
    if threshold <= 0:
        return np.zeros(sums.shape[1], dtype=bool)
    carried = [*sums.copy(), np.zeros(sums.shape[1], dtype=np.int64)]
    for piece in range(len(sums)):
        carried[piece + 1] += carried[piece] >> _PIECE
        carried[piece] &= (1 << _PIECE) - 1
    parts = [(threshold >> (_PIECE * piece)) & ((1 << _PIECE) - 1) for piece in range(len(sums))]
    parts.append(threshold >> (_PIECE * len(sums)))
    if parts[-1] >= 1 << 62:
        return np.ones(sums.shape[1], dtype=bool)
    below = np.zeros(sums.shape[1], dtype=bool)
    for part, limit in zip(carried, parts, strict=True):  # least significant first
        below = (part < limit) | ((part == limit) & below)
    return below


class Words:
    """Uniform integers for many draws at once, from 32-bit big-endian words of a stream."""

    def __init__(self, stream: Stream) -> None:
        # A stream squeezes from its start whenever it grows; a fresh one per step keeps memory small.
        self._key = stream.read(32)
        self._step = 0

    def below(self, bound: int, count: int) -> NDArray[np.uint32]:
        """`count` uniform integers in [0, bound)."""
        self._step += 1
        stream = Stream(LABEL, self._key, self._step)
        usable = _WORDS - _WORDS % bound
        values = np.frombuffer(stream.read(4 * count), dtype=">u4").astype(np.uint32)  # half as wide: faster
        biased = np.flatnonzero(values >= usable) if usable < _WORDS else np.zeros(0, dtype=np.int64)
        while biased.size:
            values[biased] = np.frombuffer(stream.read(4 * biased.size), dtype=">u4")
            biased = biased[values[biased] >= usable]
        return values % np.uint32(bound)


def bootstrap_rows(rows: Sequence[int], draws: int, seed: str) -> list[list[int]]:
    """For each draw, indices with replacement: `size` of them below `size` for each class size in `rows`.

    Returned flat per draw, classes one after the other.
    """
    stream = Stream("sealbench/v1/bootstrap", seed, draws)
    words = Words(stream)
    columns = [words.below(size, draws) for size in rows for _ in range(size)]
    return [list(map(int, row)) for row in np.stack(columns, axis=1)]
