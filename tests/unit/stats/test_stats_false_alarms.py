"""Simulated false alarms at 5% where naive tests raise far more: never above 5.5%.

10,000 draws each (the standard error is 0.22 points); marked slow.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

import pytest

from sealbench import stats

DRAWS = 10_000
ALPHA = Fraction(1, 20)
pytestmark = pytest.mark.slow


def alarms(one_p: Callable[[random.Random], Fraction | float]) -> float:
    """The share of draws with p at most 5%."""
    source = random.Random(20)
    return sum(one_p(source) <= ALPHA for _ in range(DRAWS)) / DRAWS


def cut_instances(source: random.Random, size: int, repeats: Callable[[], int]) -> list[list[int]]:
    """Instances with their own chance of being cut, asked several times."""
    instances = []
    for _ in range(size):
        chance = source.betavariate(0.6, 0.6)
        instances.append([int(source.random() < chance) for _ in range(repeats())])
    return instances


def token_instances(source: random.Random, size: int, repeats: int) -> list[list[int]]:
    """Lognormal costs, most of the spread between instances."""
    instances = []
    for _ in range(size):
        centre = source.gauss(7, 0.5)
        instances.append([int(source.lognormvariate(centre, 0.2)) for _ in range(repeats)])
    return instances


def test_censoring_with_repeats() -> None:
    def one(source: random.Random) -> Fraction | float:
        return stats.censoring_difference(
            cut_instances(source, 8, lambda: 3), cut_instances(source, 8, lambda: 3), level=None
        ).p

    assert alarms(one) <= 0.055


def test_tokens_with_wordings_as_repeated_measures() -> None:
    def one(source: random.Random) -> Fraction | float:
        return stats.mean_difference(token_instances(source, 6, 4), token_instances(source, 7, 4)).p

    assert alarms(one) <= 0.055


def test_unequal_usable_repeats() -> None:
    def one(source: random.Random) -> Fraction | float:
        # One class loses responses far more often: its means scatter more.
        return stats.censoring_difference(
            cut_instances(source, 8, lambda: source.choice([1, 1, 1, 2, 6])),
            cut_instances(source, 8, lambda: source.choice([1, 2, 6, 6, 6])),
            level=None,
        ).p

    assert alarms(one) <= 0.055


def test_a_stratum_confounded_with_the_class() -> None:
    def one(source: random.Random) -> Fraction | float:
        def costs(size: int, centre: float) -> list[int]:
            return [int(source.lognormvariate(centre, 0.4)) for _ in range(size)]

        strata = [(costs(6, 8), costs(2, 8)), (costs(2, 6.5), costs(6, 6.5))]
        return stats.mean_difference(strata=strata).p

    assert alarms(one) <= 0.055


def test_ignoring_that_stratum_would_raise_many_false_alarms() -> None:
    def one(source: random.Random) -> Fraction | float:
        def costs(size: int, centre: float) -> list[int]:
            return [int(source.lognormvariate(centre, 0.4)) for _ in range(size)]

        return stats.mean_difference([*costs(6, 8), *costs(2, 6.5)], [*costs(2, 8), *costs(6, 6.5)]).p

    assert alarms(one) > 0.2


def test_inversion_control_under_a_common_wording_factor() -> None:
    def one(source: random.Random) -> Fraction | float:
        # Marked as cut, so that the secondary intervals (which no verdict uses) are not computed.
        def rows(size: int) -> list[list[tuple[int, bool]]]:
            found = []
            for _ in range(size):
                cost = source.lognormvariate(7, 0.5)
                factors = (1, 1.5)
                found.append(
                    [(int(cost * factor * source.lognormvariate(0, 0.1)), False) for factor in factors]
                )
            return found

        return stats.inversion_control(rows(6), rows(6)).p

    assert alarms(one) <= 0.055


def test_the_answer_word_under_a_common_wording_factor() -> None:
    """Ratios of both wordings do not depend on the class when the wording multiplies every cost alike."""

    def one(source: random.Random) -> Fraction | float:
        def ratios(size: int, centre: float) -> list[Fraction]:
            found = []
            for _ in range(size):
                cost = source.lognormvariate(centre, 0.4)
                noisy = [max(1, int(cost * factor * source.lognormvariate(0, 0.1))) for factor in (1, 1.5)]
                found.append(Fraction(noisy[0], noisy[1]))
            return found

        return stats.rank_sum(ratios(6, 8), ratios(6, 7)).p

    assert alarms(one) <= 0.055
