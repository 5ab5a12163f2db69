"""Canonical JSON: the profile's limits, agreement with RFC 8785's own library, one spelling per value."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from sealbench.crypto import canonical
from sealbench.errors import FormatError

KEYS = st.text("abcdefghijklmnopqrstuvwxyz0123456789_", min_size=1, max_size=8)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
INTEGERS = st.integers(-canonical.MAX_INTEGER, canonical.MAX_INTEGER)
VALUES = st.recursive(
    st.none() | st.booleans() | INTEGERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_bytes_are_those_of_the_rfc_library(value: object) -> None:
    assert canonical.encode(value) == rfc8785.dumps(value)


@given(VALUES)
def test_decoding_gives_the_value_back(value: object) -> None:
    assert canonical.decode(canonical.encode(value)) == value


@given(VALUES, st.integers(0, 3))
def test_any_other_layout_is_refused(value: object, indent: int) -> None:
    data = json.dumps(value, indent=indent, sort_keys=True).encode()
    if data != canonical.encode(value):
        with pytest.raises(FormatError, match="not in canonical form"):
            canonical.decode(data)
        assert canonical.parse(data) == value


@given(st.binary(max_size=60) | VALUES.map(lambda value: json.dumps(value).encode()))
def test_arbitrary_bytes_give_a_value_or_the_projects_error(data: bytes) -> None:
    try:
        value = canonical.decode(data, "thing.json")
    except FormatError as error:
        assert error.message.startswith("thing.json: ")
    else:
        assert canonical.encode(value) == data


@given(VALUES, st.data())
def test_a_flipped_bit_is_another_value_or_refused(value: object, data: st.DataObject) -> None:
    encoded = bytearray(canonical.encode(value))
    position = data.draw(st.integers(0, len(encoded) - 1))
    encoded[position] ^= 1 << data.draw(st.integers(0, 7))
    try:
        found = canonical.decode(bytes(encoded))
    except FormatError:
        return
    assert canonical.encode(found) == encoded != canonical.encode(value)


def test_tuples_are_written_as_arrays() -> None:
    assert canonical.encode((1, (2,))) == b"[1,[2]]"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0.5, "float has no canonical form"),
        (b"x", "bytes has no canonical form"),
        ({"a": {1, 2}}, "a: set has no canonical form"),
        ({1: 2}, "key 1 is not"),
        ({"Ä": 2}, "is not of"),
        ({"a\n": 2}, "is not of"),
        (2**53, "integer outside"),
        (-(2**53), "integer outside"),
        ({"a": ["\ud800"]}, "a: a lone surrogate"),
    ],
)
def test_values_outside_the_profile_are_refused_with_their_place(value: object, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        canonical.encode(value)


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner}])
def test_depth_is_limited_on_the_way_in_and_out(wrap: Callable[[object], object]) -> None:
    value: object = 0
    for _ in range(64):
        value = wrap(value)
    assert canonical.decode(canonical.encode(value)) == value
    with pytest.raises(FormatError, match="deeper than 64"):
        canonical.encode(wrap(value))
    inside: object = wrap({})
    for _ in range(63):
        inside = wrap(inside)
    assert canonical.decode(canonical.encode(inside)) == inside  # an empty object at depth 64
    with pytest.raises(FormatError, match="deeper than 64"):
        canonical.decode(b"[" * 65 + b"0" + b"]" * 65)
    with pytest.raises(FormatError):
        canonical.decode(b'{"a":' * 200_000)


def test_an_integer_of_many_digits_costs_nothing() -> None:
    with pytest.raises(FormatError, match="1000000 digits"):
        canonical.parse(b"9" * 1_000_000)


def test_messages_from_hostile_input_stay_short() -> None:
    with pytest.raises(FormatError) as caught:
        canonical.encode({"K" * 10_000: 1})
    assert len(caught.value.message) < 200


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a":1,"b":{"c":1,"c":2}}', "a key stands twice"),
        (b"[0.1]", "0.1 is not allowed"),
        (b"[1e400]", "1e400 is not allowed"),
        (b"[NaN]", "NaN is not allowed"),
        (b"[-Infinity]", "-Infinity is not allowed"),
        (b"\xff", "not valid JSON"),
        (b"", "not valid JSON"),
    ],
)
def test_parsing_is_strict_in_any_layout(data: bytes, message: str) -> None:
    with pytest.raises(FormatError, match=f"^plan: {message}"):
        canonical.parse(data, "plan")
