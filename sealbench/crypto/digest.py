"""Hashes and key derivation with unambiguous inputs.

Every part of a hash or derivation, its label included, is preceded by its length (4 bytes,
big-endian), so no two lists of parts give the same bytes. Text is UTF-8, numbers are 8 bytes
big-endian. Source: docs/spec/derivations.md. HKDF is RFC 5869, HMAC is RFC 2104.
"""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

Part = bytes | str | int


def encode_part(part: Part) -> bytes:
    """One part as bytes: text UTF-8, a number 8 bytes big-endian, bytes as they are."""
    if isinstance(part, bytes):
        return part
    if isinstance(part, str):
        return part.encode("utf-8")
    return part.to_bytes(8, "big")


def join_parts(*parts: Part) -> bytes:
    """The parts, each preceded by its length in 4 bytes big-endian."""
    encoded = (encode_part(part) for part in parts)
    return b"".join(len(part).to_bytes(4, "big") + part for part in encoded)


def sha256(data: bytes) -> bytes:
    """SHA-256 of exactly these bytes (32 bytes)."""
    return hashlib.sha256(data).digest()


def sha256_hex(data: bytes) -> str:
    """SHA-256 of exactly these bytes, 64 lower-case hex digits, as `sha256sum` prints it."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes in hex, read in blocks so that size does not matter."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sha256d(data: bytes) -> bytes:
    """Bitcoin's double SHA-256 (32 bytes, internal byte order)."""
    return hashlib.sha256(hashlib.sha256(data).digest()).digest()


def tagged_sha256(label: str, *parts: Part) -> bytes:
    """SHA-256 over the length-prefixed label and parts (32 bytes)."""
    return sha256(join_parts(label, *parts))


def hkdf(key: bytes, label: str, *parts: Part, salt: bytes = b"") -> bytes:
    """HKDF-SHA256 (RFC 5869) with `info` = the length-prefixed label and parts; 32 bytes out."""
    return HKDF(algorithm=SHA256(), length=32, salt=salt or None, info=join_parts(label, *parts)).derive(key)


def hmac_sha256(key: bytes, message: bytes) -> bytes:
    """HMAC-SHA256 (32 bytes)."""
    return hmac.digest(key, message, "sha256")
