"""Rank correlation and kappa: by hand, by brute force, against published examples and against scipy."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import permutations, product

import pytest

from sealbench.stats import DataError, cohen_kappa, fleiss_kappa, rank_correlation
from sealbench.stats.scores import midranks_doubled

# J. Cohen (1960), as counted: both yes 20, first only 5, second only 10, both no 15.
COHEN = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15


def by_hand(strata, alternative):
    """Every pairing written out."""
    ranks = [tuple(midranks_doubled(list(map(Fraction, side))) for side in pair) for pair in strata]
    sums = [
        sum(
            sum(a * b for a, b in zip(first, second, strict=True))
            for (first, _), second in zip(ranks, chosen, strict=True)
        )
        for chosen in product(*(list(permutations(second)) for _, second in ranks))
    ]
    mean = Fraction(sum(sums), len(sums))
    seen = sum(sum(a * b for a, b in zip(*pair, strict=True)) for pair in ranks)
    far = {
        "greater": [value >= seen for value in sums],
        "less": [value <= seen for value in sums],
        "two-sided": [abs(value - mean) >= abs(seen - mean) for value in sums],
    }[alternative]
    return Fraction(sum(far), len(far))


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
@pytest.mark.parametrize("seed", range(6))
def test_every_pairing_is_counted(seed, alternative):
    draw = random.Random(seed)
    strata = [
        tuple([draw.randrange(4 + seed) for _ in range(size)] for _ in range(2))
        for size in ((5,), (3, 4), (2, 3, 2))[seed % 3]
    ]
    if not any(len(set(first)) > 1 and len(set(second)) > 1 for first, second in strata):
        pytest.skip("nothing varies")
    found = rank_correlation(strata=strata, alternative=alternative)
    assert found.p == by_hand(strata, alternative)
    assert found.smallest <= found.p


def test_the_coefficient_and_its_p_are_those_of_a_peer():
    stats = pytest.importorskip("scipy.stats")
    draw = random.Random(7)
    first = [draw.randrange(9) for _ in range(30)]
    second = [value + draw.randrange(9) for value in first]
    peer = stats.spearmanr(first, second)
    found = rank_correlation(first, second)
    assert found.rho == pytest.approx(peer.statistic, abs=1e-12)
    assert found.p_value.method == "Monte Carlo"
    assert float(found.p_value.value) == pytest.approx(peer.pvalue, abs=0.002)


def test_fourteen_instances_are_exact_and_fifteen_are_drawn():
    assert rank_correlation(range(14), range(14)).p == Fraction(2, 87178291200)
    drawn = rank_correlation(range(15), range(15))
    assert drawn.p_value.text().startswith("p < ")
    assert drawn == rank_correlation(range(15), range(15))


def test_drawn_pairings_agree_with_counted_ones(monkeypatch):
    first, second = [1, 2, 3, 4, 5, 6, 7], [2, 1, 4, 3, 7, 5, 6]
    exact = rank_correlation(first, second, alternative="greater")
    monkeypatch.setattr("sealbench.stats.correlation._LARGEST_EXACT", 3)
    for alternative, expected in (("greater", exact.p), ("two-sided", rank_two_sided(first, second))):
        drawn = rank_correlation(first, second, alternative=alternative).p_value
        assert drawn.low <= expected <= drawn.high
    assert rank_correlation(first, second, alternative="less").p > 0.9


def rank_two_sided(first, second):
    return by_hand([(first, second)], "two-sided")


def test_strata_do_not_mix_their_levels():
    """Within both strata the order falls; pooled it would rise."""
    strata = [([1, 2, 3, 4], [4, 3, 2, 1]), ([11, 12, 13, 14], [14, 13, 12, 11])]
    within = rank_correlation(strata=strata)
    assert within.rho == -1
    assert within.p == Fraction(2, 576)
    pooled = rank_correlation([*strata[0][0], *strata[1][0]], [*strata[0][1], *strata[1][1]])
    assert pooled.rho > 0.5


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [([], [], "not estimable"), ([1], [2], "degenerate"), ([1, 1, 1], [1, 2, 3], "degenerate")],
)
def test_nothing_to_correlate(first, second, status):
    found = rank_correlation(first, second)
    assert (found.status, found.p, found.rho) == (status, 1, None)
    assert found.reason


def test_sides_of_different_length_are_refused():
    with pytest.raises(DataError, match="first has 2 numbers, second 1"):
        rank_correlation([1, 2], [1])


def test_cohens_example():
    first, second = zip(*COHEN, strict=True)
    found = cohen_kappa(first, second)
    assert (found.observed, found.expected, found.kappa) == (Fraction(7, 10), Fraction(1, 2), Fraction(2, 5))


def test_fleiss_by_hand():
    # Pairs agreeing: 3 of 3, 3 of 3, 1 of 3. Shares: a 5/9, b 4/9.
    found = fleiss_kappa(["aaa", "bbb", "aab"])
    assert found.observed == Fraction(7, 9)
    assert found.expected == Fraction(25 + 16, 81)
    assert found.kappa == (Fraction(7, 9) - Fraction(41, 81)) / Fraction(40, 81)


def test_kappa_has_no_value_where_all_say_the_same():
    assert cohen_kappa("aaa", "aaa").kappa is None
    assert fleiss_kappa(["aa", "aa"]).kappa is None
    assert cohen_kappa([], []).observed is None
    assert fleiss_kappa([]).subjects == 0


def test_unequal_numbers_of_ratings_are_refused():
    with pytest.raises(DataError):
        cohen_kappa("ab", "a")
    with pytest.raises(DataError, match=r"ratings\[1\]"):
        fleiss_kappa(["aa", "a"])
    with pytest.raises(DataError):
        fleiss_kappa(["a"])
