"""The registry: one canonical JSON object a line, each naming the hash of the line before.

Source: docs/spec/registry.md. Also its checkpoints and the list of public files.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from sealbench.crypto.digest import sha256_hex
from sealbench.errors import FormatError
from sealbench.formats.base import (
    Count,
    FileHash,
    Fingerprint,
    Hash,
    Instant,
    JsonObject,
    Record,
    Str,
)

NO_LINE = "0" * 64

Event = Literal[
    "key",
    "create",
    "preregister",
    "amend",
    "run_start",
    "run_end",
    "run_abort",
    "deviation",
    "expose",
    "report",
    "reveal",
    "supersede",
    "void",
    "retire",
]


class RegistryLine(Record):
    """One event: when (the author's word), what, about which battery, plan or run, with which files."""

    seq: Count
    prev: Hash
    at: Instant
    event: Event
    subject: Str
    files: tuple[FileHash, ...]
    detail: JsonObject


class Checkpoint(Record):
    """`commitments/checkpoints/SIZE.json`: the registry's size and last line's hash at one moment."""

    schema_: Literal["sealbench/checkpoint/v1"] = Field("sealbench/checkpoint/v1", alias="schema")
    author: Fingerprint
    registry: Hash
    size: Count
    head: Hash


class PublicFiles(Record):
    """`commitments/files.json`: every public file but itself and unfinished runs, sorted by path."""

    schema_: Literal["sealbench/files/v1"] = Field("sealbench/files/v1", alias="schema")
    files: tuple[FileHash, ...]


class Registry:
    """A registry whose chain has been checked line by line.

    Attributes
    ----------
    lines : the events in order.
    hashes : SHA-256 (hex) of each line's bytes without the line feed.
    """

    def __init__(self, lines: list[RegistryLine], hashes: list[str]) -> None:
        self.lines = lines
        self.hashes = hashes

    @property
    def size(self) -> int:
        """Number of lines."""
        return len(self.lines)

    @property
    def first(self) -> str:
        """SHA-256 of the first line: the registry's name in every signed file."""
        return self.hashes[0]

    @property
    def head(self) -> str:
        """SHA-256 of the last line."""
        return self.hashes[-1]

    @property
    def network(self) -> str:
        """The Bitcoin network the first line declares."""
        return str(self.lines[0].detail.get("network", "mainnet"))

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "commitments/registry.jsonl") -> Registry:
        """Read and check the chain; FormatError names the first bad line, counted from 1."""
        if not data:
            raise FormatError(f"{name}: empty", hint="restore it from version control")
        if not data.endswith(b"\n"):
            number = data.count(b"\n") + 1
            raise FormatError(
                f"{name} line {number}: torn", hint="the next command that publishes something repairs it"
            )
        lines: list[RegistryLine] = []
        hashes: list[str] = []
        for number, raw in enumerate(data[:-1].split(b"\n"), start=1):
            line = RegistryLine.from_bytes(raw, f"{name} line {number}")
            if line.seq != number - 1:
                raise FormatError(f"{name} line {number}: says seq {line.seq}, expected {number - 1}")
            if line.prev != (hashes[-1] if hashes else NO_LINE):
                raise FormatError(f"{name} line {number}: prev is not the hash of the line before")
            lines.append(line)
            hashes.append(sha256_hex(raw))
        if lines[0].event != "key":
            raise FormatError(f"{name} line 1: the first event must be the author's key")
        return cls(lines, hashes)

    def find(self, event: str, subject: str) -> RegistryLine | None:
        """The latest line with this event and subject, if any."""
        for line in reversed(self.lines):
            if line.event == event and line.subject == subject:
                return line
        return None

    def events(self, event: str) -> list[RegistryLine]:
        """All lines with this event, oldest first."""
        return [line for line in self.lines if line.event == event]
