"""What a reader of evaluation logs is, the row it yields, and how the right one is found by content.

A format reads one file and yields one `Row` per response, streamed: no reader keeps a whole log in memory.
Readers are looked up among the built-ins and the entry points of group `sealbench.logs`; a third party's
format is one file and one entry point. Nothing is guessed silently: what a reader assumes goes into the
`notes` it is given.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from sealbench.errors import ConfigurationError, FormatError, UsageError

ENTRY_POINT_GROUP = "sealbench.logs"
# In the order in which they are asked: the particular before the generic.
BUILT_IN_FORMATS = {
    "inspect-eval": "sealbench.logs.inspect_eval:FORMAT",
    "inspect-json": "sealbench.logs.inspect_json:FORMAT",
    "lm-eval": "sealbench.logs.lm_eval:FORMAT",
    "openai-batch": "sealbench.logs.openai_batch:FORMAT",
    "anthropic-batch": "sealbench.logs.anthropic_batch:FORMAT",
    "helm": "sealbench.logs.helm:FORMAT",
    "promptfoo": "sealbench.logs.promptfoo:FORMAT",
    "reasoning-gym": "sealbench.logs.reasoning_gym:FORMAT",
    "jsonl": "sealbench.logs.jsonl:FORMAT",
    "csv": "sealbench.logs.csv:FORMAT",
}
HEAD_BYTES = 65536  # what a format sees of a file to say whether it is its own


@dataclass(frozen=True, slots=True)
class Row:
    """One response as a log tells of it. None always means: the log does not say.

    Attributes
    ----------
    item : the problem's id; several rows with the same item (epochs, repeats) are one unit.
    target : the right answer, the default class.
    record : the whole record as read, for classes by any field (dotted path).
    end : "finished", "cut_reported", "cut_other", "refused", "filtered", "error" or "unknown".
    text : "text", "empty", "unclosed" (only reasoning that was never closed) or "unknown" (not in the log).
    tokens : what was counted against the cap, reasoning included.
    score : between 0 and 1 as the log has it.
    cap : the token cap of this response.
    time : seconds since the epoch.
    number : the one integer that the problem is about, where there is one.
    """

    item: str
    model: str
    task: str
    end: str
    text: str
    target: str | None = None
    record: Mapping[str, Any] = field(default_factory=dict)
    tokens: int | None = None
    score: float | None = None
    cap: int | None = None
    prompt_length: int | None = None
    number: int | None = None
    time: float | None = None


@dataclass(frozen=True)
class ReadOptions:
    """What the caller knows better than the log.

    Attributes
    ----------
    columns : role to column name, for CSV and JSONL (roles: see `sealbench.logs.columns`).
    requests : the request file that belongs to a batch output.
    metric : the score to read where a log has several.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    requests: Path | None = None
    metric: str | None = None


class LogFormat(Protocol):
    """The whole contract between a log format and the rest."""

    @property
    def name(self) -> str:
        """The name of the format, as users write it after `--format`."""

    def detect(self, path: Path, head: bytes) -> bool:
        """Whether this file, of which `head` are the first bytes, is of this format."""

    def is_companion(self, path: Path, head: bytes) -> bool:
        """Whether this file only belongs to one of this format: it holds no responses of its own."""

    def read(self, path: Path, options: ReadOptions, notes: list[str]) -> Iterator[Row]:
        """The rows, streamed; FormatError names the file and the place where it does not parse."""


def format_names() -> list[str]:
    """The names of all formats that can be asked for: built-ins first, in the order they are tried."""
    return [*BUILT_IN_FORMATS, *sorted(name for name in _entry_points() if name not in BUILT_IN_FORMATS)]


@cache
def get_format(name: str) -> LogFormat:
    """The format of this name, imported now; UsageError if there is none."""
    if name in BUILT_IN_FORMATS:
        module, _, attribute = BUILT_IN_FORMATS[name].partition(":")
        built_in: LogFormat = getattr(importlib.import_module(module), attribute)
        return built_in
    entry = _entry_points().get(name)
    if entry is None:
        raise UsageError(f"there is no log format {name!r}", hint=f"one of: {', '.join(format_names())}")
    try:
        found: LogFormat = entry.load()
    except Exception as error:  # a stranger's module may fail in any way
        raise ConfigurationError(
            f"the log format '{name}' ({entry.value}) cannot be loaded: {type(error).__name__}: {error}",
            hint=f"repair or uninstall the package that provides '{name}'",
        ) from error
    return found


def detect_format(path: Path) -> LogFormat | None:
    """The format of a file by its content; None if no format knows it, or it is another file's companion."""
    head = read_head(path)
    formats = [get_format(name) for name in format_names()]
    if any(known.is_companion(path, head) for known in formats):
        return None
    # Plugins are asked before the generic formats, which take almost anything.
    generic = [known for known in formats if known.name in ("jsonl", "csv")]
    particular = [known for known in formats if known not in generic]
    return next((known for known in [*particular, *generic] if known.detect(path, head)), None)


def read_head(path: Path) -> bytes:
    """The first bytes of a file; FormatError if it cannot be read."""
    try:
        with path.open("rb") as stream:
            return stream.read(HEAD_BYTES)
    except OSError as error:
        raise FormatError(
            f"{path}: cannot be read ({error.strerror})", hint="give a log file or a folder of log files"
        ) from error


def _entry_points() -> dict[str, importlib.metadata.EntryPoint]:
    return {entry.name: entry for entry in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)}
