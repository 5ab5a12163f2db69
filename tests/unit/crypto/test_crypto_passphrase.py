"""Files under a passphrase: they come back, and every change is refused."""

from __future__ import annotations

import hashlib

import pytest
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from sealbench.crypto import passphrase
from sealbench.errors import UsageError

WORDS = "several plain words"


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousandth of the work, for tests that ask hundreds of times."""
    monkeypatch.setattr(passphrase, "COST", 2**4)


def test_at_its_real_cost_it_is_scrypt_and_chacha20_poly1305() -> None:
    salt, sealed = passphrase.protect(WORDS, b"K")
    key = hashlib.scrypt(WORDS.encode(), salt=salt, n=131072, r=8, p=1, dklen=32, maxmem=2**28)
    assert ChaCha20Poly1305(key).decrypt(bytes(12), sealed, salt) == b"K"


@pytest.mark.usefixtures("cheap")
def test_what_was_protected_comes_back_and_no_two_are_alike() -> None:
    made = [passphrase.protect(WORDS, b"secret") for _ in range(3)]
    assert len({salt for salt, _ in made}) == len({sealed for _, sealed in made}) == 3
    assert {passphrase.recover(WORDS, *one) for one in made} == {b"secret"}


@pytest.mark.usefixtures("cheap")
def test_another_passphrase_salt_or_byte_is_refused() -> None:
    salt, sealed = passphrase.protect(WORDS, b"secret")
    attempts = [(WORDS + " ", salt, sealed), (WORDS, bytes(16), sealed), (WORDS, salt, b"")]
    for position in range(len(sealed)):
        changed = bytearray(sealed)
        changed[position] ^= 1
        attempts.append((WORDS, salt, bytes(changed)))
    for attempt in attempts:
        with pytest.raises(UsageError, match="wrong passphrase"):
            passphrase.recover(*attempt)


def test_a_short_passphrase_is_refused() -> None:
    with pytest.raises(UsageError, match="fewer than 8") as caught:
        passphrase.protect("seven77", b"")
    assert caught.value.hint
