"""Rows and counts as a DataFrame, with stand-ins for the two libraries (the real ones: make test-inspect)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sealbench
from sealbench.analysis import audit_frame
from sealbench.analysis.audit_result import Audit
from sealbench.errors import UsageError


class Frame(dict[str, Any]):
    """A DataFrame as far as it is needed: columns by name."""

    def __init__(self, data: Any) -> None:
        if isinstance(data, list):
            data = {name: [row[name] for row in data] for name in data[0]}
        super().__init__({name: list(values) for name, values in data.items()})


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A pandas that is installed; polars is not."""

    def concat(frames: list[Frame], *, ignore_index: bool) -> Frame:
        assert ignore_index
        return Frame({name: [value for frame in frames for value in frame[name]] for name in frames[0]})

    module = ModuleType("pandas")
    module.DataFrame, module.concat = Frame, concat  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", module)
    monkeypatch.setitem(sys.modules, "polars", None)
    yield module


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Two models; items that stand twice; a cut, an empty, a failed and an unscored response."""
    path = tmp_path / "log.csv"
    path.write_text(
        "id,model,target,response,finish_reason,output_tokens,max_tokens,score,error\n"
        "a,m,yes,,length,50,50,0,\n"
        "b,m,no,No.,stop,7,50,1,\n"
        "b,m,no,,stop,9,50,0,\n"
        "c,m,yes,,,,50,,time-out\n"
        "a,other,yes,Yes.,stop,3,50,1,\n"
        "b,other,no,<think>2,,50,50,,\n"
    )
    return path


def _found(log: Path, **options: Any) -> Audit:
    found = sealbench.audit(str(log), **options)
    assert isinstance(found, Audit)
    return found


def test_rows_say_what_was_counted(library: ModuleType, log: Path) -> None:
    found = _found(log, keep_rows=True)
    rows = found.rows_frame()
    assert len(rows["item"]) == 6
    at = {(rows["model"][n], rows["item"][n], rows["text"][n]): n for n in range(6)}
    cut = at[("m", "a", "empty")]
    assert [rows[name][cut] for name in ("class", "cut", "lost", "at_cap", "tokens", "score", "cap")] == [
        *("yes", "reported", True, True, 50.0, 0.0, 50.0)
    ]
    failed = at[("m", "c", "empty")]
    assert (rows["missing"][failed], rows["end"][failed]) == (True, "error")
    assert rows["tokens"][failed] != rows["tokens"][failed]  # NaN: the log does not say
    assert rows["score"][failed] != rows["score"][failed]
    thinking = at[("other", "b", "unclosed")]
    assert (rows["cut"][thinking], rows["lost"][thinking]) == ("inferred", True)
    counts = found.counts_frame()
    for name in ("empty", "lost", "missing", "at_cap"):
        assert sum(rows[name]) == sum(counts[name])
    assert sum(value in ("reported", "inferred") for value in rows["cut"]) == sum(
        counts["cut_reported"]
    ) + sum(counts["cut_inferred"])


def test_an_item_in_two_classes_keeps_its_name(library: ModuleType, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("id,target,finish_reason\n1,yes,stop\n1,no,length\n2,no,stop\n")
    rows = _found(log, keep_rows=True).rows_frame()
    assert list(zip(rows["item"], rows["class"], strict=True)) == [("1", "yes"), ("1", "no"), ("2", "no")]


def test_rows_are_kept_only_when_asked_for(library: ModuleType, log: Path) -> None:
    found = _found(log)
    assert all(group.rows is None for group in found.groups)
    with pytest.raises(UsageError, match="kept no rows") as caught:
        found.rows_frame()
    assert "keep_rows=True" in caught.value.hint
    assert len(found.counts_frame()["model"]) == 4


def test_without_a_library_its_name_is_told(monkeypatch: pytest.MonkeyPatch, log: Path) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    found = _found(log, keep_rows=True)
    with pytest.raises(UsageError, match="neither pandas nor polars is installed"):
        found.counts_frame()
    with pytest.raises(UsageError, match="polars is not installed") as caught:
        audit_frame.rows_frame(found, "polars")
    assert caught.value.hint == "pip install polars"


def test_options_of_the_python_entry(log: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("item,class\na,one\nb,two\n")
    found = _found(log, labels=str(labels), cap=50, columns={"item": "id"}, format="csv", model="ignored")
    assert {name for group in found.groups for name in group.classes} == {"one", "two", "(no class)"}
    with pytest.raises(UsageError, match="there is no option 'klass'") as caught:
        _found(log, klass="target")
    assert "class_field" in caught.value.hint
    with pytest.raises(UsageError, match="no log was named"):
        sealbench.audit()
