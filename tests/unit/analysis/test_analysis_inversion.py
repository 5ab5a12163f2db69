"""The inversion control: the same instances in two wordings, and what cut costs do to it."""

from __future__ import annotations

from fractions import Fraction

from factory import SOLVER, failed, plan, world

from sealbench.analysis import evaluate

FAMILY = {"primality": ("prime", "composite")}


def search(fields):
    """The class that needs the whole search, as the family says."""
    return fields | {"search": "exhaustive" if fields["class_label"] == "prime" else "witness"}


def fraction(number):
    return Fraction(int(number.num), int(number.den))


def test_the_cost_follows_the_search_in_both_wordings():
    registered = plan(wordings=("inverted", "plain"), caps=(4000,))
    run, lines = world(registered, search, families=FAMILY)
    (control,) = evaluate(run, lines, registered).inversions
    assert (control.endpoint, control.cap, control.wordings) == (SOLVER, 4000, ("inverted", "plain"))
    assert fraction(control.p) == Fraction(1, 12870)
    assert [fraction(p) for p in control.by_wording] == [Fraction(1, 12870)] * 2
    assert fraction(control.search_p) == Fraction(1, 12870)
    assert fraction(control.word_p) == 1
    assert control.secondary_reason == ""


def test_the_cost_follows_the_word():
    def word(fields):
        dear = (fields["class_label"] == "prime") == (fields["wording"] == "plain")
        return search(fields) | {"charged_tokens": 900 if dear else 100}

    registered = plan(wordings=("inverted", "plain"), caps=(4000,))
    run, lines = world(registered, word, families=FAMILY)
    (control,) = evaluate(run, lines, registered).inversions
    assert fraction(control.p) == 1
    assert fraction(control.word_p) == Fraction(2, 12870)


def test_cut_costs_leave_the_secondary_measures_untestable():
    registered = plan(wordings=("inverted", "plain"), caps=(300,))
    run, lines = world(registered, search, families=FAMILY)
    (control,) = evaluate(run, lines, registered).inversions
    assert control.restricted
    assert fraction(control.p) == Fraction(1, 12870)
    assert (control.word_p, control.word_interval) == (None, None)
    assert "costs were cut" in control.secondary_reason


def test_instances_without_a_cost_in_every_wording_are_left_out():
    def drop(fields):
        gone = fields["wording"] == "inverted" and fields["charged_tokens"] == 600
        return search(failed(fields) if gone else fields)

    registered = plan(wordings=("inverted", "plain"), caps=(4000,))
    run, lines = world(registered, drop, families=FAMILY)
    (control,) = evaluate(run, lines, registered).inversions
    assert control.left_out == 1
    assert fraction(control.p) == Fraction(1, 6435)  # 7 against 8


def test_large_batteries_get_the_primary_p_alone():
    registered = plan(wordings=("inverted", "plain"), caps=(4000,))
    run, lines = world(registered, search, families=FAMILY, per_class=33)
    (control,) = evaluate(run, lines, registered).inversions
    assert control.p is not None
    assert control.search_p is None
    assert "up to 64 instances" in control.secondary_reason


def test_one_wording_or_no_search_gives_no_control():
    registered = plan()
    run, lines = world(registered, search)
    assert evaluate(run, lines, registered).inversions == ()
    registered = plan(wordings=("inverted", "plain"))
    run, lines = world(registered)
    assert evaluate(run, lines, registered).inversions == ()
