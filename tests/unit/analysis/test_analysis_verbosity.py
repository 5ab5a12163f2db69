"""The worked values of YapBench, its index by hand, the verbosity rule on published counts, YapTax."""

from __future__ import annotations

import csv
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from factory import SOLVER, line, log, run_of

from sealbench.analysis.endpoint_facts import EndpointFacts
from sealbench.analysis.measure import count_text
from sealbench.analysis.verbosity import VERBOSE_TOKENS, index, is_verbose, median, verbosity, yap, yap_score
from sealbench.endpoints.settings import Price

DATA = Path(__file__).parents[2] / "data/verbosity/verbosityllm_qasper_lengths.csv"


def lines(*fields):
    made = [line(**own) for own in fields]
    return log(run_of(None, len(made)), made)


@pytest.mark.parametrize(
    ("baseline", "length", "score"), [(1, 4, 3), (1, 147, 146), (14, 14, 0), (14, 173, 159), (20, 3, 0)]
)
def test_the_worked_values_of_yapbench(baseline, length, score):
    (one,) = lines({"minimal_characters": baseline, "characters_without_markdown": length})
    assert yap_score(one) == score


def test_the_index_is_the_mean_over_categories_of_the_median():
    found = index({"a": [Fraction(n) for n in (0, 10, 500)], "b": [Fraction(n) for n in (4, 8)]})
    assert (found.index, found.medians) == (8, {"a": 10, "b": 6})
    assert found.percentiles == {50: 8, 90: 500, 99: 500}


def test_the_bootstrap_is_the_same_every_time_and_sees_the_spread():
    spread = {"a": [Fraction(n * n) for n in range(20)]}
    assert index(spread) == index(spread)
    assert index(spread).half_width > 10
    assert index({"a": [Fraction(7)] * 5, "b": [Fraction(3)]}).half_width == 0


def test_the_bootstrap_against_another_implementation():
    import random

    scores = [Fraction(n * n) for n in range(20)]
    draw = random.Random(5)
    medians = sorted(median(sorted(draw.choices(scores, k=20))) for _ in range(1000))
    expected = float(medians[974] - medians[25]) / 2
    assert float(index({"a": scores}).half_width) == pytest.approx(expected, rel=0.2)


def test_repeats_of_an_item_are_one_score():
    found = yap(
        lines(
            *(
                {
                    "item": "a" * 16,
                    "repeat": n,
                    "characters_without_markdown": 3 + 10 * n,
                    "minimal_characters": 3,
                }
                for n in range(3)
            ),
            {"item": "b" * 16, "characters_without_markdown": 33, "minimal_characters": 3},
        )
    )
    assert found is not None
    assert found.index == 20  # the median of 10 and 30
    assert yap([]) is None


@pytest.mark.parametrize(
    ("model", "rows", "percent"),
    [
        ("claude-3-haiku", 72, 69.4),
        ("gemma-2-27b", 161, 21.1),
        ("llama-3-8b", 68, 50.0),
        ("gpt-3.5", 101, 71.3),
    ],
)
def test_the_verbosity_rule_on_published_counts(model, rows, percent):
    with DATA.open(encoding="utf-8") as file:
        own = [row for row in csv.DictReader(file) if model in row["model"].lower()]
    found = lines(*({"first_line_tokens": int(row["n_tokens_nltk"])} for row in own))
    assert [is_verbose(one) for one in found] == [row["verbose_official_ge4_tokens"] == "1" for row in own]
    assert len(own) == rows
    assert round(100 * sum(map(is_verbose, found)) / rows, 1) == percent


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("TF-IDF, NVDM.", 4),
        ("Yes.", 2),
        ("**Yes**", 1),
        ("1,000.5", 1),
        ("don't", 2),
        ("it's 3:30", 3),
        ("a, b", 3),
        ("\n\nNo\nbecause of all of that", 1),
        ("", 0),
    ],
)
def test_tokens_of_the_first_line(text, tokens):
    assert count_text(text)[2] == tokens
    assert (tokens >= VERBOSE_TOKENS) == (text == "TF-IDF, NVDM.")


def test_compensation_compares_concise_with_verbose():
    made = [
        {"item": f"{n:016x}", "first_line_tokens": 9 if n < 4 else 2, "answer": "right" if n % 4 else "wrong"}
        for n in range(8)
    ]
    made[1]["answer"] = "wrong"
    found = verbosity(lines(*made), SOLVER, 300).compensation
    assert (found.responses, found.verbose) == (8, 4)
    assert found.delta == Fraction(3, 4) - Fraction(1, 2)
    assert found.relative == Fraction(1, 4) / Fraction(5, 8)


def test_a_group_without_answers_is_said_not_guessed():
    found = verbosity(lines({"end": "error", "answer": "empty", "visible_tokens": None}), SOLVER, 300)
    assert (found.responses, found.yap, found.excess_tokens, found.refusals) == (0, None, None, None)
    assert found.compensation.delta is None
    assert found.yap_tax is None


PRICE = Price(Decimal("1.25"), Decimal(10))


def test_yap_tax_by_hand():
    """Minimal answers of 9 and 3 characters: 3 and 1 tokens at one per 4 characters, rounded up."""
    made = [
        {"item": "a" * 16, "visible_tokens": 103, "minimal_characters": 9},
        {"item": "b" * 16, "visible_tokens": 51, "minimal_characters": 3},
        {"item": "c" * 16, "visible_tokens": None},
    ]
    found = verbosity(lines(*made), SOLVER, 300, EndpointFacts(PRICE, "--price"))
    assert found.baseline is None
    assert found.excess_tokens == Fraction(1000 * (100 + 50), 2)
    assert found.yap_tax == Fraction(75_000 * 10, 1_000_000)
    assert found.price_source == "--price"


def test_a_configured_baseline_replaces_the_estimate():
    facts = EndpointFacts(PRICE, "--price", baseline_tokens=3)
    found = verbosity(
        lines({"visible_tokens": 103}, {"item": "b" * 16, "visible_tokens": 2}), SOLVER, 300, facts
    )
    assert (found.baseline, found.excess_tokens) == (3, 50_000)
    assert found.yap_tax == Fraction(1, 2)


def test_without_a_price_there_is_no_tax_but_still_an_excess():
    found = verbosity(
        lines({"visible_tokens": 101}), SOLVER, 300, EndpointFacts(price_source="sealbench.toml")
    )
    assert (found.excess_tokens, found.yap_tax, found.price_source) == (100_000, None, "")


def test_refusals_are_the_hosts_word_only():
    made = [{"item": f"{n:016x}", "end": "refused", "visible_characters": 40 + n} for n in range(3)]
    found = verbosity(lines(*made, {"item": "f" * 16, "visible_characters": 900}), SOLVER, 300)
    assert (found.refused, found.refusals) == (3, 41)
