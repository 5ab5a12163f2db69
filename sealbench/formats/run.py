"""Files of a run: `runs/RUN/run.json` and the chained log `runs/RUN/log.jsonl`.

Source: docs/spec/run.md. No prompt and no response text stands in either, so the items stay sealed
and yet every published number can be computed again. Null is not 0: it says that nobody told us.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from pydantic import Field, model_validator

from sealbench.crypto.digest import sha256_hex
from sealbench.errors import FormatError
from sealbench.formats.base import (
    Bool,
    Count,
    Decimal,
    FileHash,
    Hash,
    Identifier,
    Identity,
    Instant,
    Int,
    Label,
    Name,
    Record,
    Str,
)
from sealbench.formats.battery import Block, Search
from sealbench.formats.preregistration import Endpoint, Parser

End = Literal[
    "error",
    "filtered",
    "refused",
    "cut_reported",
    "cut_other",
    "cut_inferred",
    "finished",
    "unknown",
]
# What had to be proved of commitment and plan before the first call; `nothing` for pilots alone.
Require = Literal["confirmed", "stamped", "registered", "nothing"]
AnswerStatus = Literal["right", "wrong", "unparseable", "empty", "unclosed_reasoning", "ungraded"]


class Run(Identity):
    """`run.json`: what is run, bound to the plan's bytes and to a recent Bitcoin block."""

    schema_: Literal["sealbench/run/v1"] = Field("sealbench/run/v1", alias="schema")
    name: Name
    number: Count
    exploratory: Bool
    battery: Name
    commitment: FileHash
    plan: FileHash | None
    require: Require
    tool_version: Str
    started_at: Instant
    block: Block | None
    endpoints: tuple[Endpoint, ...]
    caps: tuple[Count, ...]
    repeats: Count
    wordings: tuple[Label, ...]
    parser: Parser
    planned_calls: Count


class AttemptRecord(Record):
    """One HTTP attempt of a call: when it was sent, when it ended, with what status."""

    at: Instant
    ended_at: Instant | None
    status: Int | None
    outcome: Label


class LogLine(Record):
    """One planned call and how it ended. `prev` of the first line is the SHA-256 of run.json."""

    seq: Count
    prev: Hash
    item: Identifier
    instance: Identifier
    family: Label
    class_label: Label
    kind: Label
    stratum: Label
    search: Search
    wording: Label
    category: Label
    endpoint: Str
    model: Str | None
    cap: Count
    cap_parameter: Str
    repeat: Count
    end: End
    answer: AnswerStatus
    stop: Str | None
    at_cap: Bool
    not_binding: Bool
    charged_tokens: Int | None
    visible_tokens: Int | None
    reasoning_tokens: Int | None
    prompt_tokens: Int | None
    visible_characters: Count
    characters_without_markdown: Count
    minimal_characters: Count
    first_line_tokens: Count
    longest_step: Count
    mean_logprob: Decimal | None
    parsed: Str | None
    attempts: tuple[AttemptRecord, ...]
    response_id_hash: Hash | None
    body_hash: Hash | None
    fingerprint: Str | None

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What a plan asks for once: (item, endpoint, cap, repeat)."""
        return (self.item, self.endpoint, self.cap, self.repeat)

    @property
    def censored(self) -> bool:
        """The token cap cut it, reported or inferred, whatever is visible."""
        return self.end in ("cut_reported", "cut_inferred")

    @property
    def lost(self) -> bool:
        """Censored without a final answer."""
        return self.censored and self.answer not in ("right", "wrong")

    @property
    def missing(self) -> bool:
        """No response after all attempts: neither wrong nor censored."""
        return self.end == "error"


def read_log(data: bytes, first_prev: str, name: str = "log.jsonl") -> Iterator[LogLine]:
    """The lines of a whole log in memory, each checked as it is read; see `follow_log`."""
    return follow_log(io.BytesIO(data), first_prev, name)


def follow_log(lines: Iterable[bytes], first_prev: str, name: str = "log.jsonl") -> Iterator[LogLine]:
    """The lines of a chained log, each checked as it is read.

    Parameters
    ----------
    lines : raw lines with their line feeds, for example an open binary file.
    first_prev : SHA-256 (hex) of run.json's bytes.

    Raises
    ------
    FormatError : names the first bad line, counted from 1.
    """
    previous = first_prev
    for number, ended in enumerate(lines, start=1):
        if not ended.endswith(b"\n"):
            raise FormatError(f"{name} line {number}: torn", hint="`seal run` repairs it and goes on")
        raw = ended[:-1]
        line = LogLine.from_bytes(raw, f"{name} line {number}")
        if line.seq != number - 1 or line.prev != previous:
            raise FormatError(f"{name} line {number}: does not follow the line before (chain broken)")
        previous = sha256_hex(raw)
        yield line


class RawResponse(Record):
    """One line of the private raw log, published at retirement: the redacted body behind a log line."""

    seq: Count
    response_id: Str | None
    body: Str | None
    text: Str | None


# Stands in a published line exactly if its response is left out: inside a text the quotes are escaped.
WITHHELD = b'"withheld":true'


class PublishedResponse(RawResponse):
    """A raw response in a retired battery; `withheld` says that it is left out, all else being null then."""

    withheld: Literal[True] | None = None

    def to_value(self) -> dict[str, Any]:
        """`withheld` is written only where it is true."""
        value = super().to_value()
        if self.withheld is None:
            del value["withheld"]
        return value

    @model_validator(mode="after")
    def _consistent(self) -> PublishedResponse:
        if self.withheld and (self.response_id, self.body, self.text) != (None, None, None):
            raise ValueError("a withheld response holds nothing")
        return self
