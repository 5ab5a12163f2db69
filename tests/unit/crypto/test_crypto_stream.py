"""Streams: repeatable, uniform, in order, and the same bytes as one SHAKE-256 digest."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sealbench.crypto.digest import join_parts
from sealbench.crypto.stream import Stream


@given(st.lists(st.integers(0, 3000), max_size=8), st.binary(max_size=8))
def test_reads_of_any_sizes_are_the_digest_in_order(sizes: list[int], part: bytes) -> None:
    stream = Stream("label", part)
    read = b"".join(stream.read(size) for size in sizes)
    assert read == hashlib.shake_256(join_parts("label", part)).digest(sum(sizes))


@given(st.integers(1, 2**130), st.integers(0, 2**32))
def test_draws_lie_below_the_bound_and_repeat(bound: int, part: int) -> None:
    drawn = [Stream("label", part).below(bound) for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert 0 <= drawn[0] < bound


@given(st.integers(1, 70_000))
def test_a_draw_is_the_first_masked_value_that_fits(bound: int) -> None:
    raw = Stream("label", bound)
    bits = (bound - 1).bit_length()
    expected = 0
    while bits:
        expected = int.from_bytes(raw.read((bits + 7) // 8), "big") & (2**bits - 1)
        if expected < bound:
            break
    assert Stream("label", bound).below(bound) == expected


def test_a_bound_of_one_reads_nothing() -> None:
    stream = Stream("label")
    assert [stream.below(1), stream.between(9, 9), stream.choice("x")] == [0, 9, "x"]
    assert stream.read(8) == Stream("label").read(8)


@pytest.mark.parametrize("bound", [0, -1])
def test_a_bound_below_one_is_refused(bound: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Stream("label").below(bound)


def test_draws_are_uniform_where_rejection_matters() -> None:
    stream = Stream("uniform")
    counts = Counter(stream.below(129) for _ in range(129 * 200))
    assert len(counts) == 129
    # Chi-square with 128 degrees of freedom: 200 lies beyond the 1 in 10,000 tail.
    assert sum((count - 200) ** 2 / 200 for count in counts.values()) < 200


def test_all_orders_of_four_are_equally_likely() -> None:
    stream = Stream("orders")
    counts: Counter[tuple[int, ...]] = Counter()
    for _ in range(24 * 100):
        values = [0, 1, 2, 3]
        stream.shuffle(values)
        counts[tuple(values)] += 1
    assert len(counts) == 24
    assert sum((count - 100) ** 2 / 100 for count in counts.values()) < 60  # 23 degrees of freedom


@given(st.lists(st.integers(), max_size=30))
def test_a_shuffle_keeps_the_elements(values: list[int]) -> None:
    shuffled = list(values)
    Stream("keep").shuffle(shuffled)
    assert Counter(shuffled) == Counter(values)


@given(st.integers(-5, 5), st.integers(0, 12), st.data())
def test_a_sample_is_of_different_values_in_range(low: int, width: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, width + 1))
    sample = Stream("sample", count).sample(low, low + width, count)
    assert len(set(sample)) == len(sample) == count
    assert all(low <= value <= low + width for value in sample)


def test_a_sample_larger_than_its_range_is_refused() -> None:
    with pytest.raises(ValueError, match="more different values"):
        Stream("sample").sample(1, 3, 4)


def test_other_labels_and_parts_give_other_streams() -> None:
    streams = [
        Stream("a"),
        Stream("b"),
        Stream("a", b""),
        Stream("a", 0),
        Stream("a", "0"),
        Stream("a", 0, 0),
    ]
    assert len({stream.read(16) for stream in streams}) == len(streams)
