"""Primes, factors and Pratt certificates in plain integers: the making side of `primality`.

Nothing here draws at random or asks another library, so the same number gives the same result on
every Python and machine, gmpy2 or not. The checking side is `certificates.py`; it shares no code
with this file on purpose.

Sources: Miller–Rabin with the bases proved sufficient by Jaeschke (1993) and by Sorenson and Webster
(2015); Brent's variant of Pollard's rho (1980); elliptic curves in Montgomery form with Suyama's
parameter (Montgomery 1987); Pratt (1975).
"""

from __future__ import annotations

from functools import cache
from math import gcd, isqrt

from sealbench.tasks.base import Json

MAX_SAFE_INTEGER = 2**53 - 1
TRIAL_BOUND = 1 << 16  # below it a certificate leaves primality to trial division
_SIEVED = 1000
_SECOND_STAGE = 80  # measured: fewest seconds for two factors of 20 digits
# (limit, bases): strong pseudoprimes to all of these first primes do not exist below the limit.
_PROVED_BASES = (
    (2_047, 1),
    (1_373_653, 2),
    (25_326_001, 3),
    (3_215_031_751, 4),
    (2_152_302_898_747, 5),
    (3_474_749_660_383, 6),
    (341_550_071_728_321, 7),
    (3_825_123_056_546_413_051, 9),
    (318_665_857_834_031_151_167_461, 12),
    (3_317_044_064_679_887_385_961_981, 13),
)
# Stage-1 bounds and numbers of curves: factors of about 10, 15, 20 and 25 digits.
_CURVE_PLAN = ((400, 12), (2_000, 30), (11_000, 110), (50_000, 400))


def pack(value: int) -> Json:
    """An integer as canonical JSON holds it: a decimal string beyond ±(2^53 - 1)."""
    return value if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER else str(value)


@cache
def primes_below(bound: int) -> tuple[int, ...]:
    """All primes below `bound`, by sieve."""
    flags = bytearray([1]) * max(bound, 2)
    flags[:2] = b"\0\0"
    for value in range(2, isqrt(max(bound, 2) - 1) + 1):
        if flags[value]:
            flags[value * value :: value] = bytes(len(range(value * value, len(flags), value)))
    return tuple(value for value in range(2, bound) if flags[value])


@cache
def _primorial() -> int:
    product = 1
    for prime in primes_below(_SIEVED):
        product *= prime
    return product


def is_prime(number: int) -> bool:
    """Whether the number is prime; proved below 3.3e24, beyond that only until a Pratt chain proves it."""
    if number < _SIEVED:
        return number in _small_primes()
    if gcd(number, _primorial()) != 1:
        return False
    if number < _SIEVED * _SIEVED:
        return True
    bases = next((count for limit, count in _PROVED_BASES if number < limit), 16)
    odd = number - 1
    twos = (odd & -odd).bit_length() - 1
    odd >>= twos
    return all(_is_strong_probable_prime(number, base, odd, twos) for base in primes_below(60)[:bases])


@cache
def _small_primes() -> frozenset[int]:
    return frozenset(primes_below(_SIEVED))


def _is_strong_probable_prime(number: int, base: int, odd: int, twos: int) -> bool:
    power = pow(base, odd, number)
    if power in (1, number - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False


def least_prime_factor_below(number: int, bound: int) -> int | None:
    """The least prime factor below `bound`, or None."""
    return next((prime for prime in primes_below(bound) if number % prime == 0), None)


def factorise(number: int) -> list[tuple[int, int]]:
    """The prime factors of a positive integer with their exponents, ascending; [] for 1."""
    found: dict[int, int] = {}
    if gcd(number, _primorial()) != 1:
        for prime in primes_below(_SIEVED):
            while number % prime == 0:
                number //= prime
                found[prime] = found.get(prime, 0) + 1
    pending = [number] if number > 1 else []
    while pending:
        part = pending.pop()
        if is_prime(part):
            found[part] = found.get(part, 0) + 1
        else:
            divisor = _find_divisor(part)
            pending += [divisor, part // divisor]
    return sorted(found.items())


def _find_divisor(number: int) -> int:
    """A proper divisor of a composite without factors below 1000."""
    root = isqrt(number)
    if root * root == number:
        return root
    divisor = _rho(number, 20_000)
    if divisor is not None:
        return divisor
    sigma = 6
    for bound, curves in _CURVE_PLAN:
        for _ in range(curves):
            divisor = _curve(number, sigma, bound)
            sigma += 1
            if divisor is not None:
                return divisor
    # Two factors beyond 10^25 cannot occur below 10^40; for larger numbers the search just goes on.
    while divisor is None:
        divisor = _curve(number, sigma, 250_000)
        sigma += 1
    return divisor


def _rho(number: int, steps: int) -> int | None:
    """Brent's variant of Pollard's rho for x² + c, c = 1, 2, 3; None if `steps` steps find nothing."""
    for constant in (1, 2, 3):
        value, done, length = 2, 0, 1
        while done < steps:
            anchor = value
            for _ in range(length):
                value = (value * value + constant) % number
            for start in range(0, length, 64):
                saved, product = value, 1
                for _ in range(min(64, length - start)):
                    value = (value * value + constant) % number
                    product = product * abs(anchor - value) % number
                divisor = gcd(product, number)
                if divisor == number:  # several factors met in one batch: walk it again step by step
                    divisor, value = 1, saved
                    while divisor == 1:
                        value = (value * value + constant) % number
                        divisor = gcd(abs(anchor - value), number)
                if 1 < divisor < number:
                    return divisor
                if divisor == number:
                    done = steps
                    break
            done += length
            length *= 2
    return None


@cache
def _stage_multiplier(bound: int) -> int:
    """The product of all prime powers up to `bound`."""
    product = 1
    for prime in primes_below(bound + 1):
        power = prime
        while power * prime <= bound:
            power *= prime
        product *= power
    return product


def _curve(number: int, sigma: int, bound: int) -> int | None:
    """One elliptic curve, both stages (the second to 80 times the bound); a proper divisor or None."""
    u, v = (sigma * sigma - 5) % number, 4 * sigma % number
    start = (pow(u, 3, number), pow(v, 3, number))
    denominator = 16 * start[0] * v % number
    divisor = gcd(denominator, number)
    if divisor != 1:
        return divisor if divisor < number else None
    a24 = pow(v - u, 3, number) * (3 * u + v) * pow(denominator, -1, number) % number
    point = _multiply(start, _stage_multiplier(bound), a24, number)
    divisor = gcd(point[1], number)
    if divisor == 1:
        divisor = gcd(_second_stage(point, bound, a24, number), number)
    return divisor if 1 < divisor < number else None


_Point = tuple[int, int]  # (x : z) on the curve


def _double(point: _Point, a24: int, number: int) -> _Point:
    plus, minus = (point[0] + point[1]) ** 2 % number, (point[0] - point[1]) ** 2 % number
    cross = plus - minus
    return plus * minus % number, cross * (minus + a24 * cross) % number


def _add(left: _Point, right: _Point, difference: _Point, number: int) -> _Point:
    first = (left[0] - left[1]) * (right[0] + right[1])
    second = (left[0] + left[1]) * (right[0] - right[1])
    return (
        difference[1] * ((first + second) ** 2 % number) % number,
        difference[0] * ((first - second) ** 2 % number) % number,
    )


def _multiply(point: _Point, scalar: int, a24: int, number: int) -> _Point:
    """Montgomery's ladder."""
    low, high = point, _double(point, a24, number)
    for bit in bin(scalar)[3:]:
        if bit == "1":
            low, high = _add(low, high, point, number), _double(high, a24, number)
        else:
            low, high = _double(low, a24, number), _add(low, high, point, number)
    return low


def _second_stage(point: _Point, bound: int, a24: int, number: int) -> int:
    """The product of x(mP)z(jP) - x(jP)z(mP) over all primes m ± j from the bound to 80 times it."""
    step = 210
    baby = {j: _multiply(point, j, a24, number) for j in range(1, step // 2, 2) if gcd(j, step) == 1}
    giant = _multiply(point, step, a24, number)
    centre = max(bound // step, 1)
    before = _multiply(point, step * (centre - 1), a24, number) if centre > 1 else None
    now = _multiply(point, step * centre, a24, number)
    product = 1
    for _ in range(centre, _SECOND_STAGE * bound // step):
        for x, z in baby.values():
            product = product * (now[0] * z - x * now[1]) % number
        following = _add(now, giant, before, number) if before else _double(now, a24, number)
        before, now = now, following
    return product


def pratt_certificate(number: int) -> dict[str, Json] | None:
    """The Pratt certificate of a prime, or None if the number turns out not to be prime.

    `chain` starts with the number and goes on with every further prime of at least 65536 that its
    steps name, in descending order; each has its least primitive root and the factors of prime - 1.
    """
    chain: list[Json] = []
    pending = {number}
    while pending:
        prime = max(pending)
        pending.remove(prime)
        factors = factorise(prime - 1)
        root = _least_primitive_root(prime, [factor for factor, _ in factors])
        if root is None:
            return None
        chain.append(
            {
                "prime": pack(prime),
                "root": root,
                "factors": [[pack(factor), exponent] for factor, exponent in factors],
            }
        )
        pending.update(factor for factor, _ in factors if factor >= TRIAL_BOUND)
    return {"type": "pratt", "chain": chain}


def _least_primitive_root(prime: int, factors: list[int]) -> int | None:
    # Every prime below 10^40 has one far below 1000; a composite that passed Miller–Rabin has none.
    for root in range(1, min(prime, 1000)):
        if all(pow(root, (prime - 1) // factor, prime) != 1 for factor in factors):
            return root if pow(root, prime - 1, prime) == 1 else None
    return None


def factor_certificate(factor: int, cofactor: int) -> dict[str, Json]:
    """The certificate of a composite: two factors, the smaller first."""
    low, high = sorted((factor, cofactor))
    return {"type": "factor", "factor": pack(low), "cofactor": pack(high)}
