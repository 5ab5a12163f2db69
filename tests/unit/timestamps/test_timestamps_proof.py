from __future__ import annotations

import hashlib
import warnings
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentimestamps.core.serialize import BytesDeserializationContext, DeserializationError
from opentimestamps.core.timestamp import DetachedTimestampFile
from timestamps_support import DATA

from sealbench.errors import FormatError, UsageError
from sealbench.timestamps import proof as module
from sealbench.timestamps.proof import (
    attestations,
    digest_of,
    merge,
    read_proof,
    read_timestamp,
    serialize,
    serialize_timestamp,
    stamp_digests,
    uses_only_sha256,
    uses_weak_hash,
)

MAGIC = DetachedTimestampFile.HEADER_MAGIC + b"\x01"
DIGEST = hashlib.sha256(b"file").digest()
HEAD = MAGIC + b"\x08" + DIGEST
BITCOIN = b"\x00" + bytes.fromhex("0588960d73d71901")
PENDING = b"\x00" + bytes.fromhex("83dfe30d2ef90c8e")
UNKNOWN = b"\x00" + b"\x01" * 8
FIVE = BITCOIN + b"\x01\x05"  # block 5
SAMPLES = [
    (DATA / "regtest" / name).read_bytes() for name in ("battery-1.txt.ots", "pending/battery-3.txt.ots")
]


def reference(data: bytes) -> Any:
    """What the reference library makes of it: a proof, or None if it refuses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return DetachedTimestampFile.deserialize(BytesDeserializationContext(data))
        except (DeserializationError, ValueError):
            return None


def ours(data: bytes) -> Any:
    try:
        return read_proof(data)
    except FormatError:
        return None


@settings(max_examples=400)
@given(st.sampled_from(SAMPLES), st.data())
def test_damaged_proofs_parse_exactly_where_the_reference_library_parses(sample: bytes, data: Any) -> None:
    changed = bytearray(sample)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(31, len(changed) - 1))
        changed[at] = data.draw(st.integers(0, 255))
    theirs, mine = reference(bytes(changed)), ours(bytes(changed))
    if theirs is None:
        assert mine is None
    elif mine is None:  # the one thing we refuse beyond the library: integers past 32 bits
        with pytest.raises(FormatError, match=r"32 bits|five bytes"):
            read_proof(bytes(changed))
    else:
        assert mine.timestamp == theirs.timestamp


LEAF = st.sampled_from([FIVE, BITCOIN + b"\x02\x80\x05", PENDING + b"\x05\x04http", UNKNOWN + b"\x02ab"])
OPERATION = st.sampled_from([b"\x08", b"\x02", b"\x03", b"\xf2", b"\xf3", b"\xf0\x01a", b"\xf1\x02bc"])


def forked(edges: list[bytes]) -> bytes:
    return b"".join(b"\xff" + edge for edge in edges[:-1]) + edges[-1]


TAIL = st.recursive(
    LEAF,
    lambda inner: st.lists(LEAF | st.tuples(OPERATION, inner).map(b"".join), min_size=1, max_size=3).map(
        forked
    ),
    max_leaves=8,
)


@settings(max_examples=300)
@given(TAIL)
def test_generated_proofs_agree_with_the_reference_library(tail: bytes) -> None:
    theirs, mine = reference(HEAD + tail), read_proof(HEAD + tail)
    assert theirs is not None
    assert digest_of(mine) == ("sha256", DIGEST)
    assert set(theirs.timestamp.all_attestations()) <= {
        (node.msg, one) for node in module.nodes(mine.timestamp) for one in node.attestations
    }
    again = read_proof(serialize(mine))
    assert again.timestamp == mine.timestamp
    assert serialize(again) == serialize(mine)
    assert merge(mine, again).timestamp == mine.timestamp


def test_an_operation_given_twice_loses_nothing() -> None:
    data = HEAD + b"\xff\x08" + FIVE + b"\x08" + BITCOIN + b"\x01\x06"
    assert [one.height for one in attestations(read_proof(data))] == [5, 6]
    assert len(list(reference(data).timestamp.all_attestations())) == 1  # the library keeps the last


def test_every_prefix_and_every_suffix_is_refused() -> None:
    for sample in SAMPLES:
        for end in range(len(sample)):
            assert ours(sample[:end]) is None
        assert ours(sample + b"\0") is None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "magic"),
        (MAGIC[:-1] + b"\x02\x08" + DIGEST + FIVE, "major version"),
        (MAGIC + b"\xf0" + DIGEST + FIVE, "Unknown"),
        (HEAD + b"\xf5" + FIVE, "Unknown operation"),
        (HEAD + b"\xf0\x00" + FIVE, "min length"),
        (HEAD + b"\xf0\x81\x20" + b"a" * 4097 + FIVE, "max length"),
        (HEAD + b"\xf0\x80\x20" + b"a" * 4096 + FIVE, "too long"),
        (HEAD + b"\xf3" * 8 + FIVE, "too long"),
        (HEAD + BITCOIN + b"\x02\x05\x05", "railing"),
        (HEAD + BITCOIN + b"\x06\x80\x80\x80\x80\x80\x01", "five bytes"),
        (HEAD + BITCOIN + b"\x05\xff\xff\xff\xff\x7f", "32 bits"),
        (HEAD + PENDING + b"\x04\x03a?b", "URI"),
        (HEAD + UNKNOWN + b"\x81\x40" + b"a" * 8193, "max length"),
        (HEAD + b"\xff" * 5 + FIVE, "Unknown operation"),
        (HEAD + b"\x08" * 256 + FIVE, "nested"),
        (HEAD + b"\x08" * 100_000 + FIVE, "nested"),
        (b"\x00" * (256 * 1024 + 1), "longer than"),
    ],
)
def test_limits(data: bytes, reason: str) -> None:
    with pytest.raises(FormatError, match=reason) as caught:
        read_proof(data)
    assert caught.value.hint
    assert "\n" not in caught.value.message


def test_deepest_and_highest_allowed() -> None:
    deep = read_proof(HEAD + b"\x08" * 255 + FIVE)
    assert serialize(deep) == HEAD + b"\x08" * 255 + FIVE
    high = read_proof(HEAD + BITCOIN + b"\x05\xff\xff\xff\xff\x0f")
    assert attestations(high)[0].height == 2**32 - 1


@settings(max_examples=200)
@given(st.binary(max_size=200))
def test_rubbish_never_raises_anything_else(data: bytes) -> None:
    for text in (data, HEAD + data, MAGIC + data):
        ours(text)
    with suppress(FormatError):
        read_timestamp(data, DIGEST)


def test_ripemd160_without_openssl(monkeypatch: pytest.MonkeyPatch) -> None:
    data = HEAD + b"\x03\x08" + FIVE
    usual = read_proof(data)
    real = hashlib.new

    def missing(name: str, *rest: Any, **options: Any) -> Any:
        if name == "ripemd160":
            raise ValueError("unsupported hash type ripemd160")
        return real(name, *rest, **options)

    monkeypatch.setattr(module.hashlib, "new", missing)
    fallback = read_proof(data)
    assert attestations(fallback) == attestations(usual)
    # Vector of the RIPEMD-160 paper.
    digest = module.apply_file_hash("ripemd160", b"abc")
    assert digest.hex() == "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("sha256", hashlib.sha256(b"x" * 10_000).hexdigest()),
        ("sha1", hashlib.sha1(b"x" * 10_000, usedforsecurity=False).hexdigest()),
        ("keccak256", None),
    ],
)
def test_file_hashes_of_long_files(name: str, digest: str | None) -> None:
    result = module.apply_file_hash(name, b"x" * 10_000)
    assert digest is None or result.hex() == digest
    assert len(result) in {20, 32}


def test_keccak_of_nothing() -> None:
    digest = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
    assert module.apply_file_hash("keccak256", b"").hex() == digest


def test_which_hashes_are_used() -> None:
    assert uses_only_sha256(read_proof(HEAD + b"\xf0\x01a\x08" + FIVE))
    for operation in (b"\xf2", b"\xf3", b"\x67"):
        proof = read_proof(HEAD + operation + FIVE)
        assert not uses_only_sha256(proof)
        assert not uses_weak_hash(proof)
    for operation in (b"\x02", b"\x03"):
        proof = read_proof(HEAD + b"\x08" + operation + FIVE)
        assert not uses_only_sha256(proof)
        assert uses_weak_hash(proof)
    by_sha1 = read_proof(MAGIC + b"\x02" + bytes(20) + FIVE)
    assert uses_weak_hash(by_sha1)
    assert digest_of(by_sha1) == ("sha1", bytes(20))


def test_attestations_of_every_kind() -> None:
    litecoin = b"\x00" + bytes.fromhex("06869a0d73d71b45") + b"\x01\x07"
    ethereum = b"\x00" + bytes.fromhex("30fe8087b5c7ead7") + b"\x01\x08"
    promise = PENDING + b"\x05\x04http"
    forks = b"".join(b"\xff" + one for one in (litecoin, ethereum, promise, UNKNOWN + b"\x00"))
    found = attestations(read_proof(HEAD + forks + FIVE))
    assert [(one.kind, one.height, one.uri) for one in found] == [
        ("bitcoin", 5, None),
        ("pending", None, "http"),
        ("litecoin", 7, None),
        ("ethereum", 8, None),
        ("unknown", None, None),
    ]
    assert found[-1].tag == "01" * 8
    assert all(one.message == DIGEST for one in found)


def test_merge_keeps_everything_and_mixes_no_files() -> None:
    one = read_proof(HEAD + b"\x08" + FIVE)
    other = read_proof(HEAD + b"\xff\x08" + BITCOIN + b"\x01\x06" + b"\xf0\x01a" + FIVE)
    both = merge(one, other)
    assert [one.height for one in attestations(both)] == [5, 5, 6]
    assert len(attestations(one)) == 1  # the inputs are left alone
    assert len(attestations(other)) == 2
    with pytest.raises(FormatError, match="different files"):
        merge(one, read_proof(MAGIC + b"\x08" + bytes(32) + FIVE))


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64])
def test_stamping_many_files_is_one_submission(count: int) -> None:
    digests = [hashlib.sha256(b"%d" % index).digest() for index in range(count)]
    stamping = stamp_digests(digests)
    answer = read_timestamp(PENDING + b"\x05\x04http", stamping.tip_message)
    stamping.add(answer)
    for digest, proof in zip(digests, stamping.proofs, strict=True):
        written = read_proof(serialize(proof))
        assert digest_of(written) == ("sha256", digest)
        assert [one.message for one in attestations(written)] == [stamping.tip_message]
        assert uses_only_sha256(written)
    assert len({serialize_timestamp(proof.timestamp) for proof in stamping.proofs}) == count


def test_nonces_hide_the_digest() -> None:
    tips = {stamp_digests([DIGEST]).tip_message for _ in range(5)}
    assert len(tips) == 5
    assert DIGEST not in tips


def test_the_same_file_twice_in_one_call() -> None:
    stamping = stamp_digests([DIGEST, DIGEST])
    stamping.add(read_timestamp(FIVE, stamping.tip_message))
    assert [digest_of(read_proof(serialize(one)))[1] for one in stamping.proofs] == [DIGEST, DIGEST]


def test_unfinished_proofs_are_not_written() -> None:
    with pytest.raises(FormatError, match="no attestation"):
        serialize(stamp_digests([DIGEST]).proofs[0])
    with pytest.raises(UsageError):
        stamp_digests([])
