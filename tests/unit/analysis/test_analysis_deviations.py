"""A run that departs from its plan in every registered field, one by one: each listed, none invented."""

from __future__ import annotations

from typing import Any

import pytest
from factory import SOLVER, calls, endpoint, failed, hypothesis, log, plan, run_of, world

from sealbench.analysis import evaluate
from sealbench.errors import CheckFailed
from sealbench.formats.base import FileHash

PLAN = plan([hypothesis()], (SOLVER, "openai/x"), wordings=("inverted", "plain"), repeats=2)
RUN_FIELDS = {
    "battery": ({"battery": "other"}, [("battery", "demo", "other")]),
    "commitment": (
        {"commitment": FileHash(path="commitments/demo.json", sha256="9" * 64)},
        [("commitment", "3" * 64, "9" * 64)],
    ),
    "an endpoint less": ({"endpoints": (endpoint(SOLVER),)}, [("endpoints", "openai/x", "not in this run")]),
    "an endpoint more": (
        {"endpoints": (*PLAN.endpoints, endpoint("google/y"))},
        [("endpoints", "not in the plan", "google/y")],
    ),
    "a cap less": ({"caps": (300,)}, [("caps", "4000", "not in this run")]),
    "a cap more": ({"caps": (300, 4000, 500)}, [("caps", "not in the plan", "500")]),
    "repeats": ({"repeats": 3}, [("repeats", "2", "3")]),
    "a wording less": ({"wordings": ("plain",)}, [("wordings", "inverted", "not in this run")]),
    "a wording more": (
        {"wordings": ("inverted", "plain", "letters")},
        [("wordings", "not in the plan", "letters")],
    ),
    "parser": ({"parser": {"name": "mine", "version": 1}}, [("parser.name", "sealbench-answers", "mine")]),
    "parser version": (
        {"parser": {"name": "sealbench-answers", "version": 2}},
        [("parser.version", "1", "2")],
    ),
}
ENDPOINT_FIELDS = {
    "provider": ("openai", "azure"),
    "model": ("x", "x-mini"),
    "base_url": (None, "https://example.org/v1"),
    "api_key_env": (None, "OTHER_KEY"),
    "cap_parameter": ("max_tokens", "max_output_tokens"),
    "settings": ({"temperature": 0}, {"temperature": 1}),
    "probed": (True, False),
}


def listed(registered: Any, change: dict[str, Any], alter: Any = dict) -> list[tuple[str, str, str]]:
    planned = calls(registered, per_class=2)
    run = run_of(registered, len(planned), **change)
    lines = log(run, [altered for fields in planned if (altered := alter(fields)) is not None])
    found = evaluate(run, lines, registered).deviations
    return [(one.field, one.planned, one.observed) for one in found]


def test_a_faithful_run_has_none():
    assert listed(PLAN, {}) == []


@pytest.mark.parametrize("name", RUN_FIELDS)
def test_each_field_of_the_run(name):
    change, expected = RUN_FIELDS[name]
    assert listed(PLAN, change) == expected


@pytest.mark.parametrize("field", ENDPOINT_FIELDS)
def test_each_field_of_an_endpoint(field):
    before, after = ENDPOINT_FIELDS[field]
    changed = endpoint("openai/x", **{field: after})
    found = listed(PLAN, {"endpoints": (PLAN.endpoints[0], changed)})
    assert [one[0] for one in found] == [f"endpoints.{field}"]
    if isinstance(before, str):
        assert found[0][1:] == (before, after)


# Fields of a plan that no run can depart from: who wrote the file and when, what is evaluated on the log as
# the plan's own bytes say it (its hash is checked), and prose, which no program can compare.
OF_THE_FILE = {
    *("schema_", "author", "registry", "registry_size", "registry_head"),
    *("name", "created_at", "tool_version", "amends", "underpowered"),
}
EVALUATED = {"hypotheses", "void_conditions", "alpha", "correction", "equivalence_margins"}
PROSE = {"stopping_rule", "access", "funding", "reveal"}
REFUSED = {"exclusions"}  # a plan with any cannot be frozen


def test_every_field_of_a_plan_is_compared_or_said_not_to_be():
    """A new field of the plan fails here until a departure from it is listed above."""
    shown = {field.partition(".")[0] for _, expected in RUN_FIELDS.values() for field, _, _ in expected}
    shown.add("endpoints" if ENDPOINT_FIELDS else "")
    assert shown | OF_THE_FILE | EVALUATED | PROSE | REFUSED == set(type(PLAN).model_fields)
    assert not shown & (OF_THE_FILE | EVALUATED | PROSE | REFUSED)


def test_every_field_of_the_parser_is_compared():
    shown = {field for _, expected in RUN_FIELDS.values() for field, _, _ in expected}
    assert {f"parser.{name}" for name in type(PLAN.parser).model_fields} <= shown


def test_every_field_that_run_and_plan_share_is_compared():
    shared = set(type(PLAN).model_fields) & set(type(run_of(PLAN)).model_fields)
    shown = {field.partition(".")[0] for _, expected in RUN_FIELDS.values() for field, _, _ in expected}
    assert shared - OF_THE_FILE == shown | {"endpoints"}


def test_other_hypotheses_are_another_plan():
    """What is evaluated cannot be swapped: run.json names the plan's bytes."""
    run, lines = world(PLAN, per_class=2)
    for change in (
        {"hypotheses": (hypothesis("H2"),)},
        {"alpha": "0.1"},
        {"correction": "none"},
        {"equivalence_margins": ({"hypothesis": "H1", "margin": "0.1"},)},
    ):
        other = type(PLAN).model_validate(
            PLAN.to_value() | {"schema": "sealbench/preregistration/v1"} | change
        )
        with pytest.raises(CheckFailed, match="not the one"):
            evaluate(run, lines, other)


def test_every_field_of_an_endpoint_is_compared():
    assert set(ENDPOINT_FIELDS) | {"name"} == set(type(PLAN.endpoints[0]).model_fields)


LOG = {
    "an endpoint outside": (
        {"endpoint": "xai/z", "model": None},
        [("log.endpoints", "not in the plan", "xai/z")],
    ),
    "a cap outside": ({"cap": 999}, [("log.caps", "not in the plan", "999")]),
    "a wording outside": ({"wording": "letters"}, [("log.wordings", "not in the plan", "letters")]),
    "a repeat too many": ({"repeat": 7}, [("log.repeats", "not in the plan", "more than 2 repeats")]),
    "another model": ({"model": "x-2026"}, [("model_reported", "solver", "x-2026")]),
    "another cap parameter": (
        {"cap_parameter": "max_new_tokens"},
        [("log.cap_parameter", "max_tokens", "max_new_tokens")],
    ),
}


@pytest.mark.parametrize("name", LOG)
def test_each_field_of_the_log(name):
    change, expected = LOG[name]
    planned = calls(PLAN, per_class=2)
    first = next(fields for fields in planned if fields["endpoint"] == SOLVER)
    if name.startswith("another"):
        asked = [fields | change if fields is first else fields for fields in planned]
    else:
        stray = first | change | ({"item": "f" * 16} if "wording" in change else {})
        asked = [*planned, stray]
    run = run_of(PLAN, len(asked))
    found = evaluate(run, log(run, asked), PLAN).deviations
    assert [(d.field, d.planned, d.observed) for d in found] == expected


def test_missing_calls_missing_responses_and_calls_asked_twice():
    planned = calls(PLAN, per_class=2)
    run = run_of(PLAN, len(planned))
    dropped = log(run, planned[1:])
    assert [d.field for d in evaluate(run, dropped, PLAN).deviations] == ["calls"]
    errors = log(run, [failed(planned[0]), *planned[1:]])
    assert [(d.field, d.observed) for d in evaluate(run, errors, PLAN).deviations] == [
        ("responses", "1 missing")
    ]
    twice = log(run, [*planned, planned[0]])
    found = evaluate(run, twice, PLAN).deviations
    assert [(d.field, d.observed) for d in found] == [("calls", "1 asked again")]


def test_all_departures_at_once_are_all_listed():
    change = {
        "battery": "other",
        "caps": (300,),
        "repeats": 1,
        "wordings": ("plain",),
        "parser": {"name": "mine", "version": 9},
    }
    fields = [one[0] for one in listed(PLAN, change)]
    assert fields == ["battery", "caps", "repeats", "wordings", "parser.name", "parser.version"]


def test_an_exploratory_run_has_no_plan_to_depart_from():
    run, lines = world(None)
    assert evaluate(run, lines, None).deviations == ()
