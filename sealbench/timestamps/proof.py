"""OpenTimestamps proofs: read strictly, list what they attest, merge, serialise, and start new ones.

The format, its operations and attestations are the `opentimestamps` library's (its core only). Reading
walks the bytes here instead, for four reasons: every integer is bounded, an operation given twice is
merged and not lost, RIPEMD-160 works where OpenSSL has dropped it, and nothing but FormatError is
raised. Limits are the reference library's: messages of 4096 bytes, nesting of 256; also 256 KiB a file
and heights of 32 bits.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from opentimestamps.core.dubious.notary import EthereumBlockHeaderAttestation
from opentimestamps.core.notary import (
    BitcoinBlockHeaderAttestation,
    LitecoinBlockHeaderAttestation,
    PendingAttestation,
    TimeAttestation,
    UnknownAttestation,
)
from opentimestamps.core.op import (
    CryptOp,
    MsgValueError,
    Op,
    OpAppend,
    OpArgValueError,
    OpPrepend,
    OpReverse,
    OpRIPEMD160,
    OpSHA1,
    OpSHA256,
)
from opentimestamps.core.serialize import (
    BytesDeserializationContext,
    BytesSerializationContext,
    DeserializationError,
)
from opentimestamps.core.timestamp import DetachedTimestampFile, Timestamp, make_merkle_tree

from sealbench.errors import FormatError, UsageError

MAX_PROOF_SIZE = 256 * 1024
MAX_DEPTH = 256
NONCE_SIZE = 16
_HINT = "get the .ots file again from where it came, or stamp the file anew with `seal stamp`"
_SHA256 = OpSHA256()
_KINDS: dict[type, str] = {
    BitcoinBlockHeaderAttestation: "bitcoin",
    PendingAttestation: "pending",
    LitecoinBlockHeaderAttestation: "litecoin",
    EthereumBlockHeaderAttestation: "ethereum",
    UnknownAttestation: "unknown",
}


@dataclass(frozen=True)
class DetachedProof:
    """A proof for the file with this digest; `timestamp` is the library's tree with the digest on top."""

    hash_name: str
    digest: bytes
    timestamp: Any


@dataclass(frozen=True)
class Attestation:
    """One leaf of a proof.

    `kind` is bitcoin, pending, litecoin, ethereum or unknown; `message` what is attested; `height` the
    claimed block (chains only); `uri` the calendar (pending only); `tag` 16 hex digits.
    """

    kind: str
    message: bytes
    height: int | None
    uri: str | None
    tag: str = ""


class _Bounded(BytesDeserializationContext):  # type: ignore[misc]  # the library has no types
    """The library's reader with every integer bounded to 32 bits."""

    def read_varuint(self) -> int:
        """An unsigned integer, seven bits a byte, lowest first."""
        value = 0
        for shift in range(0, 35, 7):
            byte = int(self.fd_read(1)[0])
            value |= (byte & 0x7F) << shift
            if not byte & 0x80:
                break
        else:
            raise DeserializationError("an integer longer than five bytes")
        if value >= 1 << 32:
            raise DeserializationError("an integer above 32 bits")
        return value


def read_proof(data: bytes) -> DetachedProof:
    """Parse an `.ots` file; FormatError for anything the reference library refuses, and past the limits."""
    try:
        context = _context(data)
        operation = _read_file_header(context)
        timestamp = _read_timestamp(context, context.read_bytes(operation.DIGEST_LENGTH), MAX_DEPTH)
        context.assert_eof()
    except (DeserializationError, MsgValueError, OpArgValueError) as error:
        raise _refused("proof", error) from error
    return DetachedProof(operation.TAG_NAME, timestamp.msg, timestamp)


def read_timestamp(data: bytes, message: bytes) -> Any:
    """Parse a calendar's answer: a serialised timestamp for `message`; FormatError as `read_proof`."""
    try:
        context = _context(data)
        timestamp = _read_timestamp(context, message, MAX_DEPTH)
        context.assert_eof()
    except (DeserializationError, MsgValueError, OpArgValueError) as error:
        raise _refused("calendar's answer", error) from error
    return timestamp


def _read_file_header(context: _Bounded) -> CryptOp:
    context.assert_magic(DetachedTimestampFile.HEADER_MAGIC)
    if context.read_varuint() != DetachedTimestampFile.MAJOR_VERSION:
        raise DeserializationError("its major version is not 1")
    return CryptOp.deserialize(context)


def _context(data: bytes) -> _Bounded:
    if len(data) > MAX_PROOF_SIZE:
        raise DeserializationError(f"longer than {MAX_PROOF_SIZE} bytes")
    return _Bounded(data)


def _refused(what: str, error: Exception) -> FormatError:
    reason = str(error).splitlines()[0][:120]
    return FormatError(f"not a valid OpenTimestamps {what}: {reason}", hint=_HINT)


def _read_timestamp(context: _Bounded, message: bytes, depth: int) -> Timestamp:
    if not depth:
        raise DeserializationError(f"nested deeper than {MAX_DEPTH} operations")
    timestamp = Timestamp(message)
    more = True
    while more:
        tag = context.read_bytes(1)
        more = tag == b"\xff"
        if more:
            tag = context.read_bytes(1)
        if tag == b"\x00":
            timestamp.attestations.add(_read_attestation(context))
            continue
        operation = _SHA256 if tag == OpSHA256.TAG else Op.deserialize_from_tag(context, tag)
        branch = _read_timestamp(context, apply_operation(operation, message), depth - 1)
        _add_branch(timestamp, operation, branch)
    return timestamp


def _read_attestation(context: _Bounded) -> TimeAttestation:
    tag = context.read_bytes(TimeAttestation.TAG_SIZE)
    payload = context.read_varbytes(TimeAttestation.MAX_PAYLOAD_SIZE)
    for known in _KINDS:
        if known is not UnknownAttestation and tag == known.TAG:  # type: ignore[attr-defined]
            inner = _Bounded(payload)
            attestation = known.deserialize(inner)  # type: ignore[attr-defined]
            inner.assert_eof()
            return attestation
    return UnknownAttestation(tag, payload)


def apply_operation(operation: Op, message: bytes) -> bytes:
    """The result of one operation; MsgValueError past the library's limits."""
    if operation is _SHA256:  # by far the most frequent one, and hashlib.new is slow
        return hashlib.sha256(message).digest()
    if isinstance(operation, OpReverse):  # the library's own raises a deprecation warning
        if len(message) > operation.MAX_MSG_LENGTH:
            raise MsgValueError("message too long")
        return message[::-1]
    if isinstance(operation, OpRIPEMD160):
        return _ripemd160(message)
    return bytes(operation(message))


def _ripemd160(message: bytes) -> bytes:
    try:
        return hashlib.new("ripemd160", message, usedforsecurity=False).digest()
    except ValueError:  # OpenSSL 3 without its legacy provider
        from bitcoin.core.contrib.ripemd160 import ripemd160

        return bytes(ripemd160(message))


def apply_file_hash(hash_name: str, data: bytes) -> bytes:
    """The digest of a whole file, of any length, under one of the proofs' hashes."""
    if hash_name == "ripemd160":
        return _ripemd160(data)
    return bytes(_file_hash(hash_name)()._do_op_call(data))


def _file_hash(name: str) -> Any:
    return next(known for known in CryptOp.SUBCLS_BY_TAG.values() if name == known.TAG_NAME)


def _add_branch(timestamp: Timestamp, operation: Op, branch: Timestamp) -> None:
    if operation in timestamp.ops:
        merge_timestamps(timestamp.ops[operation], branch)
    else:
        timestamp.ops[operation] = branch


def merge_timestamps(into: Timestamp, other: Timestamp) -> None:
    """Add all of `other` to `into`, in place; both are for the same message, else FormatError."""
    if into.msg != other.msg:
        raise FormatError("two proofs for different messages cannot be merged", hint=_HINT)
    into.attestations.update(other.attestations)
    for operation, branch in other.ops.items():
        _add_branch(into, operation, branch)


def merge(first: DetachedProof, second: DetachedProof) -> DetachedProof:
    """One proof with everything both hold; FormatError if they are for different files."""
    if digest_of(first) != digest_of(second):
        raise FormatError("the two proofs are for different files", hint=_HINT)
    result = read_proof(serialize(first))
    merge_timestamps(result.timestamp, read_proof(serialize(second)).timestamp)
    return result


def serialize(proof: DetachedProof) -> bytes:
    """The bytes of the `.ots` file; FormatError for a proof that holds no attestation yet."""
    context = BytesSerializationContext()
    try:
        DetachedTimestampFile(_file_hash(proof.hash_name)(), proof.timestamp).serialize(context)
    except (ValueError, RecursionError) as error:
        raise FormatError("this proof holds no attestation yet, so it cannot be written") from error
    return bytes(context.getbytes())


def serialize_timestamp(timestamp: Timestamp) -> bytes:
    """A timestamp without the file header, as calendars send it."""
    context = BytesSerializationContext()
    timestamp.serialize(context)
    return bytes(context.getbytes())


def digest_of(proof: DetachedProof) -> tuple[str, bytes]:
    """Name of the file's hash and the digest the proof is for."""
    return proof.hash_name, proof.digest


def nodes(timestamp: Timestamp) -> Iterator[Timestamp]:
    """Every message of a proof, parents before children; nothing recursive."""
    stack = [timestamp]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.ops.values())


def attestations(proof: DetachedProof) -> list[Attestation]:
    """All attestations: Bitcoin ones by height, promises by URI, then other chains and unknown ones."""
    return below(proof.timestamp)


def below(timestamp: Timestamp) -> list[Attestation]:
    """The attestations of one message and of all that follow from it, in the same order."""
    found = [
        Attestation(
            _KINDS[type(attestation)],
            node.msg,
            getattr(attestation, "height", None),
            getattr(attestation, "uri", None),
            attestation.TAG.hex(),
        )
        for node in nodes(timestamp)
        for attestation in node.attestations
    ]
    order = list(_KINDS.values())
    return sorted(found, key=lambda a: (order.index(a.kind), a.height or 0, a.uri or a.tag, a.message))


def uses_only_sha256(proof: DetachedProof) -> bool:
    """Whether the file's hash is SHA-256 and every operation SHA-256, append or prepend."""
    return proof.hash_name == "sha256" and only_sha256(proof.timestamp)


def only_sha256(timestamp: Timestamp) -> bool:
    """Whether every operation is SHA-256, append or prepend."""
    allowed = (OpSHA256, OpAppend, OpPrepend)
    return all(isinstance(operation, allowed) for node in nodes(timestamp) for operation in node.ops)


def uses_weak_hash(proof: DetachedProof) -> bool:
    """Whether SHA-1 or RIPEMD-160 occurs, so that the proof may commit to two files."""
    weak = (OpSHA1, OpRIPEMD160)
    return proof.hash_name in {"sha1", "ripemd160"} or any(
        isinstance(operation, weak) for node in nodes(proof.timestamp) for operation in node.ops
    )


@dataclass(frozen=True)
class Stamping:
    """Proofs of one call, to be completed by calendars' answers for their common `tip_message`."""

    tip_message: bytes
    proofs: tuple[DetachedProof, ...]
    tip: Any

    def add(self, answer: Timestamp) -> None:
        """Attach a calendar's timestamp for the tip to every proof at once."""
        merge_timestamps(self.tip, answer)


def stamp_digests(digests: Sequence[bytes]) -> Stamping:
    """Start one proof per SHA-256 digest: a fresh nonce each, then one Merkle tree over all of them.

    The nonce hides a file's hash from the calendars and from the holders of its neighbours' proofs.
    """
    if not digests:
        raise UsageError("nothing to stamp", hint="name a file: `seal stamp FILE`")
    roots = [Timestamp(digest) for digest in digests]
    leaves = [root.ops.add(OpAppend(os.urandom(NONCE_SIZE))).ops.add(OpSHA256()) for root in roots]
    tip = make_merkle_tree(leaves)
    proofs = tuple(DetachedProof("sha256", digest, root) for digest, root in zip(digests, roots, strict=True))
    return Stamping(tip.msg, proofs, tip)
