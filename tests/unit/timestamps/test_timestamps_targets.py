from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sealbench.timestamps.targets import compact_bits, easiest_target, expand_bits, retarget, work

MAIN_LIMIT = 0xFFFF << 208


# Vectors of Bitcoin Core, src/test/arith_uint256_tests.cpp (bignum_SetCompact).
@pytest.mark.parametrize(
    ("bits", "target", "back"),
    [
        (0x00000000, 0, 0),
        (0x01003456, 0, 0),
        (0x01123456, 0x12, 0x01120000),
        (0x02123456, 0x1234, 0x02123400),
        (0x03123456, 0x123456, 0x03123456),
        (0x04123456, 0x12345600, 0x04123456),
        (0x05009234, 0x92340000, 0x05009234),
        (0x20123456, 0x123456 << 232, 0x20123456),
        (0x04923456, 0, 0),  # negative
        (0x01FEDCBA, 0, 0),  # negative
        (0xFF123456, 0, 0),  # overflow
        (0x1D00FFFF, MAIN_LIMIT, 0x1D00FFFF),
    ],
)
def test_compact_vectors(bits: int, target: int, back: int) -> None:
    assert expand_bits(bits) == target
    assert compact_bits(target) == back


@given(st.integers(0, 2**256 - 1))
def test_compact_rounds_down_once(target: int) -> None:
    rounded = expand_bits(compact_bits(target))
    assert rounded <= target
    assert target - rounded <= target >> 15
    assert compact_bits(rounded) == compact_bits(target)


@given(st.integers(0, 2**32 - 1))
def test_every_bits_is_a_target_of_256_bits(bits: int) -> None:
    assert 0 <= expand_bits(bits) < 2**256


# Vectors of Bitcoin Core, src/test/pow_tests.cpp.
@pytest.mark.parametrize(
    ("bits", "first", "last", "expected"),
    [
        (0x1D00FFFF, 1261130161, 1262152739, 0x1D00D86A),
        (0x1D00FFFF, 1231006505, 1233061996, 0x1D00FFFF),  # the limit
        (0x1C05A3F4, 1279008237, 1279297671, 0x1C0168FD),  # at most four times harder
        (0x1C387F6F, 1263163443, 1269211443, 0x1D00E1FD),  # at most four times easier
    ],
)
def test_retarget_vectors(bits: int, first: int, last: int, expected: int) -> None:
    assert compact_bits(retarget(expand_bits(bits), first, last, MAIN_LIMIT)) == expected


@given(st.integers(1, MAIN_LIMIT), st.integers(0, 2**32), st.integers(0, 2**32))
def test_no_retarget_is_easier_than_said(target: int, first: int, last: int) -> None:
    target = expand_bits(compact_bits(target))
    assert retarget(target, first, last, MAIN_LIMIT) <= easiest_target(target, 1, MAIN_LIMIT)


def test_easiest_target_of_an_absurd_height_is_quick() -> None:
    assert easiest_target(1, 2**32, MAIN_LIMIT) == MAIN_LIMIT
    assert easiest_target(100, 2, MAIN_LIMIT) == 1600


def test_work_of_difficulty_one() -> None:
    assert work(MAIN_LIMIT) == 0x100010001  # the chain work of the first block
    assert work(expand_bits(0x207FFFFF)) == 2
