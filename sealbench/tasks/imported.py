"""A person's own items from JSON Lines or CSV, sealed like any other battery.

Columns: `prompt` (needed), `id`, `answer`, `class_label`, `minimal_answer` (or `baseline`), `category`,
`answer_type`, `kind`, `stratum`. A file of `prompt, baseline, category` (YapBench's shape) is imported as
it is: no answer means `ungraded`, so only length and censoring are measured.

The answers are what the person says they are: the certificate of every imported item reads "asserted",
and no verification calls that ground truth computed.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sealbench.crypto.canonical import parse
from sealbench.errors import FormatError, UsageError
from sealbench.tasks.answers import check_answer_type, grade
from sealbench.tasks.answers import parse as parse_answer
from sealbench.tasks.base import Instance, Json, Rendered
from sealbench.tasks.certificates import ASSERTED, fail, require_keys, require_type

FAMILY_NAME = "imported"
FAMILY_VERSION = 1
WORDING = "as_given"
COLUMNS = (
    "id",
    "prompt",
    "answer",
    "class_label",
    "minimal_answer",
    "baseline",
    "category",
    "answer_type",
    "kind",
    "stratum",
)
_MOST_LABELS = 10


@dataclass(frozen=True)
class ImportedItem:
    """One imported row: its own id, and what a family would have made of it."""

    id: str
    instance: Instance
    rendered: Rendered


def read_rows(data: bytes, name: str) -> list[dict[str, str]]:
    """The rows of a .jsonl/.json or .csv/.tsv file as text by column; FormatError names a bad line.

    Columns that are not of `COLUMNS` are left out: they are the person's own notes.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{name}: not UTF-8 text", hint="save the file as UTF-8") from error
    suffix = name.lower().rpartition(".")[2]
    if suffix in ("jsonl", "ndjson", "json"):
        rows = _read_jsonl(text, name)
    elif suffix in ("csv", "tsv"):
        rows = _read_csv(text, name, "\t" if suffix == "tsv" else ",")
    else:
        raise UsageError(f"{name}: the ending says neither CSV nor JSON Lines", hint="name it .csv or .jsonl")
    return [{key: value for key, value in row.items() if key in COLUMNS} for row in rows]


def import_items(rows: Sequence[Mapping[str, str]]) -> list[ImportedItem]:
    """Instances and prompts of the rows, in their order; UsageError names the row and column at fault."""
    if not rows:
        raise UsageError("there are no rows to import", hint="a file needs at least one row with a prompt")
    usual = _usual_answer_type([row.get("answer", "").strip() for row in rows])
    items = [_import_row(row, place, usual) for place, row in enumerate(rows, 1)]
    _require_different([item.id for item in items], "id")
    _require_different([item.rendered.prompt for item in items], "prompt")
    return items


def check_imported(params: Mapping[str, Json], certificate: Mapping[str, Json]) -> None:
    """CertificateFailed unless the item says that its answer is asserted; nothing more can be checked."""
    require_keys(params, ("id",), "params")
    require_type(certificate, ASSERTED, ("by",))
    if certificate["by"] != "author":
        fail("an imported answer is asserted by the battery's author")


def label_of(text: str) -> str:
    """A class label of [a-z0-9_]+ from a person's own: `Not prime` becomes `not_prime`; it may be empty."""
    return re.sub(r"[^a-z0-9]+", "_", text.strip().casefold()).strip("_")


def _import_row(row: Mapping[str, str], place: int, usual: str) -> ImportedItem:
    prompt = row.get("prompt", "")
    if not prompt.strip():
        raise UsageError(f"row {place} has no prompt", hint="give every row text in the column 'prompt'")
    answer = row.get("answer", "").strip()
    answer_type = row.get("answer_type", "").strip() or (usual if answer else "ungraded")
    check_answer_type(answer_type)
    if (answer_type == "ungraded") != (not answer):
        problem = (
            "an answer though its type is ungraded" if answer else f"no answer of its type {answer_type}"
        )
        raise UsageError(f"row {place} has {problem}", hint="fill in 'answer', or set answer_type=ungraded")
    if answer and grade(parse_answer(f"Answer: {answer}", answer_type), answer) != "right":
        raise UsageError(
            f"row {place}: the answer {answer!r:.60} cannot be read back as {answer_type}",
            hint="set the column answer_type, for example label:WORD,WORD or text",
        )
    minimal = row.get("minimal_answer", "") or row.get("baseline", "") or answer
    item_id = row.get("id", "").strip() or f"row_{place}"
    instance = Instance(
        class_label=_label(row, "class_label", "all", place),
        kind=_label(row, "kind", FAMILY_NAME, place),
        stratum=_label(row, "stratum", "all", place),
        search="none",
        params={"id": item_id},
        certificate={"type": ASSERTED, "by": "author"},
    )
    category = row.get("category", "").strip() or FAMILY_NAME
    return ImportedItem(item_id, instance, Rendered(prompt, answer, answer_type, minimal, category))


def _label(row: Mapping[str, str], column: str, default: str, place: int) -> str:
    text = row.get(column, "").strip()
    label = label_of(text) if text else default
    if not label:
        raise UsageError(
            f"row {place}: {column} {text!r:.40} holds no letter or digit",
            hint="use labels of a-z, 0-9 and _",
        )
    return label


def _usual_answer_type(answers: Sequence[str]) -> str:
    """The type that all given answers of a file share: yes_no, letter, number, label, else text."""
    given = {answer for answer in answers if answer}
    if not given or {answer.casefold() for answer in given} <= {"yes", "no"}:
        return "yes_no"
    if all(re.fullmatch(r"[A-Z]", answer) for answer in given):
        return "letter:" + ",".join(chr(code) for code in range(ord("A"), ord(max(given)) + 1))
    if all(re.fullmatch(r"-?[0-9]+", answer) for answer in given):
        return "number"
    if len(given) <= _MOST_LABELS and all(re.fullmatch(r"[\w -]+", answer) for answer in given):
        return "label:" + ",".join(sorted(given))
    return "text"


def _require_different(values: Sequence[str], column: str) -> None:
    first: dict[str, int] = {}
    for place, value in enumerate(values, 1):
        if value in first:
            raise UsageError(
                f"rows {first[value]} and {place} have the same {column}",
                hint=f"make every {column} different",
            )
        first[value] = place


def _read_jsonl(text: str, name: str) -> list[dict[str, str]]:
    rows = []
    for place, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        value = parse(line.encode("utf-8"), f"{name}, line {place}")
        if not isinstance(value, dict):
            raise FormatError(f"{name}, line {place}: not an object", hint="write one JSON object a line")
        rows.append({key: _text(entry, key, f"{name}, line {place}") for key, entry in value.items()})
    return rows


def _text(value: object, key: str, where: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, (str, int)):
        return str(value)
    if key in COLUMNS:
        raise FormatError(f"{where}: '{key}' is not text", hint="write it as one JSON string")
    return ""


def _read_csv(text: str, name: str, delimiter: str) -> list[dict[str, str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        lines = [line for line in reader if line]
    except csv.Error as error:
        raise FormatError(
            f"{name}, line {reader.line_num}: {error}", hint="quote fields as in RFC 4180"
        ) from error
    if not lines:
        return []
    header = [column.strip().casefold() for column in lines[0]]
    if "prompt" not in header:
        raise UsageError(
            f"{name}: no column 'prompt' among: {', '.join(header)[:200]}",
            hint=f"name the columns in the first line; known are: {', '.join(COLUMNS)}",
        )
    for place, line in enumerate(lines[1:], 1):
        if len(line) != len(header):
            raise FormatError(
                f"{name}, row {place}: {len(line)} fields where the first line names {len(header)}",
                hint="quote fields that hold the separator",
            )
    return [dict(zip(header, line, strict=True)) for line in lines[1:]]
