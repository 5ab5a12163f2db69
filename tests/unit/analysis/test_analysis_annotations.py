"""What raters judge, in which order, and the tables made of it, by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
from factory import identifier, line, log, plan, run_of

from sealbench.analysis.annotations import tabulate, verbose_lines
from sealbench.errors import FormatError
from sealbench.formats.annotation_sheet import Annotation
from sealbench.render.annotations import annotations_section
from sealbench.render.document import Grid

A, B = "host/small", "host/large"
RUN = run_of(None, 0, endpoints=plan(endpoints=(A, B)).endpoints, caps=(300,))


def answers(count, **changes):
    """Alternating endpoints, all verbose."""
    made = [
        line(item=identifier(n), endpoint=(A, B)[n % 2], first_line_tokens=9, **changes) for n in range(count)
    ]
    return log(RUN, made)


def sheet(*types, run="run1", start=0):
    return [Annotation(run=run, line=start + place, type=kind) for place, kind in enumerate(types)]


def test_verbose_answers_at_the_largest_cap_in_a_drawn_order():
    made = [
        line(first_line_tokens=9),
        line(first_line_tokens=3),
        line(first_line_tokens=9, answer="empty"),
        line(first_line_tokens=9, cap=100),
        line(first_line_tokens=9, end="error"),
    ]
    assert [one.seq for one in verbose_lines(RUN, log(RUN, made))] == [0]
    found = [one.seq for one in verbose_lines(RUN, answers(30))]
    assert sorted(found) == list(range(30))
    assert found != sorted(found)
    assert found == [one.seq for one in verbose_lines(RUN, answers(30))]


def test_one_rater_is_counted_by_endpoint():
    found = tabulate(RUN, answers(6), {"anna": sheet("none", "none", "enumeration", None)})
    assert (found.verbose, found.agreements) == (6, ())
    small, large = found.counts
    assert (small.endpoint, dict(small.types), small.unrated) == (A, {"none": 1, "enumeration": 1}, 1)
    assert (large.endpoint, dict(large.types), large.unrated) == (B, {"none": 1}, 2)


def test_raters_agree_by_hand():
    """Four answers judged by both: 3 of 4 alike. By chance (2·2 + 2·1 + 0·1)/16 = 3/8."""
    sheets = {
        "anna": sheet("none", "none", "enumeration", "enumeration", "ambiguity"),
        "ben": sheet("none", "none", "enumeration", "ambiguity"),
    }
    (both,) = tabulate(RUN, answers(6), sheets).agreements
    assert both.raters == ("anna", "ben")
    assert both.agreement.subjects == 4
    assert (both.agreement.observed, both.agreement.expected) == (Fraction(3, 4), Fraction(6, 16))
    assert both.agreement.kappa == Fraction(3, 5)


def test_three_raters_have_three_pairs_and_fleiss():
    sheets = {name: sheet("none", kind) for name, kind in (("a", "none"), ("b", "none"), ("c", "ambiguity"))}
    found = tabulate(RUN, answers(2), sheets)
    assert [len(own.raters) for own in found.agreements] == [2, 2, 2, 3]
    # Pairs alike: 3 of 3 and 1 of 3; shares 5/6 and 1/6.
    fleiss = found.agreements[-1].agreement
    assert (fleiss.observed, fleiss.expected) == (Fraction(2, 3), Fraction(26, 36))
    assert fleiss.kappa == Fraction(-1, 5)
    tables = [block for block in annotations_section(found).blocks if isinstance(block, Grid)]
    assert tables[0].header == ("endpoint", "type", "a", "b", "c")
    assert ("host/small", "none of these", "1", "1", "1") in tables[0].rows
    assert tables[1].rows[0][1:3] == ("Cohen not defined", "2")
    assert tables[1].rows[-1][1] == "Fleiss -0.20"


def test_other_runs_are_passed_over_and_strange_lines_refused():
    assert tabulate(RUN, answers(2), {"anna": sheet("none", run="other")}).counts[0].unrated == 1
    with pytest.raises(FormatError, match="anna: line 7 of run run1 is no verbose answer"):
        tabulate(RUN, answers(2), {"anna": sheet("none", start=7)})
