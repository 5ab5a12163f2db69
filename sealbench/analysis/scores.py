"""What the score would have been: cut counted wrong, cut dropped, worst-case bounds, and reference rows.

A missing response is neither right nor wrong: it enters the bounds only. A lost one is in the bounds too,
because nobody knows what it would have answered; a cut response with a final answer counts as it answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from sealbench.analysis.censoring import absent_in
from sealbench.analysis.quantities import exact_or_none
from sealbench.analysis.rows import Selection
from sealbench.formats.report import Policies, ScoreRow
from sealbench.stats.bounds import ClassScore, Outcomes, ScoreBounds, score_bounds

_NOTHING = Policies(responses=0, cut_wrong=None, cut_dropped=None, low=None, high=None)


def score_rows(selection: Selection) -> tuple[ScoreRow, ...]:
    """The score table of one family, wording, endpoint and cap: the endpoint, then the reference rows.

    `constant` rows answer one class whatever is asked, and are never cut; `perfect_if_uncut` is right
    wherever this endpoint was not cut short: what the cap alone makes of a perfect model.
    """
    outcomes = {label: _outcomes(selection, label) for label in selection.labels}
    rows = [_row("endpoint", None, outcomes)]
    if len(outcomes) > 1:
        for answer in outcomes:
            constant = {label: _constant(own, is_right=label == answer) for label, own in outcomes.items()}
            rows.append(_row("constant", answer, constant))
    perfect = {
        label: Outcomes(own.right + own.wrong, 0, own.cut, own.missing) for label, own in outcomes.items()
    }
    rows.append(_row("perfect_if_uncut", None, perfect))
    return tuple(rows)


def _outcomes(selection: Selection, label: str) -> Outcomes:
    lines = selection.of_class(label)
    graded = [line for line in lines if not line.missing and line.answer != "ungraded"]
    right = sum(line.answer == "right" for line in graded)
    lost = sum(line.lost for line in graded)
    missing = sum(line.missing for line in lines) + absent_in(selection, label, lines)
    return Outcomes(right, len(graded) - right - lost, lost, missing)


def _constant(own: Outcomes, *, is_right: bool) -> Outcomes:
    asked = own.right + own.wrong + own.cut + own.missing
    return Outcomes(asked, 0) if is_right else Outcomes(0, asked)


def _row(
    row: Literal["endpoint", "constant", "perfect_if_uncut"],
    answer: str | None,
    outcomes: Mapping[str, Outcomes],
) -> ScoreRow:
    if not outcomes:
        return ScoreRow(row=row, answer=answer, classes={}, overall=_NOTHING, balanced=_NOTHING)
    scores = score_bounds(outcomes)
    return ScoreRow(
        row=row,
        answer=answer,
        classes={label: _policies(score) for label, score in scores.classes.items()},
        overall=_policies(scores.overall),
        balanced=_balanced(scores),
    )


def _graded(outcomes: Outcomes) -> int:
    return outcomes.right + outcomes.wrong + outcomes.cut


def _policies(score: ClassScore) -> Policies:
    return Policies(
        responses=_graded(score.outcomes),
        cut_wrong=exact_or_none(score.cut_wrong),
        cut_dropped=exact_or_none(score.cut_dropped),
        low=exact_or_none(score.bounds.low if score.bounds is not None else None),
        high=exact_or_none(score.bounds.high if score.bounds is not None else None),
    )


def _balanced(scores: ScoreBounds) -> Policies:
    return Policies(
        responses=_graded(scores.overall.outcomes),
        cut_wrong=exact_or_none(scores.balanced_cut_wrong),
        cut_dropped=exact_or_none(scores.balanced_cut_dropped),
        low=exact_or_none(scores.balanced.low if scores.balanced is not None else None),
        high=exact_or_none(scores.balanced.high if scores.balanced is not None else None),
    )
