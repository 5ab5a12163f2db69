"""The draws of `primality`: numbers of a class, kind and size, and how many different ones there are.

Matched draws share one distribution of size and residue mod 30 between the classes; see `primality.py`.
Each draw of a number tries a bounded number of candidates and then redraws window and residue, so that
small ranges without a fitting number cannot hang.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import gcd, isqrt, log

from sealbench.crypto.stream import Stream
from sealbench.tasks.arithmetic import is_prime, least_prime_factor_below, primes_below
from sealbench.tasks.base import Json
from sealbench.tasks.carmichael import draw_carmichael, room_for_carmichaels
from sealbench.tasks.parameters import integers_of

MODULUS = 30
RESIDUES = tuple(value for value in range(MODULUS) if gcd(value, MODULUS) == 1)
_WINDOWS = 64
_SMALLEST_WINDOW = 3000
_EXACT_ROOM_DIGITS = 5


def draw_prime(kind: str, digits: int, parameters: Mapping[str, Json], stream: Stream) -> int:
    """A (probable) prime of `digits` digits, matched to composites of this kind unless natural."""
    low, high = 10 ** (digits - 1), 10**digits - 1
    if parameters["sampling"] == "natural":
        return _uniform_prime(low, high, stream)
    while True:
        if kind == "carmichael":
            partner, _ = draw_carmichael(digits, MODULUS, stream)
            window, residue = _window_around(partner, low, high), partner % MODULUS
        else:
            window, residue = _draw_window(low, high, stream), stream.choice(RESIDUES)
        number = _prime_in(window, residue, digits, stream)
        if number is not None:
            return number


def draw_composite(kind: str, digits: int, parameters: Mapping[str, Json], stream: Stream) -> tuple[int, int]:
    """A composite of this kind and size, and its least prime factor."""
    low, high = 10 ** (digits - 1), 10**digits - 1
    matched = parameters["sampling"] == "matched"
    if kind == "carmichael":
        return draw_carmichael(digits, MODULUS if matched else 1, stream)
    while True:
        window = _draw_window(low, high, stream) if matched else (low, high)
        residue = stream.choice(RESIDUES) if matched else None
        if kind == "semiprime":
            found = _semiprime_in(window, residue, digits, stream)
        else:
            found = _small_factor_in(window, residue, integers_of(parameters, "least_factor"), stream)
        if found is not None:
            return found


def _draw_window(low: int, high: int, stream: Stream) -> tuple[int, int]:
    """One of up to 64 equal windows of [low, high], each of at least 3000 numbers if there are so many."""
    width = high - low + 1
    count = max(1, min(_WINDOWS, width // _SMALLEST_WINDOW))
    index = stream.below(count)
    return low + width * index // count, low + width * (index + 1) // count - 1


def _window_around(number: int, low: int, high: int) -> tuple[int, int]:
    reach = max((high - low) // (2 * _WINDOWS), _SMALLEST_WINDOW // 2)
    return max(low, number - reach), min(high, number + reach)


def _in_residue(low: int, high: int, residue: int | None, stream: Stream) -> int | None:
    """A uniform integer of [low, high] with this residue mod 30 (any if None); None if there is none."""
    if residue is None:
        return stream.between(low, high) if low <= high else None
    first, last = -((residue - low) // MODULUS), (high - residue) // MODULUS
    return MODULUS * stream.between(first, last) + residue if first <= last else None


def _prime_in(window: tuple[int, int], residue: int, digits: int, stream: Stream) -> int | None:
    for _ in range(60 * digits):
        number = _in_residue(*window, residue, stream)
        if number is not None and is_prime(number):
            return number
    return None


def _uniform_prime(low: int, high: int, stream: Stream) -> int:
    while True:
        number = stream.between(low, high)
        if is_prime(number):
            return number


def _semiprime_in(
    window: tuple[int, int], residue: int | None, digits: int, stream: Stream
) -> tuple[int, int] | None:
    """A product p·q in the window with p < q < 3p/2, and p."""
    low, high = window
    for _ in range(60 * digits):
        p = stream.between(isqrt(2 * low // 3), isqrt(high)) | 1
        if not is_prime(p):
            continue
        wanted = None if residue is None else _quotient_residue(residue, p)
        if residue is not None and wanted is None:
            continue
        q = _in_residue(max(p + 1, -(-low // p)), min((3 * p - 1) // 2, high // p), wanted, stream)
        if q is not None and is_prime(q):
            return p * q, p
    return None


def _quotient_residue(residue: int, factor: int) -> int | None:
    """The residue mod 30 of a cofactor, so that factor times cofactor has the wanted residue."""
    if gcd(factor, MODULUS) != 1:
        return None
    return residue * pow(factor, -1, MODULUS) % MODULUS


def _small_factor_in(
    window: tuple[int, int], residue: int | None, least: list[int], stream: Stream
) -> tuple[int, int] | None:
    """A composite in the window, and its least prime factor: a uniform prime of the range."""
    p = stream.choice(_primes_of(least[0], least[1]))
    wanted = None if residue is None else _quotient_residue(residue, p)
    if residue is not None and wanted is None:
        return None
    for _ in range(200):
        cofactor = _in_residue(max(p, -(-window[0] // p)), window[1] // p, wanted, stream)
        if cofactor is None:
            return None
        if least_prime_factor_below(cofactor, p) is None:
            return p * cofactor, p
    return None


@cache
def _primes_of(first: int, last: int) -> tuple[int, ...]:
    return tuple(prime for prime in primes_below(last + 1) if prime >= first)


def room(kind: str, digits: int, parameters: Mapping[str, Json]) -> int:
    """How many numbers a kind (or `prime`) has at this size: exact to 5 digits, then a lower bound."""
    modulus = MODULUS if parameters["sampling"] == "matched" else 1
    low, high = integers_of(parameters, "least_factor")
    if kind == "carmichael":
        return room_for_carmichaels(digits, modulus)
    if digits <= _EXACT_ROOM_DIGITS:
        return _counted_room(kind, digits, modulus, low, high)
    width = 9 * 10 ** (digits - 1)
    if kind == "prime":
        return int(0.9 * width / log(10**digits))
    if kind == "semiprime":
        # The pairs p < q < 3p/2 have density 2 ln(3/2) / (ln n)²; a third is left off to be safe.
        return int(0.53 * width / log(10**digits) ** 2)
    share = 0.0
    for p in _primes_of(low, high):
        remaining = 1.0
        for smaller in primes_below(p):
            remaining *= 1 - 1 / smaller
        # A cofactor is free of factors below p; the sieve's error stays well within a half.
        share += remaining / p
    return int(0.5 * width * share)


@cache
def _counted_room(kind: str, digits: int, modulus: int, low: int, high: int) -> int:
    count = 0
    for number in range(10 ** (digits - 1), 10**digits):
        if gcd(number, modulus) != 1:
            continue
        least = least_prime_factor_below(number, isqrt(number) + 1)
        if kind == "prime":
            count += least is None
        elif least is not None and kind == "small_factor":
            count += low <= least <= high
        elif least is not None:
            other = number // least
            count += least < other and 2 * other < 3 * least and is_prime(other)
    return count
