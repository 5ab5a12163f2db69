"""The audit's own statistics: floats against exact tables, caps that nobody reported, repeats, memory."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from sealbench.analysis import audit_tests
from sealbench.analysis.audit import AuditOptions, audit_tables
from sealbench.analysis.audit_result import Audit
from sealbench.analysis.audit_table import Collector
from sealbench.logs.base import Row


def _audit(rows: list[Row], **options: object) -> Audit:
    asked = AuditOptions(**options)  # type: ignore[arg-type]
    collector = Collector(asked.classes, asked.cap)
    for row in rows:
        collector.add(row, 0)
    return audit_tables(collector.tables(), asked, (), ())


def _row(item: int, target: str, **fields: object) -> Row:
    known: dict[str, object] = {"end": "unknown", "text": "text", **fields}
    return Row(str(item), "m", "t", target=target, **known)  # type: ignore[arg-type]


@pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("table", [((40, 300), (20, 310)), ((5, 500), (9, 400)), ((100, 200), (100, 200))])
def test_floats_agree_with_exact_tables(
    monkeypatch: pytest.MonkeyPatch, table: tuple[tuple[int, int], tuple[int, int]], side: str
) -> None:
    exact = audit_tests.table_p(*table, side)
    monkeypatch.setattr(audit_tests, "_MOST_EXACT", 10)
    found = audit_tests.table_p(*table, side)
    assert exact.is_exact
    assert found.low <= exact.value <= found.high


def test_repeats_are_one_unit() -> None:
    rows = [_row(n, "yes" if n % 2 else "no", text="empty" if n % 2 else "text") for n in range(16)] * 3
    (group,) = _audit(rows).groups
    assert group.test is not None
    assert group.test.p_item.value == Fraction(1, 6435)
    assert group.test.p_response is not None
    assert group.test.p_response.value < Fraction(1, 10**9)


def test_many_repeated_items(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_tests, "_MOST_REPEATED", 10)
    rows = [_row(n, "yes" if n % 2 else "no", text="empty" if n % 2 else "text") for n in range(16)] * 3
    (group,) = _audit(rows).groups
    assert group.test is not None
    assert group.test.p_item.value == Fraction(1, 6435)
    assert "at least once" in " ".join(group.test.notes)


def test_mass_point_is_a_labelled_cap() -> None:
    rows = [_row(n, "yes" if n % 2 else "no", tokens=300 if n % 2 else 40 + n) for n in range(40)]
    (group,) = _audit(rows).groups
    assert (group.cap, group.cap_source) == (300, "inferred")
    assert group.classes["yes"].cut_inferred == 20
    assert any("inferred to be 300" in warning for warning in group.warnings)


def test_a_cap_that_does_not_bind_infers_nothing() -> None:
    rows = [_row(n, "yes" if n % 2 else "no", tokens=113, cap=16) for n in range(20)]
    (group,) = _audit(rows).groups
    assert group.classes["yes"].cut_inferred == 0
    assert any("does not bind" in warning for warning in group.warnings)


def test_more_than_two_classes_are_corrected() -> None:
    rows = [_row(n, "abc"[n % 3], end="cut_reported" if n % 3 == 0 else "finished") for n in range(30)]
    (group,) = _audit(rows).groups
    assert group.test is not None
    assert (group.test.class1, group.test.class0, group.test.times) == ("a", "the rest", 3)
    assert group.test.p_item.value == Fraction(3, 30045015)


def test_too_little_to_tell() -> None:
    rows = [_row(n, "yes" if n % 2 else "no", end="cut_reported" if n == 1 else "finished") for n in range(8)]
    (group,) = _audit(rows).groups
    assert group.finding == "cannot tell"


def test_few_hits_of_many_repeated_items_cannot_tell() -> None:
    rows = [_row(n, "yes" if n % 2 else "no", text="empty" if n == 1 else "text") for n in range(40)] * 2
    (group,) = _audit(rows).groups
    assert group.test is not None
    assert (group.test.smallest, group.finding) == (1, "cannot tell")


def test_one_item_against_many_cannot_tell() -> None:
    # One class has a single item: whatever it did, p could not have been below 451/901.
    rows = [
        _row(n, "rare" if n == 0 else "common", end="finished" if n % 2 else "cut_reported")
        for n in range(901)
    ]
    (group,) = _audit(rows).groups
    assert group.test is not None
    assert group.test.smallest > Fraction(1, 3)
    assert group.finding == "cannot tell"


# Memory of this process alone: ru_maxrss also counts what the process was before it became this one.
_BIG = """
import pathlib, re, sys
import sealbench
found = sealbench.audit(sys.argv[1])
status = pathlib.Path("/proc/self/status").read_text()
print(sum(g.responses for g in found.groups), re.search(r"VmHWM:\\s+(\\d+)", status)[1])
"""


@pytest.mark.slow
def test_two_million_rows_below_a_gigabyte(tmp_path: Path) -> None:
    log = tmp_path / "big.csv"
    with log.open("w") as stream:
        stream.write("id,target,finish_reason,output_tokens,max_tokens,correct\n")
        for n in range(2_000_000):
            cut = n % 37 == 0
            end = "length" if cut else "stop"
            stream.write(f"item{n},{n % 2},{end},{1000 if cut else n % 990},1000,{int(not cut)}\n")
    done = subprocess.run([sys.executable, "-c", _BIG, str(log)], capture_output=True, text=True, check=True)
    rows, kilobytes = map(int, done.stdout.split())
    assert rows == 2_000_000
    assert kilobytes < 1_000_000
