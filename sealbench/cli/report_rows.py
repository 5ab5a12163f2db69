"""`seal report FILE.parquet…`: the counts by class over the rows of any number of runs."""

from __future__ import annotations

import csv as csv_writer
import io
from collections.abc import Sequence
from pathlib import Path

from sealbench.cli.console import Console
from sealbench.errors import UsageError

# What a terminal has room for; --csv and --json hold every column.
_SHOWN = {
    "run": "run",
    "endpoint": "endpoint",
    "cap": "cap",
    "family": "family",
    "wording": "wording",
    "class_label": "class",
    "instances": "instances",
    "responses": "responses",
    "cut_reported": "cut",
    "cut_inferred": "inferred",
    "lost": "lost",
    "empty": "empty",
    "right": "right",
    "missing": "missing",
}
_NUMBERS_FROM = "instances"


def is_rows_file(name: str) -> bool:
    """Whether an argument of `seal report` names exported rows and no run."""
    return name.endswith(".parquet")


def report_rows(console: Console, names: Sequence[str], *, csv: Path | None, as_json: bool) -> int:
    """Print the table, and write it to `csv` if that is given."""
    runs = [name for name in names if not is_rows_file(name)]
    if runs:
        raise UsageError(
            f"{runs[0]} is a run, the others are exported rows",
            hint=f"seal export {runs[0]} --parquet FILE, then seal report FILE …",
        )
    files = [Path(name) for name in names]
    for file in files:
        if not file.is_file():
            raise UsageError(f"{file}: no such file", hint=f"seal export --parquet {file}")
    from sealbench.analysis.row_tables import class_tables

    table = class_tables(files)
    if csv is not None:
        csv.write_text(_csv(table), encoding="utf-8")
        console.note(f"written {csv}")
    if as_json:
        console.json(
            {"schema": "sealbench/row-tables/v1", "rows": sum(r["lines"] for r in table), "table": table}
        )
    else:
        console.result(_text(table))
        console.note("counts alone; p-values, with the instance as unit, are in each run's own report")
    return 0


def _csv(table: list[dict[str, object]]) -> str:
    from sealbench.analysis.row_tables import TABLE_COLUMNS
    from sealbench.render.rows_csv import cell

    out = io.StringIO()
    writer = csv_writer.writer(out, lineterminator="\n")
    writer.writerow(TABLE_COLUMNS)
    writer.writerows([cell(row[name]) for name in TABLE_COLUMNS] for row in table)
    return out.getvalue()


def _text(table: list[dict[str, object]]) -> str:
    """Columns in line; numbers to the right."""
    from sealbench.render.document import clean

    head = list(_SHOWN.values())
    numbers = head.index(_NUMBERS_FROM)
    rows = [head, *([clean(str(row[name])) for name in _SHOWN] for row in table)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return "\n".join(
        "  ".join(
            text.rjust(width) if column >= numbers or column == 2 else text.ljust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
