"""Which files are logs: those that were named, and those that a walk through a folder meets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from sealbench.errors import FormatError, UsageError
from sealbench.logs.base import LogFormat, detect_format, get_format


def find_logs(
    paths: Sequence[Path], format_name: str | None, notes: list[str]
) -> Iterator[tuple[Path, LogFormat]]:
    """The log files of these paths with their formats; folders are walked, what is no log there is told."""
    if not paths:
        raise UsageError("no log was named", hint="seal audit LOG…")
    for path in paths:
        if not path.exists():
            raise FormatError(f"{path}: there is no such file or folder", hint="seal audit LOG…")
        if path.is_dir():
            yield from _walk(path, format_name, notes)
            continue
        found = get_format(format_name) if format_name else detect_format(path)
        if found is None:
            raise FormatError(
                f"{path}: of no known format, or only the companion of a log",
                hint="name the log itself, or its format with --format (for flat files: csv or jsonl)",
            )
        yield path, found


def _walk(folder: Path, format_name: str | None, notes: list[str]) -> Iterator[tuple[Path, LogFormat]]:
    found = skipped = 0
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden or not path.is_file() or path.stat().st_size == 0:
            continue
        known = detect_format(path)
        if known is None or (format_name is not None and known.name != format_name):
            skipped += 1
            continue
        found += 1
        yield path, known
    if not found:
        wanted = f" of format {format_name}" if format_name else ""
        raise FormatError(f"{folder}: holds no log{wanted}", hint="name a log file, or another folder")
    if skipped:
        notes.append(f"{folder}: not read, being no logs or only parts of one: {skipped} of its files")
