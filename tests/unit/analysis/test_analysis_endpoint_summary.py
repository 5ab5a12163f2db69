"""Each endpoint in one table: every response counted once, by how it ended; unknown is not 0."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from factory import CONSTANT, SOLVER, calls, cut, endpoint, failed, log, plan, run_of, world

from sealbench.analysis import evaluate
from sealbench.analysis.endpoint_summary import endpoint_summaries
from sealbench.analysis.rows import Table
from sealbench.stats.bounds import Outcomes, score_bounds

ENDS = ("cut_reported", "cut_inferred", "cut_other", "refused", "filtered", "unknown", "error")


def fraction(number):
    return None if number is None else Fraction(int(number.num), int(number.den))


def summary_of(change, **options):
    run, lines = world(plan(endpoints=(SOLVER,)), change, **options)
    return endpoint_summaries(Table(run, lines))[0]


def test_what_was_asked_and_what_was_reported():
    chosen = endpoint("openai/x", settings={"reasoning_effort": "low"}, cap_parameter="max_output_tokens")
    registered = plan(endpoints=(SOLVER, "openai/x"))
    planned = calls(registered)
    run = run_of(registered, len(planned), endpoints=(registered.endpoints[0], chosen))
    named = [
        fields | {"model": "x-2026" if fields["cap"] == 300 else None}
        if fields["endpoint"] == "openai/x"
        else fields
        for fields in planned
    ]
    first, second = endpoint_summaries(Table(run, log(run, named)))
    assert (first.reference, second.reference) == (True, False)
    assert (second.provider, second.model, second.cap_parameter) == ("openai", "x", "max_output_tokens")
    assert second.settings == {"reasoning_effort": "low"}
    assert [(one.model, one.responses) for one in second.reported] == [("x-2026", 32)]


def test_every_ending_is_counted_once_at_its_cap():
    ends = iter(ENDS)

    def change(fields):
        end = next(ends, None)
        return fields if end is None else fields | {"end": end, "answer": "empty"}

    run, lines = world(plan(endpoints=(SOLVER,)), change)
    for at_cap in endpoint_summaries(Table(run, lines))[0].caps:
        own = Counter(line.end for line in lines if line.cap == at_cap.cap)
        finished = own.pop("finished")
        assert {end: getattr(at_cap, "missing" if end == "error" else end) for end in own} == own
        assert at_cap.responses == finished + own.total() - own["error"]
        assert at_cap.planned == at_cap.responses + at_cap.missing + at_cap.absent == 32


def test_flags_and_tokens():
    def change(fields):
        if fields["cap"] == 300:
            return fields | {"charged_tokens": None, "reasoning_tokens": None, "prompt_tokens": None}
        return fields | {"at_cap": True, "not_binding": fields["class_label"] == "no", "reasoning_tokens": 5}

    low, high = summary_of(change).caps
    assert (low.charged_tokens, low.reasoning_tokens, low.prompt_tokens, low.no_usage) == (
        None,
        None,
        None,
        32,
    )
    assert (high.at_cap, high.not_binding, high.no_usage) == (32, 8, 0)
    assert (high.reasoning_tokens, high.prompt_tokens) == (5 * 32, 20 * 32)


def test_the_score_is_that_of_all_graded_answers_with_missing_ones_in_the_bounds_only():
    def change(fields):
        if fields["cap"] != 300 or fields["class_label"] == "yes":
            return None if fields["cap"] == 300 else fields  # 8 absent
        if fields["class_label"] == "composite":
            return fields | {"answer": "wrong"}
        return failed(fields) if fields["class_label"] == "no" else fields

    low = summary_of(change).caps[0]
    assert (low.missing, low.absent, low.lost) == (8, 8, 8)
    expected = score_bounds({"all": Outcomes(0, 8, 8, 16)}).overall
    assert fraction(low.score.cut_wrong) == expected.cut_wrong == 0
    assert fraction(low.score.cut_dropped) == expected.cut_dropped == 0
    assert (fraction(low.score.low), fraction(low.score.high)) == (0, Fraction(24, 32))


def test_nothing_at_all_is_said_not_guessed():
    run, _ = world(plan(endpoints=(SOLVER, CONSTANT)))
    report = evaluate(run.model_copy(update={"plan": None, "exploratory": True}), [], None)
    at_cap = report.endpoints[1].caps[0]
    assert (at_cap.responses, at_cap.absent, at_cap.charged_tokens) == (0, at_cap.planned, None)
    assert at_cap.score.cut_wrong is None


def test_cut_everywhere():
    low = summary_of(cut).caps[0]
    assert (low.cut_reported, low.lost) == (32, 32)
    assert low.score.cut_dropped is None
