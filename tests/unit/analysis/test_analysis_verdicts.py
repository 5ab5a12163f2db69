"""Every verdict of the protocol and their precedence, by table."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest
from factory import CONSTANT, SOLVER, attempt, cut, failed, hypothesis, plan, void_condition, world

from sealbench.analysis import evaluate

ONE_FAMILY = {"primality": ("prime", "composite")}


@dataclass(frozen=True)
class Case:
    """A plan's hypotheses and what the report must say about each, in the plan's order."""

    hypotheses: list[Any]
    verdicts: list[str]
    voids: tuple[Any, ...] = ()
    change: Any = dict
    options: dict[str, Any] = field(default_factory=dict)
    reason: str = ""


def flat(family, label, endpoint, number, repeat):
    return 50


def some_cut(fields):
    """Primes 0 and 1 are cut at cap 300, nothing else."""
    return cut(fields) if fields["cap"] == 300 and fields["charged_tokens"] in (50, 51) else fields


NOTHING_CUT = {"cost": flat}
SUBSET_EASY = {"cost": lambda f, label, e, n, r: 700 if label == "prime" else 60}
H1, REVERSE = hypothesis("H1"), hypothesis("H9", direction="less")
RIVAL = hypothesis("R", measure="charged_tokens", cap=4000, falsifies=("H1",))
COST = hypothesis("C", measure="charged_tokens", cap=4000)
VOID = void_condition(voids=("H1",))

CASES = {
    "supported": Case([H1], ["supported"]),
    "supported, less": Case(
        [hypothesis(class1="composite", class0="prime", direction="less")], ["supported"]
    ),
    "supported, two-sided": Case([hypothesis(direction="two-sided")], ["supported"]),
    "not supported": Case([H1], ["not_supported"], options=NOTHING_CUT, reason="nothing was cut"),
    "falsified by the opposite": Case([REVERSE], ["falsified"], reason="opposite direction"),
    "falsified by a rival": Case([H1, RIVAL], ["falsified", "supported"], reason="R, which would refute it"),
    "a rival without support refutes nothing": Case(
        [H1, hypothesis("R", direction="less", falsifies=("H1",))], ["supported", "falsified"]
    ),
    "not testable: no such class": Case(
        [hypothesis(class1="odd")], ["not_testable"], reason="no instance of class odd"
    ),
    "not testable: applies nowhere": Case(
        [hypothesis(where={"family": "sudoku"})], ["not_testable"], reason="applies nowhere"
    ),
    "not testable: endpoint not in the plan": Case(
        [hypothesis(where={"endpoint": "openai/other"})], ["not_testable"], reason="applies nowhere"
    ),
    "not testable: smallest p": Case(
        [hypothesis(alpha="0.0001"), hypothesis("H2", alpha="0.00001")],
        ["not_supported", "not_testable"],
        reason="above alpha",
    ),
    "not testable: all missing": Case([H1], ["not_testable"], change=failed, reason="all are missing"),
    "void before supported": Case([H1], ["void"], (VOID,), options=SUBSET_EASY, reason="too easy"),
    "void before not supported": Case([H1], ["void"], (VOID,), options=NOTHING_CUT, reason="too easy"),
    "void before not testable": Case(
        [hypothesis("H1", class1="odd")], ["void"], (VOID,), options=SUBSET_EASY, reason="too easy"
    ),
    "void before falsified": Case([H1, RIVAL], ["void", "supported"], (VOID,), options=SUBSET_EASY),
    "a void hypothesis refutes nothing": Case(
        [hypothesis("H1", falsifies=("C",)), COST], ["void", "supported"], (VOID,), options=SUBSET_EASY
    ),
    "a cost result survives a void cutting test": Case(
        [H1, COST],
        ["void", "supported"],
        (VOID,),
        options=NOTHING_CUT | {"cost": lambda f, label, e, n, r: (200 if label == "prime" else 60) + n},
    ),
    "a void condition that does not hold": Case([H1], ["supported"], (VOID,)),
    "not testable before falsified": Case(
        [hypothesis("H1", class1="odd"), RIVAL], ["not_testable", "supported"], reason="class odd"
    ),
    "not testable before not supported": Case(
        [hypothesis("H1", alpha="0.00007")], ["not_testable"], options=NOTHING_CUT, reason="above alpha"
    ),
    "not testable before falsified by the opposite": Case(
        [hypothesis("H1", alpha="0.00007", direction="less")], ["not_testable"], reason="above alpha"
    ),
    "falsified before not supported": Case(
        [H1, RIVAL],
        ["falsified", "supported"],
        options={"cost": lambda f, label, e, n, r: (200 if label in ("prime", "no") else 60) + n},
        reason="R, which would refute it",
    ),
    "falsified before supported": Case([H1, COST, RIVAL], ["falsified", "supported", "supported"]),
    "two that refute each other are both falsified": Case(
        [hypothesis("A", falsifies=("B",)), hypothesis("B", falsifies=("A",))], ["falsified", "falsified"]
    ),
    "a refuted hypothesis refutes nothing": Case(
        [
            hypothesis("A"),
            hypothesis("B", falsifies=("A",)),
            hypothesis("C", measure="charged_tokens", cap=4000, falsifies=("B",)),
        ],
        ["supported", "falsified", "supported"],
    ),
    "bound met": Case([hypothesis(bound={"at_least": "1"})], ["supported"]),
    "bound missed": Case(
        [hypothesis(measure="charged_tokens", cap=4000, bound={"at_least": "540.5"})],
        ["not_supported"],
        reason="misses its registered bound",
    ),
    "bound met, less": Case(
        [hypothesis(class1="composite", class0="prime", direction="less", bound={"at_least": "0.5"})],
        ["supported"],
    ),
    "accuracy": Case([hypothesis(measure="accuracy", direction="less")], ["supported"]),
    "lost": Case([hypothesis(measure="lost")], ["supported"]),
    "errors": Case(
        [hypothesis(measure="error")],
        ["supported"],
        change=lambda f: failed(f) if f["class_label"] == "prime" else f,
    ),
    "reasoning tokens": Case(
        [hypothesis(measure="reasoning_tokens", cap=4000)],
        ["supported"],
        change=lambda f: f | {"reasoning_tokens": f["charged_tokens"]},
    ),
    "reasoning tokens nobody reports": Case(
        [hypothesis(measure="reasoning_tokens", cap=4000)], ["not_testable"], reason="no usage was reported"
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_verdicts(name):
    case = CASES[name]
    registered = plan(case.hypotheses, void_conditions=case.voids)
    run, lines = world(registered, case.change, **case.options)
    report = evaluate(run, lines, registered)
    assert [verdict.verdict for verdict in report.verdicts] == case.verdicts
    assert [test.verdict for test in report.tests if test.hypothesis] == case.verdicts
    if case.reason:
        assert any(case.reason in verdict.reason for verdict in report.verdicts)


def test_holm_counts_every_registered_test_the_untestable_ones_too():
    registered = plan([hypothesis("H1"), hypothesis("H2", class1="odd"), hypothesis("H3", class1="even")])
    run, lines = world(registered)
    first = evaluate(run, lines, registered).tests[0]
    assert (first.p_adjusted.num, first.p_adjusted.den) == ("1", "4290")


def test_without_correction_the_p_value_stands():
    registered = plan([hypothesis("H1"), hypothesis("H2", measure="lost")], correction="none")
    run, lines = world(registered)
    report = evaluate(run, lines, registered)
    assert report.correction == "none"
    assert report.tests[0].p_adjusted == report.tests[0].p


def test_an_endpoint_filter_makes_one_test_and_no_filter_one_per_endpoint():
    both = plan([hypothesis("H1"), hypothesis("H2", where={"endpoint": CONSTANT})], (SOLVER, CONSTANT))
    run, lines = world(both)
    report = evaluate(run, lines, both)
    assert [(v.hypothesis, v.endpoint) for v in report.verdicts] == [
        ("H1", SOLVER),
        ("H1", CONSTANT),
        ("H2", CONSTANT),
    ]


def test_refuting_across_endpoints_that_are_both_named():
    registered = plan(
        [
            hypothesis("A", where={"family": "primality", "endpoint": SOLVER}),
            hypothesis("B", where={"family": "primality", "endpoint": "openai/x"}, falsifies=("A",)),
        ],
        (SOLVER, "openai/x"),
    )
    run, lines = world(registered)
    assert [v.verdict for v in evaluate(run, lines, registered).verdicts] == ["falsified", "supported"]


def test_a_void_condition_looks_at_models_where_there_are_any():
    registered = plan([hypothesis("H1")], (SOLVER, "openai/x"), void_conditions=(void_condition(),))

    def cost(family, label, endpoint, number, repeat):
        return 700 if endpoint == SOLVER or label == "prime" else 50

    run, lines = world(registered, cost=cost)
    report = evaluate(run, lines, registered)
    status = report.void_conditions[0]
    assert (status.holds, status.responses, status.censored) == (True, 16, 0)
    assert {v.verdict for v in report.verdicts} == {"void"}


def test_a_void_condition_without_a_response_is_not_judged():
    registered = plan([hypothesis("H1")], void_conditions=(void_condition(),))
    run, lines = world(registered, families=ONE_FAMILY)
    report = evaluate(run, lines, registered)
    assert report.void_conditions[0].holds is None
    assert report.verdicts[0].verdict == "supported"


def test_wordings_of_one_instance_are_averaged_not_counted():
    registered = plan([hypothesis("H1")], wordings=("inverted", "plain"))
    run, lines = world(registered, families=ONE_FAMILY)
    test = evaluate(run, lines, registered).tests[0]
    assert (test.p.num, test.p.den) == ("1", "12870")
    assert test.classes["prime"].responses_used == 16


def test_filters_on_kind_and_stratum():
    registered = plan([hypothesis("H1", where={"family": "primality", "stratum": "s1", "kind": "plain"})])
    run, lines = world(registered, strata=2)
    test = evaluate(run, lines, registered).tests[0]
    assert (test.p.num, test.p.den) == ("1", "70")
    assert test.classes["prime"].instances == 4


def test_both_directions_are_given_and_add_to_more_than_one():
    registered = plan([hypothesis("H1")])
    run, lines = world(
        registered,
        lambda f: (
            cut(f) if f["cap"] == 300 and f["class_label"] == "composite" and f["charged_tokens"] < 100 else f
        ),
    )
    test = evaluate(run, lines, registered).tests[0]
    p, opposite = (Fraction(int(n.num), int(n.den)) for n in (test.p, test.p_opposite))
    assert p + opposite > 1


def test_an_attempt_that_could_not_connect_is_no_loss():
    registered = plan()
    run, lines = world(registered, lambda f: f | {"attempts": (attempt(0, "connection"), attempt(1))})
    report = evaluate(run, lines, registered)
    assert all(
        t.reason == "no first attempt was lost" for t in report.tests if t.measure == "first_attempt_lost"
    )


def test_no_difference_is_said_only_of_an_interval_inside_the_registered_margin():
    for margin, sentence in (("0.5", "lies inside"), ("0.4", "reaches beyond")):
        registered = plan([hypothesis("H1")], equivalence_margins=({"hypothesis": "H1", "margin": margin},))
        run, lines = world(registered, cost=flat)
        report = evaluate(run, lines, registered)
        assert report.verdicts[0].verdict == "not_supported"
        assert sentence in report.verdicts[0].reason
    registered = plan(
        [hypothesis("H1", measure="charged_tokens")],
        equivalence_margins=({"hypothesis": "H1", "margin": "9"},),
    )
    run, lines = world(registered)
    assert "no interval" in evaluate(run, lines, registered).verdicts[0].reason
