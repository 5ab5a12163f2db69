"""Censoring by class in evaluation logs: from tables of rows to groups with tests, scores and warnings.

Tests are corrected over all groups (Holm). "Asymmetric" is said only of a corrected item-level p at or below
alpha, "cannot tell" where these totals could not have reached it, and "not shown" never means "no asymmetry".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from sealbench.analysis.audit_caps import costs_of, curve, safe
from sealbench.analysis.audit_classes import Classes, classes_of
from sealbench.analysis.audit_cuts import Cuts, counts_of, find_cuts
from sealbench.analysis.audit_frame import GroupRows
from sealbench.analysis.audit_result import (
    ASYMMETRIC,
    CANNOT_TELL,
    FINDINGS,
    NOT_SHOWN,
    NOT_TESTED,
    NOTHING_CUT,
    Audit,
    Group,
    Test,
)
from sealbench.analysis.audit_scores import policies, reversals
from sealbench.analysis.audit_table import ClassChoice, GroupTable
from sealbench.analysis.audit_tests import item_test, measure_of
from sealbench.analysis.audit_warnings import warnings_of
from sealbench.errors import UsageError
from sealbench.stats.multiplicity import holm

ALPHA = Fraction(1, 20)


@dataclass(frozen=True)
class AuditOptions:
    """What is asked: the classes, the class named first, the direction, the level, a cap of the caller's."""

    classes: ClassChoice = field(default_factory=ClassChoice)
    class1: str | None = None
    alternative: str = "two-sided"
    alpha: Fraction = ALPHA
    cap: int | None = None


def audit_tables(
    tables: Iterable[GroupTable],
    options: AuditOptions,
    files: Sequence[tuple[str, str, int]],
    notes: Sequence[str],
    *,
    keep_rows: bool = False,
) -> Audit:
    """The whole audit; with `keep_rows` the groups keep their responses.

    Raises UsageError if a class named first is in no group.
    """
    groups = [_group(table, options, keep_rows) for table in tables]
    if options.class1 is not None and not any(options.class1 in group.classes for group in groups):
        seen = sorted({name for group in groups for name in group.classes})
        raise UsageError(
            f"no item of class {options.class1}", hint=f"--class1 {seen[0]}" if seen else "--class FIELD"
        )
    corrected = _corrected(groups, options.alpha)
    ordered = sorted(corrected, key=_rank)
    return Audit(tuple(ordered), reversals(groups), tuple(files), tuple(notes), options.alpha)


def _group(table: GroupTable, options: AuditOptions, keep_rows: bool) -> Group:
    cuts = find_cuts(table, options.cap is not None)
    classes = classes_of(table, options.classes)
    item, labels = table.item(), classes.labels
    # Items without a class are counted too: they were asked, and their score counts.
    shown = [*labels, *([""] if np.any(classes.item_class < 0) else [])]
    rows = {name: classes.item_class[item] == (place if name else -1) for place, name in enumerate(shown)}
    sizes = {
        name: int(np.count_nonzero(classes.item_class == (place if name else -1)))
        for place, name in enumerate(shown)
    }
    measure, happened, usable = measure_of(cuts)
    test = None
    if len(labels) > 1:
        test = item_test(
            measure, happened, usable, item, classes.item_class, labels, options.class1, options.alternative
        )
    return Group(
        model=table.model,
        task=table.task,
        cap=cuts.cap,
        cap_source=cuts.cap_source if cuts.cap is not None else "",
        class_field=options.classes.name,
        classes={name or "(no class)": counts_of(cuts, rows[name], sizes[name]) for name in shown},
        test=test if np.any(happened) else None,
        p_adjusted=None,
        finding=NOT_TESTED,
        reason=_reason(cuts, classes, test, bool(np.any(happened)), measure),
        scores=policies(table, cuts, np.ones(len(item), dtype=bool)),
        class_scores={name: policies(table, cuts, rows[name]) for name in labels},
        curve=curve(table, cuts, classes, options.class1, options.alternative) if len(labels) > 1 else None,
        costs=costs_of(table, cuts, classes),
        safe_cap=safe(table, cuts, classes),
        warnings=(*cuts.remarks, *warnings_of(table, classes, options.classes.name)),
        rows=GroupRows(table, cuts, classes) if keep_rows else None,
    )


def _reason(cuts: Cuts, classes: Classes, test: Test | None, happened: bool, measure: str) -> str:
    """Why nothing was tested, or what the log cannot show; empty where neither applies."""
    judged, text = bool(np.any(cuts.judged)), bool(np.any(cuts.text_known))
    if np.all(cuts.missing):
        return f"all {len(cuts.missing)} calls failed, so there is no response to look at"
    if not judged and not text:
        return (
            "this log records neither stop reasons, token counts with a cap, nor response texts: whether "
            "anything was cut cannot be concluded from it"
        )
    silent = (
        "this log records neither stop reasons nor token counts with a cap: that responses are empty can be "
        "seen, why they are cannot (a cap, a filter and a failed call look the same), and a cut with visible "
        "text cannot be seen at all"
    )
    if not happened:
        missing = int(np.count_nonzero(cuts.missing))
        if judged:
            text_part = " and no response is empty" if text else ""
            absent = f"; {missing} calls failed" if missing else ""
            return f"nothing was cut{text_part}{absent}"
        return f"no response is empty; {silent}"
    if classes.reason:
        return f"{classes.reason}. {silent}" if not judged else classes.reason
    if test is None:
        return "fewer than two classes have a usable response"
    return silent if not judged else ""


def _corrected(groups: list[Group], alpha: Fraction) -> list[Group]:
    tested = {str(place): group.test for place, group in enumerate(groups) if group.test is not None}
    adjusted = holm({place: test.p_item for place, test in tested.items()}) if tested else {}
    found = []
    for place, group in enumerate(groups):
        p = adjusted.get(str(place))
        found.append(replace(group, p_adjusted=p, finding=_finding(group, p, alpha, len(tested))))
    return found


def _finding(group: Group, p: Fraction | None, alpha: Fraction, tests: int) -> str:
    if group.test is None or p is None:
        happened = any(counts.cut or counts.empty for counts in group.classes.values())
        judged = any(counts.judged for counts in group.classes.values())
        if not happened and (judged or group.reason.startswith("no response is empty")):
            return NOTHING_CUT
        return NOT_TESTED
    if p <= alpha:
        return ASYMMETRIC
    return CANNOT_TELL if group.test.smallest * tests > alpha else NOT_SHOWN


def _rank(group: Group) -> tuple[int, Fraction, int, str]:
    p = Fraction(1) if group.test is None else group.test.p_item.value
    happened = sum(counts.cut + counts.empty for counts in group.classes.values())
    return FINDINGS.index(group.finding), p, -happened, group.name
