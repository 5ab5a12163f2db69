"""Plans as a person writes them: floats become decimal strings, and what is wrong is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sealbench.errors import ConfigurationError
from sealbench.formats.plan import read_plan

PLAN = """
battery = "mixed"
endpoints = ["reference/solver"]
caps = [300]
access = ["the author"]
funding = "none"
alpha = 0.01

[reveal]
condition = "when published"
deadline = "2027-01-01T00:00:00Z"

[[hypotheses]]
id = "H1"
measure = "censored"
cap = 300
class1 = "prime"
class0 = "composite"
direction = "greater"
bound = { at_least = 0.25 }

[[equivalence_margins]]
hypothesis = "H1"
margin = 1e-3
"""


def test_floats_become_decimal_strings_and_defaults_are_filled_in() -> None:
    plan = read_plan(PLAN, "p.toml")
    assert plan.alpha == "0.01"
    assert plan.equivalence_margins[0].margin == "0.001"
    hypothesis = plan.hypotheses[0]
    assert hypothesis.bound is not None
    assert hypothesis.bound.at_least == "0.25"
    assert (hypothesis.where, hypothesis.alpha, hypothesis.falsifies) == ({}, None, ())
    assert (plan.repeats, plan.wordings, plan.correction) == (1, ("plain",), "holm")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('battery = "mixed"', "", "battery: Field required"),
        ('battery = "mixed"', 'battery = "MIXED"', "battery: "),
        ("caps = [300]", "caps = []", "caps: "),
        ("caps = [300]", "caps = [-1]", "caps.0: "),
        ("caps = [300]", "caps = [9007199254740992]", "caps.0: "),
        ('funding = "none"', 'funding = "none"\nbribes = 1', "bribes: Extra inputs"),
        ('measure = "censored"', 'measure = "beauty"', "hypotheses.0.measure: "),
        ("alpha = 0.01", "alpha = inf", "alpha: "),
        ("alpha = 0.01", "alpha = true", "alpha: "),
        ('deadline = "2027-01-01T00:00:00Z"', "deadline = 2027-01-01T00:00:00Z", "reveal.deadline: "),
        ("cap = 300", 'cap = 300\nwhere = { answer = "x" }', "hypotheses.0.where: "),
        ("alpha = 0.01", "alpha = = 0.01", "Invalid value"),
        ("alpha = 0.01", "alpha = " + "9" * 5000, "p.toml: "),
        ("alpha = 0.01", "alpha = " + "[" * 20_000, "p.toml: "),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, message: str) -> None:
    assert PLAN.count(old) == 1
    with pytest.raises(ConfigurationError) as caught:
        read_plan(PLAN.replace(old, new), "p.toml")
    assert caught.value.message.startswith("p.toml: ")
    assert message in caught.value.message
    assert caught.value.hint


@given(st.text(max_size=60) | st.text("[]{}=.,\"'#\n ab1e-", max_size=60))
def test_arbitrary_text_gives_only_the_projects_error(text: str) -> None:
    with pytest.raises(ConfigurationError):
        read_plan(text, "p.toml")
