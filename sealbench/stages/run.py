"""Make the calls of a run that are still open, log each, and close the run when none is left."""

from __future__ import annotations

import asyncio
import contextlib
import errno
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sealbench.analysis.measure import log_fields
from sealbench.clock import Clock, system_clock
from sealbench.config import Settings
from sealbench.crypto.derivation import ResponseSalts, salted_hash
from sealbench.endpoints.base import EndpointSettings, resolve
from sealbench.endpoints.engine import (
    Attempt,
    Budget,
    Call,
    Outcome,
    Summary,
    run_calls,
    stop_on_signals,
)
from sealbench.errors import FormatError, NotYet, UsageError
from sealbench.formats.base import format_instant
from sealbench.formats.battery import Item
from sealbench.formats.preregistration import Endpoint
from sealbench.formats.run import AttemptRecord, LogLine, RawResponse, Run
from sealbench.journal import CallKey, Journal
from sealbench.publication import publish
from sealbench.store import Workspace


@dataclass(frozen=True)
class Selection:
    """The part of a run to do now; empty means all of it."""

    endpoints: tuple[str, ...] = ()
    caps: tuple[int, ...] = ()
    wordings: tuple[str, ...] = ()

    def check(self, run: Run) -> None:
        """UsageError for anything the run does not hold."""
        names = [endpoint.name for endpoint in run.endpoints]
        for chosen, offered, flag in (
            (self.endpoints, names, "--endpoint"),
            (self.caps, run.caps, "--cap"),
            (self.wordings, run.wordings, "--wording"),
        ):
            for value in chosen:
                if value not in offered:
                    listed = ", ".join(str(one) for one in offered)
                    raise UsageError(
                        f"{flag} {value} is not in the plan of {run.name} (it holds {listed})",
                        hint=f"a pilot may use anything: seal run {run.battery} --exploratory "
                        f"--cap N --endpoint E",
                    )

    def holds(self, key: CallKey, wording: str) -> bool:
        """Whether a planned call belongs to this part."""
        _, endpoint, cap, _ = key
        return (
            (not self.endpoints or endpoint in self.endpoints)
            and (not self.caps or cap in self.caps)
            and (not self.wordings or wording in self.wordings)
        )


@dataclass(frozen=True)
class RunResult:
    """What was done: calls now and in all, what is left, and how the engine ended."""

    run: Run
    done_now: int
    done: int
    left: int
    ended: bool
    summary: Summary


@dataclass(frozen=True)
class Progress:
    """One call that has just ended, and how many are done of those selected."""

    line: LogLine
    done: int
    selected: int


def execute_run(
    workspace: Workspace,
    run: Run,
    items: Sequence[Item],
    secret: bytes,
    planned: Sequence[CallKey],
    *,
    settings: Settings,
    selection: Selection | None = None,
    max_connections: int | None = None,
    budget: Budget | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    clock: Clock = system_clock,
) -> RunResult:
    """Make every selected call that the log does not hold yet.

    Parameters
    ----------
    items, secret : the opened battery.
    planned : all calls of the run in their drawn order.

    Raises
    ------
    UsageError : the selection names something the run does not hold.
    NotYet : another process is at work on this run, or the disk is full.
    """
    chosen = selection or Selection()
    chosen.check(run)
    by_id = {item.id: item for item in items}
    with (
        workspace.lock(f"runs/{run.name}/lock"),
        Journal(workspace.run(run.name), workspace.private_run(run.name), run.digest()) as journal,
        _endpoints(run.endpoints, settings) as endpoints,
    ):
        before = journal.size
        todo = [
            key for key in planned if key not in journal.done and chosen.holds(key, by_id[key[0]].wording)
        ]
        writer = _Writer(run, journal, by_id, secret, len(todo), on_progress)
        calls = (Call(key, key[1], by_id[key[0]].prompt, key[2]) for key in todo)
        with _said_when_full(run):
            summary = asyncio.run(
                _run_until_stopped(
                    calls,
                    endpoints,
                    writer,
                    max_connections=max_connections or settings.max_connections,
                    budget=budget,
                    now=clock,
                )
            )
        done = journal.size
        left = len(planned) - done
        if left == 0:
            _end_run(workspace, run, done, clock)
    return RunResult(run, done - before, done, left, left == 0, summary)


class _Writer:
    """Turns outcomes into log lines."""

    def __init__(
        self,
        run: Run,
        journal: Journal,
        items: Mapping[str, Item],
        secret: bytes,
        selected: int,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self._journal = journal
        self._items = items
        self._salts = ResponseSalts(secret, run.name)
        self._cap_parameters = {endpoint.name: endpoint.cap_parameter for endpoint in run.endpoints}
        self._selected = selected
        self._done = 0
        self._on_progress = on_progress

    def attempt(self, call: Call, attempt: Attempt) -> None:
        """Journal an attempt before it is sent."""
        started = format_instant(attempt.started_at, microseconds=True)
        self._journal.attempt(_key(call), attempt.number, started)

    def outcome(self, outcome: Outcome) -> None:
        """Log a call that has ended."""
        key = _key(outcome.call)
        item_id, endpoint, cap, repeat = key
        parsed = outcome.parsed
        fields = log_fields(
            parsed,
            self._items[item_id],
            endpoint=endpoint,
            cap=cap,
            cap_parameter=self._cap_parameters[endpoint],
            repeat=repeat,
            attempts=[*self._journal.interrupted(key), *map(_record, outcome.attempts)],
        )
        salt = self._salts.salt(self._journal.size)
        body = None if outcome.body is None else outcome.body.decode("utf-8", "replace")
        fields["body_hash"] = None if body is None else salted_hash(salt, body.encode())
        identifier = parsed.response_id
        fields["response_id_hash"] = None if not identifier else salted_hash(salt, identifier.encode())
        raw = RawResponse(seq=self._journal.size, response_id=identifier or None, body=body, text=parsed.text)
        line = self._journal.record(fields, raw)
        self._done += 1
        if self._on_progress is not None:
            self._on_progress(Progress(line, self._done, self._selected))


def _key(call: Call) -> CallKey:
    if not isinstance(call.key, tuple):
        raise FormatError("a call without the key of a planned one")
    item, endpoint, cap, repeat = call.key
    return (item, endpoint, cap, repeat)


def _record(attempt: Attempt) -> AttemptRecord:
    ended = attempt.ended_at
    return AttemptRecord(
        at=format_instant(attempt.started_at, microseconds=True),
        ended_at=format_instant(ended, microseconds=True) if ended else None,
        status=attempt.status,
        outcome=attempt.outcome,
    )


@contextlib.contextmanager
def _said_when_full(run: Run) -> Iterator[None]:
    """A full disk ends a run like a stop: what is logged stays, and the same command goes on."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        target = Path(run.plan.path).stem if run.plan else f"{run.battery} --exploratory …"
        raise NotYet(
            "the disk is full; every answer that is in the log is kept",
            hint=f"free some space, then seal run {target}",
        ) from error


async def _run_until_stopped(
    calls: Iterable[Call],
    endpoints: Mapping[str, EndpointSettings],
    writer: _Writer,
    *,
    max_connections: int,
    budget: Budget | None,
    now: Clock,
) -> Summary:
    stop = asyncio.Event()
    with stop_on_signals(stop):
        return await run_calls(
            calls,
            endpoints,
            before_attempt=writer.attempt,
            on_outcome=writer.outcome,
            stop=stop,
            max_connections=max_connections,
            budget=budget,
            now=now,
        )


@contextlib.contextmanager
def _endpoints(frozen: Sequence[Endpoint], settings: Settings) -> Iterator[dict[str, EndpointSettings]]:
    """The run's endpoints ready to be called; the built-in server runs while any of them is its own."""
    found = {endpoint.name: _settings_of(endpoint, settings) for endpoint in frozen}
    if not any(endpoint.provider == "reference" for endpoint in found.values()):
        yield found
        return
    from sealbench.testing.server import ReferenceServer

    with ReferenceServer() as server:
        yield {
            name: replace(endpoint, base_url=server.url) if endpoint.provider == "reference" else endpoint
            for name, endpoint in found.items()
        }


def _settings_of(endpoint: Endpoint, settings: Settings) -> EndpointSettings:
    """What the plan froze, with today's price and limits of the same configured name, if there is one."""
    record: dict[str, Any] = endpoint.to_value()
    if endpoint.name in settings.endpoints:
        today = resolve(endpoint.name, settings.endpoints)
        return EndpointSettings.from_record(record, price=today.price, limits=today.limits)
    return EndpointSettings.from_record(record)


def _end_run(workspace: Workspace, run: Run, lines: int, clock: Clock) -> None:
    folder = workspace.run(run.name)
    with publish(workspace, clock) as publication:
        files = [publication.hash_of(folder / name) for name in ("log.jsonl", "run.json")]
        publication.event("run_end", run.name, files, {"lines": lines})
