"""Inspect AI's `.eval` logs: a zip with a header and one JSON file per sample and epoch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sealbench.errors import FormatError
from sealbench.logs.archive import Archive
from sealbench.logs.base import ReadOptions, Row
from sealbench.logs.inspect_sample import row_of, tell_header


class InspectEval:
    """The reader; samples are decompressed one at a time."""

    name = "inspect-eval"

    def detect(self, path: Path, head: bytes) -> bool:
        """A zip file; by its name too, so that a broken one is said to be broken."""
        return head.startswith(b"PK\x03\x04") or path.suffix == ".eval"

    def is_companion(self, path: Path, head: bytes) -> bool:
        """Nothing else belongs to such a log."""
        return False

    def read(self, path: Path, options: ReadOptions, notes: list[str]) -> Iterator[Row]:
        """One row per sample and epoch."""
        with Archive(path) as archive:
            header_name = next(
                (n for n in ("header.json", "_journal/start.json") if n in archive.names), None
            )
            if header_name is None:
                raise FormatError(
                    f"{path}: a zip file without header.json",
                    hint="an Inspect AI log has one; name another file",
                )
            header = _json(archive, header_name, path)
            if header_name != "header.json":
                header = {"status": "started", **header}
            tell_header(header, path, notes)
            samples = [name for name in archive.names if name.startswith("samples/")]
            if not samples:
                notes.append(f"{path.name}: holds no samples (the log was written without them)")
            for name in samples:
                yield row_of(_json(archive, name, path), header, path, options)


def _json(archive: Archive, name: str, path: Path) -> dict[str, Any]:
    try:
        value = json.loads(archive.read(name))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: {name} is not valid JSON ({error})", hint="copy the log again") from error
    if not isinstance(value, dict):
        raise FormatError(f"{path}: {name} is not a JSON object", hint="copy the log again")
    return value


FORMAT = InspectEval()
