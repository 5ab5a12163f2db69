"""An independent way to the whole distribution: one Python integer holds all counts, packed side by side.

Adding an instance is a shift by its score; nothing of the package's engine is used. Slow and plain.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb, lcm, prod

Pairs = Sequence[tuple[Sequence[Fraction], Sequence[Fraction]]]


class PackedOracle:
    """The permutation distribution of class 1's sum over strata."""

    def __init__(self, pairs: Pairs) -> None:
        values = [value for one, zero in pairs for value in (*one, *zero)]
        self.scale = lcm(*(value.denominator for value in values)) if values else 1
        self.total = prod(comb(len(one) + len(zero), len(one)) for one, zero in pairs)
        self.width = self.total.bit_length() + 1
        self.offset = 0
        self.packed = 1
        for one, zero in pairs:
            scores = [int(value * self.scale) for value in (*one, *zero)]
            low = min(scores, default=0)
            self.offset += low * len(one)
            by_size = [1] + [0] * len(one)
            for score in scores:
                for size in range(len(one), 0, -1):
                    by_size[size] += by_size[size - 1] << (self.width * (score - low))
            self.packed *= by_size[len(one)]
        self.observed = sum(int(value * self.scale) for one, _ in pairs for value in one)
        self.mean = sum(
            (
                Fraction(len(one)) * sum((*one, *zero), Fraction(0)) * self.scale / (len(one) + len(zero))
                for one, zero in pairs
                if one or zero
            ),
            Fraction(0),
        )

    def counts(self) -> dict[int, int]:
        """Sum to number of arrangements."""
        mask, rest, found, place = (1 << self.width) - 1, self.packed, {}, self.offset
        while rest:
            if rest & mask:
                found[place] = rest & mask
            rest >>= self.width
            place += 1
        return found

    def p(self, alternative: str, two_sided: str = "statistic") -> Fraction:
        """The p-value by adding up the distribution."""
        counts = self.counts()
        greater = sum(count for value, count in counts.items() if value >= self.observed)
        less = sum(count for value, count in counts.items() if value <= self.observed)
        if alternative == "greater":
            return Fraction(greater, self.total)
        if alternative == "less":
            return Fraction(less, self.total)
        if two_sided == "double":
            return min(Fraction(1), Fraction(2 * min(greater, less), self.total))
        distance = abs(self.observed - self.mean)
        far = sum(count for value, count in counts.items() if abs(value - self.mean) >= distance)
        return Fraction(far, self.total)
