"""How many limbs a count can need, without numpy and without computing the count."""

from __future__ import annotations

from functools import cache

BITS = 48


@cache  # the planner asks for the same few ten thousand again for every test of a report
def limbs_needed(items: int, chosen: int, extra_bits: int) -> int:
    """Limbs of 48 bits for C(items, chosen) · 2^extra_bits, or a little more.

    C(n, k) is below 2^n and below (3n/k)^k.
    """
    few = min(chosen, items - chosen)
    bits = min(items, few * (3 * items // few).bit_length()) if few > 0 else 0
    return 1 + (bits + extra_bits) // BITS
