"""What is asked of an audit, as a caller writes it, checked: classes, level, direction, cap."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path

from sealbench.analysis.audit import ALPHA, AuditOptions
from sealbench.analysis.audit_table import ClassChoice
from sealbench.errors import FormatError, UsageError
from sealbench.logs.base import ReadOptions
from sealbench.logs.finding import find_logs

_ALTERNATIVES = ("two-sided", "greater", "less")


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


def options_of(asked: Asked) -> AuditOptions:
    """The options of the analysis; reads the file of labels, or the other log, where one is named.

    Raises
    ------
    FormatError : such a file is missing or broken.
    UsageError : an option is wrong, or two sources of classes are given.
    """
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
