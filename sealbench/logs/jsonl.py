"""JSONL of anybody's making: one object a line, columns as in CSV; dotted names reach inside objects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sealbench.logs.base import ReadOptions, Row
from sealbench.logs.columns import choose_columns, row_of
from sealbench.logs.json_stream import json_lines


class Jsonl:
    """The reader."""

    name = "jsonl"

    def detect(self, path: Path, head: bytes) -> bool:
        """By its name and a first character, or two lines that are objects."""
        start = head.lstrip(b"\xef\xbb\xbf \r\n\t")
        if not start.startswith(b"{"):
            return False
        return path.suffix.lower() in (".jsonl", ".ndjson") or b"}\n{" in head.replace(b"\r", b"")

    def is_companion(self, path: Path, head: bytes) -> bool:
        """Nothing belongs to such a file."""
        return False

    def read(self, path: Path, options: ReadOptions, notes: list[str]) -> Iterator[Row]:
        """One row per line; the columns are those of the first line."""
        columns: dict[str, str] | None = None
        for place, (_, record) in enumerate(json_lines(path)):
            if columns is None:
                columns = choose_columns(list(record), options, path, notes)
            yield row_of(record, columns, place, path)


FORMAT = Jsonl()
