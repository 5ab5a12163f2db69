"""Rows of any number as compact columns, one table per model, task and cap.

About forty bytes a row and a hundred and fifty an item: two million rows stay well below a gigabyte.
"""

from __future__ import annotations

import dataclasses
import re
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sealbench.logs.base import Row
from sealbench.logs.values import field_of, label

ENDS = ("finished", "cut_reported", "cut_other", "refused", "filtered", "error", "unknown")
TEXTS = ("text", "empty", "unclosed", "unknown")
NO_CLASS = -1
_LOOKED_AT = 1000  # rows per group in which fields that could be classes are looked for
_FEW = 10
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ClassChoice:
    """Where a row's class comes from: the first that is given, else the target.

    Attributes
    ----------
    field : a field of the record (dotted path), numeric ones split into `bins` by quantiles.
    pattern : a regular expression on the item's id; its first group, or the whole match, is the class.
    labels : item to class.
    names : class to the name it shall have.
    """

    field: str | None = None
    pattern: re.Pattern[str] | None = None
    labels: Mapping[str, str] | None = None
    labels_name: str = "labels"
    bins: int | None = None
    names: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def name(self) -> str:
        """How the source of the classes is called."""
        if self.labels is not None:
            return self.labels_name
        if self.pattern is not None:
            return f"item id, pattern {self.pattern.pattern}"
        return self.field or "target"

    def of(self, row: Row) -> str | None:
        """The class of a row; None if it has none."""
        if self.labels is not None:
            found = self.labels.get(row.item)
        elif self.pattern is not None:
            match = self.pattern.search(row.item)
            found = None if match is None else match.group(1 if match.re.groups else 0)
        elif self.field is not None:
            found = label(field_of(row.record, self.field))
        else:
            found = row.target
        return None if found is None else self.names.get(found, found)


class GroupTable:
    """The responses of one model on one task at one cap, in the order of the log."""

    def __init__(self, model: str, task: str, cap: int | None) -> None:
        self.model, self.task, self.cap = model, task, cap
        self.labels: dict[str, int] = {}
        self.scores: dict[float, int] = {}
        self.files: set[int] = set()
        self.conflicts = 0
        self.rows = 0
        self._items: dict[str, int] = {}
        self._twins: dict[tuple[str, int], int] = {}
        self._item_class = array("i")
        self._item = array("i")
        self._end, self._text, self._parity = array("b"), array("b"), array("b")
        self._tokens = array("q")
        self._score, self._length = array("i"), array("i")
        self._time = array("d")
        self._fields: dict[str, set[str] | None] = defaultdict(set)

    def add(self, row: Row, class_label: str | None, file: int) -> None:
        """Append one response."""
        self.rows += 1
        self.files.add(file)
        kind = NO_CLASS if class_label is None else self.labels.setdefault(class_label, len(self.labels))
        self._item.append(self._item_of(row.item, kind))
        self._end.append(ENDS.index(row.end))
        self._text.append(TEXTS.index(row.text))
        self._tokens.append(-1 if row.tokens is None else row.tokens)
        known = row.score is not None
        self._score.append(self.scores.setdefault(row.score, len(self.scores)) if known else -1)  # type: ignore[arg-type]
        self._length.append(-1 if row.prompt_length is None else row.prompt_length)
        self._parity.append(-1 if row.number is None else row.number % 2)
        self._time.append(nan if row.time is None else row.time)
        if self.rows <= _LOOKED_AT:
            self._look(row.record)

    def _item_of(self, name: str, kind: int) -> int:
        place = self._items.get(name)
        if place is None:
            place = self._items[name] = len(self._item_class)
            self._item_class.append(kind)
        elif self._item_class[place] != kind:
            # One id in two classes is two problems; it is told as a warning.
            twin = self._twins.get((name, kind))
            if twin is None:
                twin = self._twins[(name, kind)] = len(self._item_class)
                self._item_class.append(kind)
                self.conflicts += 1
            place = twin
        return place

    def _look(self, record: Mapping[str, Any]) -> None:
        places = [("", record)] + [
            (f"{name}.", record[name])
            for name in ("metadata", "doc", "vars")
            if isinstance(record.get(name), Mapping)
        ]
        for prefix, fields in places:
            for key, value in fields.items():
                seen = self._fields[prefix + str(key)]
                if seen is None:
                    continue
                if isinstance(value, (str, int, float)) and len(str(value)) <= 40:
                    seen.add(str(value))
                if len(seen) > _FEW:
                    self._fields[prefix + str(key)] = None

    def possible_classes(self) -> list[str]:
        """Fields with two to ten values among the first rows."""
        return sorted(name for name, seen in self._fields.items() if seen is not None and len(seen) > 1)

    def item_names(self) -> list[str]:
        """Per item its id; an id that stands in two classes is the name of two items."""
        names = [""] * len(self._item_class)
        for name, place in self._items.items():
            names[place] = name
        for (name, _), place in self._twins.items():
            names[place] = name
        return names

    # The columns, as numpy arrays over the same memory.
    def item(self) -> Ints:
        """Per row the place of its item."""
        return np.frombuffer(self._item, dtype=np.int32).astype(np.int64)

    def item_class(self) -> Ints:
        """Per item the place of its class, or NO_CLASS."""
        return np.frombuffer(self._item_class, dtype=np.int32).astype(np.int64)

    def end(self) -> NDArray[np.int8]:
        """Per row the place in ENDS."""
        return np.frombuffer(self._end, dtype=np.int8)

    def text(self) -> NDArray[np.int8]:
        """Per row the place in TEXTS."""
        return np.frombuffer(self._text, dtype=np.int8)

    def tokens(self) -> Ints:
        """Per row the tokens, -1 where the log does not say."""
        return np.frombuffer(self._tokens, dtype=np.int64)

    def score(self) -> NDArray[np.int32]:
        """Per row the place of its score in `score_values`, -1 for none."""
        return np.frombuffer(self._score, dtype=np.int32)

    def score_values(self) -> list[Fraction]:
        """The distinct scores, as the exact decimals that the log shows."""
        return [Fraction(repr(value)) for value in self.scores]

    def length(self) -> NDArray[np.int32]:
        """Per row the prompt's length in characters, -1 for unknown."""
        return np.frombuffer(self._length, dtype=np.int32)

    def parity(self) -> NDArray[np.int8]:
        """Per row 1 odd, 0 even, -1 where no number is known."""
        return np.frombuffer(self._parity, dtype=np.int8)

    def time(self) -> NDArray[np.float64]:
        """Per row the time in seconds, NaN for unknown."""
        return np.frombuffer(self._time, dtype=np.float64)


class Collector:
    """Sorts rows into their tables."""

    def __init__(self, classes: ClassChoice, cap: int | None = None) -> None:
        self.classes, self.cap = classes, cap
        self._tables: dict[tuple[str, str, int | None], GroupTable] = {}

    def add(self, row: Row, file: int) -> None:
        """Take one row; a cap given by the caller stands above the log's."""
        cap = self.cap if self.cap is not None else row.cap
        key = (row.model, row.task, cap)
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = GroupTable(*key)
        table.add(row, self.classes.of(row), file)

    def tables(self) -> Iterator[GroupTable]:
        """The tables, in the order in which their first rows came."""
        yield from self._tables.values()
