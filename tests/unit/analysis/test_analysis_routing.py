"""Cascades and routing replayed from a log: by hand, in tokens and in USD, beside random routing."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from factory import line, log, plan, run_of

from sealbench.analysis.cascade import cascade
from sealbench.analysis.endpoint_facts import EndpointFacts
from sealbench.analysis.replay import answer_f1, shared_calls
from sealbench.analysis.routing import SETTINGS, routing
from sealbench.endpoints.settings import Price
from sealbench.errors import UsageError

A, B = "host/small", "host/large"
FACTS = {
    A: EndpointFacts(Price(Decimal(1), Decimal(2))),
    B: EndpointFacts(Price(Decimal(10), Decimal(20))),
}
HALF = Fraction(1, 2)


def two(first, second):
    """The same items asked of two endpoints: (verbose, right, tokens) each."""
    source = plan(endpoints=(A, B))
    made = [
        line(
            item=f"{n:016x}",
            endpoint=name,
            first_line_tokens=9 if verbose else 2,
            answer="right" if right else "wrong",
            charged_tokens=tokens,
        )
        for name, rows in ((A, first), (B, second))
        for n, (verbose, right, tokens) in enumerate(rows)
    ]
    return log(run_of(None, len(made), endpoints=source.endpoints), made)


def test_a_cascade_asks_the_next_where_the_answer_is_verbose():
    small = [(True, False, 10), (True, True, 10), (False, True, 10), (False, False, 10)]
    large = [(True, True, 100)] * 4
    found = cascade(shared_calls(two(small, large), (A, B)))
    assert (len(found.shared.calls), found.escalated) == (4, 2)
    assert found.outcome.right == Fraction(3, 4)
    assert found.outcome.tokens == Fraction(10 * 4 + 100 * 2, 4)
    assert [(own.right, own.tokens) for own in found.alone] == [
        (Fraction(1, 2), Fraction(10)),
        (Fraction(1), Fraction(100)),
    ]
    assert found.outcome.usd is None
    # 60 tokens a call: 5 of 9 calls to the large one.
    assert found.random is not None
    assert found.random.right == Fraction(1, 2) + Fraction(5, 9) * Fraction(1, 2)
    assert found.random.tokens == 60


def test_a_cut_answer_is_passed_on():
    made = [line(endpoint=A, end="cut_reported", answer="empty", first_line_tokens=0), line(endpoint=B)]
    found = cascade(shared_calls(log(run_of(None, 2), made), (A, B)))
    assert (found.escalated, found.outcome.right) == (1, 1)


@pytest.mark.parametrize("names", [(A,), (A, A), (A, "host/none")])
def test_a_cascade_of_what_is_not_there(names):
    with pytest.raises(UsageError) as raised:
        shared_calls(two([(True, True, 1)], [(True, True, 1)]), names)
    assert A in (raised.value.hint or "")


def test_f1_from_counts():
    made = [
        {"minimal_characters": 3, "characters_without_markdown": 9},  # right: 2·3/12
        {"minimal_characters": 3, "characters_without_markdown": 3},
        {"minimal_characters": 3, "characters_without_markdown": 9, "answer": "wrong"},
        {"minimal_characters": 4, "characters_without_markdown": 2},  # shorter than the minimal one
    ]
    found = log(run_of(None, 4), [line(**own) for own in made])
    assert [answer_f1(one) for one in found] == [HALF, 1, 0, Fraction(2, 3)]


def test_the_cascade_has_an_f1_of_the_answers_it_takes():
    made = [
        line(endpoint=A, first_line_tokens=9, minimal_characters=3, characters_without_markdown=297),
        line(endpoint=B, minimal_characters=3, characters_without_markdown=9),
        line(item="b" * 16, endpoint=A, minimal_characters=3, characters_without_markdown=3),
        line(item="b" * 16, endpoint=B, answer="wrong"),
    ]
    found = cascade(shared_calls(log(run_of(None, 4), made), (A, B)))
    assert found.outcome.f1 == Fraction(3, 4)
    assert [own.f1 for own in found.alone] == [(Fraction(6, 300) + 1) / 2, Fraction(1, 4)]


def test_cost_in_usd_counts_prompts_and_every_call_paid():
    found = cascade(
        shared_calls(two([(True, False, 10), (False, True, 30)], [(True, True, 100)] * 2), (A, B)), FACTS
    )
    # 20 prompt tokens each: 20 + 2·10 and 20 + 2·30 millionths, and one call of 200 + 2000.
    assert [own.usd for own in found.alone] == [Fraction(60, 1_000_000), Fraction(2200, 1_000_000)]
    assert found.outcome.usd == Fraction(40 + 80 + 2200, 2 * 1_000_000)
    assert found.random is not None
    assert found.random.usd == found.outcome.usd
    share = Fraction(1160 - 60, 2200 - 60)
    assert found.random.right == HALF + share * HALF


def test_one_price_is_no_price():
    found = cascade(shared_calls(two([(True, False, 10)], [(True, True, 100)]), (A, B)), {A: FACTS[A]})
    assert (found.outcome.usd, found.alone[0].usd, found.outcome.cost) == (None, None, 110)


SMALL = [(True, False, 10)] * 6 + [(False, True, 10)] * 4
LARGE = [(False, True, 100)] * 6 + [(False, False, 100)] * 4


def test_routing_at_its_corners_is_known_by_hand():
    found = routing(shared_calls(two(SMALL, LARGE), (A, B)))
    rows = {(row.verbose_share, row.concise_share): row for row in found.rows}
    assert set(rows) == set(SETTINGS)
    assert found.verbose == 6
    none, verbose, everything = rows[0, 0], rows[1, 0], rows[1, 1]
    assert (none.second, none.outcome.right, none.outcome.tokens) == (0, Fraction(4, 10), 10)
    assert (verbose.second, verbose.outcome.right, verbose.outcome.tokens) == (Fraction(6, 10), 1, 70)
    assert (everything.outcome.right, everything.outcome.tokens) == (Fraction(6, 10), 110)
    # 70 tokens a call: 60 of 90 of the way from 10 to 100.
    assert verbose.random is not None
    assert verbose.random.right == Fraction(4, 10) + Fraction(2, 3) * Fraction(2, 10)
    assert everything.random is None  # both endpoints cost more than either
    assert (verbose.least, verbose.most) == (1, 1)


def test_routing_between_is_the_mean_of_ten_seeded_draws():
    shared = shared_calls(two(SMALL, LARGE), (A, B))
    found = routing(shared)
    assert found == routing(shared)
    row = next(row for row in found.rows if (row.verbose_share, row.concise_share) == (HALF, 0))
    # Each verbose call passed on turns a wrong answer into a right one.
    assert row.outcome.right == Fraction(4, 10) + row.second
    assert row.outcome.tokens == 10 + 100 * row.second
    assert row.least < row.outcome.right < row.most
    assert (row.second * 100).denominator == 1  # ten draws of ten calls
    many = routing(shared, draws=2000)
    share = next(row.second for row in many.rows if (row.verbose_share, row.concise_share) == (HALF, 0))
    assert abs(share - Fraction(3, 10)) < Fraction(1, 50)


def test_more_probability_never_asks_less():
    rows = routing(shared_calls(two(SMALL, LARGE), (A, B))).rows
    assert [row.second for row in rows] == sorted(row.second for row in rows)


def test_routing_of_three_is_between_first_and_last():
    third = "host/huge"
    source = plan(endpoints=(A, B, third))
    made = [line(endpoint=name, first_line_tokens=9) for name in (A, B, third)]
    shared = shared_calls(log(run_of(None, 3, endpoints=source.endpoints), made), (A, B, third))
    assert routing(shared).shared.endpoints == (A, third)
