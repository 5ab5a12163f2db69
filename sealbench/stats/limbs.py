"""Long unsigned integers in numpy: an array of counts as several int64 arrays, base 2^48.

The 15 spare bits of each limb allow 14 doublings before a carry. Sums of products go through float64
matrix products of 16-bit pieces in blocks so short that every sum stays below 2^53: exact in any order,
so the result does not depend on threads or on the linear-algebra library.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

Limbs = list[NDArray[np.int64]]  # least significant first, all of one length
BITS = 48
DOUBLINGS = 14
_MASK = (1 << BITS) - 1
_HALF = BITS // 2
_HALF_MASK = (1 << _HALF) - 1
_BLOCK = 1 << 16  # 2^32 per product times 2^16 terms = 2^48, below 2^53


def carry(limbs: Limbs) -> None:
    """Bring every limb below 2^48 in place, appending a limb where the top one overflows."""
    for index in range(len(limbs) - 1):
        limbs[index + 1] += limbs[index] >> BITS
        limbs[index] &= _MASK
    top = limbs[-1]
    if top.size and int(top.max()) >> BITS:
        limbs.append(top >> BITS)
        top &= _MASK


def cumulative(limbs: Limbs) -> Limbs:
    """Running sums, normalised; halves of 24 bits, so that no running sum overflows below 2^39 entries."""
    out: Limbs = []
    over: NDArray[np.int64] | None = None
    for limb in limbs:
        low = np.cumsum(limb & _HALF_MASK)
        high = np.cumsum(limb >> _HALF)
        if over is not None:
            low += over
        high += low >> _HALF
        low &= _HALF_MASK
        out.append(low | ((high & _HALF_MASK) << _HALF))
        over = high >> _HALF
    while over is not None and over.any():
        out.append(over & _MASK)
        over = over >> BITS
    return out


def entry(limbs: Limbs, index: int) -> int:
    """One entry as a Python integer."""
    return sum(int(limb[index]) << (BITS * position) for position, limb in enumerate(limbs))


def total(limbs: Limbs, end: int) -> int:
    """The sum of the first `end` entries."""
    result = 0
    for position, limb in enumerate(limbs):
        part = limb[:end]
        value = int((part & _HALF_MASK).sum()) + (int((part >> _HALF).sum()) << _HALF)
        result += value << (BITS * position)
    return result


def dot(first: Limbs, second: Limbs) -> int:
    """The exact sum of products of two normalised arrays of equal length."""
    by_shift: defaultdict[int, int] = defaultdict(int)
    for start in range(0, len(first[0]), _BLOCK):
        stop = start + _BLOCK
        products = _pieces(first, start, stop) @ _pieces(second, start, stop).T
        for (row, column), value in np.ndenumerate(products):
            by_shift[row + column] += int(value)
    return sum(value << (16 * shift) for shift, value in by_shift.items())


def _pieces(limbs: Limbs, start: int, stop: int) -> NDArray[np.float64]:
    length = len(limbs[0][start:stop])
    pieces = np.empty((3 * len(limbs), length))
    for position, limb in enumerate(limbs):
        part = limb[start:stop]
        pieces[3 * position] = part & 0xFFFF
        pieces[3 * position + 1] = (part >> 16) & 0xFFFF
        pieces[3 * position + 2] = part >> 32
    return pieces
