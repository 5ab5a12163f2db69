"""How p-values and intervals are written, and the functions that are not tests."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction

import pytest

from sealbench import stats
from sealbench.crypto import canonical
from sealbench.stats.planning import tolerance_rank
from sealbench.stats.pvalue import PValue, fraction_text, integer_text, scientific
from sealbench.stats.results import Interval, decimal_text
from sealbench.stats.sampling import estimate


def test_text_and_json_of_an_exact_value() -> None:
    value = PValue.exact(Fraction(1, 12870))
    assert value.text() == "1/12870 = 7.8e-05"
    assert value.to_json() == {"num": "1", "den": "12870", "approx": "7.77000777000777e-05"}
    assert canonical.decode(canonical.encode(value.to_json())) == value.to_json()
    assert PValue.exact(Fraction(1)).text() == "1"


def test_long_fractions_are_short_in_print_and_whole_in_json() -> None:
    value = PValue.exact(Fraction(1, 3**12000))
    assert value.text().startswith("1/")
    assert "…" in value.text()
    assert len(value.text()) < 30
    assert value.text().endswith("e-5726")
    stored = value.to_json()["den"]
    assert len(stored) == 5726
    assert stored.isdigit()
    assert fraction_text(Fraction(123456789012345678, 7)) == "1234…678/7"
    assert integer_text(10**5000) == "1" + "0" * 5000


def test_scientific_is_correctly_rounded() -> None:
    assert scientific(Fraction(2, 3), 3) == "6.67e-01"
    assert scientific(Fraction(2, 3), 3, up=True) == "6.67e-01"
    assert scientific(Fraction(1, 3), 2, up=True) == "3.4e-01"
    assert scientific(Fraction(-1, 8), 5) == "-1.25e-01"
    assert scientific(Fraction(995, 1), 2) == "1e+03"
    assert scientific(Fraction(0), 2) == "0"


def test_monte_carlo_values_are_labelled_and_never_zero() -> None:
    none = estimate(0, 99_999)
    assert none.text() == "p < 5.3e-05 (Monte Carlo, none of 99999 draws)"
    assert none.value == Fraction(1, 100_000)
    some = estimate(49, 999)
    assert some.text().startswith("5e-02 (Monte Carlo, 99% interval")
    assert set(some.to_json()) == {"approx", "error", "method"}
    assert some.conservative == some.value


def test_decimal_text() -> None:
    assert decimal_text(Fraction(3, 8)) == "0.375"
    assert decimal_text(Fraction(-5, 2)) == "-2.5"
    assert decimal_text(Fraction(1, 10**9)) == "1e-09"
    assert decimal_text(Fraction(1200)) == "1200"
    assert decimal_text(Fraction(24001, 2)) == "12000.5"
    assert Interval(None, Fraction(1, 2), Fraction(19, 20), "m").to_json() == {
        "low": None,
        "high": "0.5",
        "level": "0.95",
        "method": "m",
    }


def test_equivalence_needs_the_whole_interval_inside_the_margin() -> None:
    margin = Fraction(-5), Fraction(5)
    assert Interval(Fraction(-5), Fraction(4), None, "").inside(*margin)
    assert not Interval(Fraction(-5), Fraction(6), None, "").inside(*margin)
    assert not Interval(None, Fraction(4), None, "").inside(*margin)


def test_censoring_interval_is_conservative() -> None:
    interval = stats.censoring_difference([[1, 1], [1, 0], [1, 1], [1, 1]], [[0, 0]] * 4).interval
    low = stats.clopper_pearson(3, 4, level="0.975").low - stats.clopper_pearson(0, 4, level="0.975").high
    assert (interval.low, interval.high) == (low, Fraction(1))
    assert stats.censoring_difference([1], [0], level=None).interval is None


def test_wipe_out_interval_names_the_class() -> None:
    up = stats.separation([310, 320, 350], [200, 250, 300])
    assert (up.wipe_out.low, up.wipe_out.high, up.wiped) == (300, 310, "class1")
    assert up.p == Fraction(1, 10)
    down = stats.separation([200, 250, 300], [310, 320, 350])
    assert (down.wipe_out.low, down.wipe_out.high, down.wiped) == (300, 310, "class0")
    touching = stats.separation([300, 320], [200, 300], alternative="greater")
    assert (touching.strict, touching.weak, touching.wipe_out) == (False, True, None)
    assert touching.p == touching.p_weak == Fraction(2, 6)
    overlap = stats.separation([1, 3], [2, 4])
    assert (overlap.p, overlap.status) == (1, "degenerate")


def test_smallest_p_knows_strata_and_sides() -> None:
    assert stats.smallest_p(8, 8, alternative="greater") == Fraction(1, 12870)
    assert stats.smallest_p(8, 8) == Fraction(1, 6435)
    assert stats.smallest_p(strata=[(2, 2)] * 4, alternative="greater") == Fraction(1, 1296)
    assert stats.smallest_p(2, 5) == Fraction(1, 21)
    assert stats.smallest_p(0, 5) == 1
    assert stats.smallest_p(strata=[(1, 2), (2, 1)]) == Fraction(1, 9)


def test_items_needed_reaches_the_power_it_promises() -> None:
    needed = stats.items_needed("0.05", rates=("0.9", "0.3"), alternative="greater")
    size = needed.per_class
    reached = stats.power(size, size, "0.9", "0.3", alpha="0.05", alternative="greater")
    assert needed.power == reached >= Fraction(4, 5)
    assert stats.power(size - 1, size - 1, "0.9", "0.3", alpha="0.05", alternative="greater") < Fraction(4, 5)
    in_strata = stats.items_needed("0.05", rates=("0.9", "0.3"), alternative="greater", strata=2)
    assert in_strata.per_class * 2 >= size
    assert in_strata.power >= Fraction(4, 5)


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_power_counts_exactly_the_significant_outcomes(alternative: str) -> None:
    from itertools import product

    rates = Fraction(7, 10), Fraction(2, 10)
    total = Fraction(0)
    for outcome in product((0, 1), repeat=8):  # two strata of 2 v 2
        strata = [(outcome[:2], outcome[2:4]), (outcome[4:6], outcome[6:])]
        if stats.censoring_difference(strata=strata, alternative=alternative).p <= Fraction(1, 5):
            chance = Fraction(1)
            for place, cut in enumerate(outcome):
                rate = rates[0] if place % 4 < 2 else rates[1]
                chance *= rate if cut else 1 - rate
            total += chance
    assert stats.power(2, 2, *rates, alpha="0.2", alternative=alternative, strata=2) == total


def test_safe_cap_needs_59_uncut_costs() -> None:
    share = Fraction(19, 20)
    assert [tolerance_rank(size, share, share) for size in (58, 59, 93)] == [None, 59, 92]
    enough = [(tokens, True) for tokens in range(1, 60)]
    assert stats.safe_cap({"prime": enough, "composite": [(5, 1)] * 59}).cap == 59
    cut = [*enough[:-1], (70, False)]
    missed = stats.safe_cap({"prime": cut})
    assert missed.cap is None
    assert "not reached with these data" in missed.reason
    many = [*[(tokens, True) for tokens in range(1, 93)], (1000, False)]
    assert stats.safe_cap({"prime": many}).cap == 92
    early = [*[(tokens, True) for tokens in range(1, 93)], (50, False)]
    assert stats.safe_cap({"prime": early}).cap is None


def test_rank_intervals() -> None:
    result = stats.rank_intervals(
        {"a": ("0.5", "0.9"), "b": ("0.6", "0.7"), "c": ("0.1", "0.2"), "d": (1, 1)}
    )
    assert result.ranks == {"a": (2, 3), "b": (2, 3), "c": (4, 4), "d": (1, 1)}
    assert result.reversible == (("a", "b"),)


def test_missing_is_neither_wrong_nor_cut() -> None:
    score = stats.score_bounds({"a": {"right": 6, "wrong": 2, "cut": 1, "missing": 1}}).overall
    assert (score.cut_wrong, score.cut_dropped) == (Fraction(6, 9), Fraction(6, 8))
    assert (score.bounds.low, score.bounds.high) == (Fraction(6, 10), Fraction(8, 10))


def test_median_not_reached_is_never_infinite() -> None:
    curve = stats.kaplan_meier([(300, 0), (300, 0), (120, 1)])
    assert (curve.median, curve.median_text) == (None, "> 300")
    assert stats.kaplan_meier([(1, 1), (2, 1), (3, 1)]).median == 2
    assert stats.kaplan_meier([]).median_text == "not estimable"


def test_inversion_control_takes_the_largest_and_hides_secondary_when_cut() -> None:
    exhaustive = [[900, 500], [950, 990], [1000, 940], [870, 910]]
    witness = [[400, 380], [350, 620], [500, 450], [420, 430]]
    result = stats.inversion_control(exhaustive, witness, margin=100)
    each = [
        stats.mean_difference(
            [row[i] for row in exhaustive], [row[i] for row in witness], alternative="greater"
        ).p
        for i in (0, 1)
    ]
    assert result.p == max(each)
    assert result.word_within_margin is False
    assert result.ratios.question == "rank_sum"
    cut = stats.inversion_control([[(900, 0), (880, 1)], [950, 990]], witness[:2])
    assert cut.sums is cut.word_interval is None
    assert cut.secondary_reason == "not testable: costs were cut"
    assert cut.notes
    assert stats.inversion_control([], []).status == "not estimable"
    assert stats.inversion_control([[5], [6]], [[1], [2]]).status == "not testable"


def test_shift_interval_is_open_where_nothing_can_be_rejected() -> None:
    interval = stats.shift_interval([5, 6], [1, 2])
    assert (interval.low, interval.high) == (None, None)
    assert stats.shift_interval([], [1]).method.startswith("not estimable")
    in_strata = stats.shift_interval(
        strata=[([15, 16, 18, 19], [1, 2, 4, 6]), ([25, 29, 28, 21], [5, 6, 1, 2])]
    )
    assert in_strata.low < 17 < in_strata.high


def test_ratio_of_means_is_seeded_and_labelled() -> None:
    one, zero = [900, 1000, 1100, 950], [450, 500, 550, 600]
    first, again = stats.ratio_of_means(one, zero), stats.ratio_of_means(one, zero)
    assert first == again
    assert first.interval.method == "bootstrap percentile, 1999 draws"
    assert first.interval.low < first.value < first.interval.high
    assert stats.ratio_of_means(one, zero, seed="x").interval != first.interval
    assert stats.ratio_of_means([1], [0]).value is None
    assert stats.ratio_of_means([1], [2]).interval is None


def test_westfall_young_beyond_the_limit_is_monte_carlo() -> None:
    rows = {"a": [([1] * 14 + [0], [0] * 15)], "b": [([1, 0] * 7 + [1], [0, 1] * 7 + [0])]}
    result = stats.westfall_young(rows, draws=2000)
    assert (result.method, result.arrangements) == ("Monte Carlo", 2001)
    assert result == stats.westfall_young(rows, draws=2000)
    assert result.raw["a"] < result.raw["b"]
    assert all(result.adjusted[name] >= result.raw[name] > 0 for name in rows)
    two_sided = stats.westfall_young({"a": [([1, 1], [0, 0])]})
    assert two_sided.raw["a"] == Fraction(1, 3)
    less = stats.westfall_young({"a": [([0, 0], [1, 1])]}, alternative="less")
    assert less.raw["a"] == Fraction(1, 6)


def test_holm_keeps_the_order_and_takes_bounds() -> None:
    rough = PValue(Fraction(1, 100), "bracket", Fraction(1, 200), Fraction(1, 50))
    assert stats.holm({"b": rough, "a": Fraction(1, 10)}) == {"b": Fraction(1, 25), "a": Fraction(1, 10)}
    assert stats.holm({}) == {}


def test_importing_the_package_loads_no_numpy() -> None:
    code = (
        "import sys, json, sealbench, sealbench.stats as s;"
        "before = 'numpy' in sys.modules;"
        "s.holm; s.fisher_exact([[1, 2], [0, 2]]); s.mean_difference([1, 2], [1, 3]);"
        "print(json.dumps([before, 'numpy' in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)[0] is False
