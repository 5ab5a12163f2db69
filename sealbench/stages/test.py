"""The exact test for somebody's own numbers: read a CSV, choose the test, say which and why."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Literal

from sealbench import stats
from sealbench.errors import FormatError, UsageError
from sealbench.stats.results import TestResult

Alternative = Literal["greater", "less", "two-sided"]
_MOST_DIGITS = 400  # of one number in a file; longer ones are a mistake
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


@dataclass(frozen=True)
class Columns:
    """Which columns hold what. Exactly one of `value` and `cut` is given.

    `cost_cap` says that values at or above it were cut there (with `value` only).
    """

    class_label: str
    item: str
    value: str | None = None
    cut: str | None = None
    stratum: str | None = None
    cost_cap: int | None = None


@dataclass
class _Item:
    label: str
    stratum: str
    values: list[Fraction] = field(default_factory=list)


@dataclass(frozen=True)
class OwnTest:
    """The result, the names of the two classes in its order, and why this test."""

    result: TestResult
    class1: str
    class0: str
    why: str


def test_csv(
    path: Path,
    columns: Columns,
    *,
    class1: str | None = None,
    alternative: Alternative = "two-sided",
    exact: bool = False,
) -> OwnTest:
    """Read a CSV and test whether the classes differ, items exchanged within strata.

    Parameters
    ----------
    class1 : the class named first; by default the one with the larger mean.
    exact : allow any amount of work for an exact p-value.

    Raises
    ------
    FormatError : the file does not parse, a number is none, an item stands in two classes or strata.
    UsageError : a column is missing, or there are not two classes.
    """
    if (columns.value is None) == (columns.cut is None):
        raise UsageError(
            "give either --value or --cut", hint="--cut COLUMN for 0/1, --value COLUMN for costs"
        )
    items = _read(path, columns)
    labels = sorted({item.label for item in items.values()})
    if len(labels) != 2:
        raise UsageError(
            f"{path}: the column {columns.class_label} holds {len(labels)} classes "
            f"({', '.join(labels[:5])}), not two",
            hint="choose another --class column, or leave out the rows of the other classes",
        )
    first = class1 or _larger(items, labels)
    if first not in labels:
        raise UsageError(f"no item of class {first}", hint=f"--class1 {labels[0]}, or {labels[1]}")
    second = labels[1] if first == labels[0] else labels[0]
    result, why = _choose(items, first, second, columns, alternative, None if exact else 2.0)
    return OwnTest(result, first, second, why)


def _read(path: Path, columns: Columns) -> dict[str, _Item]:
    items: dict[str, _Item] = {}
    for number, row in _rows(path, columns):
        name, label = row[columns.item].strip(), row[columns.class_label].strip()
        stratum = row[columns.stratum].strip() if columns.stratum else ""
        where = f"{path.name} line {number}"
        if not name or not label:
            raise FormatError(f"{where}: no {'item' if not name else 'class'}", hint="complete the line")
        item = items.setdefault(name, _Item(label, stratum))
        if (item.label, item.stratum) != (label, stratum):
            raise FormatError(
                f"{where}: item {name} stands in two classes or strata",
                hint="an item is one problem: it has one class; give different problems different ids",
            )
        item.values.append(_number(row[columns.cut or columns.value or ""], where, columns))
    if not items:
        raise FormatError(f"{path}: holds no rows", hint="a header line, then one line per response")
    return items


def _rows(path: Path, columns: Columns) -> Iterator[tuple[int, dict[str, str]]]:
    wanted = [columns.class_label, columns.item, columns.cut or columns.value or ""]
    wanted += [columns.stratum] if columns.stratum else []
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            missing = [name for name in wanted if name not in (reader.fieldnames or ())]
            if missing:
                found = ", ".join(reader.fieldnames or ()) or "none"
                raise UsageError(f"{path}: no column {', '.join(missing)}", hint=f"columns there: {found}")
            for row in reader:
                if any(row[name] is None for name in wanted):
                    raise FormatError(f"{path.name} line {reader.line_num}: too few fields")
                yield reader.line_num, row
    except OSError as error:
        raise FormatError(
            f"{path}: cannot be read ({error.strerror})", hint="seal test FILE.csv …"
        ) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(
            f"{path}: not a CSV file in UTF-8 ({error})", hint="save it as CSV, UTF-8"
        ) from error


def _number(text: str, where: str, columns: Columns) -> Fraction:
    stripped = text.strip()
    if not _NUMBER.fullmatch(stripped) or len(stripped) > _MOST_DIGITS:
        raise FormatError(
            f"{where}: {stripped[:40]!r} is not a finite number",
            hint="leave lines without a number out; a missing value is not 0",
        )
    value = Fraction(stripped)
    if columns.cut is not None and value not in (0, 1):
        raise FormatError(f"{where}: {stripped} is neither 0 nor 1", hint="--value COLUMN for other numbers")
    if value < 0 and columns.cost_cap is not None:
        raise FormatError(f"{where}: a cost below 0", hint="costs are counts of tokens")
    return value


def _larger(items: dict[str, _Item], labels: list[str]) -> str:
    means = {}
    for label in labels:
        scores = [sum(item.values) / len(item.values) for item in items.values() if item.label == label]
        means[label] = sum(scores, Fraction(0)) / len(scores)
    return max(labels, key=lambda label: means[label])


def _choose(
    items: dict[str, _Item],
    first: str,
    second: str,
    columns: Columns,
    alternative: Alternative,
    time_limit: float | None,
) -> tuple[TestResult, str]:
    strata = _strata(items, first, second)
    repeated = any(len(item.values) > 1 for item in items.values())
    unit = "items asked several times count once, by their mean" if repeated else "each item was asked once"
    if columns.cut is not None:
        result = stats.censoring_difference(strata=strata, alternative=alternative, time_limit=time_limit)
        return result, f"0/1 per response: exact permutation of cut fractions; {unit}"
    cap = columns.cost_cap
    if cap is None:
        result = stats.mean_difference(strata=strata, alternative=alternative, time_limit=time_limit)
        return result, f"numbers: exact permutation of the difference in means; {unit}"
    if repeated:
        capped = [
            tuple([[min(value, Fraction(cap)) for value in values] for values in side] for side in stratum)
            for stratum in strata
        ]
        result = stats.mean_difference(strata=capped, alternative=alternative, time_limit=time_limit)
        return result, (
            f"costs cut at {cap}, items asked several times: exact permutation of restricted means (costs "
            f"counted up to the cap); {unit}"
        )
    pairs = [
        tuple([(min(values[0], Fraction(cap)), int(values[0] < cap)) for values in side] for side in stratum)
        for stratum in strata
    ]
    result = stats.gehan(strata=pairs, alternative=alternative, time_limit=time_limit)
    return result, (
        f"costs known only as at least {cap} where they reach it: exact Gehan–Wilcoxon test, with one cap "
        f"the rank sum with the cut costs tied on top; {unit}"
    )


def _strata(
    items: dict[str, _Item], first: str, second: str
) -> list[tuple[list[list[Fraction]], list[list[Fraction]]]]:
    names = sorted({item.stratum for item in items.values()})
    return [
        (
            [item.values for item in items.values() if (item.label, item.stratum) == (first, name)],
            [item.values for item in items.values() if (item.label, item.stratum) == (second, name)],
        )
        for name in names
    ]
