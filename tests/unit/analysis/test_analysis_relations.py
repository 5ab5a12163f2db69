"""Verbosity against release date, perplexity and reasoning: hand-worked, with exact p-values."""

from __future__ import annotations

import math
from datetime import date
from fractions import Fraction
from itertools import combinations
from xml.etree import ElementTree

import pytest
from factory import SOLVER, endpoint, identifier, line, log, plan, run_of

from sealbench.analysis.endpoint_facts import EndpointFacts
from sealbench.analysis.perplexity import perplexity
from sealbench.analysis.reasoning_pairs import compare_reasoning, reasoning_pairs
from sealbench.analysis.releases import releases
from sealbench.analysis.verbosity import verbosity
from sealbench.render.release_figure import release_figure
from sealbench.render.verbosity_relations import perplexity_section, reasoning_section, releases_section


def lines(*fields):
    made = [line(**own) for own in fields]
    return log(run_of(None, len(made)), made)


def answer(number, characters, logprob, **changes):
    name = identifier(number)
    own = {"item": name, "instance": name, "characters_without_markdown": characters}
    return own | {"mean_logprob": logprob} | changes


def texts(section):
    return " ".join(getattr(block, "text", getattr(block, "caption", "")) for block in section.blocks)


def test_bins_double_and_hold_means_by_hand():
    found = perplexity(
        lines(
            answer(1, 15, "-0.5"),
            answer(2, 16, "-1"),
            answer(3, 31, "-2", answer="wrong"),
            answer(4, 64, "-3", answer="ungraded"),
            answer(5, 10, None),
            answer(6, 9, "-9", end="cut_reported"),
        ),
        SOLVER,
        300,
    )
    assert found is not None
    assert (found.responses, found.without) == (4, 1)
    shape = [(own.low, own.high, own.responses, own.mean_logprob, own.right) for own in found.bins]
    assert shape == [
        (0, 15, 1, Fraction(-1, 2), 1),
        (16, 31, 2, Fraction(-3, 2), Fraction(1, 2)),
        (64, 127, 1, -3, None),
    ]
    # Longer is less certain throughout: the two extreme orders of 4! = 24.
    assert found.correlation.rho == 1
    assert found.correlation.p == Fraction(2, 24)
    shown = perplexity_section([found])
    assert f"{math.exp(1.5):.3g}" in {
        cell for block in shown.blocks for row in getattr(block, "rows", ()) for cell in row
    }
    assert "Cannot tell: no order of so few could give less than 1/12" in texts(shown)


def test_repeats_are_one_instance_and_strata_stay_apart():
    made = [
        answer(number, 10 * number + repeat, f"-{number}", repeat=repeat, stratum=f"s{number % 2}")
        for number in range(1, 9)
        for repeat in range(3)
    ]
    found = perplexity(lines(*made), SOLVER, 300)
    assert found is not None
    assert (found.correlation.instances, found.correlation.strata) == (8, 2)
    assert found.correlation.p == Fraction(2, 24 * 24)


def test_no_log_probabilities_is_said():
    assert perplexity(lines(answer(1, 9, None)), SOLVER, 300) is None
    assert "No response of this run came with log-probabilities" in texts(perplexity_section([]))


def dated(*pairs, battery="demo", **changes):
    """A run with (release date, YapScore) of one item per endpoint, as `releases` takes it."""
    names = [f"host/m{place}" for place in range(len(pairs))]
    made = [
        line(endpoint=name, minimal_characters=3, characters_without_markdown=3 + score)
        for name, (_, score) in zip(names, pairs, strict=True)
    ]
    run = run_of(None, len(made), battery=battery, **changes)
    found = log(run, made)
    facts = {
        name: EndpointFacts(release_date=day and date.fromisoformat(day))
        for name, (day, _) in zip(names, pairs, strict=True)
    }
    return run, [verbosity(found, name, 300) for name in names], facts


def test_newer_and_longer_with_an_exact_p():
    days = ("2026-01-01", 50), ("2024-01-01", 10), ("2025-01-01", 20), ("2026-06-01", 60), (None, 9)
    (found,) = releases([dated(*days)])
    assert [point.index for point in found.points] == [10, 20, 50, 60]
    assert (found.battery, found.cap, found.undated) == ("demo", 300, ("host/m4",))
    assert (found.correlation.rho, found.correlation.p) == (1, Fraction(2, 24))
    shown = texts(releases_section([found]))
    assert "p 1/12 = 8.3e-02, 4 points." in shown
    assert "Cannot tell" in shown
    assert "host/m4" in shown


def test_one_date_is_no_trend():
    (found,) = releases([dated(("2026-01-01", 50))])
    assert found.correlation.p == 1
    assert "degenerate" in texts(releases_section([found]))
    assert releases([dated((None, 1))]) == ()
    assert "No endpoint here has a release_date" in texts(releases_section(()))


def test_runs_of_one_battery_stand_together_and_the_latest_counts():
    early = dated(("2024-01-01", 10), ("2025-01-01", 20), started_at="2026-11-01T12:00:00Z")
    late = dated(("2024-01-01", 12), started_at="2026-11-02T12:00:00Z")
    other = dated(("2024-01-01", 99), battery="another")
    worded = dated(("2024-01-01", 98), wordings=("plain", "terse"))
    found = releases([late, other, worded, early])
    told = [(group.battery, [int(point.index) for point in group.points]) for group in found]
    assert told == [("another", [99]), ("demo", [12, 20]), ("demo", [98])]


@pytest.mark.parametrize(
    ("scores", "ends"),
    [((0,), ["0.1"]), ((8,), ["8"]), ((9,), ["10"]), ((471, 1497), ["1600"]), ((1, 1, 1), ["1"])],
)
def test_the_figure_has_round_numbers_and_every_name(scores, ends):
    days = [f"20{20 + place}-01-01" for place in range(len(scores))]
    (found,) = releases([dated(*zip(days, scores, strict=True))])
    drawn = release_figure(found)
    root = ElementTree.fromstring(drawn.svg)  # noqa: S314 (our own)
    words = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert words[words.index("0") + 1 :][: len(words)].count(ends[0]) == 1
    assert all(point.endpoint in words for point in found.points)
    assert all(f"{point.endpoint}, released {point.released}" in drawn.description for point in found.points)


def test_names_of_models_released_together_do_not_hide_each_other():
    (found,) = releases([dated(*[("2026-01-01", 50 + place) for place in range(6)])])
    root = ElementTree.fromstring(release_figure(found).svg)  # noqa: S314 (our own)
    heights = [
        float(text.get("y"))
        for text in root.iter("{http://www.w3.org/2000/svg}text")
        if (text.text or "").startswith("host/")
    ]
    assert min(abs(a - b) for a, b in combinations(heights, 2)) >= 14


ON = endpoint("on", provider="host", model="m", settings={"temperature": 0, "reasoning_effort": "high"})
OFF = endpoint("off", provider="host", model="m", settings={"temperature": 0, "reasoning_effort": "none"})


@pytest.mark.parametrize(
    ("change", "pairs"),
    [
        ({}, 1),
        ({"settings": {"temperature": 0}}, 1),
        ({"settings": {"temperature": 0, "thinking_budget": 0}}, 1),
        ({"settings": {"temperature": 0, "extra": '{"enable_thinking":false}'}}, 1),
        ({"settings": {"temperature": 0, "reasoning_effort": "high"}}, 0),
        ({"settings": {"temperature": 1, "reasoning_effort": "none"}}, 0),
        ({"settings": {"temperature": 0, "reasoning_effort": "none", "extra": '{"x":1}'}}, 0),
        ({"model": "other"}, 0),
        ({"provider": "elsewhere"}, 0),
        ({"cap_parameter": "max_completion_tokens"}, 0),
    ],
)
def test_pairs_differ_in_reasoning_alone(change, pairs):
    found = reasoning_pairs((ON, OFF.model_copy(update=change)))
    assert len(found) == pairs
    assert all((one.first, one.second) == ("on", "off") for one in found)


def reasoning_run(rows, caps=(300,)):
    """Per instance (YapScore, right) with reasoning on, then off; None is a cut answer."""
    made = []
    for number, pair in enumerate(rows):
        for name, own in zip(("on", "off"), pair, strict=True):
            fields = {"item": identifier(number), "instance": identifier(number), "endpoint": name}
            if own is None:
                fields |= {"end": "cut_reported", "answer": "empty"}
            else:
                score, right = own
                fields |= {"minimal_characters": 3, "characters_without_markdown": 3 + score}
                fields |= {"answer": "right" if right else "wrong"}
            made.append(line(**fields))
    run = run_of(plan(), len(made), endpoints=(ON, OFF), caps=caps)
    return run, log(run, made)


def test_pairs_of_items_by_hand():
    rows = [((10, True), (40, False))] * 4 + [(None, (40, False))]
    yap, accuracy, censored = compare_reasoning(*reasoning_run(rows))
    assert (yap.instances, yap.left_out, yap.change) == (4, 1, -30)
    assert yap.p is not None
    assert yap.p.value == Fraction(2, 16)
    assert (accuracy.instances, accuracy.left_out) == (5, 0)
    assert (accuracy.first, accuracy.second, accuracy.change) == (Fraction(4, 5), 0, Fraction(4, 5))
    assert accuracy.p is not None
    assert accuracy.p.value == Fraction(2, 16)  # four discordant pairs, as McNemar's exact test
    assert (censored.change, censored.p and censored.p.value) == (Fraction(1, 5), 1)
    # Holm over three tests: 3/8, 2·1/8 raised to 3/8, 1.
    adjusted = [row.p_adjusted.value for row in (yap, accuracy, censored) if row.p_adjusted is not None]
    assert adjusted == [Fraction(3, 8), Fraction(3, 8), 1]
    shown = reasoning_section((yap, accuracy, censored))
    assert "on (reasoning_effort high) against off (reasoning_effort none)" in texts(shown)


def test_repeats_and_wordings_of_an_instance_are_one_pair():
    made = [
        line(
            item=identifier(1, wording),
            instance="a" * 16,
            endpoint=name,
            wording=wording,
            repeat=repeat,
            answer=right,
        )
        for wording in ("plain", "terse")
        for repeat in range(2)
        for name, right in (("on", "right"), ("off", "wrong"))
    ]
    run = run_of(plan(), len(made), endpoints=(ON, OFF), caps=(300,))
    accuracy = compare_reasoning(run, log(run, made))[1]
    assert (accuracy.instances, accuracy.change) == (1, 1)
    assert accuracy.p is not None
    assert accuracy.p.value == 1


def test_a_pair_without_a_shared_call_has_no_p():
    rows = compare_reasoning(*reasoning_run([((1, True), (2, True))], caps=(300, 4000)))
    assert [(row.cap, row.measure, row.p is None) for row in rows] == [
        (300, "accuracy", False),
        (300, "censored", False),
        (4000, "yap_score", True),
        (4000, "accuracy", True),
        (4000, "censored", True),
    ]
    assert "No two endpoints" in texts(reasoning_section(()))
