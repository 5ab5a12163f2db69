"""How the calls of each class ended: the counts beside every test, and the rate with its exact interval."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache

from sealbench.analysis.quantities import exact_or_none, interval_record, mean
from sealbench.analysis.rows import InstanceScores, Selection
from sealbench.formats.report import ClassCounts, IntervalRecord
from sealbench.formats.run import LogLine
from sealbench.stats.intervals import clopper_pearson


def class_counts(selection: Selection, label: str, scores: Sequence[InstanceScores]) -> ClassCounts:
    """One class of one comparison in counts.

    Parameters
    ----------
    selection : the lines the comparison is about.
    label : the class.
    scores : the instances a test of this measure can use, of any class.
    """
    lines = selection.of_class(label)
    ends = Counter(line.end for line in lines)
    used = [score for score in scores if score.class_label == label]
    cut, judged = instances_cut(lines)
    return ClassCounts(
        instances=len(selection.instances.get(label, ())),
        responses=sum(not line.missing for line in lines),
        finished=ends["finished"],
        cut_reported=ends["cut_reported"],
        cut_inferred=ends["cut_inferred"],
        cut_other=ends["cut_other"],
        at_cap=sum(line.at_cap for line in lines),
        lost=sum(line.lost for line in lines),
        empty=sum(line.answer == "empty" and not line.missing for line in lines),
        refused=ends["refused"],
        filtered=ends["filtered"],
        unknown=ends["unknown"],
        missing=ends["error"],
        absent=absent_in(selection, label, lines),
        instances_cut=cut,
        cut_rate=rate_interval(cut, judged),
        instances_used=len(used),
        responses_used=sum(len(score.values) for score in used),
        mean=exact_or_none(mean([score.mean for score in used])),
    )


def absent_in(selection: Selection, label: str, lines: Sequence[LogLine]) -> int:
    """Calls planned for this class that have no line at all."""
    return max(0, selection.expected.get(label, 0) - len({line.key for line in lines}))


def instances_cut(lines: Iterable[LogLine]) -> tuple[int, int]:
    """(instances cut at least once, instances with a response whose ending is known)."""
    cut: dict[str, bool] = defaultdict(bool)
    for line in lines:
        if not line.missing and line.end != "unknown":
            cut[line.instance] |= line.censored
    return sum(cut.values()), len(cut)


@cache
def rate_interval(cut: int, judged: int) -> IntervalRecord | None:
    """The exact 95% interval of the share of instances cut at least once; None where none was judged.

    Instances, not responses: repeats of one instance are no independent trials.
    """
    return interval_record(clopper_pearson(cut, judged)) if judged else None
