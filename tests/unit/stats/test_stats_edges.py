"""Large tables, unusual scores, and the ends of every limit."""

from __future__ import annotations

import random
from fractions import Fraction
from math import comb

import pytest

from sealbench import stats
from sealbench.stats import contingency, hypergeometric, planner, tail
from sealbench.stats.contingency import read_table
from sealbench.stats.inversion import _largest
from sealbench.stats.pvalue import PValue
from sealbench.stats.sampling import estimate, sample_tail
from sealbench.stats.scores import linear_design
from sealbench.stats.sparse import count_sparse
from sealbench.stats.values import DataError

SIDES = [("greater", "statistic"), ("less", "statistic"), ("two-sided", "statistic"), ("two-sided", "double")]


@pytest.mark.parametrize(("alternative", "two_sided"), SIDES)
def test_tail_sums_by_binary_splitting_equal_the_listed_distribution(
    alternative: str, two_sided: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = random.Random(3)
    tables = []
    for _ in range(150):
        size1, size0 = source.randint(1, 30), source.randint(1, 30)
        tables.append([[source.randint(0, size1), size1], [source.randint(0, size0), size0]])
    options = {"alternative": alternative, "two_sided": two_sided, "level": None}
    listed = [stats.fisher_exact(table, **options) for table in tables]
    monkeypatch.setattr(contingency, "_LISTED", -1)
    split = [stats.fisher_exact(table, **options) for table in tables]
    assert [(result.p, result.mid_p) for result in split] == [(result.p, result.mid_p) for result in listed]


def test_a_table_of_a_hundred_thousand() -> None:
    result = stats.fisher_exact([[49_000, 50_000], [48_900, 50_000]], alternative="greater")
    assert 0 < float(result.p) < 0.05
    assert result.odds_ratio is None
    assert read_table([[3, 4], [1, 8]]).upper_count(5) == 0


def test_products_in_decimal_digits_equal_those_in_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [read_table(table) for table in ([[9, 20], [4, 22]], [[7, 15], [6, 11]], [[1, 3], [2, 5]])]
    expected = hypergeometric.convolved(tables)
    assert sum(expected[1]) == comb(42, 13) * comb(26, 13) * comb(8, 3)
    monkeypatch.setattr(hypergeometric, "_DECIMAL_FROM", 0)
    monkeypatch.setattr(hypergeometric, "_long_integer", lambda: None)
    assert hypergeometric.convolved(tables) == expected
    monkeypatch.setattr(hypergeometric, "_long_integer", lambda: int)
    assert hypergeometric.convolved(tables) == expected


def test_common_odds_ratio_is_none_where_it_is_infinite() -> None:
    assert stats.stratified_exact([[[4, 4], [0, 4]]]).effect is None
    assert stats.stratified_exact([[[3, 4], [1, 4]], [[0, 0], [0, 0]]]).effect == 9
    alone = stats.stratified_exact([[[2, 4], [0, 0]], [[0, 0], [1, 3]]])
    assert (alone.p, alone.status) == (1, "degenerate")


def test_nothing_lies_beyond_the_largest_sum() -> None:
    strata = linear_design([([Fraction(3), Fraction(5)], [Fraction(1), Fraction(2)])]).strata
    assert tail.count_exact(strata, -1) == count_sparse(strata, -1) == 0
    assert tail.count_float(strata, -1, 0) == (0, 0)
    assert planner.dense_cost(strata, -1, exact=True, limit=None).work == 0
    assert planner.sparse_cost(strata, -1, None).work == 0


def test_designs_beyond_float64_are_drawn() -> None:
    source = random.Random(1)
    one = [source.randint(1, 3) for _ in range(1900)]
    zero = [source.randint(1, 3) for _ in range(1300)]
    result = stats.mean_difference(one, zero)
    assert result.method == "Monte Carlo"
    strata = linear_design([([Fraction(v) for v in one], [Fraction(v) for v in zero])]).strata
    assert planner.float_scale(strata) is None


def test_thresholds_outside_what_sums_can_reach() -> None:
    design = linear_design([([Fraction(3), Fraction(5)], [Fraction(1), Fraction(2)])])
    assert sample_tail(design, -5, None, draws=200).hits == 200
    assert sample_tail(design, 10**40, None, draws=200).hits == 0
    assert sample_tail(design, None, -5, draws=200).hits == 0


def test_monte_carlo_at_the_mean_is_one() -> None:
    assert stats.monte_carlo([1, 3], [1, 3]).p == 1


def test_doubling_takes_the_smaller_tail_even_beyond_the_mean() -> None:
    one, zero = [0, 0, 0, 9], [1, 1, 1, 1, 1, 1]
    greater = stats.mean_difference(one, zero, alternative="greater").p
    less = stats.mean_difference(one, zero, alternative="less").p
    assert stats.mean_difference(one, zero, two_sided="double").p == min(1, 2 * min(greater, less))


def test_the_largest_of_several_kinds_of_p_is_labelled_by_the_roughest() -> None:
    exact = PValue.exact(Fraction(1, 10))
    drawn = estimate(5, 999)
    both = _largest([exact, drawn])
    assert both.method == "Monte Carlo"
    assert both.low <= both.value <= both.high
    assert _largest([exact, PValue.exact(Fraction(1, 5))]).value == Fraction(1, 5)
    bracket = PValue(Fraction(3, 200), "bracket", Fraction(1, 100), Fraction(2, 100))
    assert bracket.text() == "between 1e-02 and 2e-02 (bracket)"
    certified = PValue(Fraction(1, 100), "float (certified)", Fraction(99, 10_000), Fraction(101, 10_000))
    assert certified.text() == "1e-02 (float, certified to 1e-04)"
    assert certified.conservative == Fraction(101, 10_000)


def test_inversion_control_with_a_stratum_missing_a_class_and_a_zero_cost() -> None:
    apart = stats.inversion_control(strata=[([[5, 6]], []), ([], [[1, 2]])])
    assert apart.status == "not testable"
    zero = stats.inversion_control([[5, 0], [6, 7]], [[1, 2], [3, 1]])
    assert zero.ratios is None
    assert zero.sums is not None


def test_censored_costs_without_a_comparison() -> None:
    for function in (stats.permutation_logrank, stats.gehan):
        assert function([], [(3, 1)]).status == "not estimable"
        assert function(strata=[([(3, 1)], []), ([], [(4, 1)])]).status == "not testable"
        assert function([(3, 0)], [(3, 0)]).status == "degenerate"


def test_joint_permutation_refuses_scores_too_finely_divided() -> None:
    fine = {"a": [([Fraction(1, 10**19 + 51), 1], [0, Fraction(1, 7)])]}
    with pytest.raises(DataError, match="finely divided"):
        stats.westfall_young(fine)
    nearly = {"a": [([2**59, 1, 1], [0, 3, 3, 3])]}
    with pytest.raises(DataError, match="finely divided"):
        stats.westfall_young(nearly)
    assert stats.westfall_young(nearly, alternative="greater").raw["a"] <= 1


def test_score_bounds_with_a_class_nobody_was_asked() -> None:
    bounds = stats.score_bounds({"a": {"right": 3, "wrong": 1}, "b": {}})
    assert bounds.classes["b"].bounds is None
    assert bounds.difference is None
    assert bounds.balanced is None
    given = stats.rank_intervals({"a": bounds.classes["a"].bounds, "b": (0, 1)})
    assert given.ranks == {"a": (1, 2), "b": (1, 2)}
    with pytest.raises(DataError, match="no bounds"):
        stats.rank_intervals({"a": stats.shift_interval([1], [2])})


def test_bootstrap_draws_that_divide_by_zero_are_left_out() -> None:
    rare = stats.ratio_of_means([1, 2], [0, 3], draws=60)
    assert rare.value == 1
    assert rare.interval.low > 0
    assert stats.clopper_pearson(0, 0).high == 1
