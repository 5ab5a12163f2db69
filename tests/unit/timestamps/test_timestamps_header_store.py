from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from timestamps_support import DATA

from sealbench.errors import FormatError, ProofFailed
from sealbench.timestamps.bitcoin import HeaderStore

RAW = st.binary(min_size=80, max_size=80)


@given(st.dictionaries(st.integers(0, 40) | st.integers(0, 2**32 - 1), RAW, max_size=20))
def test_round_trip(headers: dict[int, bytes]) -> None:
    store = HeaderStore(headers, network="regtest")
    again = HeaderStore.from_bytes(store.to_bytes())
    assert dict(again.items()) == headers
    assert again == store
    assert hash(again) == hash(store)
    assert again.network == "regtest"
    assert len(again) == len(headers)
    assert sum(count for _, count in again.segments()) == len(headers)
    for height, raw in headers.items():
        assert again.get(height) == raw
        assert again.get(height + 1) == headers.get(height + 1)


@settings(max_examples=300)
@given(st.data())
def test_every_damage_is_noticed_or_is_another_header(data: st.DataObject) -> None:
    store = HeaderStore({5: bytes(80), 6: b"\1" * 80, 9: b"\2" * 80}, network="mainnet")
    packed = bytearray(store.to_bytes())
    at = data.draw(st.integers(0, len(packed) - 1))
    packed[at] ^= data.draw(st.integers(1, 255))
    try:
        damaged = HeaderStore.from_bytes(bytes(packed))
    except FormatError:
        return
    assert damaged != store
    assert damaged.to_bytes() == bytes(packed)


@given(st.binary(max_size=400))
@example(b"\x1c")  # white space to a text, not to bytes
def test_rubbish_is_refused(data: bytes) -> None:
    for text in (data, b"SEALHDR\x01" + data, b"SEALHDR\x01\x07mainnet" + data):
        try:
            store = HeaderStore.read(text)
        except FormatError:
            continue
        assert store.to_bytes() == text or text.lstrip()[:1] == b"{"


def test_cut_or_long_files_are_refused() -> None:
    packed = HeaderStore({5: bytes(80), 9: b"\2" * 80}).to_bytes()
    for end in range(len(packed)):
        with pytest.raises(FormatError):
            HeaderStore.from_bytes(packed[:end])
    with pytest.raises(FormatError):
        HeaderStore.from_bytes(packed + b"\0")


def test_touching_segments_are_not_canonical() -> None:
    start = b"SEALHDR\x01\x07mainnet" + (2).to_bytes(4, "big")
    one = (1).to_bytes(4, "big")
    segments = [at.to_bytes(4, "big") + one + bytes(80) for at in (5, 6)]
    with pytest.raises(FormatError, match="canonical"):
        HeaderStore.from_bytes(start + segments[0] + segments[1])
    with pytest.raises(FormatError, match="canonical"):
        HeaderStore.from_bytes(start + segments[1] + segments[0])


def test_unknown_network_is_refused() -> None:
    with pytest.raises(FormatError, match="network"):
        HeaderStore.from_bytes(HeaderStore(network="moonnet").to_bytes())


def test_json_of_every_layout() -> None:
    mainnet = HeaderStore.read((DATA / "headers_mainnet.json").read_bytes())
    assert len(mainnet) == 9
    assert mainnet.network == "mainnet"
    regtest = HeaderStore.read((DATA / "regtest" / "headers_regtest.json").read_bytes())
    assert regtest.segments() == [(0, 129)]
    assert regtest.network == "regtest"
    easy = HeaderStore.read((DATA / "attacks" / "easy-header.json").read_bytes())
    assert easy.segments() == [(800000, 1)]
    plain = json.dumps({str(height): raw.hex() for height, raw in mainnet.items()}).encode()
    assert HeaderStore.read(plain) == mainnet


@pytest.mark.parametrize(
    "text",
    ["[]", "1", "{", '{"5": "00"}', '{"5": 7}', '{"-5": "zz"}' * 2, '{"headers": 5}', '{"headers_hex": 1}'],
)
def test_bad_json(text: str) -> None:
    with pytest.raises(FormatError):
        HeaderStore.read(text.encode())


def test_merge_shows_both_sides_of_a_disagreement() -> None:
    one, other = HeaderStore({5: bytes(80)}), HeaderStore({5: b"\1" * 80, 6: bytes(80)})
    assert len(one.merge(HeaderStore({9: bytes(80)}))) == 2
    with pytest.raises(ProofFailed, match="two different headers for block 5") as caught:
        one.merge(other)
    assert caught.value.message.count("from") >= 2
    assert one.replaced({5: b"\1" * 80, 6: bytes(80)}) == other


def test_networks_are_not_mixed() -> None:
    with pytest.raises(ProofFailed, match="regtest"):
        HeaderStore({5: bytes(80)}).merge(HeaderStore({6: bytes(80)}, network="regtest"))
    assert HeaderStore().merge(HeaderStore({6: bytes(80)}, network="regtest")).network == "regtest"


def test_heights_past_32_bits_are_refused() -> None:
    for height in (-1, 2**32):
        with pytest.raises(FormatError):
            HeaderStore({height: bytes(80)})
    with pytest.raises(FormatError):
        HeaderStore({1: bytes(79)})
