"""Every reference case against the function it belongs to, as fractions."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sealbench import stats
from sealbench.stats.survival import gehan_scores, logrank_scores, read_costs

CASES = json.loads(
    (Path(__file__).parents[2] / "data" / "stats" / "reference_cases.json").read_text("utf-8")
)["cases"]
SIDES = {
    "greater": {"alternative": "greater"},
    "less": {"alternative": "less"},
    "two_sided_stat": {"two_sided": "statistic"},
    "two_sided_double": {"two_sided": "double"},
    "two_sided_minlike": {"two_sided": "likelihood"},
}


def exact(value: Any) -> Fraction:
    """A case's fraction: {"num", "den"} or "a/b"."""
    if isinstance(value, dict):
        return Fraction(int(value["num"]), int(value["den"]))
    return Fraction(value)


def check_sides(test: Callable[..., Any], expect: dict[str, Any]) -> None:
    """Compare all one- and two-sided values (and the mid-p value) that a case gives."""
    checked = 0
    for key, options in SIDES.items():
        if key in expect:
            assert test(**options).p == exact(expect[key]), key
            checked += 1
    if "midp_greater" in expect:
        mid = test(alternative="greater").mid_p
        assert mid is None or mid == exact(expect["midp_greater"])
    assert checked


def two_sample(function: Callable[..., Any]) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    def check(inputs: dict[str, Any], expect: dict[str, Any]) -> None:
        def test(**options: Any) -> Any:
            mid = options.get("alternative") == "greater"
            return function(inputs["class1"], inputs["class0"], mid_p=mid, **options)

        if "raises" in expect:
            with pytest.raises(ValueError, match="not a finite number"):
                test()
            return
        if expect.get("status") == "not_estimable":
            assert test().status == "not estimable"
        check_sides(test, expect)
        if "midp_greater" in expect:
            assert test(alternative="greater").mid_p == exact(expect["midp_greater"])

    return check


def fisher(inputs: dict[str, Any], expect: dict[str, Any]) -> None:
    check_sides(lambda **options: stats.fisher_exact(inputs["table"], **options), expect)


def barnard(inputs: dict[str, Any], expect: dict[str, Any]) -> None:
    assert stats.barnard_exact(inputs["table"], alternative="greater").p == exact(expect["greater"])
    assert stats.barnard_exact(inputs["table"]).p == exact(expect["two_sided"])


def odds_ratio(inputs: dict[str, Any], expect: dict[str, Any]) -> None:
    result = stats.odds_ratio(inputs["table"], level=1 - Fraction(str(inputs["alpha"])))
    for value, key in ((result.estimate, "cmle"), (result.low, "lo"), (result.high, "hi")):
        assert float(value) == pytest.approx(float(expect[key]), rel=1e-12)


def shift(inputs: dict[str, Any], expect: dict[str, Any]) -> None:
    level = 1 - Fraction(inputs["alpha"])
    interval = stats.shift_interval(inputs["class1"], inputs["class0"], level=level, grid=inputs["grid"])
    assert (interval.low, interval.high) == (exact(expect["lo"]), exact(expect["hi"]))


def stratified(inputs: dict[str, Any], expect: dict[str, Any]) -> None:
    check_sides(lambda **options: stats.stratified_exact(inputs["tables"], **options), expect)
    responses = [tuple([1] * cut + [0] * (size - cut) for cut, size in table) for table in inputs["tables"]]
    for key in ("greater", "less", "two_sided_stat", "two_sided_double"):
        if key in expect:
            assert stats.censoring_difference(strata=responses, **SIDES[key]).p == exact(expect[key])


def multiplicity(inputs: dict[str, Any], expect: dict[str, Any]) -> None:
    size = inputs["n_class1"]
    tests = {str(index): [(row[:size], row[size:])] for index, row in enumerate(inputs["censored"])}
    result = stats.westfall_young(tests, alternative="greater")
    assert list(result.raw.values()) == [exact(value) for value in expect["raw"]]
    assert list(result.adjusted.values()) == [exact(value) for value in expect["minP_stepdown"]]
    assert list(result.single_step.values()) == [exact(value) for value in expect["minP_singlestep"]]
    assert list(stats.holm(result.raw).values()) == [exact(value) for value in expect["holm"]]


def max_over_caps(inputs: dict[str, Any], expect: dict[str, Any]) -> None:
    result = stats.max_over_caps(inputs["class1"], inputs["class0"], alternative="greater")
    assert (result.statistic, result.p) == (exact(expect["D_plus"]), exact(expect["greater"]))


def logrank(inputs: dict[str, Any], expect: dict[str, Any]) -> None:
    one, zero = inputs["class1"], inputs["class0"]
    for name, function in (("logrank", stats.permutation_logrank), ("gehan", stats.gehan)):
        assert function(one, zero, alternative="greater").p == exact(expect[f"{name}_greater"])
        assert function(one, zero).p == exact(expect[f"{name}_two_sided_stat"])
    costs = read_costs([*one, *zero], "costs")
    assert logrank_scores(costs) == [exact(value) for value in expect["scores_logrank"]]
    assert gehan_scores(costs) == [exact(value) for value in expect["scores_gehan"]]


def kaplan_meier(inputs: dict[str, Any], expect: dict[str, Any]) -> None:
    curve = stats.kaplan_meier(inputs["data"])
    assert [[step.tokens, step.surviving] for step in curve.steps] == [
        [tokens, exact(value)] for tokens, value in expect["km"]
    ]
    assert curve.median == (None if expect["median"] is None else exact(expect["median"]))
    mean = stats.restricted_mean(inputs["data"], inputs["tau"])
    assert (mean.value, mean.variance) == (
        exact(expect["rmst"]),
        exact(expect["rmst_sampling_var_greenwood"]),
    )


def manski(inputs: dict[str, Any], expect: dict[str, Any]) -> None:
    result = stats.score_bounds({"1": inputs["class1"], "0": inputs["class0"]})
    scores = {"all": result.overall, **result.classes}
    for name, score in scores.items():
        wanted = expect[f"drop_{name}"]
        assert score.cut_dropped == (None if wanted is None else exact(wanted))
        assert score.cut_wrong == exact(expect[f"wrong_{name}"])
        low, high = exact(expect[f"bound_{name}_lo"]), exact(expect[f"bound_{name}_hi"])
        assert (score.bounds.low, score.bounds.high) == (low, high)
    assert (result.difference.low, result.difference.high) == (
        exact(expect["diff_lo"]),
        exact(expect["diff_hi"]),
    )
    wanted_balanced = exact(expect["balanced_lo"]), exact(expect["balanced_hi"])
    assert (result.balanced.low, result.balanced.high) == wanted_balanced


def clopper_pearson(inputs: dict[str, Any], expect: dict[str, Any]) -> None:
    level = 1 - Fraction(str(inputs["alpha"]))
    interval = stats.clopper_pearson(inputs["x"], inputs["n"], level=level)
    assert float(interval.low) == pytest.approx(expect["lo"], rel=1e-14, abs=0)
    assert float(interval.high) == pytest.approx(expect["hi"], rel=1e-14, abs=0)


def planning(inputs: dict[str, Any], expect: dict[str, Any]) -> None:
    if "n_per_class" in inputs:
        found = [stats.smallest_p(size, size, alternative="greater") for size in inputs["n_per_class"]]
        assert found == [exact(value) for value in expect["one_sided"]]
        return
    for alternative, key in (("greater", "one_sided"), ("two-sided", "two_sided")):
        needed = [stats.items_needed(alpha, alternative=alternative).per_class for alpha in inputs["alpha"]]
        assert needed == expect[key]


def sign_flip(inputs: dict[str, Any], expect: dict[str, Any]) -> None:
    def test(**options: Any) -> Any:
        return stats.sign_flip(inputs["diffs"], mid_p=options.get("alternative") == "greater", **options)

    check_sides(test, expect)
    if "midp_greater" in expect:
        assert test(alternative="greater").mid_p == exact(expect["midp_greater"])
    values = [Fraction(value) for value in inputs["diffs"]]
    if all(abs(value) == 1 for value in values):
        more, fewer = sum(value > 0 for value in values), sum(value < 0 for value in values)
        check_sides(lambda **options: stats.mcnemar_exact(more, fewer, **options), expect)


def signed_rank(inputs: dict[str, Any], expect: dict[str, Any]) -> None:
    check_sides(lambda **options: stats.signed_rank(inputs["diffs"], **options), expect)


def interaction(inputs: dict[str, Any], expect: dict[str, Any]) -> None:
    result = stats.inversion_control(inputs["items"]["class1"], inputs["items"]["class0"])
    assert result.sums.p == exact(expect["class_effect_greater"])
    assert result.differences.p == exact(expect["answer_word_two_sided"])
    assert result.wording.p == exact(expect["wording_two_sided"])


def freeman_halton(inputs: dict[str, Any], expect: dict[str, Any]) -> None:
    assert stats.freeman_halton(inputs["table"]).p == exact(expect["minlike"])
    assert stats.freeman_halton(inputs["table"], ordering="pearson").p == exact(expect["pearson"])


def mc_estimate(inputs: dict[str, Any], expect: dict[str, Any]) -> None:
    from sealbench.stats.sampling import estimate

    assert estimate(inputs["b"], inputs["m"]).value == exact(expect["p_hat"])
    # The case's bound is one-sided at 1%; a two-sided interval has it at 98%.
    high = stats.clopper_pearson(inputs["b"], inputs["m"], level="0.98").high
    assert float(high) == pytest.approx(expect["cp_hi_0.01"], rel=1e-13)


def separation(inputs: dict[str, Any], expect: dict[str, Any]) -> None:
    result = stats.separation(inputs["class1"], inputs["class0"], alternative="greater")
    assert result.strict is expect["strict_now"]
    assert (result.p_strict, result.p_weak) == (exact(expect["p_strict"]), exact(expect["p_weak"]))


ADAPTERS: dict[str, Callable[[dict[str, Any], dict[str, Any]], None]] = {
    "mean_diff": two_sample(stats.mean_difference),
    "rank_sum": two_sample(stats.rank_sum),
    "cluster_perm": two_sample(stats.censoring_difference),
    "fisher": fisher,
    "fisher_items": fisher,
    "barnard": barnard,
    "odds_ratio": odds_ratio,
    "shift_ci": shift,
    "stratified_2x2": stratified,
    "multiplicity": multiplicity,
    "max_over_caps": max_over_caps,
    "perm_logrank": logrank,
    "km": kaplan_meier,
    "manski": manski,
    "clopper_pearson": clopper_pearson,
    "planning": planning,
    "sign_flip": sign_flip,
    "signed_rank": signed_rank,
    "interaction": interaction,
    "freeman_halton": freeman_halton,
    "mc_estimate": mc_estimate,
    "separation": separation,
}


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_reference_case(case: dict[str, Any]) -> None:
    ADAPTERS[case["test"]](case["inputs"], case["expect"])
