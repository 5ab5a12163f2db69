"""Why a question cannot be tested here, why its p is 1 by definition, and what to know beside its p."""

from __future__ import annotations

from collections.abc import Sequence

from sealbench.analysis.question import Question
from sealbench.analysis.rows import CUTTING_MEASURES, TOKEN_MEASURES, InstanceScores, Selection, Table

Strata = Sequence[tuple[Sequence[InstanceScores], Sequence[InstanceScores]]]
_NOTHING = {
    "censored": "nothing was cut",
    "lost": "nothing was lost",
    "first_attempt_lost": "no first attempt was lost",
    "accuracy": "every score is the same",
    "error": "no call ended in an error",
}
_EVERYTHING = {
    "censored": "everything was cut",
    "lost": "everything was lost",
    "first_attempt_lost": "every first attempt was lost",
    "error": "every call ended in an error",
}


def why_not(table: Table, selection: Selection, strata: Strata, question: Question) -> str:
    """Why nothing can be tested here, in one clause; empty where something can."""
    if not selection.lines:
        return "no response matches: the test applies nowhere in this run"
    classes = (question.class1, question.class0)
    for label in classes:
        if label not in selection.instances:
            return f"there is no instance of class {label}"
    about_cutting = question.measure in CUTTING_MEASURES or question.kind == "max_over_caps"
    if about_cutting and question.endpoint in table.unbinding_endpoints():
        return "the cap does not bind: a response ran past it"
    for label, index in zip(classes, (0, 1), strict=True):
        if not any(pair[index] for pair in strata):
            return (
                f"no response of class {label} can be used: {_unusable(selection, question.measure, label)}"
            )
    if not any(first and second for first, second in strata):
        return "no stratum holds instances of both classes with equally many usable responses"
    if question.kind == "max_over_caps" and sum(bool(first and second) for first, second in strata) > 1:
        return "several strata hold both classes; the exact distribution over all caps is known for one"
    return ""


def _unusable(selection: Selection, measure: str, label: str) -> str:
    lines = selection.of_class(label)
    if not lines:
        return "none was asked"
    if all(line.missing for line in lines):
        return "all are missing"
    if measure in TOKEN_MEASURES:
        return "no usage was reported"
    if measure == "accuracy":
        return "none is graded"
    return "no ending is known"


def why_degenerate(scores: Sequence[InstanceScores], measure: str) -> str:
    """Why p is 1 by definition: every instance has the same score."""
    means = {score.mean for score in scores}
    if len(means) != 1:
        return ""
    if measure in TOKEN_MEASURES:
        return "every instance costs the same"
    value = means.pop()
    if value == 0:
        return _NOTHING[measure]
    return (
        _EVERYTHING.get(measure, "every score is the same")
        if value == 1
        else "every instance has the same share"
    )


def remarks(selection: Selection, measure: str) -> tuple[str, ...]:
    """What to know about the responses behind a test: missing ones, unnamed endings, ends at the cap."""
    notes = []
    unknown = sum(line.end == "unknown" for line in selection.lines)
    if unknown and measure in CUTTING_MEASURES:
        notes.append(
            f"{unknown} responses ended in a way the host did not name; they are not counted as uncut"
        )
    missing = sum(line.missing for line in selection.lines)
    if missing and measure != "error":
        notes.append(f"{missing} responses are missing, neither cut nor uncut")
    at_cap = sum(line.at_cap for line in selection.lines)
    if at_cap and measure in CUTTING_MEASURES:
        notes.append(f"{at_cap} responses are reported finished exactly at the cap")
    if measure == "accuracy" and any(line.lost for line in selection.lines):
        notes.append("lost answers count as wrong here; see the score table for the other policies")
    return tuple(notes)
