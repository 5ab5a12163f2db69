"""How a report is shown: numbers as JSON numbers, but never a p-value of 0."""

from __future__ import annotations

import pytest
from formats_samples import read

from sealbench.errors import FormatError
from sealbench.formats import report


def test_a_real_report_is_shown_with_numbers() -> None:
    try:
        found = report.Report.from_bytes(read("runs/mixed-plan-1/report.json"))
    except FormatError:
        pytest.skip("the stored report is of another version: tests/vectors/make_workspace.py")
    view = report.report_view(found)
    test = view["tests"][0]
    assert isinstance(test["p"]["approx"], float)
    assert isinstance(test["p"]["num"], str)
    assert view["verdicts"]["H1"]["reference/solver"]["verdict"] == found.verdicts[0].verdict
    assert set(view["verdicts"]) == {verdict.hypothesis for verdict in found.verdicts}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("7.8e-05", 7.8e-05),
        ("0", 0.0),
        ("0.000", 0.0),
        ("1.5e-400", "1.5e-400"),
        ("1e999", "1e999"),
        ("-1e999", "-1e999"),
    ],
)
def test_a_number_too_small_or_large_stays_text(text: str, shown: object) -> None:
    assert report._with_numbers([{"approx": text, "other": text}]) == [{"approx": shown, "other": text}]
    assert report._with_numbers({"error": None, "approx": 3}) == {"error": None, "approx": 3}
