"""A file under a passphrase: scrypt (RFC 7914) for the key, ChaCha20-Poly1305 for the bytes."""

from __future__ import annotations

import hashlib
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from sealbench.errors import UsageError

# 2^17 · 8 · 128 bytes = 128 MiB of work per guess.
COST, BLOCK, PARALLEL = 2**17, 8, 1
SALT_SIZE = 16
_LEAST_LENGTH = 8


def protect(passphrase: str, plaintext: bytes) -> tuple[bytes, bytes]:
    """(salt, ciphertext); every call draws a fresh salt, so a key encrypts once."""
    if len(passphrase) < _LEAST_LENGTH:
        raise UsageError(f"a passphrase of fewer than {_LEAST_LENGTH} characters", hint="use several words")
    salt = os.urandom(SALT_SIZE)
    return salt, ChaCha20Poly1305(_key(passphrase, salt)).encrypt(bytes(12), plaintext, salt)


def recover(passphrase: str, salt: bytes, ciphertext: bytes) -> bytes:
    """The plaintext; UsageError for a wrong passphrase or changed bytes."""
    try:
        return ChaCha20Poly1305(_key(passphrase, salt)).decrypt(bytes(12), ciphertext, salt)
    except InvalidTag as error:
        raise UsageError("wrong passphrase, or a damaged backup", hint="try the passphrase again") from error


def _key(passphrase: str, salt: bytes) -> bytes:
    return hashlib.scrypt(
        passphrase.encode("utf-8"),
        salt=salt,
        n=COST,
        r=BLOCK,
        p=PARALLEL,
        dklen=32,
        maxmem=256 * 1024 * 1024,
    )
