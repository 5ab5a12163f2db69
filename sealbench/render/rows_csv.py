"""The rows of runs as CSV, one per log line: what any other tool can compute the report's numbers from."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import TextIO

from sealbench.formats.run import LogLine

_LEFT_OUT = ("prev", "attempts", "response_id_hash", "body_hash")
# A spreadsheet would run a cell that begins so; these come from outside.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
COLUMNS = (
    "run",
    *(name for name in LogLine.model_fields if name not in _LEFT_OUT),
    "censored",
    "lost",
    "missing",
    "attempts",
    "first_attempt_at",
)


def rows_csv(runs: Iterable[tuple[str, Iterable[LogLine]]]) -> str:
    """The header and every line of every run, as one text; see `write_rows`."""
    out = io.StringIO()
    write_rows(out, runs)
    return out.getvalue()


def write_rows(out: TextIO, runs: Iterable[tuple[str, Iterable[LogLine]]]) -> int:
    """Write the header and every line of every run; an unknown value is an empty cell, never 0.

    Returns the number of lines.
    """
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    count = 0
    for run, lines in runs:
        for line in lines:
            count += 1
            values = [getattr(line, name) for name in LogLine.model_fields if name not in _LEFT_OUT]
            flags = [line.censored, line.lost, line.missing]
            attempts = [len(line.attempts), line.attempts[0].at if line.attempts else None]
            writer.writerow([cell(value) for value in (run, *values, *flags, *attempts)])
    return count


def cell(value: object) -> object:
    """A value as a cell: unknown is empty, true is 1, and no text is run as a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value
