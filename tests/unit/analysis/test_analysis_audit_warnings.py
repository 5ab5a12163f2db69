"""What else goes with the class: order, time, prompt length, parity, copies of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

import sealbench
from sealbench.analysis.audit import AuditOptions, audit_tables
from sealbench.analysis.audit_table import Collector
from sealbench.errors import UsageError
from sealbench.logs.base import Row


def _warnings(rows: list[Row], files: tuple[int, ...] = (0,)) -> str:
    options = AuditOptions()
    collector = Collector(options.classes, options.cap)
    for file in files:
        for row in rows:
            collector.add(row, file)
    (group,) = audit_tables(collector.tables(), options, (), ()).groups
    return " | ".join(group.warnings)


def _row(n: int, target: str, **fields: object) -> Row:
    return Row(str(n), "m", "t", "finished", "text", target=target, **fields)  # type: ignore[arg-type]


def _mixed(n: int) -> str:
    """A class that goes neither with the order nor with the parity."""
    return "yes" if n % 4 in (0, 3) else "no"


def test_nothing_is_said_where_nothing_goes_together() -> None:
    rows = [_row(n, _mixed(n), number=n, prompt_length=50 + n % 4 // 2, time=60.0 * n) for n in range(40)]
    assert _warnings(rows) == ""


def test_run_order_almost_and_wholly_confounded() -> None:
    rows = [_row(n, "yes" if n < 20 else "no") for n in range(40)]
    assert "all yes items stand before the no items" in _warnings(rows)
    rows = [_row(n, "yes" if n < 20 or n == 39 else "no") for n in range(40)]
    assert "almost all yes items stand before the no items" in _warnings(rows)


@pytest.mark.parametrize(
    ("gap", "told"),
    [(3 * 86400.0, "3 days"), (7200.0, "2 hours"), (180.0, "3 minutes"), (90.0, "90 seconds")],
)
def test_time_confounded_in_a_log_of_mixed_order(gap: float, told: str) -> None:
    rows = [_row(n, _mixed(n), time=1000.0 + (gap if _mixed(n) == "no" else 0.0)) for n in range(40)]
    assert (
        _warnings(rows)
        == f"class and time are confounded: yes items were run before no items (medians {told} apart)"
    )


def test_prompt_length_and_parity() -> None:
    rows = [_row(n, _mixed(n), prompt_length=90 if _mixed(n) == "yes" else 50) for n in range(40)]
    assert "in 100% of pairs the prompt of the yes item is longer" in _warnings(rows)
    rows = [_row(n, "1" if n % 2 else "0", number=n) for n in range(40)]
    assert '"odd means target = 1" scores 100.0%' in _warnings(rows)


def test_fewer_than_eight_items_of_a_class_show_nothing() -> None:
    rows = [_row(n, "yes" if n < 7 else "no", prompt_length=90 if n < 7 else 50) for n in range(40)]
    assert _warnings(rows) == ""


def test_copies_of_a_run_and_items_in_two_classes() -> None:
    rows = [_row(n, _mixed(n)) for n in range(40)]
    assert "its rows come from 2 files" in _warnings(rows, files=(0, 1))
    assert "1 items stand in more than one class" in _warnings([*rows, _row(0, "no")])


def test_finished_at_the_cap_is_told_and_not_counted() -> None:
    rows = [_row(n, _mixed(n), tokens=300 if n < 5 else 40, cap=300) for n in range(40)]
    assert (
        "5 responses reach the cap and are called finished, with visible text: not counted as cut"
        in _warnings(rows)
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"alternative": "sideways"}, "sideways is no alternative"),
        ({"cap": 0}, "a cap of 0"),
        ({"bins": 1}, "1 bins"),
        ({"alpha": "x"}, "is not a number"),
    ],
)
def test_wrong_options_from_python(tmp_path: Path, options: dict[str, object], told: str) -> None:
    log = tmp_path / "log.csv"
    log.write_text("id,target\n1,a\n")
    with pytest.raises(UsageError, match=told) as caught:
        sealbench.audit(log, **options)
    assert caught.value.hint
