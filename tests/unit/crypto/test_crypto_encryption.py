"""The envelope's cipher: RFC 8439's construction, and every change caught."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from hypothesis import given
from hypothesis import strategies as st

from sealbench.crypto import encryption
from sealbench.crypto.derivation import encryption_key
from sealbench.errors import CheckFailed

SECRET = bytes(range(32))


@given(st.binary(max_size=200), st.binary(max_size=40))
def test_sealed_bytes_come_back(plain: bytes, associated: bytes) -> None:
    sealed = encryption.seal(SECRET, plain, associated)
    assert len(sealed) == len(plain) + 16
    assert encryption.unseal(SECRET, sealed, associated) == plain
    assert ChaCha20Poly1305(encryption_key(SECRET)).decrypt(bytes(12), sealed, associated) == plain


def test_every_changed_bit_and_every_cut_is_caught() -> None:
    sealed = encryption.seal(SECRET, b"twenty bytes of text", b"name")
    for position in range(len(sealed)):
        for bit in range(8):
            changed = bytearray(sealed)
            changed[position] ^= 1 << bit
            with pytest.raises(CheckFailed, match="does not open"):
                encryption.unseal(SECRET, bytes(changed), b"name")
        with pytest.raises(CheckFailed):
            encryption.unseal(SECRET, sealed[:position], b"name")


def test_another_key_or_other_associated_data_does_not_open() -> None:
    sealed = encryption.seal(SECRET, b"text", b"name")
    for secret, associated in ((bytes(32), b"name"), (SECRET, b"nama"), (SECRET, b"")):
        with pytest.raises(CheckFailed) as caught:
            encryption.unseal(secret, sealed, associated)
        assert caught.value.hint
