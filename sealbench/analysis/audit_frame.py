"""An audit as a pandas or polars DataFrame: counts by group and class, or one row per response.

Logs are streamed, and their texts are never kept. The rows come from the compact columns that the audit
itself decided on (about forty bytes a response and a hundred and fifty an item), so they say exactly what
was counted; the DataFrame is a further copy.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

import numpy as np

from sealbench.analysis.audit_classes import Classes
from sealbench.analysis.audit_cuts import Cuts
from sealbench.analysis.audit_result import Audit, FrameLibrary, Group
from sealbench.analysis.audit_table import ENDS, TEXTS, GroupTable
from sealbench.errors import UsageError

_LIBRARIES: tuple[FrameLibrary, ...] = ("pandas", "polars")


@dataclass(frozen=True)
class GroupRows:
    """The responses of one group: the table as read, and what was decided of each row."""

    table: GroupTable
    cuts: Cuts
    classes: Classes

    def columns(self) -> dict[str, Any]:
        """Column name to a numpy array of as many values as responses.

        item, class : texts, class "" for none. end, text : as read ("finished", "unknown", …). cut :
        "reported", "inferred", "other" or "". tokens : float, NaN where the log does not say. score :
        float, NaN for none. at_cap, empty, lost, missing : booleans.
        """
        table, cuts, item = self.table, self.cuts, self.table.item()
        labels = np.array([*self.classes.labels, ""], dtype=object)
        tokens, place = table.tokens(), table.score()
        values = np.array([float(value) for value in table.score_values()] or [0.0])
        cut = np.full(len(item), "", dtype=object)
        for name, flags in (("other", cuts.other), ("inferred", cuts.inferred), ("reported", cuts.reported)):
            cut[flags] = name
        return {
            "item": np.array(table.item_names(), dtype=object)[item],
            "class": labels[self.classes.item_class[item]],
            "end": np.array(ENDS, dtype=object)[table.end()],
            "text": np.array(TEXTS, dtype=object)[table.text()],
            "tokens": np.where(tokens < 0, np.nan, tokens),
            "score": np.where(place < 0, np.nan, values[place]),
            "cut": cut,
            "at_cap": cuts.at_cap,
            "empty": cuts.invisible,
            "lost": cuts.lost,
            "missing": cuts.missing,
        }


def counts_frame(audit: Audit, library: FrameLibrary | None = None) -> Any:
    """The counts by group and class, one row each.

    Raises UsageError if neither pandas nor polars is installed.
    """
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
    return _library(library).DataFrame(rows)


def rows_frame(audit: Audit, library: FrameLibrary | None = None) -> Any:
    """One row per response, groups in the audit's order, columns as in `GroupRows.columns`.

    Before them stand model, task and cap (NaN or null where unknown).

    Raises
    ------
    UsageError : the audit was made without `keep_rows=True`, or neither library is installed.
    """
    frames = []
    module = _library(library)
    for group in audit.groups:
        if group.rows is None:
            raise UsageError(
                "this audit kept no rows: they cost memory, so they are kept only when asked for",
                hint='sealbench.audit("LOG", keep_rows=True).rows_frame()',
            )
        columns = group.rows.columns()
        frames.append(module.DataFrame({**_names(group, len(columns["item"])), **columns}))
    if module.__name__ == "polars":
        return module.concat(frames)
    return module.concat(frames, ignore_index=True)


def _names(group: Group, rows: int) -> dict[str, Any]:
    cap = float("nan") if group.cap is None else float(group.cap)
    return {
        "model": np.full(rows, group.model, dtype=object),
        "task": np.full(rows, group.task, dtype=object),
        "cap": np.full(rows, cap),
    }


def _library(name: FrameLibrary | None) -> Any:
    for one in _LIBRARIES if name is None else (name,):
        try:
            return import_module(one)
        except ImportError:
            continue
    wanted = "neither pandas nor polars is" if name is None else f"{name} is not"
    raise UsageError(f"{wanted} installed", hint=f"pip install {name or 'pandas'}")
