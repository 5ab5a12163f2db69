"""The sheet on which people say what kind of verbosity an answer shows: CSV, out and back.

The five types are those of arXiv 2411.07858; which one an answer shows is a matter for people, never guessed.
A sheet names no endpoint. It holds prompts and answers, so it is as private as the battery.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from sealbench.errors import FormatError
from sealbench.formats.base import Count, Name

VerbosityType = Literal[
    "ambiguity", "question_repetition", "enumeration", "verbose_details", "verbose_format", "none"
]
TYPES: tuple[str, ...] = get_args(VerbosityType)
COLUMNS = ("run", "line", "prompt", "minimal_answer", "answer", "type")
_NEEDED = ("run", "line", "type")
_LONGEST_FIELD = 1 << 28
_LONGEST_NUMBER = 15
# A spreadsheet would run a cell that begins so.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class SheetRow(BaseModel):
    """One answer to be judged; `line` is the log line's number, from 0."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: Name
    line: Count
    prompt: str
    minimal_answer: str
    answer: str


class Annotation(BaseModel):
    """What one rater wrote beside one answer; None where nothing is written yet."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: Name
    line: Count
    type: VerbosityType | None


def write_sheet(rows: Iterable[SheetRow]) -> bytes:
    """The sheet with an empty column for the type, in UTF-8 as spreadsheets take it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in rows:
        texts = (_cell(text) for text in (row.prompt, row.minimal_answer, row.answer))
        writer.writerow([row.run, row.line, *texts, ""])
    return out.getvalue().encode("utf-8-sig")


def read_sheet(data: bytes, name: str) -> tuple[Annotation, ...]:
    """What a rater wrote; further columns are not looked at.

    Raises
    ------
    FormatError : not CSV in UTF-8, a column missing, an unknown type, or an answer that is judged twice.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{name}: not in UTF-8", hint="save the sheet as CSV, UTF-8") from error
    head = text.partition("\n")[0]
    # Spreadsheets of some countries write semicolons.
    delimiter = ";" if head.count(";") > head.count(",") else ","
    csv.field_size_limit(_LONGEST_FIELD)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    found: dict[tuple[str, int], Annotation] = {}
    try:
        absent = [column for column in _NEEDED if column not in (reader.fieldnames or ())]
        if absent:
            raise FormatError(
                f"{name}: no column {absent[0]}", hint="keep the columns run, line and type of the sheet"
            )
        for record in reader:
            where = f"{name} line {reader.line_num}"
            own = _annotation(record, where)
            if (own.run, own.line) in found:
                raise FormatError(f"{where}: line {own.line} of run {own.run} stands here twice")
            found[own.run, own.line] = own
    except csv.Error as error:
        raise FormatError(f"{name}: not CSV ({error})", hint="save the sheet as CSV, UTF-8") from error
    return tuple(found.values())


def _annotation(record: dict[str, str | None], where: str) -> Annotation:
    number, written = (record["line"] or "").strip(), (record["type"] or "").strip().lower()
    kind = "_".join(written.replace("_", " ").split())
    if kind and kind not in TYPES:
        raise FormatError(f"{where}: type is {written[:40]!r}", hint=f"one of {', '.join(TYPES)}, or empty")
    is_number = number.isascii() and number.isdigit() and len(number) <= _LONGEST_NUMBER
    try:
        return Annotation.model_validate(
            {
                "run": (record["run"] or "").strip(),
                "line": int(number) if is_number else number,
                "type": kind or None,
            }
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise FormatError(f"{where}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
