"""Everything that follows from a battery's secret K and its public parameters.

Source: docs/spec/derivations.md. K is 32 bytes from the operating system; publishing it reveals
the battery in a form anyone can make again. Labels are part of the format and never change.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from sealbench.crypto.digest import hkdf, hmac_sha256, sha256, tagged_sha256
from sealbench.crypto.stream import Stream

SECRET_SIZE = 32


def new_secret() -> bytes:
    """A fresh K: 32 bytes from the operating system. There is no way to choose one."""
    return os.urandom(SECRET_SIZE)


def secret_commitment(secret: bytes) -> bytes:
    """What is published of K before it is revealed (32 bytes)."""
    return tagged_sha256("sealbench/v1/secret", secret)


def battery_seed(secret: bytes, parameters: bytes, beacon: bytes = b"") -> bytes:
    """The seed of all draws (32 bytes).

    Parameters
    ----------
    parameters : the canonical bytes of the public parameters.
    beacon : sha256d of the beacon block's header, internal byte order; empty outside beacon mode.
    """
    return hkdf(secret, "sealbench/v1/seed", sha256(parameters), salt=beacon)


def item_stream(seed: bytes, family: str, index: int) -> Stream:
    """The draws of the instance at `index` (before the shuffle) of one family."""
    return Stream("sealbench/v1/item", seed, family, index)


def wording_stream(seed: bytes, family: str, index: int, wording: str) -> Stream:
    """The draws of one wording of one instance, apart from the instance's own."""
    return Stream("sealbench/v1/wording", seed, family, index, wording)


def shuffle_stream(seed: bytes) -> Stream:
    """The draws of the Fisher–Yates shuffle of the items."""
    return Stream("sealbench/v1/shuffle", seed)


class ItemKeys:
    """Ids and salts of a battery's items, by their index after the shuffle."""

    def __init__(self, secret: bytes) -> None:
        self._id = hkdf(secret, "sealbench/v1/id")
        self._salt = hkdf(secret, "sealbench/v1/salt")

    def item_id(self, index: int) -> str:
        """16 hex digits: the first 8 bytes of HMAC(HKDF(K, id), index as 8 bytes big-endian)."""
        return hmac_sha256(self._id, index.to_bytes(8, "big"))[:8].hex()

    def salt(self, index: int) -> bytes:
        """32 bytes: HMAC(HKDF(K, salt), index as 8 bytes big-endian)."""
        return hmac_sha256(self._salt, index.to_bytes(8, "big"))

    def salts(self, count: int) -> Iterator[bytes]:
        """The salts of the first `count` items."""
        return (self.salt(index) for index in range(count))


def instance_id(secret: bytes, family: str, index: int) -> str:
    """16 hex digits naming an instance without telling its place before the shuffle."""
    key = hkdf(secret, "sealbench/v1/instance", family)
    return hmac_sha256(key, index.to_bytes(8, "big"))[:8].hex()


class ResponseSalts:
    """Salts that hide a response's id and body until the battery is retired, one per log line."""

    def __init__(self, secret: bytes, run: str) -> None:
        self._key = hkdf(secret, "sealbench/v1/response", run)

    def salt(self, line: int) -> bytes:
        """32 bytes for log line `line`, counted from 0."""
        return hmac_sha256(self._key, line.to_bytes(8, "big"))


def salted_hash(salt: bytes, data: bytes) -> str:
    """SHA-256(salt ‖ data) in hex, as stored in a log line."""
    return sha256(salt + data).hex()


def encryption_key(secret: bytes) -> bytes:
    """The ChaCha20-Poly1305 key of a battery (32 bytes); one K encrypts once."""
    return hkdf(secret, "sealbench/v1/encryption")
