"""Laws that hold for every data set (hypothesis)."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import comb

from hypothesis import given, settings
from hypothesis import strategies as st

from sealbench import stats

values = st.lists(st.integers(-30, 30), min_size=1, max_size=7)
rationals = st.lists(st.fractions(min_value=-5, max_value=5, max_denominator=6), min_size=1, max_size=5)
small = st.lists(st.integers(0, 4), max_size=3)
few = settings(max_examples=60)


@few
@given(values, values)
def test_one_sided_values_and_the_point_add_to_more_than_one(one: list[int], zero: list[int]) -> None:
    greater = stats.mean_difference(one, zero, alternative="greater", mid_p=True)
    less = stats.mean_difference(one, zero, alternative="less", mid_p=True)
    assert greater.p + less.p > 1
    assert greater.mid_p + less.mid_p == 1
    assert comb(len(one) + len(zero), len(one)) % greater.p.denominator == 0


@few
@given(rationals, rationals, st.fractions(min_value=-9, max_value=9, max_denominator=7), st.integers(1, 9))
def test_shift_and_scale_change_nothing(
    one: list[Fraction], zero: list[Fraction], shift: Fraction, scale: int
) -> None:
    moved = [[value * scale + shift for value in part] for part in (one, zero)]
    for function in (stats.mean_difference, stats.rank_sum):
        assert function(one, zero).p == function(*moved).p


@few
@given(values, values)
def test_swapping_the_classes_swaps_the_sides(one: list[int], zero: list[int]) -> None:
    for function in (stats.mean_difference, stats.rank_sum, stats.max_over_caps, stats.separation):
        assert function(one, zero, alternative="greater").p == function(zero, one, alternative="less").p
        assert function(one, zero).p == function(zero, one).p


@few
@given(values, values)
def test_smallest_p_is_a_lower_bound(one: list[int], zero: list[int]) -> None:
    for alternative in ("greater", "less", "two-sided"):
        least = stats.smallest_p(len(one), len(zero), alternative=alternative)
        assert stats.mean_difference(one, zero, alternative=alternative).p >= least


@few
@given(st.lists(st.booleans(), min_size=1, max_size=9), st.lists(st.booleans(), min_size=1, max_size=9))
def test_with_one_response_each_censoring_is_fisher(one: list[bool], zero: list[bool]) -> None:
    table = [[sum(one), len(one)], [sum(zero), len(zero)]]
    for options in ({"alternative": "greater"}, {"alternative": "less"}, {}, {"two_sided": "double"}):
        expected = stats.fisher_exact(table, **options).p
        assert stats.censoring_difference(one, zero, **options).p == expected
        assert stats.stratified_exact([table], **options).p == expected


@few
@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=5), st.lists(st.integers(0, 12), min_size=1, max_size=5)
)
def test_max_over_caps_by_brute_force(one: list[int], zero: list[int]) -> None:
    def largest(first: tuple[int, ...], second: tuple[int, ...]) -> Fraction:
        return max(
            Fraction(sum(v > cap for v in first), len(first))
            - Fraction(sum(v > cap for v in second), len(second))
            for cap in (*first, *second)
        )

    pooled = (*one, *zero)
    observed = largest(tuple(one), tuple(zero))
    from itertools import combinations

    hits = total = 0
    for chosen in combinations(range(len(pooled)), len(one)):
        first = tuple(pooled[index] for index in chosen)
        second = tuple(pooled[index] for index in range(len(pooled)) if index not in chosen)
        hits += largest(first, second) >= observed
        total += 1
    result = stats.max_over_caps(one, zero, alternative="greater")
    assert (result.statistic, result.p) == (observed, Fraction(hits, total))


@few
@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 4), max_size=3), st.lists(st.integers(0, 4), max_size=3)),
        min_size=1,
        max_size=2,
    )
)
def test_separation_by_brute_force(strata: list[tuple[list[int], list[int]]]) -> None:
    from itertools import combinations, product

    result = stats.separation(strata=strata, alternative="greater")
    if result.status in ("not estimable", "not testable"):
        assert result.p == 1
        return
    choices = []
    for one, zero in strata:
        pooled = [*one, *zero]
        choices.append(
            [
                ([pooled[i] for i in chosen], [pooled[i] for i in range(len(pooled)) if i not in chosen])
                for chosen in combinations(range(len(pooled)), len(one))
            ]
        )
    strict = weak = total = 0
    for arrangement in product(*choices):
        low = min(value for one, _ in arrangement for value in one)
        high = max(value for _, zero in arrangement for value in zero)
        strict, weak, total = strict + (low > high), weak + (low >= high), total + 1
    assert (result.p_strict, result.p_weak) == (Fraction(strict, total), Fraction(weak, total))


@few
@given(st.lists(st.fractions(min_value=0, max_value=1, max_denominator=50), min_size=1, max_size=6))
def test_holm_against_its_closed_testing_definition(p_values: list[Fraction]) -> None:
    named = {str(index): p for index, p in enumerate(p_values)}
    adjusted = stats.holm(named)
    for name, p in named.items():
        # Closure with Bonferroni: the largest over all subsets containing it of size times smallest p.
        others = sorted(value for other, value in named.items() if other != name)
        wanted = max(
            min(Fraction(1), (size + 1) * min([p, *others[len(others) - size :]]))
            for size in range(len(others) + 1)
        )
        assert adjusted[name] == wanted


@few
@given(
    st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=1, max_size=3), st.integers(1, 4)
)
def test_westfall_young_by_brute_force(rows: list[list[int]], size: int) -> None:
    tests = {str(index): [(row[:size], row[size:])] for index, row in enumerate(rows)}
    result = stats.westfall_young(tests, alternative="greater")
    arrangements = [set(order[:size]) for order in permutations(range(5))]
    sums = [[sum(row[index] for index in chosen) for chosen in arrangements] for row in rows]
    shares = [[Fraction(sum(o >= v for o in line), len(line)) for v in line] for line in sums]
    own = [
        Fraction(sum(o >= sum(row[:size]) for o in line), len(line))
        for row, line in zip(rows, sums, strict=True)
    ]
    assert list(result.raw.values()) == own
    for index, name in enumerate(tests):
        harder = [j for j in range(len(rows)) if own[j] <= own[index]]
        steps = []
        for j in harder:
            open_tests = [k for k in range(len(rows)) if own[k] >= own[j]]
            least = [min(shares[k][place] for k in open_tests) for place in range(len(arrangements))]
            steps.append(Fraction(sum(value <= own[j] for value in least), len(arrangements)))
        assert result.adjusted[name] == max(steps)


@few
@given(st.lists(st.integers(-6, 6), max_size=8))
def test_sign_flips_by_brute_force(differences: list[int]) -> None:
    from itertools import product

    sums = [
        sum(sign * d for sign, d in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=len(differences))
    ]
    seen = sum(differences)
    wanted = Fraction(sum(value >= seen for value in sums), len(sums))
    assert stats.sign_flip(differences, alternative="greater").p == (wanted if any(differences) else 1)
    far = Fraction(sum(abs(value) >= abs(seen) for value in sums), len(sums))
    assert stats.sign_flip(differences).p == far


@few
@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=12))
def test_cost_curves(costs: list[tuple[int, bool]]) -> None:
    curve = stats.kaplan_meier(costs)
    heights = [step.surviving for step in curve.steps]
    assert heights == sorted(heights, reverse=True)
    largest = max(tokens for tokens, _ in costs)
    one_cap = [(tokens, finished) for tokens, finished in costs if finished or tokens == largest]
    mean = stats.restricted_mean(one_cap, largest)
    assert mean.value == Fraction(sum(tokens for tokens, _ in one_cap), len(one_cap))


@few
@given(st.integers(0, 40), st.integers(0, 40), st.sampled_from(["0.9", "0.95", "0.99"]))
def test_clopper_pearson_covers_its_estimate(successes: int, more: int, level: str) -> None:
    interval = stats.clopper_pearson(successes, successes + more, level=level)
    rate = Fraction(successes, successes + more) if successes + more else Fraction(1, 2)
    assert 0 <= interval.low <= rate <= interval.high <= 1
