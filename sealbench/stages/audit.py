"""Find and read evaluation logs, then audit them: files in, an `Audit` out. Nothing is written."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

from sealbench.analysis.audit import ALPHA, AuditOptions, audit_tables
from sealbench.analysis.audit_result import Audit
from sealbench.analysis.audit_table import ClassChoice, Collector
from sealbench.errors import FormatError, UsageError
from sealbench.logs.base import LogFormat, ReadOptions, Row, detect_format, get_format

Progress = Callable[[str, int], None]
_ALTERNATIVES = ("two-sided", "greater", "less")
_TOLD_EVERY = 5000  # rows between two reports of progress


@dataclass(frozen=True)
class Logs:
    """Which files are read, and how.

    Attributes
    ----------
    paths : files, or folders that are walked.
    format : the format of all of them; found by content where not given.
    columns : role to column name, for CSV and JSONL.
    requests : the request file of a batch output.
    metric : the score to read where a log has several.
    model : the name of the model, for logs that do not hold it.
    """

    paths: Sequence[Path]
    format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    requests: Path | None = None
    metric: str | None = None
    model: str | None = None


@dataclass(frozen=True)
class Asked:
    """What is asked of them: see `seal audit --help`; at most one source of classes is given."""

    class_field: str | None = None
    class_pattern: str | None = None
    labels: Path | None = None
    class_from: Path | None = None
    bins: int | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    class1: str | None = None
    alternative: str = "two-sided"
    cap: int | None = None
    alpha: str = str(ALPHA)


def audit(logs: Logs, asked: Asked | None = None, *, progress: Progress | None = None) -> Audit:
    """Read the logs and audit them.

    Raises
    ------
    FormatError : a file is missing, broken, or of no known format.
    UsageError : an option names something that is not there.
    """
    asked = asked or Asked()
    options = _options(asked)
    collector = Collector(options.classes, options.cap)
    notes: list[str] = []
    files = []
    for place, (path, reader) in enumerate(find_logs(logs.paths, logs.format, notes)):
        count = 0
        for row in _rows(path, reader, logs, notes):
            collector.add(row, place)
            count += 1
            if progress is not None and count % _TOLD_EVERY == 0:
                progress(path.name, count)
        files.append((str(path), reader.name, count))
    if not any(count for _, _, count in files):
        raise FormatError(
            f"{logs.paths[0]}: holds no responses",
            hint="write the log with its samples, or name another file",
        )
    return audit_tables(collector.tables(), options, files, notes)


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
        notes.append(f"{folder}: {skipped} files are no logs or only belong to one, and were not read")


def _rows(path: Path, reader: LogFormat, logs: Logs, notes: list[str]) -> Iterator[Row]:
    options = ReadOptions(logs.columns, logs.requests, logs.metric)
    for row in reader.read(path, options, notes):
        if logs.model is not None and row.model.startswith("model not in log ["):
            from dataclasses import replace

            yield replace(row, model=logs.model)
        else:
            yield row


def _options(asked: Asked) -> AuditOptions:
    if asked.alternative not in _ALTERNATIVES:
        raise UsageError(f"{asked.alternative} is no alternative", hint=", ".join(_ALTERNATIVES))
    if asked.cap is not None and asked.cap < 1:
        raise UsageError(
            f"a cap of {asked.cap}", hint="--cap takes the number of tokens, for example --cap 1000"
        )
    return AuditOptions(_classes(asked), asked.class1, asked.alternative, _alpha(asked.alpha), asked.cap)


def _alpha(text: str) -> Fraction:
    try:
        value = Fraction(text) if "/" in text else Fraction(Decimal(text))
    except (ValueError, InvalidOperation, ZeroDivisionError, OverflowError) as error:
        raise UsageError(f"alpha {text!r} is not a number", hint="--alpha 0.05") from error
    if not 0 < value < 1:
        raise UsageError(f"alpha {text} does not lie between 0 and 1", hint="--alpha 0.05")
    return value


def _classes(asked: Asked) -> ClassChoice:
    sources = {
        "--class": asked.class_field,
        "--class-pattern": asked.class_pattern,
        "--labels": asked.labels,
        "--class-from": asked.class_from,
    }
    given = [name for name, value in sources.items() if value is not None]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} both say what the classes are", hint="give one of them")
    if asked.bins is not None and asked.bins < 2:
        raise UsageError(f"{asked.bins} bins", hint="--bins 2")
    pattern = None
    if asked.class_pattern is not None:
        try:
            pattern = re.compile(asked.class_pattern)
        except re.error as error:
            raise UsageError(
                f"the pattern {asked.class_pattern!r} is no regular expression ({error})",
                hint="--class-pattern '(prime|composite)$'",
            ) from error
    labels, name = None, "labels"
    if asked.labels is not None:
        labels, name = _read_labels(asked.labels), asked.labels.name
    elif asked.class_from is not None:
        labels, name = _right_in(asked.class_from), f"right in {asked.class_from.name}"
    return ClassChoice(asked.class_field, pattern, labels, name, asked.bins, asked.names)


def _read_labels(path: Path) -> dict[str, str]:
    """Item to class from a CSV with a header line: its first two columns."""
    import csv

    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = [row for row in csv.reader(stream, strict=True) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FormatError(
            f"{path}: not a readable CSV ({error})", hint="a header, then item,class lines"
        ) from error
    if len(rows) < 2 or any(len(row) < 2 for row in rows):
        raise FormatError(f"{path}: not lines of item and class", hint="a header, then item,class lines")
    return {row[0].strip(): row[1].strip() for row in rows[1:]}


def _right_in(path: Path) -> dict[str, str]:
    """Item to "right" or "wrong" by the mean score in another log: a class for open-ended tasks."""
    scores: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    notes: list[str] = []
    for one, reader in find_logs([path], None, notes):
        for row in reader.read(one, ReadOptions(), notes):
            if row.score is not None:
                scores[row.item][0] += row.score
                scores[row.item][1] += 1
    if not scores:
        raise FormatError(f"{path}: holds no scores", hint="--class-from takes another model's scored log")
    return {
        item: f"{'right' if 2 * total >= count else 'wrong'} in {path.name}"
        for item, (total, count) in scores.items()
    }


def frame_of(audit: Audit) -> Any:
    """The counts by group and class as a pandas or polars DataFrame, whichever is installed.

    Raises UsageError if neither is.
    """
    from dataclasses import asdict

    rows = [
        {
            "model": group.model,
            "task": group.task,
            "cap": group.cap,
            "class": name,
            **asdict(counts),
            "finding": group.finding,
        }
        for group in audit.groups
        for name, counts in group.classes.items()
    ]
    for module in ("pandas", "polars"):
        try:
            library = __import__(module)
        except ImportError:
            continue
        return library.DataFrame(rows)
    raise UsageError("neither pandas nor polars is installed", hint="pip install pandas")
