"""The report of a run: the demo's numbers, purity, and runs without the data a test needs."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from factory import CONSTANT, SOLVER, attempt, cut, failed, hypothesis, log, plan, run_of, world

from sealbench.analysis import evaluate
from sealbench.errors import CheckFailed, UsageError
from sealbench.formats.base import FileHash
from sealbench.formats.report import Anchor, Comparison, ExactNumber, Report, report_view
from sealbench.render.html import render_html
from sealbench.render.markdown import render_markdown
from sealbench.render.terminal import render_terminal

ONE_FAMILY = {"primality": ("prime", "composite")}


def fraction(number):
    assert isinstance(number, ExactNumber)
    return Fraction(int(number.num), int(number.den))


def standard(report: Report, endpoint: str, cap: int, measure: str, family: str = "primality") -> Comparison:
    found = [
        test
        for test in report.tests
        if test.hypothesis is None
        and (test.endpoint, test.cap, test.measure, test.where["family"]) == (endpoint, cap, measure, family)
        and test.question != "max_over_caps"
    ]
    assert len(found) == 1
    return found[0]


@pytest.fixture(scope="module")
def demo():
    registered = plan(
        [
            hypothesis("H1"),
            hypothesis("H2", where={"family": "subset_sum"}, class1="no", class0="yes"),
            hypothesis("H3", measure="charged_tokens", cap=4000),
        ],
        (SOLVER, CONSTANT),
    )
    run, lines = world(registered)
    return evaluate(run, lines, registered), run, lines, registered


def test_eight_of_eight_against_none_is_one_in_12870(demo):
    tests = {(test.hypothesis, test.endpoint): test for test in demo[0].tests if test.hypothesis}
    for name in ("H1", "H2", "H3"):
        assert fraction(tests[(name, SOLVER)].p) == Fraction(1, 12870)
        assert tests[(name, SOLVER)].verdict == "supported"
        assert fraction(tests[(name, CONSTANT)].p) == 1
        assert tests[(name, CONSTANT)].verdict == "not_supported"
    assert tests[("H1", CONSTANT)].reason == "nothing was cut"
    assert fraction(tests[("H1", SOLVER)].p_adjusted) == Fraction(6, 12870)
    counts = tests[("H1", SOLVER)].classes
    assert (counts["prime"].lost, counts["prime"].empty, counts["composite"].cut_reported) == (8, 8, 0)


def test_unregistered_tests_are_two_sided_and_corrected_without_the_degenerate_ones(demo):
    test = standard(demo[0], SOLVER, 300, "censored")
    assert (test.alternative, test.class1, test.class0) == ("two-sided", "prime", "composite")
    assert fraction(test.p) == Fraction(2, 12870)
    able = sum(1 for t in demo[0].tests if t.hypothesis is None and t.status == "tested")
    assert fraction(test.p_adjusted) == Fraction(2 * able, 12870)
    assert test.finding == "asymmetric"
    quiet = standard(demo[0], CONSTANT, 300, "censored")
    assert (quiet.status, quiet.finding, fraction(quiet.p)) == ("degenerate", "not_shown", 1)


def test_class_order_follows_the_plan_or_the_cut(demo):
    reverse = plan([hypothesis(class1="composite", class0="prime", direction="less")])
    run, lines = world(reverse)
    report = evaluate(run, lines, reverse)
    assert standard(report, SOLVER, 300, "censored").class1 == "composite"
    assert standard(report, SOLVER, 300, "censored", "subset_sum").class1 == "no"
    assert report.verdicts[0].verdict == "supported"


def test_at_a_large_cap_nothing_is_cut_and_every_answer_is_right(demo):
    score = next(s for s in demo[0].scores if s.cap == 4000 and s.endpoint == SOLVER)
    assert fraction(score.rows[0].overall.cut_wrong) == fraction(score.rows[0].overall.low) == 1
    cost = next(c for c in demo[0].costs if c.cap == 4000 and c.endpoint == SOLVER)
    assert not cost.restricted
    assert cost.separation is not None
    assert (cost.separation.kind, cost.separation.wipe_out_low, cost.separation.wipe_out_high) == (
        "strict",
        151,
        600,
    )
    assert fraction(cost.separation.p) == Fraction(2, 12870)
    assert cost.separation.high_at_least is False


def test_a_cut_cost_is_labelled_restricted_and_known_from_below(demo):
    cost = next(c for c in demo[0].costs if c.cap == 300 and c.endpoint == SOLVER)
    assert cost.restricted
    assert cost.classes["prime"].median is None
    assert cost.classes["prime"].median_above == "300"
    assert cost.separation is not None
    assert (cost.separation.wipe_out_high, cost.separation.high_at_least) == (300, True)
    assert standard(demo[0], SOLVER, 300, "charged_tokens").restricted


def test_scores_under_each_policy_with_bounds_and_reference_rows(demo):
    score = next(
        s
        for s in demo[0].scores
        if s.cap == 300 and s.endpoint == SOLVER and s.where["family"] == "primality"
    )
    own, always_first, always_second, perfect = score.rows
    assert fraction(own.overall.cut_wrong) == Fraction(1, 2)
    assert fraction(own.overall.cut_dropped) == 1
    assert (fraction(own.overall.low), fraction(own.overall.high)) == (Fraction(1, 2), 1)
    assert own.classes["prime"].cut_dropped is None
    assert own.balanced.cut_dropped is None
    assert {always_first.answer, always_second.answer} == {"prime", "composite"}
    assert fraction(always_first.balanced.cut_wrong) == Fraction(1, 2)
    assert fraction(perfect.overall.cut_wrong) == Fraction(1, 2)


def test_same_input_gives_the_same_bytes_and_the_file_parses(demo):
    report, run, lines, registered = demo
    data = report.to_bytes()
    assert evaluate(run, list(lines), registered).to_bytes() == data
    assert Report.from_bytes(data) == report
    assert report.log_lines == len(lines)
    assert report.run_sha256 == run.digest()
    assert report.plan_sha256 == registered.digest()


def test_the_json_view_holds_numbers_and_verdicts_by_hypothesis(demo):
    view = json.loads(json.dumps(report_view(demo[0]), allow_nan=False))
    assert view["schema"] == "sealbench/report/v1"
    first = view["tests"][0]
    assert first["p"] == {"num": "1", "den": "12870", "approx": pytest.approx(1 / 12870)}
    assert first["unit"] == "instance"
    assert view["verdicts"]["H1"][SOLVER]["verdict"] == "supported"
    assert {"deviations", "anchors", "scope", "not_proved", "exploratory"} <= set(view)


def test_a_p_value_too_small_for_a_double_stays_text():
    tiny = {"num": "1", "den": "1" + "0" * 400, "approx": "1e-400"}
    run, lines = world(None)
    report = evaluate(run, lines, None)
    changed = report.tests[0].model_copy(update={"p": ExactNumber(**tiny)})
    view = report_view(report.model_copy(update={"tests": (changed,)}))
    assert view["tests"][0]["p"]["approx"] == "1e-400"


def test_repeats_do_not_make_instances_and_their_p_is_only_shown_as_overstated():
    registered = plan([hypothesis()], repeats=3)
    run, lines = world(registered, families=ONE_FAMILY)
    test = evaluate(run, lines, registered).tests[0]
    assert fraction(test.p) == Fraction(1, 12870)
    assert fraction(test.p_responses) == Fraction(1, 32247603683100)
    assert (test.classes["prime"].instances_used, test.classes["prime"].responses_used) == (8, 24)


def test_strata_are_always_used():
    registered = plan([hypothesis()])
    run, lines = world(registered, families=ONE_FAMILY, per_class=8, strata=4)
    test = evaluate(run, lines, registered).tests[0]
    assert (test.strata, fraction(test.p)) == (4, Fraction(1, 1296))
    assert fraction(test.smallest_p) == Fraction(1, 1296)


def test_unequal_usable_repeats_are_a_stratum():
    registered = plan([hypothesis()], repeats=2)
    first = []

    def drop(fields):
        lost = fields["class_label"] == "prime" and fields["repeat"] == 1 and fields["cap"] == 300
        if lost and len(first) < 4:
            first.append(fields["instance"])
            return failed(fields)
        return fields

    run, lines = world(registered, drop, families=ONE_FAMILY)
    test = evaluate(run, lines, registered).tests[0]
    assert test.strata == 2
    assert test.informative_strata == 1
    assert fraction(test.p) == Fraction(1, 495)  # 4 primes and 8 composites with two usable repeats
    assert test.classes["prime"].missing == 4


def test_first_attempt_loss_is_tested_by_class():
    def lose(fields):
        if fields["class_label"] == "prime" and fields["cap"] == 4000:
            return fields | {"attempts": (attempt(0, "timeout"), attempt(1))}
        return fields

    registered = plan()
    run, lines = world(registered, lose, families=ONE_FAMILY)
    report = evaluate(run, lines, registered)
    test = standard(report, SOLVER, 4000, "first_attempt_lost")
    assert fraction(test.p) == Fraction(2, 12870)
    assert standard(report, SOLVER, 300, "first_attempt_lost").reason == "no first attempt was lost"
    assert any("first attempts" in note for note in report.notes)


def test_a_cap_that_does_not_bind_makes_censoring_untestable():
    def escape(fields):
        past = fields["cap"] == 4000 and fields["class_label"] == "composite"
        return fields | {"not_binding": True} if past else fields

    registered = plan([hypothesis()])
    run, lines = world(registered, escape, families=ONE_FAMILY)
    report = evaluate(run, lines, registered)
    assert report.tests[0].verdict == "not_testable"
    assert "does not bind" in report.tests[0].reason
    assert standard(report, SOLVER, 300, "lost").p is None
    assert standard(report, SOLVER, 4000, "charged_tokens").p is not None


def test_missing_responses_enter_the_bounds_only():
    def fail(fields):
        return failed(fields) if fields["class_label"] == "prime" and fields["cap"] == 4000 else fields

    registered = plan()
    run, lines = world(registered, fail, families=ONE_FAMILY)
    report = evaluate(run, lines, registered)
    own = next(s for s in report.scores if s.cap == 4000).rows[0]
    assert fraction(own.overall.cut_wrong) == 1
    assert own.classes["prime"].cut_wrong is None
    assert (fraction(own.classes["prime"].low), fraction(own.classes["prime"].high)) == (0, 1)
    test = standard(report, SOLVER, 4000, "censored")
    assert (test.p, test.finding) == (None, "not_estimable")
    assert test.classes["prime"].missing == 8


def test_calls_without_a_line_are_counted_and_bound_the_score():
    registered = plan()
    run, lines = world(
        registered,
        lambda f: None if f["cap"] == 4000 and f["class_label"] == "prime" else f,
        families=ONE_FAMILY,
    )
    report = evaluate(run, lines, registered)
    assert report.totals.absent == 8
    assert standard(report, SOLVER, 4000, "censored").classes["prime"].absent == 8
    own = next(s for s in report.scores if s.cap == 4000).rows[0]
    assert fraction(own.classes["prime"].high) == 1
    assert any("not finished" in note for note in report.notes)


def test_an_ending_nobody_names_is_not_counted_as_uncut():
    def blur(fields):
        return (
            fields | {"end": "unknown", "answer": "unparseable"}
            if fields["class_label"] == "prime"
            else fields
        )

    registered = plan()
    run, lines = world(registered, blur, families=ONE_FAMILY)
    test = standard(evaluate(run, lines, registered), SOLVER, 300, "censored")
    assert test.p is None
    assert "no ending is known" in test.reason


def _no_usage(fields):
    return fields | {"charged_tokens": None, "end": "finished", "answer": "right"}


def _one_class(fields):
    return fields if fields["class_label"] in ("prime", "no") else None


def _no_class(fields):
    """Own items without a class get one label for all."""
    return fields | {"class_label": "none"}


CASES = {
    "no class": (_no_class, "only the class none"),
    "no usage": (_no_usage, "No response reports its usage"),
    "one class": (_one_class, "only the class"),
    "only errors": (failed, "Every call ended in an error"),
    "only cut": (cut, "Every response was cut"),
    "nothing at all": (lambda fields: None, "The log is empty"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_run_without_the_data_a_test_needs_still_has_a_report_that_says_so(name):
    change, sentence = CASES[name]
    registered = plan([hypothesis(), hypothesis("H2", measure="charged_tokens", cap=4000)])
    run, lines = world(registered, change)
    report = evaluate(run, lines, registered)
    assert any(sentence in note for note in report.notes)
    assert len(report.verdicts) == 2
    assert Report.from_bytes(report.to_bytes()) == report
    if name != "only cut":
        assert report.verdicts[1].verdict == "not_testable"
    for text in (render_terminal(report), render_markdown(report), render_html(report, lines)):
        assert sentence in " ".join(text.split())


def test_three_classes_are_compared_in_pairs():
    families = {"quiz": ("a", "b", "c")}
    run, lines = world(
        None, families=families, cost=lambda f, label, e, n, r: {"a": 500, "b": 100, "c": 90}[label]
    )
    report = evaluate(run, lines, None)
    pairs = {(t.class1, t.class0) for t in report.tests if t.cap == 300 and t.measure == "censored"}
    assert pairs == {("a", "b"), ("a", "c"), ("b", "c")}


def test_an_exploratory_run_has_no_verdicts_and_says_what_it_is():
    run, lines = world(None)
    report = evaluate(run, lines, None)
    assert report.exploratory
    assert report.verdicts == ()
    assert report.not_proved[0].startswith("EXPLORATORY")


def test_the_plan_must_be_the_one_the_run_names():
    registered = plan([hypothesis()])
    run, lines = world(registered)
    with pytest.raises(UsageError, match="was not given"):
        evaluate(run, lines, None)
    with pytest.raises(CheckFailed, match="not the one"):
        evaluate(run, lines, plan([hypothesis(alpha="0.01")]))
    pilot, pilot_lines = world(None)
    with pytest.raises(UsageError, match="exploratory"):
        evaluate(pilot, pilot_lines, registered)


def test_anchors_pass_through_and_regtest_is_called_what_it_is():
    anchor = Anchor(
        path="preregistrations/plan1.json",
        sha256="4" * 64,
        status="anchored",
        grade="checkpointed",
        network="regtest",
        height=7,
        time="2026-11-30T12:00:00Z",
    )
    run, lines = world(None)
    report = evaluate(run, lines, None, anchors=[anchor])
    assert report.anchors == (anchor,)
    assert any("regtest" in limit for limit in report.not_proved)


def test_scope_names_one_company_where_it_is_one():
    registered = plan(endpoints=("openai/a", "openai/b"))
    run, lines = world(registered)
    statement = evaluate(run, lines, registered).scope.statement
    assert "one company (openai)" in statement
    mixed = plan(endpoints=("openai/a", "google/b", SOLVER))
    run, lines = world(mixed)
    assert (
        "2 providers (google, openai), and 1 reference endpoint"
        in evaluate(run, lines, mixed).scope.statement
    )


def test_an_amending_plan_is_named():
    registered = plan(amends=FileHash(path="preregistrations/plan0.json", sha256="5" * 64))
    run, lines = world(registered)
    assert evaluate(run, lines, registered).amends == "5" * 64


def test_lines_outside_run_json_are_in_no_test_and_are_named():
    run = run_of(None, 1)
    from factory import line

    report = evaluate(run, log(run, [line(endpoint="openai/stray")]), None)
    assert any(note.startswith("openai/stray: 1 calls lie outside") for note in report.notes)


@pytest.mark.parametrize(
    ("height", "block", "counts"),
    [(899_000, 900_000, True), (900_000, 900_000, True), (900_001, 900_000, False), (None, 900_000, False)],
)
def test_an_amendment_counts_for_runs_at_or_above_its_stamp_only(height, block, counts):
    registered = plan(amends=FileHash(path="preregistrations/plan0.json", sha256="5" * 64))
    run, lines = world(registered)
    run = run.model_copy(update={"block": run.block.model_copy(update={"height": block})})
    anchor = Anchor(
        path=run.plan.path,
        sha256=run.plan.sha256,
        status="anchored" if height else "pending",
        grade="linked" if height else "pending",
        network="mainnet",
        height=height,
        time=None,
    )
    first = evaluate(run, lines, registered, anchors=(anchor,)).notes[0]
    assert first.startswith("POST HOC") is not counts
    assert ("it counts" in first) is counts
    assert "plan0" in first
