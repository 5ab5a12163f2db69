"""Random draws that anyone can repeat: a SHAKE-256 stream with rejection sampling.

Python's `random` is not used anywhere a result depends on: its methods change between versions.
Source: docs/spec/derivations.md. SHAKE-256 is FIPS 202.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

from sealbench.crypto.digest import Part, join_parts

T = TypeVar("T")
_FIRST_BLOCK = 1088  # eight SHAKE-256 rates; most items need less


class Stream:
    """The bytes of SHAKE-256(length-prefixed label and parts), read in order.

    The same label and parts give the same draws on every machine and Python version.
    """

    def __init__(self, label: str, *parts: Part) -> None:
        self._shake = hashlib.shake_256(join_parts(label, *parts))
        self._buffer = b""
        self._position = 0

    def read(self, size: int) -> bytes:
        """The next `size` bytes of the stream."""
        end = self._position + size
        if end > len(self._buffer):
            # hashlib squeezes from the start every time: doubling keeps the whole cost linear. Many streams
            # are read once and whole, so the first time takes no more than is asked for.
            self._buffer = self._shake.digest(max(_FIRST_BLOCK, 2 * end if self._buffer else end))
        data = self._buffer[self._position : end]
        self._position = end
        return data

    def below(self, bound: int) -> int:
        """A uniform integer in [0, bound): big-endian, surplus high bits cleared, too large rejected.

        `bound` 1 reads nothing. Raises ValueError for a bound below 1.
        """
        if bound < 1:
            raise ValueError("the bound of a draw must be at least 1")
        bits = (bound - 1).bit_length()
        if bits == 0:
            return 0
        size = (bits + 7) // 8
        mask = (1 << bits) - 1
        while True:
            value = int.from_bytes(self.read(size), "big") & mask
            if value < bound:
                return value

    def between(self, low: int, high: int) -> int:
        """A uniform integer in [low, high], both ends included."""
        return low + self.below(high - low + 1)

    def choice(self, values: Sequence[T]) -> T:
        """One of the values, each equally likely."""
        return values[self.below(len(values))]

    def shuffle(self, values: list[T]) -> None:
        """Fisher–Yates in place, from the last position down; element i swaps with below(i + 1)."""
        for last in range(len(values) - 1, 0, -1):
            other = self.below(last + 1)
            values[last], values[other] = values[other], values[last]

    def sample(self, low: int, high: int, count: int) -> list[int]:
        """`count` different integers of [low, high], in drawing order; repeats are drawn again."""
        if count > high - low + 1:
            raise ValueError("more different values wanted than the range holds")
        seen: dict[int, None] = {}
        while len(seen) < count:
            seen.setdefault(self.between(low, high))
        return list(seen)
