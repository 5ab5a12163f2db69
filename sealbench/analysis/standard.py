"""The tests every report shows, registered or not, and the cost and score sections beside them.

For each family, wording, endpoint and cap: censored, lost, first-attempt loss and charged tokens, two-sided.
They are corrected together (Holm), leaving out those that cannot reject whatever their labels. Nothing
here is a verdict: the word "asymmetric" stands for a corrected p at or below alpha and no more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from sealbench.analysis.comparison import Tested, compare
from sealbench.analysis.cost import cost_by_class
from sealbench.analysis.hypotheses import adjusted_p
from sealbench.analysis.quantities import p_number
from sealbench.analysis.question import Question
from sealbench.analysis.rows import Table, is_reference
from sealbench.analysis.scores import score_rows
from sealbench.formats.preregistration import Preregistration
from sealbench.formats.report import Comparison, Cost, Finding, Score
from sealbench.stats.multiplicity import holm

STANDARD_MEASURES = ("censored", "lost", "first_attempt_lost", "charged_tokens")


@dataclass(frozen=True)
class Place:
    """Where one group of responses stands: family, wording, endpoint, cap."""

    family: str
    wording: str
    endpoint: str
    cap: int
    reference: bool

    @property
    def where(self) -> dict[str, str]:
        """The filters of the report's records."""
        return {"family": self.family, "wording": self.wording}


def places(table: Table) -> Iterator[Place]:
    """Every family, wording, endpoint and cap of the run, in the run's order of endpoints and caps."""
    for family in table.families:
        for wording in table.wordings(family):
            for endpoint in table.run.endpoints:
                for cap in table.run.caps:
                    yield Place(family, wording, endpoint.name, cap, is_reference(endpoint))


def standard_tests(
    table: Table, plan: Preregistration | None, alpha: Fraction, *, time_limit: int
) -> tuple[Comparison, ...]:
    """All unregistered comparisons, corrected together."""
    pairs = {family: class_pairs(table, family, plan) for family in table.families}
    tested = [
        compare(table, question, time_limit=time_limit)
        for place in places(table)
        for class1, class0 in pairs[place.family]
        for question in _questions(table, place, class1, class0)
    ]
    able = {str(place): test.p for place, test in enumerate(tested) if test.p is not None and not test.reason}
    adjusted = holm(able) if able else {}
    return tuple(_finished(test, adjusted.get(str(place)), alpha) for place, test in enumerate(tested))


def _questions(table: Table, place: Place, class1: str, class0: str) -> Iterator[Question]:
    """The standard measures; at the largest cap also one test over every smaller cap."""
    for measure in STANDARD_MEASURES:
        yield Question(measure, place.where, place.endpoint, place.cap, class1, class0, "two-sided")
    if place.cap == max(table.run.caps):
        where, kind = place.where, "max_over_caps"
        yield Question("charged_tokens", where, place.endpoint, place.cap, class1, class0, "two-sided", kind)


def _finished(test: Tested, adjusted: Fraction | None, alpha: Fraction) -> Comparison:
    if test.p is None:
        return test.comparison.model_copy(update={"finding": "not_estimable"})
    corrected = test.p if adjusted is None else adjusted_p(test.p, adjusted)
    return test.comparison.model_copy(
        update={"p_adjusted": p_number(corrected), "finding": _finding(test, corrected.conservative, alpha)}
    )


def _finding(test: Tested, adjusted: Fraction, alpha: Fraction) -> Finding:
    if adjusted <= alpha:
        return "asymmetric"
    if test.smallest is not None and test.smallest > alpha:
        return "cannot_tell"
    return "not_shown"


def class_pairs(table: Table, family: str, plan: Preregistration | None) -> list[tuple[str, str]]:
    """The pairs of classes compared in one family, the one named first first.

    The order is the plan's where a registered hypothesis of that family compares these two, else the
    more often cut class comes first. One class alone gives no pair.
    """
    labels = table.classes(family)
    pairs = []
    for first, second in combinations(labels, 2):
        planned = _planned_order(plan, family, {first, second})
        pairs.append(planned or (first, second))
    return pairs


def _planned_order(plan: Preregistration | None, family: str, classes: set[str]) -> tuple[str, str] | None:
    for hypothesis in plan.hypotheses if plan is not None else ():
        if (
            hypothesis.where.get("family", family) == family
            and {hypothesis.class1, hypothesis.class0} == classes
        ):
            return hypothesis.class1, hypothesis.class0
    return None


def costs_and_scores(table: Table) -> tuple[tuple[Cost, ...], tuple[Score, ...]]:
    """The cost and score sections, in the order of `places`."""
    costs, scores = [], []
    for place in places(table):
        selection = table.select(place.where, place.endpoint, place.cap)
        costs.append(
            cost_by_class(selection, place.where, place.endpoint, place.cap, reference=place.reference)
        )
        scores.append(
            Score(
                where=place.where,
                endpoint=place.endpoint,
                reference=place.reference,
                cap=place.cap,
                rows=score_rows(selection),
            )
        )
    return tuple(costs), tuple(scores)
