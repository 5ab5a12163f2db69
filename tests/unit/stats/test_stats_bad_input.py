"""Wrong or missing data: the documented result, or a clear error with a hint; never a traceback or NaN."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from sealbench import stats
from sealbench.errors import SealError, UsageError
from sealbench.stats.values import DataError, to_fraction

TWO_SAMPLE = [stats.mean_difference, stats.rank_sum, stats.max_over_caps, stats.separation, stats.monte_carlo]
BAD = [
    float("nan"),
    float("inf"),
    "nan",
    "-inf",
    "12 tokens",
    "",
    "1_000",
    "٣",
    "1/0",
    None,
    b"3",
    [1, "x"],
    "1e99999",
]


@pytest.mark.parametrize("function", [*TWO_SAMPLE, stats.censoring_difference, stats.shift_interval])
@pytest.mark.parametrize("bad", BAD, ids=repr)
def test_what_is_no_number_raises_and_says_where(function: Callable[..., Any], bad: object) -> None:
    with pytest.raises(DataError) as caught:
        function([1, bad], [0, 1])
    assert "class1[1]" in str(caught.value)
    assert caught.value.hint
    assert isinstance(caught.value, UsageError)
    assert isinstance(caught.value, ValueError)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("function", TWO_SAMPLE)
@pytest.mark.parametrize("classes", [([], []), ([1], []), ([], [1, 2]), ([[]], [1])])
def test_an_empty_class_is_not_estimable(
    function: Callable[..., Any], classes: tuple[list[Any], list[Any]]
) -> None:
    result = function(*classes)
    assert (result.p, result.status) == (1, "not estimable")
    assert "no usable instance in class" in result.reason
    assert isinstance(result.p, Fraction)


@pytest.mark.parametrize("function", TWO_SAMPLE)
def test_no_stratum_with_both_classes_is_not_testable(function: Callable[..., Any]) -> None:
    result = function(strata=[([5, 6], []), ([], [1, 2])])
    assert (result.p, result.status) == (1, "not testable")
    unequal = function([[5, 6]], [[1]])
    assert (unequal.p, unequal.status) == (1, "not testable")


@pytest.mark.parametrize(
    "function", [stats.mean_difference, stats.rank_sum, stats.max_over_caps, stats.monte_carlo]
)
def test_all_equal_is_degenerate(function: Callable[..., Any]) -> None:
    result = function([3, 3], [3, 3, 3])
    assert (result.p, result.status) == (1, "degenerate")
    assert result.reason


def test_degenerate_censoring() -> None:
    for value in (0, 1):
        result = stats.censoring_difference([[value] * 3] * 4, [[value] * 3] * 4)
        assert (result.p, result.status) == (1, "degenerate")
    assert stats.fisher_exact([[0, 4], [0, 4]]).reason == "nothing was cut"
    assert stats.fisher_exact([[4, 4], [4, 4]]).reason == "everything was cut"
    assert stats.fisher_exact([[0, 0], [3, 4]]).status == "not estimable"
    assert stats.fisher_exact([[0, 4], [0, 4]]).odds_ratio.estimate.is_nan()


def test_a_stratum_with_one_class_changes_nothing_and_is_noted() -> None:
    whole = stats.mean_difference(strata=[([5, 9, 7], [1, 2]), ([100], [])], alternative="greater")
    assert whole.p == stats.mean_difference([5, 9, 7], [1, 2], alternative="greater").p
    assert (whole.strata, whole.informative_strata) == (2, 1)
    assert any("take no part" in note for note in whole.notes)


def test_unequal_usable_repeats_become_strata() -> None:
    one = [[1, 1], [1, 0], [1], [1]]
    zero = [[0, 0], [0, 1], [0], []]
    result = stats.censoring_difference(one, zero, alternative="greater")
    apart = stats.censoring_difference(
        strata=[([[1, 1], [1, 0]], [[0, 0], [0, 1]]), ([[1], [1]], [[0]])], alternative="greater"
    )
    assert result.p == apart.p
    assert result.strata == 2
    assert result.class0.unusable == 1
    assert any("unequal numbers" in note for note in result.notes)


def test_responses_of_a_censoring_test_are_zero_or_one() -> None:
    with pytest.raises(DataError, match=r"cut \(1\) or not cut \(0\)"):
        stats.censoring_difference([[1, 2]], [[0, 1]])


@pytest.mark.parametrize(
    "call",
    [
        lambda: stats.mean_difference([1], [2], alternative="bigger"),
        lambda: stats.mean_difference([1], [2], two_sided="likelihood"),
        lambda: stats.rank_sum([1], [2], two_sided="nonsense"),
        lambda: stats.mean_difference([1], [2], strata=[([1], [2])]),
        lambda: stats.mean_difference(strata=[([1], [2], [3])]),
        lambda: stats.mean_difference("123", [1]),
        lambda: stats.mean_difference(5, [1]),
        lambda: stats.fisher_exact([[5, 4], [0, 4]]),
        lambda: stats.fisher_exact([[1, 2, 3], [0, 4, 1]]),
        lambda: stats.fisher_exact([["0.5", 4], [0, 4]]),
        lambda: stats.fisher_exact([[-1, 4], [0, 4]]),
        lambda: stats.barnard_exact([[1, 100], [2, 100]]),
        lambda: stats.freeman_halton([[1, 2]]),
        lambda: stats.freeman_halton([[1, 2], [1]]),
        lambda: stats.freeman_halton([[1, 2], [1, 2]], ordering="other"),
        lambda: stats.clopper_pearson(5, 4),
        lambda: stats.clopper_pearson(1, 4, level=1),
        lambda: stats.kaplan_meier([(1, 2, 3)]),
        lambda: stats.kaplan_meier([(100, 5)]),
        lambda: stats.kaplan_meier([(-1, 1)]),
        lambda: stats.restricted_mean([], 3),
        lambda: stats.restricted_mean([(5, 0)], 9),
        lambda: stats.score_bounds({}),
        lambda: stats.score_bounds({"a": {"right": 1, "rihgt": 2}}),
        lambda: stats.rank_intervals({"a": (1, 0)}),
        lambda: stats.holm({"a": "1.5"}),
        lambda: stats.westfall_young({}),
        lambda: stats.westfall_young({"a": [([1], [0])], "b": [([1, 1], [0])]}),
        lambda: stats.max_over_caps(strata=[([1], [2]), ([3], [4])]),
        lambda: stats.inversion_control([[1, 2]], [[1]]),
        lambda: stats.inversion_control([[(1, 2, 3), 2]], [[1, 3]]),
        lambda: stats.smallest_p(3, 3, strata=[(1, 1)]),
        lambda: stats.smallest_p(strata=[(1, 1, 1)]),
        lambda: stats.items_needed("0.05", strata=0),
        lambda: stats.items_needed("1.5"),
        lambda: stats.items_needed("0.05", rates=("0.5", "0.5")),
        lambda: stats.power(3, 3, "1.5", 0, alpha="0.05"),
        lambda: stats.power(30, 30, "0.5", "0.1", alpha="0.05", strata=9),
        lambda: stats.safe_cap({}),
    ],
)
def test_wrong_calls_raise_with_a_hint(call: Callable[[], Any]) -> None:
    with pytest.raises(SealError) as caught:
        call()
    assert caught.value.exit_code == 2
    assert caught.value.hint


def test_numbers_of_every_kind_are_read_exactly() -> None:
    import numpy as np

    tenth = Fraction(1, 10)
    for value in (0.1, "0.1", " 1e-1 ", "1/10", Decimal("0.1"), tenth, np.float64(0.1), "+.1"):
        assert to_fraction(value) == tenth
    assert to_fraction(np.int64(7)) == to_fraction(True) * 7 == 7
    assert to_fraction("-3.") == -3
    with pytest.raises(DataError, match="not a finite number"):
        to_fraction(Decimal("NaN"))


def test_float_noise_breaks_no_tie() -> None:
    noisy = [0.1 + 0.2 - 0.2, 0.3]  # 0.10000000000000003 is a number of its own: entered as printed
    assert stats.mean_difference([0.1, 0.2, 0.3], [0.2, 0.2, 0.2]).p == 1
    assert stats.mean_difference(noisy, [0.1, 0.3]).p == Fraction(1, 1)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_test"):
        stats.no_such_test  # noqa: B018
    assert {"holm", "mean_difference", "PValue"} <= set(dir(stats))
