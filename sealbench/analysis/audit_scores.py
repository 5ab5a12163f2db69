"""What the score would have been under each policy, and which rank orders the cut answers could reverse."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from sealbench.analysis.audit_cuts import Cuts, Flags
from sealbench.analysis.audit_result import Group, Policies, Reversal
from sealbench.analysis.audit_table import GroupTable
from sealbench.stats.bounds import rank_intervals

_NONE = Policies(None, None, None, None, None, 0, 0)


def policies(table: GroupTable, cuts: Cuts, rows: Flags) -> Policies:
    """The scores of some rows; nothing where the log holds no score.

    Unknown are: missing responses, responses with nothing visible, and those cut that scored nothing (a cut
    response with a right answer counts as it answered). Uncut responses without a score are left out.
    """
    place, values = table.score(), table.score_values()
    scored = (place >= 0) & rows
    if not np.any(scored):
        return _NONE
    zero = np.isin(place, [index for index, value in enumerate(values) if value == 0]) | (place < 0)
    unknown = rows & (cuts.missing | (cuts.invisible & zero) | (cuts.cut & zero))
    answered = scored & ~unknown
    known, total = int(np.count_nonzero(answered)), _total(place, answered, values)
    asked = known + int(np.count_nonzero(unknown & ~cuts.missing))
    everything = known + int(np.count_nonzero(unknown))
    return Policies(
        recorded=_share(_total(place, scored, values), int(np.count_nonzero(scored))),
        cut_wrong=_share(total, asked),
        answered_only=_share(total, known),
        low=_share(total, everything),
        high=_share(total + everything - known, everything),
        scored=int(np.count_nonzero(scored)),
        unknown=everything - known,
    )


def _total(
    place: np.ndarray[tuple[int], np.dtype[np.int32]], rows: Flags, values: list[Fraction]
) -> Fraction:
    counts = np.bincount(place[rows], minlength=len(values))
    return sum((value * int(count) for value, count in zip(values, counts, strict=True)), Fraction(0))


def _share(total: Fraction, count: int) -> Fraction | None:
    return total / count if count else None


def reversals(groups: Iterable[Group]) -> tuple[Reversal, ...]:
    """Pairs of models on one task whose order is open within their worst-case bounds.

    A pair counts only where the cut answers could really reverse it: equal scores without any unknown answer
    are no reversal.
    """
    by_task: dict[str, dict[str, tuple[Fraction, Fraction]]] = defaultdict(dict)
    for group in groups:
        if group.scores.low is not None and group.scores.high is not None:
            name = group.model if group.cap is None else f"{group.model} (cap {group.cap})"
            by_task[group.task][name] = (group.scores.low, group.scores.high)
    return tuple(
        Reversal(task, first, second)
        for task, scores in by_task.items()
        if len(scores) > 1
        for first, second in rank_intervals(scores).reversible
    )
