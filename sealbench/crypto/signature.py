"""Ed25519 signatures as SSHSIG files, so that plain `ssh-keygen -Y verify` checks them.

Format: OpenSSH PROTOCOL.sshsig. The namespace is `sealbench`; the principal in an allowed_signers
file is the key's fingerprint. Keys on disk are OpenSSH private keys.
"""

from __future__ import annotations

import base64
import binascii
import hashlib

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from sealbench.errors import FormatError, SignatureFailed

NAMESPACE = "sealbench"
KEY_TYPE = b"ssh-ed25519"
_MAGIC = b"SSHSIG"
_HASH = b"sha512"
_BEGIN = "-----BEGIN SSH SIGNATURE-----"
_END = "-----END SSH SIGNATURE-----"
_LINE = 70  # what ssh-keygen writes


def _string(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


class _Reader:
    """Reads SSH wire strings; anything short or left over is a SignatureFailed."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def take(self, size: int) -> bytes:
        if len(self._data) < size:
            raise SignatureFailed("the signature file ends too early")
        head, self._data = self._data[:size], self._data[size:]
        return head

    def string(self) -> bytes:
        return self.take(int.from_bytes(self.take(4), "big"))

    def end(self) -> None:
        if self._data:
            raise SignatureFailed("the signature file has bytes left over")


class AuthorKey:
    """An author's private key; its text forms never include the secret part."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        raw = private.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        self.public = PublicKey(raw)

    @classmethod
    def generate(cls) -> AuthorKey:
        """A fresh key from the operating system's randomness."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def from_openssh(cls, data: bytes, name: str = "author key") -> AuthorKey:
        """Read an unencrypted OpenSSH Ed25519 private key; FormatError for anything else."""
        try:
            private = serialization.load_ssh_private_key(data, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise FormatError(f"{name}: not an unencrypted OpenSSH private key") from error
        if not isinstance(private, Ed25519PrivateKey):
            raise FormatError(f"{name}: not an Ed25519 key")
        return cls(private)

    def to_openssh(self) -> bytes:
        """The private key in OpenSSH's format; to be written with mode 0600 only."""
        return self._private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.OpenSSH,
            serialization.NoEncryption(),
        )

    def secret_bytes(self) -> bytes:
        """The secret seed (32 bytes), for looking whether a file holds it; never to be written."""
        return self._private.private_bytes_raw()

    def sign(self, message: bytes) -> bytes:
        """An armoured SSHSIG over exactly these bytes, as `ssh-keygen -Y sign -n sealbench` makes it."""
        signature = self._private.sign(_signed_data(message))
        blob = (
            _MAGIC
            + (1).to_bytes(4, "big")
            + _string(self.public.wire)
            + _string(NAMESPACE.encode())
            + _string(b"")
            + _string(_HASH)
            + _string(_string(KEY_TYPE) + _string(signature))
        )
        return _armour(blob)


class PublicKey:
    """An Ed25519 public key (32 raw bytes) with its OpenSSH spellings."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.wire = _string(KEY_TYPE) + _string(raw)
        self.fingerprint = "SHA256:" + base64.b64encode(hashlib.sha256(self.wire).digest()).decode().rstrip(
            "="
        )

    @property
    def openssh(self) -> str:
        """`ssh-ed25519 AAAA…`, one line without a comment."""
        return f"{KEY_TYPE.decode()} {base64.b64encode(self.wire).decode()}"

    @property
    def allowed_signer(self) -> str:
        """A line of an allowed_signers file: fingerprint as principal, this namespace only."""
        return f'{self.fingerprint} namespaces="{NAMESPACE}" {self.openssh}'

    @classmethod
    def from_openssh(cls, text: str, name: str = "public key") -> PublicKey:
        """Read `ssh-ed25519 AAAA… [comment]`; FormatError for anything else."""
        words = text.split()
        if len(words) < 2 or words[0] != KEY_TYPE.decode():
            raise FormatError(f"{name}: not an ssh-ed25519 public key")
        try:
            reader = _Reader(base64.b64decode(words[1], validate=True))
            kind, raw = reader.string(), reader.string()
            reader.end()
        except (ValueError, SignatureFailed) as error:  # not base64, or not ASCII
            raise FormatError(f"{name}: not a whole ssh-ed25519 public key") from error
        if kind != KEY_TYPE or len(raw) != 32 or cls(raw).openssh.split()[1] != words[1]:
            raise FormatError(f"{name}: not an ssh-ed25519 public key")
        return cls(raw)

    def verify(self, message: bytes, armoured: bytes) -> None:
        """Check an SSHSIG over exactly these bytes by exactly this key.

        Raises
        ------
        SignatureFailed : malformed, by another key, for another namespace, or wrong.
        """
        blob = _unarmour(armoured)
        reader = _Reader(blob)
        if reader.take(6) != _MAGIC or reader.take(4) != (1).to_bytes(4, "big"):
            raise SignatureFailed("not an SSH signature of version 1")
        if reader.string() != self.wire:
            raise SignatureFailed("signed by another key")
        if reader.string() != NAMESPACE.encode() or reader.string() != b"":
            raise SignatureFailed(f"signed for another namespace than {NAMESPACE}")
        if reader.string() != _HASH:
            raise SignatureFailed("signed with another hash than sha512")
        inner = _Reader(reader.string())
        reader.end()
        if inner.string() != KEY_TYPE:
            raise SignatureFailed("not an Ed25519 signature")
        signature = inner.string()
        inner.end()
        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, _signed_data(message))
        except InvalidSignature as error:
            raise SignatureFailed("the signature does not belong to these bytes") from error


def _signed_data(message: bytes) -> bytes:
    digest = hashlib.sha512(message).digest()
    return _MAGIC + _string(NAMESPACE.encode()) + _string(b"") + _string(_HASH) + _string(digest)


def _armour(blob: bytes) -> bytes:
    text = base64.b64encode(blob).decode()
    lines = [text[start : start + _LINE] for start in range(0, len(text), _LINE)]
    return ("\n".join([_BEGIN, *lines, _END]) + "\n").encode()


def _unarmour(armoured: bytes) -> bytes:
    try:
        lines = armoured.decode("ascii").split("\n")
        if len(lines) < 4 or lines[0] != _BEGIN or lines[-2:] != [_END, ""]:
            raise SignatureFailed("not an armoured SSH signature")
        blob = base64.b64decode("".join(lines[1:-2]), validate=True)
    except (UnicodeDecodeError, binascii.Error) as error:
        raise SignatureFailed("not an armoured SSH signature") from error
    # Exactly one spelling: a changed line break or unused base64 bit is a changed file.
    if _armour(blob) != armoured:
        raise SignatureFailed("not an armoured SSH signature in its usual layout")
    return blob
