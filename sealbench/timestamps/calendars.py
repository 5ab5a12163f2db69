"""The calendar protocol: submit digests, and turn promises into Bitcoin attestations.

    POST /digest            the raw digest; 200 gives a serialised timestamp for it
    GET  /timestamp/HEX     HEX is the message at the promise; 200 gives the upgrade, 404 not yet

Calendars are not trusted. Each has a time limit, a limit of 10,000 bytes, no redirects, and its texts
are cleaned before they are shown; whatever it does costs only that calendar. Several files of one call
go out as one digest, with a nonce each, so a calendar learns neither names, hashes nor number.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from sealbench.crypto.digest import sha256
from sealbench.errors import FormatError, NetworkError, SealError
from sealbench.http import printable
from sealbench.timestamps.asking import ask
from sealbench.timestamps.proof import (
    DetachedProof,
    attestations,
    below,
    merge_timestamps,
    nodes,
    only_sha256,
    read_proof,
    read_timestamp,
    serialize,
    stamp_digests,
)
from sealbench.timestamps.whitelist import allowed, operator_of, split_address

ANSWER_LIMIT = 10_000  # bytes, as in the reference client
TIME_LIMIT = 10.0  # seconds per calendar and request
NOT_YET_SECONDS = 60.0  # how long a "not yet" is believed without asking again
_HEADERS = {"accept": "application/vnd.opentimestamps.v1"}

Refuse = Callable[[int, bytes], Awaitable[str]]
"""Given the height and message of a new Bitcoin attestation: why it is refused, empty if it is not."""


@dataclass(frozen=True)
class SubmitResult:
    """Proofs by file; the calendars that answered; those that failed, each with its reason."""

    proofs: dict[Path, bytes]
    answered: list[str]
    failed: list[tuple[str, str]]


@dataclass(frozen=True)
class UpgradeResult:
    """The proof after asking (the same bytes unless `changed`).

    `complete`: it holds a Bitcoin attestation. `pending`: calendars whose promise is still open.
    `notes`: one sentence per calendar that gave nothing new.
    """

    proof: bytes
    changed: bool
    complete: bool
    pending: list[str]
    notes: list[str]


@dataclass
class AnswerCache:
    """Calendars' answers of one session, so that files stamped together cost one request per promise."""

    answers: dict[tuple[str, bytes], tuple[float, bytes | None, str]] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    locks: dict[tuple[str, bytes], asyncio.Lock] = field(default_factory=dict)

    def asking(self, uri: str, message: bytes) -> asyncio.Lock:
        """Held while a promise is asked for, so that files upgraded side by side ask once."""
        return self.locks.setdefault((uri, message), asyncio.Lock())

    def get(self, uri: str, message: bytes) -> tuple[bytes | None, str] | None:
        """The answer's bytes (None for a refusal) and its text; None if unknown or a stale "not yet"."""
        known = self.answers.get((uri, message))
        if known is None or (known[1] is None and self.clock() - known[0] >= NOT_YET_SECONDS):
            return None
        return known[1], known[2]

    def put(self, uri: str, message: bytes, body: bytes | None, text: str) -> None:
        """Remember an answer."""
        self.answers[uri, message] = (self.clock(), body, text)


async def submit(
    files: Mapping[Path, bytes],
    calendars: Sequence[str],
    *,
    minimum_operators: int,
    client: httpx.AsyncClient,
    time_limit: float = TIME_LIMIT,
) -> SubmitResult:
    """Stamp the contents of `files` with one submission per calendar.

    Raises NetworkError, and gives no proof, unless calendars of at least `minimum_operators` different
    operators answered within the time limit.
    """
    for calendar in calendars:
        split_address(calendar)
    stamping = stamp_digests([sha256(content) for content in files.values()])
    outcomes = await asyncio.gather(
        *(_submit_one(client, calendar, stamping.tip_message, time_limit) for calendar in calendars)
    )
    answered, failed = [], []
    for calendar, outcome in zip(calendars, outcomes, strict=True):
        if isinstance(outcome, SealError):
            failed.append((calendar, outcome.message))
        else:
            answered.append(calendar)
            stamping.add(outcome)
    operators = {operator_of(calendar) for calendar in answered}
    if len(operators) < max(minimum_operators, 1):
        raise _too_few(len(operators), minimum_operators, failed)
    proofs = {path: _written(proof) for path, proof in zip(files, stamping.proofs, strict=True)}
    return SubmitResult(proofs, answered, failed)


def _too_few(operators: int, minimum: int, failed: list[tuple[str, str]]) -> NetworkError:
    reasons = "; ".join(f"{calendar}: {reason}" for calendar, reason in failed) or "no calendar configured"
    return NetworkError(
        f"{operators} of {minimum} calendar operators answered, so nothing was stamped ({reasons})",
        hint="try again in a minute, or name further calendars in sealbench.toml",
    )


def _written(proof: DetachedProof) -> bytes:
    data = serialize(proof)
    read_proof(data)  # a file is only handed out if it can be read back
    return data


async def _submit_one(
    client: httpx.AsyncClient, calendar: str, digest: bytes, time_limit: float
) -> Any | SealError:
    url = calendar.rstrip("/") + "/digest"
    try:
        answer = await ask(
            client,
            "POST",
            url,
            limit=ANSWER_LIMIT,
            timeout=time_limit,
            content=digest,
            headers=_HEADERS | {"content-type": "application/x-www-form-urlencoded"},
        )
        if answer.status != 200:
            return NetworkError(f"answered {answer.status}: {_text(answer.body)}")
        return _checked(answer.body, digest)
    except (NetworkError, FormatError) as error:
        return error


def _text(body: bytes) -> str:
    return printable(body[:400].decode("utf-8", "replace").strip()) or "no text"


def _checked(body: bytes, message: bytes) -> Any:
    """A calendar's timestamp for `message`, if it is one that our own proofs may hold."""
    timestamp = read_timestamp(body, message)
    if not only_sha256(timestamp):
        raise FormatError("its answer uses operations other than SHA-256, append and prepend")
    if not any(one.kind in {"pending", "bitcoin"} for one in below(timestamp)):
        raise FormatError("its answer holds neither a promise nor a Bitcoin attestation")
    return timestamp


async def upgrade(
    proof_bytes: bytes,
    *,
    whitelist: Sequence[str],
    client: httpx.AsyncClient,
    time_limit: float = TIME_LIMIT,
    cache: AnswerCache | None = None,
    refuse: Refuse | None = None,
) -> UpgradeResult:
    """Ask every calendar whose promise is still open; merge what they give; keep all that was there.

    `refuse` looks at each new Bitcoin attestation before it is taken (`headers.refuse_mismatches`), so
    that a calendar's false one costs that calendar and not the proof. FormatError for a bad proof.
    """
    proof = read_proof(proof_bytes)
    cache = cache or AnswerCache()
    promises = _open_promises(proof)
    outcomes = await asyncio.gather(
        *(_ask(client, uri, message, whitelist, time_limit, cache) for uri, message in promises)
    )
    notes = []
    for (uri, message), (body, text) in zip(promises, outcomes, strict=True):
        if body is None:
            notes.append(f"{uri}: {text}")
            continue
        try:
            proof = await _with_answer(proof, uri, message, body, refuse)
        except FormatError as error:
            notes.append(f"{uri}: {error.message}")
    result = serialize(proof) if promises else proof_bytes
    complete = any(one.kind == "bitcoin" for one in attestations(proof))
    pending = [uri for uri, _ in _open_promises(proof)]
    changed = _differs(result, proof_bytes)
    return UpgradeResult(result if changed else proof_bytes, changed, complete, pending, notes)


def _differs(result: bytes, before: bytes) -> bool:
    """Whether the merge brought anything; a mere re-encoding of a foreign proof does not count."""
    return result != serialize(read_proof(before))


def _open_promises(proof: DetachedProof) -> list[tuple[str, bytes]]:
    """(URI, message) of each promise with no Bitcoin attestation below it, each once, sorted."""
    found: set[tuple[str, bytes]] = set()
    for node in nodes(proof.timestamp):
        uris = [uri for one in node.attestations if (uri := getattr(one, "uri", None)) is not None]
        if uris and not any(one.kind == "bitcoin" for one in below(node)):
            found.update((uri, node.msg) for uri in uris)
    return sorted(found)


async def _ask(
    client: httpx.AsyncClient,
    uri: str,
    message: bytes,
    whitelist: Sequence[str],
    time_limit: float,
    cache: AnswerCache,
) -> tuple[bytes | None, str]:
    """The body of a calendar's upgrade, or None and why there is none."""
    if not allowed(uri, whitelist):
        return None, "not asked: not on the list of calendars (`calendars` in sealbench.toml adds one)"
    async with cache.asking(uri, message):
        return cache.get(uri, message) or await _ask_calendar(client, uri, message, time_limit, cache)


async def _ask_calendar(
    client: httpx.AsyncClient, uri: str, message: bytes, time_limit: float, cache: AnswerCache
) -> tuple[bytes | None, str]:
    url = f"{uri.rstrip('/')}/timestamp/{message.hex()}"
    try:
        answer = await ask(client, "GET", url, limit=ANSWER_LIMIT, timeout=time_limit, headers=_HEADERS)
    except NetworkError as error:
        return None, error.message
    if answer.status == 200:
        cache.put(uri, message, answer.body, "")
        return answer.body, ""
    text = f"answered {answer.status}: {_text(answer.body)}"
    if answer.status == 404:
        text = f"not yet: {_text(answer.body)}"
        cache.put(uri, message, None, text)
    return None, text


async def _with_answer(
    proof: DetachedProof, uri: str, message: bytes, body: bytes, refuse: Refuse | None
) -> DetachedProof:
    """A copy of the proof with one calendar's answer merged in; FormatError if it is not taken."""
    timestamp = _checked(body, message)
    for one in below(timestamp):
        if refuse is None or one.kind != "bitcoin" or one.height is None:
            continue
        reason = await refuse(one.height, one.message)
        if reason:
            raise FormatError(f"its attestation was refused: {reason}")
    copy = read_proof(serialize(proof))
    for node in nodes(copy.timestamp):
        if node.msg == message and any(getattr(one, "uri", None) == uri for one in node.attestations):
            merge_timestamps(node, timestamp)
            break
    # Replayed from its bytes: what is written can be read, is within the limits, and lost nothing.
    replayed = read_proof(serialize(copy))
    missing = set(attestations(proof)) - set(attestations(replayed))
    if missing:
        raise FormatError("merging its answer would lose attestations")
    return replayed
