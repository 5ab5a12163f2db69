"""Inspect AI's `.json` logs (also what `inspect log dump` writes): one object with a list of samples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sealbench.errors import FormatError
from sealbench.logs.base import ReadOptions, Row
from sealbench.logs.inspect_sample import row_of, tell_header
from sealbench.logs.json_stream import array_elements, other_members


class InspectJson:
    """The reader; samples are streamed."""

    name = "inspect-json"

    def detect(self, path: Path, head: bytes) -> bool:
        """An object that tells of an evaluation and its status near its beginning."""
        start = head[:4096].lstrip(b"\xef\xbb\xbf \r\n\t")
        return start.startswith(b"{") and b'"eval"' in start and b'"status"' in start

    def is_companion(self, path: Path, head: bytes) -> bool:
        """Nothing else belongs to such a log."""
        return False

    def read(self, path: Path, options: ReadOptions, notes: list[str]) -> Iterator[Row]:
        """One row per sample and epoch."""
        header = other_members(path, "samples")
        tell_header(header, path, notes)
        empty = True
        for sample in array_elements(path, "samples"):
            if not isinstance(sample, dict):
                raise FormatError(
                    f"{path}: a sample is not an object", hint="inspect log dump LOG > log.json"
                )
            empty = False
            yield row_of(sample, header, path, options)
        if empty:
            notes.append(f"{path.name}: holds no samples (the log was written without them)")


FORMAT = InspectJson()
