"""Bitcoin's difficulty arithmetic: compact bits both ways, retargeting, work in hashes.

Source: Bitcoin Core `arith_uint256::SetCompact`, `GetCompact`, `CalculateNextWorkRequired` and
`GetBlockProof`. A target is an integer below 2^256; a header meets it if sha256d(header), read as a
little-endian integer, is not above it.
"""

from __future__ import annotations

INTERVAL = 2016  # blocks between two retargets
TIMESPAN = 1_209_600  # seconds they should take: two weeks


def expand_bits(bits: int) -> int:
    """The target that compact `bits` stand for; 0 (which no hash meets) if negative or above 2^256."""
    exponent, mantissa = bits >> 24, bits & 0x7FFFFF
    if bits & 0x800000:
        return 0
    target = mantissa >> 8 * (3 - exponent) if exponent <= 3 else mantissa << 8 * (exponent - 3)
    return target if target < 1 << 256 else 0


def compact_bits(target: int) -> int:
    """The compact form of a target, rounded down as Bitcoin rounds it (32 bits)."""
    size = (target.bit_length() + 7) // 8
    mantissa = target << 8 * (3 - size) if size <= 3 else target >> 8 * (size - 3)
    if mantissa & 0x800000:  # the top bit of the mantissa is a sign
        mantissa >>= 8
        size += 1
    return size << 24 | mantissa


def retarget(target: int, first_time: int, last_time: int, limit: int) -> int:
    """The target of the next period.

    Parameters
    ----------
    target : target of the period that ends.
    first_time, last_time : times of its first and last header, Unix seconds.
    limit : the network's easiest target.
    """
    elapsed = min(max(last_time - first_time, TIMESPAN // 4), TIMESPAN * 4)
    return expand_bits(compact_bits(min(limit, target * elapsed // TIMESPAN)))


def easiest_target(target: int, periods: int, limit: int) -> int:
    """The easiest target that `periods` retargets (each at most fourfold) can reach from `target`."""
    steps = min(periods, 128)  # 4^128 is past every limit
    return min(limit, target << 2 * steps)


def work(target: int) -> int:
    """Expected number of hashes until one meets `target`."""
    return (1 << 256) // (target + 1)
