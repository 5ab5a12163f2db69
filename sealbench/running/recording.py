"""What the engine reports becomes lines of the journal: attempts before they are sent, outcomes after."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sealbench.analysis.measure import log_fields
from sealbench.clock import Clock
from sealbench.crypto.derivation import ResponseSalts, salted_hash
from sealbench.endpoints.calls import Attempt, Call, Outcome
from sealbench.errors import InternalError
from sealbench.formats.base import JsonObject, format_instant
from sealbench.formats.battery import Item
from sealbench.formats.run import LogLine, RawResponse, Run
from sealbench.publishing.publication import publish
from sealbench.running.journal import CallKey, Journal
from sealbench.store import Workspace


class Recorder:
    """Writes the calls of one run into its open journal.

    Parameters
    ----------
    items : the battery's items by id.
    secret : K, from which the salts of the response hashes follow.
    on_line : called with each line once it is in the log.
    """

    def __init__(
        self,
        run: Run,
        journal: Journal,
        items: Mapping[str, Item],
        secret: bytes,
        on_line: Callable[[LogLine], None] | None = None,
    ) -> None:
        self._journal = journal
        self._items = items
        self._salts = ResponseSalts(secret, run.name)
        self._cap_parameters = {endpoint.name: endpoint.cap_parameter for endpoint in run.endpoints}
        self._on_line = on_line

    def attempt(self, call: Call, attempt: Attempt) -> None:
        """Journal an attempt before it is sent."""
        started = format_instant(attempt.started_at, microseconds=True)
        self._journal.attempt(call_key(call), attempt.number, started)

    def outcome(self, outcome: Outcome, *, noted: str | None = None) -> None:
        """Log a call that has ended.

        `noted`: the time under which its attempt stands in the journal already, where another process
        wrote it (a batch file); it is not counted a second time as one that was interrupted.
        """
        key = call_key(outcome.call)
        item_id, endpoint, cap, repeat = key
        parsed = outcome.parsed
        earlier = [attempt for attempt in self._journal.interrupted(key) if attempt.at != noted]
        fields = log_fields(
            parsed,
            self._items[item_id],
            endpoint=endpoint,
            cap=cap,
            cap_parameter=self._cap_parameters[endpoint],
            repeat=repeat,
            attempts=earlier,
        )
        fields["attempts"] += map(_attempt_value, outcome.attempts)
        salt = self._salts.salt(self._journal.size)
        body = None if outcome.body is None else outcome.body.decode("utf-8", "replace")
        fields["body_hash"] = None if body is None else salted_hash(salt, body.encode())
        identifier = parsed.response_id
        fields["response_id_hash"] = None if not identifier else salted_hash(salt, identifier.encode())
        raw = RawResponse(seq=self._journal.size, response_id=identifier or None, body=body, text=parsed.text)
        line = self._journal.record(fields, raw)
        if self._on_line is not None:
            self._on_line(line)


def end_run(workspace: Workspace, run: Run, lines: int, clock: Clock) -> None:
    """Register that a run has ended with this many log lines."""
    folder = workspace.run(run.name)
    with publish(workspace, clock) as publication:
        files = [publication.hash_of(folder / name) for name in ("log.jsonl", "run.json")]
        publication.event("run_end", run.name, files, {"lines": lines})


def call_key(call: Call) -> CallKey:
    """The planned call that an engine's call stands for."""
    if not isinstance(call.key, tuple):
        raise InternalError("a call without the key of a planned one")
    item, endpoint, cap, repeat = call.key
    return (item, endpoint, cap, repeat)


def _attempt_value(attempt: Attempt) -> JsonObject:
    """The value of an AttemptRecord; the log line that holds it is checked as a whole."""
    ended = attempt.ended_at
    return {
        "at": format_instant(attempt.started_at, microseconds=True),
        "ended_at": format_instant(ended, microseconds=True) if ended else None,
        "status": attempt.status,
        "outcome": attempt.outcome,
    }
