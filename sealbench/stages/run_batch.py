"""A run through the providers' own queues: write batch files of the open calls, read their results.

Each attempt is in the journal before its request file exists, as with calls made live, and the results
go through the same recorder, so that the log does not tell how a call travelled but by its times.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sealbench.clock import Clock, system_clock
from sealbench.config import Settings
from sealbench.endpoints.base import EndpointSettings
from sealbench.endpoints.batch import BATCH_PROVIDERS, read_batch, write_batch
from sealbench.endpoints.bodies import decode_body, get_text
from sealbench.endpoints.calls import Call, Outcome
from sealbench.endpoints.retries import judge
from sealbench.errors import FormatError, NotYet, UsageError
from sealbench.formats.base import format_instant, parse_instant
from sealbench.formats.battery import Item
from sealbench.formats.run import Run
from sealbench.running.batches import StoredBatch, add_batch, custom_id, open_batches, waiting_ids
from sealbench.running.journal import CallKey, Journal
from sealbench.running.ready_endpoints import thaw_endpoints
from sealbench.running.recording import Recorder, call_key, end_run
from sealbench.running.run_records import Selection, resume_command
from sealbench.store import Workspace

# Below what the providers take in one file (50,000 requests, 200 MB and more).
LARGEST_BATCH = 50_000
LARGEST_BYTES = 100 * 1024 * 1024


@dataclass(frozen=True)
class WrittenBatch:
    """One request file."""

    endpoint: str
    provider: str
    path: Path
    calls: int


@dataclass(frozen=True)
class BatchesWritten:
    """The request files, and the endpoints of other providers, whose calls stay for a live run."""

    files: tuple[WrittenBatch, ...]
    live_only: tuple[str, ...]


@dataclass(frozen=True)
class BatchesRead:
    """What came back: calls logged now and in all, calls that expired or failed there, what is left."""

    done_now: int
    failed: int
    done: int
    left: int
    ended: bool


def write_batches(
    workspace: Workspace,
    run: Run,
    items: Sequence[Item],
    planned: Sequence[CallKey],
    *,
    settings: Settings,
    selection: Selection | None = None,
    clock: Clock = system_clock,
) -> BatchesWritten:
    """Request files for the selected calls that are neither logged nor waiting in a batch.

    Raises
    ------
    UsageError : no selected endpoint's provider takes batch files.
    NotYet : nothing is left to write.
    """
    chosen = selection or Selection()
    chosen.check(run)
    endpoints = thaw_endpoints(run.endpoints, settings)
    names = [name for name in endpoints if not chosen.endpoints or name in chosen.endpoints]
    usable = [name for name in names if endpoints[name].provider in BATCH_PROVIDERS]
    if not usable:
        raise UsageError(
            f"no endpoint of {run.name} takes batch files",
            hint=f"batches exist for {', '.join(BATCH_PROVIDERS)}; run it live: {resume_command(run)}",
        )
    by_id = {item.id: item for item in items}
    files: list[WrittenBatch] = []
    with workspace.lock(f"runs/{run.name}/lock"), _journal(workspace, run) as journal:
        waiting = waiting_ids(workspace, run)
        for name in usable:
            keys = [
                key
                for key in planned
                if key[1] == name
                and key not in journal.done
                and chosen.holds(key, by_id[key[0]].wording)
                and custom_id(run, key) not in waiting
            ]
            for part in _parts([_call(key, by_id) for key in keys]):
                files.append(_write(workspace, run, journal, endpoints[name], part, clock))
    if not files:
        raise NotYet(
            "every call of this part is in the log or waits in a batch",
            hint=f"{resume_command(run)} --batch read --batch-file RESULTS",
        )
    return BatchesWritten(tuple(files), tuple(name for name in names if name not in usable))


def _parts(calls: Sequence[Call]) -> Iterator[list[Call]]:
    part: list[Call] = []
    size = 0
    for call in calls:
        # What a prompt can grow to as escaped JSON, and the rest of its request.
        length = 6 * len(call.prompt) + 4096
        if part and (len(part) >= LARGEST_BATCH or size + length > LARGEST_BYTES):
            yield part
            part, size = [], 0
        part.append(call)
        size += length
    if part:
        yield part


def _write(
    workspace: Workspace,
    run: Run,
    journal: Journal,
    endpoint: EndpointSettings,
    calls: list[Call],
    clock: Clock,
) -> WrittenBatch:
    at = format_instant(clock(), microseconds=True)
    ids = {call.key: custom_id(run, call_key(call)) for call in calls}
    data = b"".join(write_batch(calls, endpoint, lambda call: ids[call.key]))
    for call in calls:
        journal.attempt(call_key(call), 1, at)
    path = add_batch(workspace, run, endpoint.name, data, list(ids.values()), at)
    return WrittenBatch(endpoint.name, endpoint.provider, path, len(calls))


def read_batches(
    workspace: Workspace,
    run: Run,
    items: Sequence[Item],
    secret: bytes,
    planned: Sequence[CallKey],
    files: Sequence[Path],
    *,
    settings: Settings,
    clock: Clock = system_clock,
) -> BatchesRead:
    """Log the results that providers' result files hold. Nothing of a file is logged if one line is wrong.

    Reading a file again that was read whole is refused; one whose reading was interrupted is finished.

    Raises
    ------
    FormatError : a line belongs to no call that waits in a batch of this run, or to one already logged.
    """
    by_id = {item.id: item for item in items}
    keys = {custom_id(run, key): key for key in planned}
    endpoints = thaw_endpoints(run.endpoints, settings)
    failed = 0
    with workspace.lock(f"runs/{run.name}/lock"), _journal(workspace, run) as journal:
        before = journal.size
        recorder = Recorder(run, journal, by_id, secret)
        for path in files:
            answered = journal.size
            returned = _read_file(workspace, run, journal, recorder, path, keys, by_id, endpoints, clock)
            failed += returned - (journal.size - answered)
        done = journal.size
        if done == len(planned):
            end_run(workspace, run, done, clock)
    return BatchesRead(done - before, failed, done, len(planned) - done, done == len(planned))


def _read_file(
    workspace: Workspace,
    run: Run,
    journal: Journal,
    recorder: Recorder,
    path: Path,
    keys: dict[str, CallKey],
    items: dict[str, Item],
    endpoints: dict[str, EndpointSettings],
    clock: Clock,
) -> int:
    """Log one result file; the number of its lines that were not in the log before."""
    stored = open_batches(workspace, run)
    digest, ids = _ids_of(path)
    if any(digest in one.batch.read for one in stored):
        raise UsageError(f"{path} has been read already", hint=f"{resume_command(run)} --status")
    resumed = any(one.batch.reading == digest for one in stored)
    batch_of = {waiting: one for one in stored for waiting in one.batch.waiting}
    open_ids: dict[str, StoredBatch] = {}
    for number, one_id in enumerate(ids, start=1):
        logged = one_id in keys and keys[one_id] in journal.done
        if logged and resumed:
            continue
        if logged or one_id not in batch_of or one_id not in keys:
            what = "a call that is in the log already" if logged else "no call that waits in a batch"
            raise FormatError(
                f"{path} line {number}: the result of {what} ({one_id[:64]!r})",
                hint="read the result file of a batch that this run wrote, and each file once",
            )
        open_ids[one_id] = batch_of[one_id]
    touched = {one.path: one for one in open_ids.values()}
    if len({one.batch.endpoint for one in touched.values()}) > 1:
        raise FormatError(f"{path}: results of several endpoints in one file", hint="read each batch's own")
    for one in touched.values():
        one.changed(reading=digest).save()
    for one in touched.values():
        mine = [one_id for one_id, owner in open_ids.items() if owner.path == one.path]
        calls = {one_id: _call(keys[one_id], items) for one_id in mine}
        for outcome in _outcomes(path, endpoints[one.batch.endpoint], calls, one.batch.written_at, clock):
            recorder.outcome(outcome, noted=one.batch.written_at)
    _close(workspace, run, digest, set(ids))
    return len(open_ids)


def _call(key: CallKey, items: dict[str, Item]) -> Call:
    return Call(key, key[1], items[key[0]].prompt, key[2])


def _outcomes(
    path: Path, endpoint: EndpointSettings, calls: dict[str, Call], written_at: str, clock: Clock
) -> Iterator[Outcome]:
    """What the results of these calls say; one that failed there is left open, to be asked again."""
    with path.open("rb") as stream:
        lines = (line for line in stream if get_text(decode_body(line), "custom_id") in calls)
        for outcome in read_batch(
            lines, endpoint, calls, submitted_at=parse_instant(written_at), received_at=clock()
        ):
            if judge(outcome.status or 0, outcome.headers, outcome.parsed) != "retry":
                yield outcome


def _close(workspace: Workspace, run: Run, digest: str, returned: set[str]) -> None:
    """Take what came back off the open batches; a batch of which nothing waits any more is closed."""
    for one in open_batches(workspace, run):
        if one.batch.reading != digest:
            continue
        waiting = tuple(waits for waits in one.batch.waiting if waits not in returned)
        one.changed(waiting=waiting, read=(*one.batch.read, digest), reading=None).save()


def _ids_of(path: Path) -> tuple[str, list[str]]:
    """SHA-256 of a result file, and the id on each of its lines; FormatError for a line without one."""
    ids: list[str] = []
    digest = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                digest.update(line)
                if not line.strip():
                    continue
                found = get_text(decode_body(line), "custom_id")
                if found is None:
                    raise FormatError(
                        f"{path} line {number}: no result line",
                        hint="give the provider's result file as it is",
                    )
                ids.append(found)
    except OSError as error:
        raise FormatError(
            f"{path}: cannot be read ({error.strerror})", hint="--batch-file RESULTS"
        ) from error
    if len(set(ids)) != len(ids):
        raise FormatError(f"{path}: holds two results of one call", hint="give the provider's file as it is")
    return digest.hexdigest(), ids


def _journal(workspace: Workspace, run: Run) -> Journal:
    return Journal(workspace.run(run.name), workspace.private_run(run.name), run.digest())
