"""Carmichael numbers of a chosen size: composites that pass Fermat's test to every coprime base.

Up to 17 digits they come from a table of those with three prime factors, the least below 400, and of
Chernick's; from 18 digits on Chernick's numbers are plentiful enough to draw one near any size.

Sources: Pinch, "The Carmichael numbers up to 10^15" (1993), for the finite search by least prime
factor; Chernick (1939) for (6k+1)(12k+1)(18k+1).
"""

from __future__ import annotations

from functools import cache
from math import log

from sealbench.crypto.stream import Stream
from sealbench.tasks.arithmetic import is_prime, primes_below

LARGEST_TABLE_DIGITS = 17
_LARGEST_LEAST_FACTOR = 400


@cache
def table_of(digits: int, coprime_to: int) -> tuple[tuple[int, int], ...]:
    """(number, least factor) of all known ones of at most 17 digits coprime to `coprime_to`, ascending."""
    low, high = 10 ** (digits - 1), 10**digits
    found = {number: least for number, least in _three_factor_table() if low <= number < high}
    for k in range(_cube_root(low // 1296), _cube_root(high // 1296) + 2):
        number = chernick(k)
        if number is not None and low <= number < high:
            found[number] = 6 * k + 1
    return tuple((n, least) for n, least in sorted(found.items()) if _coprime(n, coprime_to))


def draw_carmichael(digits: int, coprime_to: int, stream: Stream) -> tuple[int, int]:
    """A Carmichael number of `digits` digits and its least prime factor."""
    if digits <= LARGEST_TABLE_DIGITS:
        return stream.choice(table_of(digits, coprime_to))
    low, high = 10 ** (digits - 1), 10**digits
    first, last = _cube_root(low // 1296), _cube_root(high // 1296) + 1
    while True:
        k = stream.between(first, last)
        number = chernick(k)
        if number is not None and low <= number < high and _coprime(number, coprime_to):
            return number, 6 * k + 1


def room_for_carmichaels(digits: int, coprime_to: int) -> int:
    """How many different ones `draw_carmichael` can give: exact to 17 digits, then a lower bound."""
    if digits <= LARGEST_TABLE_DIGITS:
        return len(table_of(digits, coprime_to))
    first, last = _cube_root(10 ** (digits - 1) // 1296), _cube_root(10**digits // 1296)
    # By the prime k-tuples conjecture a k gives three primes with probability 17 / ln(18k)³; half is taken.
    return int(8.5 * (last - first) / log(18 * last) ** 3)


def chernick(k: int) -> int | None:
    """(6k+1)(12k+1)(18k+1), a Carmichael number, or None unless all three factors are prime."""
    parts = (6 * k + 1, 12 * k + 1, 18 * k + 1)
    return parts[0] * parts[1] * parts[2] if k > 0 and all(is_prime(part) for part in parts) else None


@cache
def _three_factor_table() -> tuple[tuple[int, int], ...]:
    found = set()
    for p in primes_below(_LARGEST_LEAST_FACTOR)[1:]:
        for h in range(2, p):
            product = (h + p) * (p - 1)
            for d in range(1, h + p):
                if product % d or (-p * p - d) % h:
                    continue
                q = product // d + 1
                r = (p * q - 1) // h + 1
                if p < q < r and (q * r - 1) % (p - 1) == 0 and is_prime(q) and is_prime(r):
                    found.add((p * q * r, p))
    return tuple(sorted(found))


def _coprime(number: int, modulus: int) -> bool:
    return all(number % prime for prime in (2, 3, 5) if modulus % prime == 0)


def _cube_root(number: int) -> int:
    """The integer part of the cube root."""
    low, high = 0, 1 << (number.bit_length() // 3 + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**3 <= number else (low, middle - 1)
    return low
