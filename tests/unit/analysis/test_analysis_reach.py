"""Which planned tests can never be significant, and how many items would do."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sealbench.analysis.reach import Group, PlannedTest, out_of_reach, strata_sizes
from sealbench.stats.planning import smallest_p

ALPHA = Fraction(1, 20)


def planned(count, size, *, alternative="greater", strata=1):
    return [PlannedTest(f"H{n}", alternative, ALPHA, [(size, size)] * strata) for n in range(count)]


@pytest.mark.parametrize(
    ("count", "size", "enough"),
    [(1, 3, None), (1, 2, 3), (2, 3, 4), (9, 4, 5), (9, 5, None), (12, 5, None), (13, 5, 6)],
)
def test_the_fewest_instances_that_would_do(count, size, enough):
    """1/20, 1/70, 1/252 for 3, 4, 5 a class, times the number of tests."""
    found = out_of_reach(planned(count, size), "holm")
    assert (found.per_stratum if found else None) == enough
    if found:
        assert count * smallest_p(size, size, alternative="greater") > ALPHA
        assert len(found.reasons) == count


def test_without_a_correction_the_number_of_tests_does_not_matter():
    assert out_of_reach(planned(50, 3), "none") is None


def test_strata_multiply_what_is_reached():
    assert out_of_reach(planned(1, 2, strata=2), "holm") is None  # 1/36
    assert out_of_reach(planned(1, 2, strata=2, alternative="two-sided"), "holm") is not None


def test_holm_lets_a_strong_test_help_a_weak_one():
    """With 8 a class tested first, the weak one needs no more than its own alpha."""
    strong, weak = planned(1, 8)[0], PlannedTest("weak", "greater", ALPHA, [(3, 3)])
    assert out_of_reach([strong, weak], "holm") is None


def test_no_size_would_do():
    found = out_of_reach([PlannedTest("H1", "greater", ALPHA, [])], "holm")
    assert found is not None
    assert found.per_stratum is None


def test_sizes_by_stratum_under_the_filters():
    groups = [
        Group("primality", label, kind, f"6_{kind}", 4)
        for label in ("prime", "composite")
        for kind in ("small", "semiprime")
    ]
    assert strata_sizes(groups, {}, "prime", "composite") == [(4, 4), (4, 4)]
    assert strata_sizes(groups, {"kind": "small", "endpoint": "x"}, "prime", "composite") == [(4, 4)]
    assert strata_sizes(groups, {"family": "other"}, "prime", "composite") == []
