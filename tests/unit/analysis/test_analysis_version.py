"""The bytes of the report of a fixed log: no change without a higher ANALYSIS_VERSION.

Where one of these fails, either the change was not meant, or ANALYSIS_VERSION must rise in the same commit
and `golden_report.py` write the files anew.
"""

from __future__ import annotations

import json
from hashlib import sha256

import golden_report
import pytest

from sealbench.analysis import ANALYSIS_VERSION

EXPECT = json.loads((golden_report.FOLDER / "expect.json").read_text())


@pytest.fixture(scope="module")
def made():
    return golden_report.reports()


def test_the_version_is_the_stored_one():
    assert EXPECT["analysis_version"] == ANALYSIS_VERSION


def test_the_fixed_log_gives_the_stored_bytes(made):
    stored = (golden_report.FOLDER / "report.json").read_bytes()
    found = json.loads(made["usual"].to_bytes())
    for field, value in json.loads(stored).items():  # names the field that differs, before all bytes
        assert found[field] == value, field
    assert made["usual"].to_bytes() == stored


@pytest.mark.parametrize("name", ["usual", "sampled"])
def test_digests_of_both_reports(made, name):
    assert made[name].digest() == EXPECT["sha256"][name]


def test_the_log_is_the_one_it_always_was():
    """Another log would hide what these tests are for."""
    for name in golden_report.INPUTS:
        assert sha256((golden_report.FOLDER / name).read_bytes()).hexdigest() == EXPECT["sha256"][name]


def test_what_the_fixed_log_covers(made):
    """Every verdict, every part of a report, exact and sampled p-values."""
    assert {test.method for test in made["usual"].tests} >= {"exact"}
    assert "Monte Carlo" in {test.method for test in made["sampled"].tests}
    assert [name for name, value in made["usual"] if value in ((), None, "", {})] == []
    verdicts = {verdict.verdict for verdict in made["usual"].verdicts}
    assert verdicts == {"void", "not_testable", "falsified", "supported", "not_supported"}
