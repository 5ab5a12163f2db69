"""Length-prefixed parts, HKDF and HMAC against published values, and what follows from K."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from hypothesis import given
from hypothesis import strategies as st

from sealbench.crypto import derivation, digest

PARTS = st.lists(st.binary(max_size=8) | st.text(max_size=8) | st.integers(0, 2**64 - 1), max_size=5)


@given(PARTS, PARTS)
def test_two_lists_of_parts_never_give_the_same_bytes(one: list[digest.Part], two: list[digest.Part]) -> None:
    same = [digest.encode_part(part) for part in one] == [digest.encode_part(part) for part in two]
    assert (digest.join_parts(*one) == digest.join_parts(*two)) == same


def test_parts_are_spelt_as_the_specification_says() -> None:
    assert digest.join_parts("é", 1, b"\x07") == (
        bytes([0, 0, 0, 2, 0xC3, 0xA9]) + bytes([0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1]) + bytes([0, 0, 0, 1, 7])
    )


def test_a_label_cannot_run_into_its_parts() -> None:
    assert digest.tagged_sha256("ab", "c") != digest.tagged_sha256("a", "bc")
    assert digest.tagged_sha256("a", b"") != digest.tagged_sha256("a")


@pytest.mark.parametrize("number", [-1, 2**64])
def test_a_number_outside_eight_bytes_is_an_error(number: int) -> None:
    with pytest.raises(OverflowError):
        digest.encode_part(number)


def test_hashes_are_the_standard_ones(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2
    assert digest.sha256(b"abc").hex() == digest.sha256_hex(b"abc") == digest.sha256_file(path) == expected
    assert digest.sha256d(b"hello").hex() == (
        "9595c9df90075148eb06860365df33584b75bff782a510c6cd4883a419833d50"
    )


def test_hmac_is_rfc_4231_case_2() -> None:
    assert digest.hmac_sha256(b"Jefe", b"what do ya want for nothing?").hex() == (
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    )


@given(st.binary(min_size=1, max_size=40), st.text(max_size=10), st.binary(max_size=40))
def test_hkdf_is_rfc_5869_with_the_parts_as_info(key: bytes, label: str, salt: bytes) -> None:
    info = digest.join_parts(label, 7)
    pseudorandom = hmac.new(salt or bytes(32), key, "sha256").digest()
    expected = hmac.new(pseudorandom, info + b"\x01", "sha256").digest()
    assert digest.hkdf(key, label, 7, salt=salt) == expected
    assert HKDF(SHA256(), 32, salt or None, info).derive(key) == expected


def test_a_secret_is_fresh_and_whole() -> None:
    secrets = {derivation.new_secret() for _ in range(50)}
    assert len(secrets) == 50
    assert {len(secret) for secret in secrets} == {derivation.SECRET_SIZE}


def test_everything_derived_from_one_secret_differs() -> None:
    secret = bytes(range(32))
    keys = derivation.ItemKeys(secret)
    values = [
        derivation.secret_commitment(secret),
        derivation.battery_seed(secret, b"{}"),
        derivation.battery_seed(secret, b"[]"),
        derivation.battery_seed(secret, b"{}", b"beacon"),
        derivation.encryption_key(secret),
        *(keys.salt(index) for index in range(50)),
        *(derivation.ResponseSalts(secret, run).salt(line) for run in ("a", "b") for line in range(3)),
        derivation.item_stream(secret, "f", 0).read(32),
        derivation.item_stream(secret, "f", 1).read(32),
        derivation.item_stream(secret, "g", 0).read(32),
        derivation.wording_stream(secret, "f", 0, "plain").read(32),
        derivation.wording_stream(secret, "f", 0, "terse").read(32),
        derivation.shuffle_stream(secret).read(32),
    ]
    assert len(set(values)) == len(values)
    ids = [keys.item_id(index) for index in range(200)]
    ids += [derivation.instance_id(secret, family, index) for family in "fg" for index in range(100)]
    assert len(set(ids)) == len(ids)
    assert {len(one) for one in ids} == {16}
    assert list(keys.salts(3)) == [keys.salt(0), keys.salt(1), keys.salt(2)]


def test_a_salted_hash_is_of_salt_and_data() -> None:
    assert derivation.salted_hash(b"s" * 32, b"data") == hashlib.sha256(b"s" * 32 + b"data").hexdigest()
