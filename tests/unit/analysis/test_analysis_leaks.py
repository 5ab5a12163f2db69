"""The leak report: exact p-values against scipy, leaks that are found, defaults that pass."""

from fractions import Fraction

import pytest
import scipy.stats

from sealbench.analysis.leaks import binomial_at_least, leak_report, throwaway_draw
from sealbench.errors import UsageError
from sealbench.tasks.base import Instance, get_family


@pytest.mark.parametrize(("right", "total", "classes"), [(8, 10, 2), (0, 5, 2), (5, 5, 3), (7, 20, 4)])
def test_binomial_against_scipy(right, total, classes):
    expected = scipy.stats.binom.sf(right - 1, total, 1 / classes)
    assert float(binomial_at_least(right, total, classes)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "given_values"),
    [
        ("primality", {}),
        ("primality", {"composite": "small_factor,semiprime", "digits": "6,9"}),
        ("primality", {"digits": "3"}),
        ("subset_sum", {}),
        ("satisfiability", {}),
        ("digit_sum_parity", {}),
    ],
)
def test_parameters_without_leaks(name, given_values):
    family = get_family(name)
    items = 600 if name == "satisfiability" else 3000
    instances = throwaway_draw(family, family.complete(given_values), items=items)
    report = leak_report(instances)
    assert report.instances == len(instances)
    assert len(report.baselines) >= 4
    assert report.leaks == ()


def test_natural_sampling_is_found_out():
    family = get_family("primality")
    report = leak_report(throwaway_draw(family, family.complete({"sampling": "natural"}), items=3000))
    names = {baseline.name for baseline in report.leaks}
    assert "n odd" in names
    assert "n divisible by 3" in names
    odd = next(baseline for baseline in report.baselines if baseline.name == "n odd")
    assert odd.score > Fraction(1, 2)
    assert odd.p <= odd.p_adjusted


def _instances(pairs, kind="k"):
    return [Instance(label, kind, "s", "none", params, {}) for label, params in pairs]


@pytest.mark.parametrize(
    ("feature", "params"),
    [
        ("a long", lambda i, yes: {"a": 1000 + i if yes else 100 + i}),
        ("a ends in 7", lambda i, yes: {"a": 10 * i + (7 if yes else 3)}),
        ("a divisible by 5", lambda i, yes: {"a": str(10**20 + 10 * i + (5 if yes else 7))}),
        ("list many", lambda i, yes: {"list": [1] * (5 if yes else 4)}),
        ("list sum odd", lambda i, yes: {"list": [2 * i, 7 if yes else 8]}),
        ("t large for list", lambda i, yes: {"t": 900 + i if yes else 100 + i, "list": [400 + i, 500 - i]}),
        ("c many negative", lambda i, yes: {"c": [[1, -2], [-3 if yes else 3, i + 4]]}),
    ],
)
def test_planted_leaks_are_named(feature, params):
    pairs = [("yes" if i % 2 else "no", params(i, bool(i % 2))) for i in range(60)]
    report = leak_report(_instances(pairs))
    assert feature in {baseline.name for baseline in report.leaks}
    assert report.baselines[0].score == 1


def test_unequal_classes_and_prompt_lengths_leak():
    pairs = [("yes", {"x": "a"})] * 90 + [("no", {"x": "a"})] * 30
    report = leak_report(_instances(pairs), ["long prompt"] * 90 + ["short"] * 30)
    assert {"always yes", "prompt length"} <= {baseline.name for baseline in report.leaks}


def test_a_leak_that_cancels_between_kinds_is_found():
    one = _instances([("yes" if i % 2 else "no", {"a": 2 * i + i % 2}) for i in range(80)], "one")
    two = _instances([("yes" if i % 2 else "no", {"a": 2 * i + 1 - i % 2}) for i in range(80)], "two")
    report = leak_report(one + two)
    assert {(b.name, b.kind) for b in report.leaks if b.name == "a odd"} == {
        ("a odd", "one"),
        ("a odd", "two"),
    }


def test_three_classes_are_judged_one_against_the_others():
    pairs = [("abc"[i % 3], {"a": 30 * i + i % 3}) for i in range(90)]
    names = {baseline.name for baseline in leak_report(_instances(pairs)).leaks}
    assert "a ends in 1 (b or not)" in names


def test_throwaway_draws_repeat_are_balanced_and_shrink_to_fit():
    family = get_family("primality")
    parameters = family.complete({"digits": "3"})
    counted = []
    one = throwaway_draw(family, parameters, on_instance=lambda: counted.append(1))
    assert one == throwaway_draw(family, parameters)
    assert len(counted) >= len(one)
    labels = [instance.class_label for instance in one]
    assert labels.count("prime") == labels.count("composite") > 50
    with pytest.raises(UsageError):
        leak_report([])
