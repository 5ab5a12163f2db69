"""The log of one run on disk: nothing that was answered is ever lost, and the chain never breaks.

    runs/RUN/log.jsonl                 public, chained, one line per planned call
    .seal/runs/RUN/attempts.jsonl      private, one line before each HTTP attempt
    .seal/runs/RUN/responses.jsonl     private, one line per response, with the log line it led to

A response goes to the private file first and to the log second. Whatever moment a process dies at,
opening the journal again cuts torn last lines off and moves an answered call into the log.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from sealbench import store
from sealbench.crypto import canonical
from sealbench.crypto.digest import sha256_hex
from sealbench.errors import FormatError
from sealbench.formats.base import Count, Identifier, Instant, JsonObject, Record, Str
from sealbench.formats.run import AttemptRecord, LogLine, RawResponse, follow_log

CallKey = tuple[str, str, int, int]
_RESTORE = "restore the run's public and private folders from the same backup"
_SYNC_SECONDS = (
    1.0  # between two waits for the disk: what a power cut may take; a killed process loses nothing
)


class _Stored(Record):
    """One line of responses.jsonl: the raw response, and the log line made from it."""

    raw: RawResponse
    line: JsonObject


class _Attempt(Record):
    """One line of attempts.jsonl: an HTTP attempt that was about to be sent."""

    item: Identifier
    endpoint: Str
    cap: Count
    repeat: Count
    number: Count
    at: Instant


class _AppendFile:
    """An append-only file of lines, unbuffered, with a torn last line cut off when opened."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        store.cut_torn_line(path)
        self._stream: BinaryIO = path.open("ab", buffering=0)
        self._synced_at = time.monotonic()

    def append(self, line: bytes) -> None:
        data = line + b"\n"
        written = self._stream.write(data)
        if written != len(data):  # a full disk can take a part; the next open cuts it off
            raise OSError(errno.ENOSPC, "the disk is full")
        if time.monotonic() - self._synced_at >= _SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        os.fsync(self._stream.fileno())
        self._synced_at = time.monotonic()

    def close(self) -> None:
        self.sync()
        self._stream.close()


class Journal:
    """An open run log. Use as a context manager; the caller holds the run's lock."""

    def __init__(self, public: Path, private: Path, first_prev: str) -> None:
        self._log_path = public / "log.jsonl"
        self._responses_path = private / "responses.jsonl"
        self._attempts_path = private / "attempts.jsonl"
        self.done: set[CallKey] = set()
        self.size = 0
        self._head = first_prev
        self._log = _AppendFile(self._log_path)
        self._responses = _AppendFile(self._responses_path)
        self._attempts = _AppendFile(self._attempts_path)
        self._interrupted: dict[CallKey, list[str]] = {}
        try:
            self._read_log(first_prev)
            self._recover_response()
            self._read_interrupted()
        except BaseException:
            self._close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        for stream in (self._log, self._responses, self._attempts):
            stream.close()

    def interrupted(self, key: CallKey) -> tuple[AttemptRecord, ...]:
        """Attempts at this call that a dead process left without an end."""
        return tuple(
            AttemptRecord(at=at, ended_at=None, status=None, outcome="interrupted")
            for at in self._interrupted.get(key, ())
        )

    def attempt(self, key: CallKey, number: int, at: str) -> None:
        """Note an attempt before it is sent."""
        item, endpoint, cap, repeat = key
        self._attempts.append(
            canonical.encode(
                {"at": at, "cap": cap, "endpoint": endpoint, "item": item, "number": number, "repeat": repeat}
            )
        )

    def record(self, fields: JsonObject, raw: RawResponse) -> LogLine:
        """Append one ended call: the response first, then the log line.

        Parameters
        ----------
        fields : all of a log line but `seq` and `prev`.
        raw : the redacted response, with `seq` equal to this journal's `size`.
        """
        value = {**fields, "seq": self.size, "prev": self._head}
        line = LogLine.from_value(value, "log line")
        # Validation is strict and fills nothing in, so the value itself is what the line encodes to.
        data = canonical.encode(value)
        # `line` and `raw` are the keys of a stored line in canonical order.
        self._responses.append(b'{"line":%b,"raw":%b}' % (data, raw.to_bytes()))
        self._append(line, data)
        return line

    def _append(self, line: LogLine, data: bytes) -> None:
        self._log.append(data)
        self._head = sha256_hex(data)
        self.size += 1
        self.done.add(line.key)
        self._interrupted.pop(line.key, None)

    def _read_log(self, first_prev: str) -> None:
        with self._log_path.open("rb") as stream:
            for line in follow_log(stream, first_prev, self._log_path.name):
                if line.key in self.done:
                    raise FormatError(
                        f"{self._log_path.name} line {line.seq + 1}: a call that is there already"
                    )
                self.done.add(line.key)
                self.size += 1
                self._head = sha256_hex(line.to_bytes())

    def _recover_response(self) -> None:
        """Move the one response that a dead process stored, but did not log, into the log."""
        if _count_lines(self._responses_path) < self.size:
            raise FormatError(
                f"{self._responses_path.name}: holds fewer responses than the log has lines", hint=_RESTORE
            )
        for stored in read_responses(self._responses_path, first=self.size):
            line = LogLine.from_value(stored.line, "stored log line")
            if line.seq != self.size or line.prev != self._head:
                raise FormatError(
                    f"{self._responses_path.name}: a stored response does not follow the log", hint=_RESTORE
                )
            self._append(line, line.to_bytes())

    def _read_interrupted(self) -> None:
        with self._attempts_path.open("rb") as stream:
            for number, raw in enumerate(stream, start=1):
                one = _Attempt.from_bytes(raw.rstrip(b"\n"), f"{self._attempts_path.name} line {number}")
                key = (one.item, one.endpoint, one.cap, one.repeat)
                if key not in self.done:
                    self._interrupted.setdefault(key, []).append(one.at)


def read_responses(path: Path, *, first: int = 0) -> Iterator[_Stored]:
    """The stored responses from number `first` on, in the order of the log."""
    with path.open("rb") as stream:
        for number, raw in enumerate(stream):
            if number >= first:
                stored = _Stored.from_bytes(raw.rstrip(b"\n"), f"{path.name} line {number + 1}")
                if stored.raw.seq != number:
                    raise FormatError(
                        f"{path.name} line {number + 1}: is response {stored.raw.seq}", hint=_RESTORE
                    )
                yield stored


def _count_lines(path: Path) -> int:
    with path.open("rb") as stream:
        return sum(1 for _ in stream)
