"""Values of records that may hold anything: what is no value is None, never a guess."""

from __future__ import annotations

import pytest

from sealbench.logs.endings import content_text, text_state
from sealbench.logs.values import dig, field_of, integer, label, only_number, prompt_text, score, seconds


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (0, 0),
        (300, 300),
        ("300", 300),
        ("300.0", 300),
        (300.0, 300),
        (2.5, None),
        (-1, None),
        ("-1", None),
        (True, None),
        (None, None),
        ("many", None),
        ("nan", None),
        (float("inf"), None),
        (2**70, None),
        ([3], None),
    ],
)
def test_counts(value: object, found: int | None) -> None:
    assert integer(value) == found


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("C", 1.0),
        ("I", 0.0),
        ("N", 0.0),
        ("P", 0.5),
        (" true ", 1.0),
        (True, 1.0),
        (False, 0.0),
        (0.25, 0.25),
        ("0.25", 0.25),
        (1.5, None),
        (-0.1, None),
        ("good", None),
        (float("nan"), None),
        (None, None),
        ([1], None),
    ],
)
def test_scores(value: object, found: float | None) -> None:
    assert score(value) == found


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("Yes", "Yes"),
        (" Yes\n", "Yes"),
        (["Yes"], "Yes"),
        (["Yes", "No"], None),
        ({"a": 1}, None),
        ("", None),
        ("  ", None),
        (None, None),
        (0, "0"),
        (False, "False"),
        ("x" * 90, "x" * 80 + "… (90 characters)"),
    ],
)
def test_labels(value: object, found: str | None) -> None:
    assert label(value) == found


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("1970-01-01T00:01:00Z", 60.0),
        ("1970-01-01T01:01:00+01:00", 60.0),
        ("1970-01-01T00:01:00", 60.0),  # no zone is read as UTC: only differences are used
        (60, 60.0),
        ("07/02/2023, 21:28:40", None),  # day or month first? not guessed
        (True, None),
        (None, None),
        (float("nan"), None),
        ([], None),
    ],
)
def test_times(value: object, found: float | None) -> None:
    assert seconds(value) == found


def test_numbers_that_a_prompt_is_about() -> None:
    assert only_number("Is 10007 prime? 10007 is odd.") == 10007
    assert only_number("Is 7 prime?") is None  # one digit may be anything
    assert only_number("1,000 or 10.5 or v12 or 12b") is None
    assert only_number("9" * 500) is None
    assert only_number("12 " * 2000) is None  # longer than any question about one number
    assert only_number(None) is None


def test_fields_by_name_and_by_path() -> None:
    record = {"a.b": 1, "a": {"b": 2, "c": [3, {"d": 4}]}, "metadata": {"level": 5}, "doc": {"x": {"y": 6}}}
    assert field_of(record, "a.b") == 1  # the name as it stands counts first
    assert field_of(record, "a.c.1.d") == 4
    assert field_of(record, "level") == 5
    assert field_of(record, "x.y") == 6
    assert field_of(record, "absent") is None
    assert dig(record, "a", "c", 7) is None
    assert dig("text", "a") is None


def test_texts_of_messages() -> None:
    parts = [{"type": "reasoning", "text": "hidden"}, {"type": "text", "text": "No"}, "stray"]
    assert content_text(parts) == "No"
    assert content_text(None) == ""
    assert content_text(7) is None
    assert prompt_text([{"role": "user", "content": "Is it?"}, {"role": "user", "content": None}]) == "Is it?"
    assert prompt_text(7) is None
    assert text_state("No <think>why?") == "text"  # something stands before what was never closed
    assert text_state("<b>No</b>") == "text"
