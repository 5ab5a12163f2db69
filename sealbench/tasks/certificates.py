"""The separate checker of primality certificates: trial division and pow(), nothing else.

It shares no code with the makers in `arithmetic.py`. A certificate must also be in its one form (least
root, ascending factors, descending chain), so a certificate changed anywhere fails. Checkers of other
families live in their own `*_certificates.py` and use the readers of this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from sealbench.errors import CertificateFailed
from sealbench.tasks.base import Json

ASSERTED = "asserted"
_SAFE = 2**53 - 1
_TRIAL_BOUND = 1 << 16
_MAX_DIGITS = 400
_MAX_CHAIN = 200


def fail(message: str) -> NoReturn:
    """Raise CertificateFailed with the hint that all of its causes share."""
    raise CertificateFailed(
        message, hint="the item was changed, or its certificate was not made by this version of the family"
    )


def is_asserted(certificate: Mapping[str, Json]) -> bool:
    """Whether the certificate only says that somebody asserted the answer (imported items)."""
    return certificate.get("type") == ASSERTED


def require_keys(mapping: object, keys: Sequence[str], what: str) -> Mapping[str, Json]:
    """The mapping itself if it has exactly these keys."""
    if not isinstance(mapping, Mapping) or set(mapping) != set(keys):
        fail(f"the {what} must hold exactly: {', '.join(keys)}")
    return mapping


def require_type(certificate: Mapping[str, Json], name: str, keys: Sequence[str]) -> None:
    """Fail unless the certificate is of this type with exactly these further keys."""
    if not isinstance(certificate, Mapping) or certificate.get("type") != name:
        fail(f"this class needs a certificate of type '{name}'")
    require_keys(certificate, ("type", *keys), "certificate")


def read_integer(value: object, what: str) -> int:
    """A non-negative integer: a JSON integer up to 2^53 - 1, a decimal string beyond, never the other way."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _SAFE:
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _MAX_DIGITS:
        number = int(value)
        if number > _SAFE and str(number) == value:
            return number
    fail(f"{what} is not an integer in its canonical form")


def read_integers(value: object, what: str) -> list[int]:
    """A list of integers in canonical form."""
    if not isinstance(value, list):
        fail(f"{what} is not a list")
    return [read_integer(entry, what) for entry in value]


def check_composite(number: int, certificate: Mapping[str, Json]) -> None:
    """Show n composite: factor times cofactor, 1 < factor <= cofactor; a factor below 65536 is the least."""
    require_type(certificate, "factor", ("factor", "cofactor"))
    factor = read_integer(certificate["factor"], "factor")
    cofactor = read_integer(certificate["cofactor"], "cofactor")
    if not 1 < factor <= cofactor:
        fail(f"{factor} and {cofactor} are not proper factors, the smaller first")
    if factor * cofactor != number:
        fail(f"{factor} times {cofactor} is not {number}")
    if factor < _TRIAL_BOUND:
        for divisor in _trial_divisors(factor):
            if number % divisor == 0:
                fail(f"{factor} is not the least factor of {number}: {divisor} divides it")


def check_prime(number: int, certificate: Mapping[str, Json]) -> None:
    """Show n prime by Pratt's theorem: a root of order exactly p - 1 for every p of the chain.

    The chain starts with n, falls strictly, and holds every factor of at least 65536 that a link names
    and nothing else; smaller factors are divided by trial.
    """
    require_type(certificate, "pratt", ("chain",))
    chain = certificate["chain"]
    if not isinstance(chain, list) or not 1 <= len(chain) <= _MAX_CHAIN:
        fail("the chain is not a list of links")
    needed = {number}
    for link in chain:
        entry = require_keys(link, ("prime", "root", "factors"), "link")
        prime = read_integer(entry["prime"], "prime")
        if not needed or prime != max(needed):
            fail(f"the chain names {prime} where another prime must follow")
        needed.remove(prime)
        factors = _read_factors(entry["factors"], prime)
        _check_root(prime, read_integer(entry["root"], "root"), factors)
        for factor in factors:
            if factor >= _TRIAL_BOUND:
                needed.add(factor)
            elif not _is_prime_by_trial(factor):
                fail(f"{factor}, a factor of {prime} - 1, is not prime")
    if needed:
        fail(f"the chain does not show that {max(needed)} is prime")


def _read_factors(value: object, prime: int) -> list[int]:
    """The prime factors of prime - 1, ascending, whose powers multiply to it."""
    if not isinstance(value, list):
        fail("factors is not a list")
    factors: list[int] = []
    product = 1
    for pair in value:
        if not isinstance(pair, list) or len(pair) != 2:
            fail("a factor is not a pair of prime and exponent")
        factor, exponent = read_integer(pair[0], "factor"), read_integer(pair[1], "exponent")
        if factor < 2 or not 1 <= exponent <= prime.bit_length() or (factors and factor <= factors[-1]):
            fail(f"the factors of {prime} - 1 are not in their one form")
        factors.append(factor)
        product *= factor**exponent
    if product != prime - 1:
        fail(f"the factors do not multiply to {prime} - 1")
    return factors


def _check_root(prime: int, root: int, factors: Sequence[int]) -> None:
    if not 1 <= root < min(prime, 1000):
        fail(f"{root} is out of range for a least primitive root of {prime}")
    if pow(root, prime - 1, prime) != 1 or not _has_full_order(root, prime, factors):
        fail(f"{root} has not the order {prime} - 1 modulo {prime}")
    for smaller in range(1, root):
        if _has_full_order(smaller, prime, factors):
            fail(f"{root} is not the least primitive root of {prime}")


def _has_full_order(root: int, prime: int, factors: Sequence[int]) -> bool:
    return all(pow(root, (prime - 1) // factor, prime) != 1 for factor in factors)


def _is_prime_by_trial(number: int) -> bool:
    divisor = 2
    while divisor * divisor <= number:
        if number % divisor == 0:
            return False
        divisor += 1 if divisor == 2 else 2
    return number > 1


def _trial_divisors(bound: int) -> range | list[int]:
    """2 and the odd numbers below `bound`."""
    return [2, *range(3, bound, 2)] if bound > 2 else []
