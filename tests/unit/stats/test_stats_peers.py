"""Against scipy where scipy is right, and against values recorded from R."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

from sealbench import stats
from sealbench.stats.pvalue import scientific

DATA = Path(__file__).parents[2] / "data" / "stats"
RECORDED = json.loads((DATA / "recorded_r.json").read_text("utf-8"))
CASES = {case["id"]: case for case in json.loads((DATA / "reference_cases.json").read_text("utf-8"))["cases"]}


@pytest.mark.parametrize("seed", range(8))
def test_permutation_test(seed: int) -> None:
    source = random.Random(seed)
    one = [source.randint(0, 40) for _ in range(6)]
    zero = [source.randint(0, 40) for _ in range(5)]

    # Sums of whole numbers, so that scipy meets no float ties.
    def class1_sum(x: Any, y: Any, axis: int = 0) -> Any:
        return np.sum(x, axis=axis)

    for alternative in ("greater", "less"):
        peer = scipy.stats.permutation_test(
            (one, zero), class1_sum, n_resamples=np.inf, alternative=alternative, vectorized=True
        )
        assert float(stats.mean_difference(one, zero, alternative=alternative).p) == pytest.approx(
            peer.pvalue, rel=1e-12
        )


@pytest.mark.parametrize("seed", range(8))
def test_rank_sum_without_ties(seed: int) -> None:
    source = random.Random(seed)
    pooled = source.sample(range(1000), 25)
    one, zero = pooled[:11], pooled[11:]
    for alternative in ("greater", "less", "two-sided"):
        peer = scipy.stats.mannwhitneyu(one, zero, alternative=alternative, method="exact").pvalue
        assert float(stats.rank_sum(one, zero, alternative=alternative).p) == pytest.approx(peer, rel=1e-12)


def test_fisher_exact_one_sided_and_odds_ratio() -> None:
    source = random.Random(4)
    for _ in range(40):
        size1, size0 = source.randint(2, 40), source.randint(2, 40)
        cut1, cut0 = source.randint(1, size1 - 1), source.randint(1, size0 - 1)
        mine, cells = [[cut1, size1], [cut0, size0]], [[cut1, size1 - cut1], [cut0, size0 - cut0]]
        for alternative in ("greater", "less"):
            peer = scipy.stats.fisher_exact(cells, alternative=alternative).pvalue
            assert float(stats.fisher_exact(mine, alternative=alternative).p) == pytest.approx(peer, rel=1e-9)
        peer = scipy.stats.fisher_exact(cells).pvalue
        assert float(stats.fisher_exact(mine, two_sided="likelihood").p) == pytest.approx(peer, rel=1e-9)
        ratio, other = stats.odds_ratio(mine), scipy.stats.contingency.odds_ratio(cells)
        interval = other.confidence_interval(0.95)
        assert float(ratio.estimate) == pytest.approx(other.statistic, rel=1e-6)
        assert float(ratio.low) == pytest.approx(interval.low, rel=1e-6)
        assert float(ratio.high) == pytest.approx(interval.high, rel=1e-6)


@pytest.mark.parametrize("table", [[[7, 9], [2, 9]], [[5, 12], [1, 7]], [[11, 20], [3, 18]]])
def test_barnard(table: list[list[int]]) -> None:
    (cut1, size1), (cut0, size0) = table
    columns = [[cut1, cut0], [size1 - cut1, size0 - cut0]]
    for alternative in ("greater", "less"):
        peer = scipy.stats.barnard_exact(columns, alternative=alternative, pooled=True, n=256).pvalue
        result = stats.barnard_exact(table, alternative=alternative)
        assert float(result.p) == pytest.approx(peer, rel=1e-8)
        assert result.p_value.error <= result.p_value.high / 10**11


@pytest.mark.parametrize("table", [[[7, 9], [2, 9]], [[5, 12], [1, 7]], [[11, 20], [3, 18]]])
def test_barnard_two_sided_on_a_fine_grid(table: list[list[int]]) -> None:
    """scipy's two-sided value misses tables whose statistic ties with the observed one up to float noise."""
    (cut1, size1), (cut0, size0) = table

    def statistic(first: int, second: int) -> Fraction:
        cut, items = first + second, size1 + size0
        return (
            Fraction((first * size0 - second * size1) ** 2, cut * (items - cut))
            if 0 < cut < items
            else Fraction(0)
        )

    rates = np.linspace(0, 1, 20_001)
    chance = np.zeros_like(rates)
    for first in range(size1 + 1):
        for second in range(size0 + 1):
            if statistic(first, second) >= statistic(cut1, cut0):
                ones = scipy.stats.binom.pmf(first, size1, rates)
                chance += ones * scipy.stats.binom.pmf(second, size0, rates)
    assert float(stats.barnard_exact(table).p) == pytest.approx(chance.max(), rel=1e-6)


def test_freeman_halton() -> None:
    table = [[3, 1, 4], [1, 5, 2], [2, 2, 6]]
    peer = scipy.stats.fisher_exact(
        table, method=scipy.stats.PermutationMethod(n_resamples=20_000, rng=np.random.default_rng(3))
    )
    assert float(stats.freeman_halton(table).p) == pytest.approx(peer.pvalue, abs=0.015)
    two = [[8, 2], [1, 5]]
    assert float(stats.freeman_halton(two).p) == pytest.approx(
        scipy.stats.fisher_exact(two).pvalue, rel=1e-12
    )


def test_clopper_pearson() -> None:
    for successes, total in [(1, 7), (3, 10), (59, 60), (500, 1000), (1, 3000)]:
        peer = scipy.stats.binomtest(successes, total).proportion_ci(0.95, "exact")
        mine = stats.clopper_pearson(successes, total)
        assert float(mine.low) == pytest.approx(peer.low, rel=1e-9)
        assert float(mine.high) == pytest.approx(peer.high, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_signed_rank_without_ties(seed: int) -> None:
    source = random.Random(seed)
    differences = [value if source.random() < 0.7 else -value for value in source.sample(range(1, 99), 14)]
    for alternative in ("greater", "less", "two-sided"):
        peer = scipy.stats.wilcoxon(differences, alternative=alternative, method="exact").pvalue
        assert float(stats.signed_rank(differences, alternative=alternative).p) == pytest.approx(
            peer, rel=1e-12
        )


@pytest.mark.parametrize("seed", range(5))
def test_max_over_caps_without_ties(seed: int) -> None:
    source = random.Random(seed)
    pooled = source.sample(range(1000), 21)
    one, zero = pooled[:9], pooled[9:]
    # scipy's "less" compares distribution functions: class 1 larger is its distribution function below.
    peer = scipy.stats.ks_2samp(one, zero, alternative="less", method="exact")
    mine = stats.max_over_caps(one, zero, alternative="greater")
    assert float(mine.statistic) == pytest.approx(peer.statistic)
    assert float(mine.p) == pytest.approx(peer.pvalue, rel=1e-9)
    peer = scipy.stats.ks_2samp(one, zero, method="exact")
    assert float(stats.max_over_caps(one, zero).p) == pytest.approx(peer.pvalue, rel=1e-9)


def test_kaplan_meier() -> None:
    source = random.Random(6)
    costs = [(source.randint(1, 30), source.random() < 0.7) for _ in range(40)]
    sample = scipy.stats.CensoredData(
        uncensored=[tokens for tokens, done in costs if done],
        right=[tokens for tokens, done in costs if not done],
    )
    peer = scipy.stats.ecdf(sample).sf
    for step in stats.kaplan_meier(costs).steps:
        assert float(step.surviving) == pytest.approx(float(peer.evaluate(float(step.tokens))), rel=1e-12)


def test_power_by_scipy_binomials() -> None:
    total = 0.0
    for cut1 in range(11):
        for cut0 in range(9):
            p = scipy.stats.fisher_exact([[cut1, 10 - cut1], [cut0, 8 - cut0]], alternative="greater").pvalue
            if p <= 0.05:
                total += scipy.stats.binom.pmf(cut1, 10, 0.8) * scipy.stats.binom.pmf(cut0, 8, 0.3)
    assert float(stats.power(10, 8, "0.8", "0.3", alpha="0.05", alternative="greater")) == pytest.approx(
        total
    )


@pytest.mark.parametrize("record", RECORDED["right"], ids=lambda record: record["id"])
def test_recorded_r_values(record: dict[str, Any]) -> None:
    inputs = CASES[record["case"]]["inputs"]
    found = stats.mean_difference(inputs["class1"], inputs["class0"], alternative="greater").p
    assert float(found) == pytest.approx(record["greater"], rel=record["relative"])


@pytest.mark.parametrize("record", RECORDED["wrong"], ids=lambda record: record["id"])
def test_recorded_r_values_that_are_wrong(record: dict[str, Any]) -> None:
    inputs = CASES[record["case"]]["inputs"]
    found = stats.mean_difference(inputs["class1"], inputs["class0"], alternative="greater").p
    assert abs(float(found) - record["greater"]) > 0.1
    assert scientific(found, 3) == "2.43e-01"
    assert found == Fraction(17, 70)
