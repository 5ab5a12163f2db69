"""The rows of many runs as Parquet, and the counts by class over all of them: DuckDB, an extra.

A log is read by the database itself, column by column, so that ten million rows need neither ten million
Python objects nor their memory. Each count is defined as in `analysis/censoring.py`, where a report has
it; a test compares the two on the same log.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sealbench.errors import CheckFailed, CouldNotCheck, FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

EXTRA = "parquet"
MEMORY_LIMIT = "3GB"  # beyond it the database works on disk

# Column of a row -> type and its expression over a log line's own fields, in the order of the CSV.
COLUMNS: dict[str, tuple[str, str]] = {
    "run": ("VARCHAR", "run"),
    "seq": ("BIGINT", "seq"),
    **{
        name: ("VARCHAR", name)
        for name in (
            "item",
            "instance",
            "family",
            "class_label",
            "kind",
            "stratum",
            "search",
            "wording",
            "category",
            "endpoint",
            "model",
        )
    },
    "cap": ("BIGINT", "cap"),
    "cap_parameter": ("VARCHAR", "cap_parameter"),
    "repeat": ("BIGINT", "repeat"),
    "end": ("VARCHAR", '"end"'),
    "answer": ("VARCHAR", "answer"),
    "stop": ("VARCHAR", "stop"),
    "at_cap": ("BOOLEAN", "at_cap"),
    "not_binding": ("BOOLEAN", "not_binding"),
    **{
        name: ("BIGINT", name)
        for name in (
            "charged_tokens",
            "visible_tokens",
            "reasoning_tokens",
            "prompt_tokens",
            "visible_characters",
            "characters_without_markdown",
            "minimal_characters",
            "first_line_tokens",
            "longest_step",
        )
    },
    "mean_logprob": ("VARCHAR", "mean_logprob"),
    "parsed": ("VARCHAR", "parsed"),
    "fingerprint": ("VARCHAR", "fingerprint"),
    "censored": ("BOOLEAN", "\"end\" IN ('cut_reported', 'cut_inferred')"),
    "lost": (
        "BOOLEAN",
        "\"end\" IN ('cut_reported', 'cut_inferred') AND answer NOT IN ('right', 'wrong')",
    ),
    "missing": ("BOOLEAN", "\"end\" = 'error'"),
    "attempts": ("BIGINT", "len(attempts)"),
    "first_attempt_at": ("VARCHAR", 'attempts[1]."at"'),
}
_DERIVED = ("run", "censored", "lost", "missing", "attempts", "first_attempt_at")
_ATTEMPTS = 'STRUCT("at" VARCHAR, ended_at VARCHAR, outcome VARCHAR, status BIGINT)[]'

_GROUP = ("run", "family", "wording", "endpoint", "cap", "class_label")
_COUNTS: dict[str, str] = {
    "lines": "count(*)",
    "responses": "count(*) FILTER (NOT missing)",
    **{
        name: f"count(*) FILTER (\"end\" = '{name}')"
        for name in (
            "finished",
            "cut_reported",
            "cut_inferred",
            "cut_other",
            "refused",
            "filtered",
            "unknown",
        )
    },
    "missing": "count(*) FILTER (missing)",
    "at_cap": "count(*) FILTER (at_cap)",
    "lost": "count(*) FILTER (lost)",
    "empty": "count(*) FILTER (answer = 'empty' AND NOT missing)",
    "right": "count(*) FILTER (answer = 'right' AND NOT missing)",
    "wrong": "count(*) FILTER (answer = 'wrong' AND NOT missing)",
    "charged_known": "count(charged_tokens) FILTER (NOT missing)",
    "charged_tokens": "sum(charged_tokens) FILTER (NOT missing)",
}
_CUT = "max(CAST(censored AS INTEGER)) FILTER (NOT missing AND \"end\" <> 'unknown')"
TABLE_COLUMNS = (*_GROUP, "instances", "instances_cut", *_COUNTS)


@dataclass(frozen=True)
class RunLog:
    """The log of one ended run, known to be the registered one."""

    run: str
    path: Path


def write_parquet(logs: Sequence[RunLog], target: Path) -> int:
    """Write every line of every log, in their order, as one Parquet file; the number of rows.

    Whole or not at all. Raises CouldNotCheck without the extra, FormatError for a log that is none.
    """
    fields = {name: kind for name, (kind, _) in COLUMNS.items() if name not in _DERIVED}
    read = f"format = 'newline_delimited', columns = {_struct({**fields, 'attempts': _ATTEMPTS})}"
    chosen = ", ".join(f'CAST({source} AS {kind}) AS "{name}"' for name, (kind, source) in COLUMNS.items())
    selected = " UNION ALL ".join(
        f"SELECT {chosen} FROM "
        f"(SELECT {_text(log.run)} AS run, * FROM read_json({_text(str(log.path))}, {read}))"
        for log in logs
    )
    partial = target.with_name(f".{target.name}.partial")
    try:
        with _database(target.parent) as database:
            copied = database.execute(
                f"COPY ({selected}) TO {_text(str(partial))} (FORMAT parquet, COMPRESSION zstd)"
            )
            count = int(copied.fetchone()[0])
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return count


def class_tables(files: Sequence[Path]) -> list[dict[str, Any]]:
    """One row for each run, family, wording, endpoint, cap and class, in that order (TABLE_COLUMNS).

    `instances` are those with a line there, `instances_cut` those with a censored response;
    `charged_tokens` is the sum of what was told, `charged_known` of how many responses, and null is not 0.

    Raises
    ------
    CouldNotCheck : the extra is not installed. FormatError : a file has other columns.
    CheckFailed : a call stands in the files twice.
    """
    names = ", ".join(_text(str(file)) for file in files)
    group = ", ".join(_GROUP)
    sums = ", ".join(f'{count} AS "{name}"' for name, count in _COUNTS.items())
    added = ", ".join(f'CAST(sum("{name}") AS BIGINT) AS "{name}"' for name in _COUNTS)
    with _database(files[0].parent) as database:
        database.execute(f"CREATE VIEW rows AS SELECT * FROM read_parquet([{names}])")
        _check_columns(database, files)
        twice = database.execute(
            "SELECT run FROM rows GROUP BY run HAVING count(*) <> max(seq) + 1 ORDER BY run LIMIT 1"
        ).fetchone()
        if twice is not None:
            raise CheckFailed(
                f"run {twice[0]}: its rows are there twice, or not all of them",
                hint="export each run once: seal export RUN… --parquet FILE",
            )
        found = database.execute(
            f"SELECT {group}, count(*) AS instances, CAST(coalesce(sum(cut), 0) AS BIGINT) AS instances_cut, "
            f"{added} FROM (SELECT {group}, instance, {_CUT} AS cut, {sums} FROM rows "
            f"GROUP BY {group}, instance) GROUP BY {group} ORDER BY {group}"
        ).fetchall()
    return [dict(zip(TABLE_COLUMNS, row, strict=True)) for row in found]


def _check_columns(database: Any, files: Sequence[Path]) -> None:
    there = {row[0]: row[1] for row in database.execute("DESCRIBE rows").fetchall()}
    expected = {name: kind for name, (kind, _) in COLUMNS.items()}
    wrong = [name for name, kind in expected.items() if there.get(name) != kind]
    if wrong:
        raise FormatError(
            f"{files[0]}: no rows of runs ({wrong[0]} is missing or of another type)",
            hint="seal export RUN… --parquet FILE",
        )


@contextmanager
def _database(folder: Path) -> Iterator[Any]:
    """A database in memory that works in `folder` when memory runs out; its errors as this package's."""
    try:
        duckdb: Any = import_module("duckdb")
    except ImportError as error:
        raise CouldNotCheck(
            f"Parquet needs the extra `{EXTRA}` of sealbench, which is not installed here",
            hint=f"pip install 'sealbench[{EXTRA}]', or --csv FILE",
        ) from error
    settings = {
        "memory_limit": MEMORY_LIMIT,
        "temp_directory": str(folder / ".seal-export.tmp"),
        # Nothing is fetched: JSON and Parquet are part of the package.
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    database = duckdb.connect(":memory:", config=settings)
    database.execute("SET enable_progress_bar = false")  # it would be drawn on stdout
    try:
        yield database
    except (duckdb.IOException, duckdb.InvalidInputException, duckdb.ConversionException) as error:
        raise FormatError(f"cannot be read: {_first_line(error)}", hint="seal verify") from error
    finally:
        database.close()
        with suppress(OSError):
            (folder / ".seal-export.tmp").rmdir()


def _first_line(error: BaseException) -> str:
    return str(error).split("\n", 1)[0][:300]


def _struct(fields: dict[str, str]) -> str:
    return "{" + ", ".join(f"{_text(name)}: {_text(kind)}" for name, kind in fields.items()) + "}"


def _text(value: str) -> str:
    """A text as SQL spells it."""
    return "'" + value.replace("'", "''") + "'"
