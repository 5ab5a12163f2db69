"""Authenticated encryption of a sealed battery: ChaCha20-Poly1305 (RFC 8439).

The nonce is twelve zero bytes because one K encrypts exactly once. The cipher is not
key-committing: another key may open the same ciphertext to other bytes, so the committed root is
always checked after decryption (docs/spec/envelope.md).
"""

from __future__ import annotations

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from sealbench.crypto.derivation import encryption_key
from sealbench.errors import CheckFailed

CIPHER = "ChaCha20-Poly1305"
_NONCE = bytes(12)


def seal(secret: bytes, plaintext: bytes, associated: bytes) -> bytes:
    """Ciphertext and tag; `associated` (name and parameters) is authenticated, not hidden."""
    return ChaCha20Poly1305(encryption_key(secret)).encrypt(_NONCE, plaintext, associated)


def unseal(secret: bytes, ciphertext: bytes, associated: bytes) -> bytes:
    """The plaintext; CheckFailed if key, ciphertext or associated data do not belong together."""
    try:
        return ChaCha20Poly1305(encryption_key(secret)).decrypt(_NONCE, ciphertext, associated)
    except InvalidTag as error:
        raise CheckFailed(
            "the key does not open this ciphertext",
            hint="compare the key file's name with the battery's; run `seal verify` on the workspace",
        ) from error
