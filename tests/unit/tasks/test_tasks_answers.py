"""The answer parser: the table of replies, grading, answer types, and hostile replies."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sealbench.errors import UsageError
from sealbench.tasks.answers import PARSER_NAME, PARSER_VERSION, ParsedAnswer, choices_of, grade, parse

VECTORS = Path(__file__).parents[2] / "vectors" / "answers" / "responses.jsonl"
CASES = [json.loads(line) for line in VECTORS.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["why"].replace(" ", "_"))
def test_replies(case):
    parsed = parse(case["text"], case["answer_type"])
    assert (parsed.status, parsed.value) == (case["status"], case["value"])


def test_the_table_is_large_enough_and_without_repeats():
    assert len(CASES) >= 60
    assert len({(case["text"], case["answer_type"]) for case in CASES}) == len(CASES)
    assert {case["status"] for case in CASES} == {"answer", "empty", "unparseable", "unclosed_reasoning"}


def test_the_parser_has_a_name_and_a_version():
    assert (PARSER_NAME, PARSER_VERSION) == ("sealbench-answers", 1)


def test_grades():
    assert grade(ParsedAnswer("answer", "Yes"), "Yes") == "right"
    assert grade(ParsedAnswer("answer", "Yes"), "yes") == "right"
    assert grade(ParsedAnswer("answer", "Yes"), "No") == "wrong"
    assert grade(ParsedAnswer("answer", None), "") is None
    for status in ("empty", "unparseable", "unclosed_reasoning"):
        assert grade(ParsedAnswer(status, None), "Yes") == status


def test_choices():
    assert choices_of("yes_no") == ("Yes", "No")
    assert choices_of("label:prime,not prime") == ("prime", "not prime")
    assert choices_of("letter") == ("A", "B")
    assert choices_of("letter:A,B,C") == ("A", "B", "C")
    assert choices_of("number") == ()
    assert parse("Answer: not prime", "label:prime,not prime").value == "not prime"
    assert parse("Answer: ja", "yes_no", ("ja", "nein")).value == "ja"


@pytest.mark.parametrize("bad", ["", "yesno", "label", "label:", "yes_no:a", "number:3", "ungraded:x"])
def test_unknown_answer_types(bad):
    with pytest.raises(UsageError, match="no answer type") as caught:
        parse("Yes", bad)
    assert "yes_no" in caught.value.hint


@given(st.text(max_size=300))
def test_any_text_has_exactly_one_reading(text):
    for answer_type in ("yes_no", "label:prime,composite", "letter:A,B", "number", "text", "ungraded"):
        parsed = parse(text, answer_type)
        assert (parsed.value is None) or parsed.status == "answer"
        choices = choices_of(answer_type)
        if parsed.status == "answer" and choices:
            assert parsed.value in choices


@given(st.text(alphabet="ab \n.", max_size=80), st.sampled_from(["Yes", "No"]))
def test_an_asked_for_line_is_always_read(work, answer):
    assert parse(f"{work}\nAnswer: {answer}", "yes_no").value == answer
    assert parse(f"<think>{work}\nAnswer: {answer}", "yes_no").status == "unclosed_reasoning"


@pytest.mark.parametrize(
    "piece",
    ["the ", "answer ", "Answer: ", "\\boxed{", "\\boxed{Yes}", "<think>", "</think>", "**", "{", "1,", "- ",
     "is ", "\n", "it is ", "< ", "Yes, ", "\\text{\\text{"],
)  # fmt: skip
def test_long_loops_are_read_in_time(piece):
    text = piece * (200_000 // len(piece))
    started = time.process_time()
    for answer_type in ("yes_no", "label:prime,composite", "number"):
        parse(text, answer_type)
    assert time.process_time() - started < 6
