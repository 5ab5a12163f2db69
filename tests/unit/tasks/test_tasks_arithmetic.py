"""Primes, factors, Pratt chains and Carmichael numbers against sympy as the oracle."""

import random

import pytest
import sympy

from sealbench.crypto.stream import Stream
from sealbench.tasks import arithmetic
from sealbench.tasks.arithmetic import factorise, is_prime, pack, pratt_certificate, primes_below
from sealbench.tasks.carmichael import chernick, draw_carmichael, room_for_carmichaels, table_of


def test_small_numbers():
    assert [n for n in range(5000) if is_prime(n)] == list(sympy.primerange(5000))
    assert primes_below(2) == ()
    assert primes_below(3) == (2,)
    assert primes_below(100) == tuple(sympy.primerange(100))


# Strong pseudoprimes to the first bases, the borders of the proved ranges.
@pytest.mark.parametrize(
    "number",
    [2047, 1373653, 25326001, 3215031751, 2152302898747, 3474749660383, 341550071728321, 3825123056546413051],
)
def test_famous_pseudoprimes_are_composite(number):
    assert not is_prime(number)


@pytest.mark.parametrize("digits", [7, 12, 19, 25, 40])
def test_random_numbers(digits):
    draw = random.Random(digits)
    for _ in range(300):
        number = draw.randrange(10 ** (digits - 1), 10**digits)
        assert is_prime(number) == sympy.isprime(number), number


def test_factorise_small_and_special():
    for number in [*range(1, 2000), 1009**2, 1009**3, 1009**2 * 1013, 10007 * 10009, 65537**2, 2**89 - 1]:
        assert dict(factorise(number)) == sympy.factorint(number), number


def test_factorise_without_any_luck_of_rho(monkeypatch):
    monkeypatch.setattr(arithmetic, "_rho", lambda number, steps: None)
    draw = random.Random(3)
    for _ in range(10):
        p = sympy.nextprime(draw.randrange(10**6, 10**9))
        q = sympy.nextprime(draw.randrange(10**9, 10**11))
        assert factorise(p * q) == [(p, 1), (q, 1)]


def test_factorise_two_factors_of_sixteen_digits():
    p, q = sympy.nextprime(4 * 10**15), sympy.nextprime(7 * 10**15)
    assert factorise(p * q * 6) == [(2, 1), (3, 1), (p, 1), (q, 1)]


def test_pratt_certificates_hold_sympys_least_roots():
    for number in [2, 3, 5, 7, 65537, 100003, 999983, 10**12 + 39]:
        link = pratt_certificate(number)["chain"][0]
        assert link["prime"] == number
        assert link["root"] == sympy.primitive_root(number)
        assert dict(link["factors"]) == sympy.factorint(number - 1)


def test_composites_have_no_pratt_certificate():
    for number in [9, 15, 561, 2047, 3215031751, 999983 * 1000003]:
        assert pratt_certificate(number) is None


def test_pack_keeps_json_integers_and_writes_larger_ones_as_text():
    assert pack(2**53 - 1) == 2**53 - 1
    assert pack(2**53) == str(2**53)


@pytest.mark.parametrize("digits", range(4, 11))
def test_carmichael_table_against_korselt(digits):
    table = table_of(digits, 1)
    assert table
    for number, least in table:
        factors = sympy.factorint(number)
        assert min(factors) == least
        assert set(factors.values()) == {1}
        assert all((number - 1) % (p - 1) == 0 for p in factors)


def test_carmichael_table_misses_none_of_three_factors_below_10_to_the_6():
    expected = []
    for number in range(561, 10**6, 2):
        if pow(2, number - 1, number) == 1 and not sympy.isprime(number):
            factors = sympy.factorint(number)
            if len(factors) == 3 and all((number - 1) % (p - 1) == 0 for p in factors):
                expected.append(number)
    assert [n for digits in range(3, 7) for n, _ in table_of(digits, 1)] == expected


@pytest.mark.parametrize("digits", [6, 12, 18, 30, 40])
def test_drawn_carmichaels_have_the_size_and_are_coprime_to_thirty(digits):
    stream = Stream("test", digits)
    for _ in range(5):
        number, least = draw_carmichael(digits, 30, stream)
        assert len(str(number)) == digits
        assert number % 2 and number % 3 and number % 5
        assert number % least == 0
        assert pow(2, number - 1, number) == 1


def test_room_for_carmichaels_is_a_lower_bound():
    # 18 digits can be counted in full.
    first, last = 91_000, 92_000
    counted = sum(chernick(k) is not None for k in range(first, last))
    assert room_for_carmichaels(18, 30) / (92_000 - 42_000) < counted / (last - first)
