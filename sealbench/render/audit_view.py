"""An audit as the JSON of `seal audit --json` (schema sealbench/audit/v1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from sealbench.analysis.audit_result import Audit, CheckedBattery, Group, Policies
from sealbench.stats.pvalue import PValue


def audit_view(audit: Audit) -> dict[str, Any]:
    """The JSON of `seal audit --json` (schema sealbench/audit/v1)."""
    return {
        "schema": "sealbench/audit/v1",
        "alpha": str(audit.alpha),
        "files": [{"path": path, "format": name, "rows": rows} for path, name, rows in audit.files],
        "notes": list(audit.notes),
        "groups": [_group_view(group) for group in audit.groups],
        "reversals": [asdict(one) for one in audit.reversals],
        "batteries": [_battery_view(one) for one in audit.batteries],
    }


def _battery_view(own: CheckedBattery) -> dict[str, Any]:
    return {"checked": own.path is not None, **asdict(own)}


def _group_view(group: Group) -> dict[str, Any]:
    test, curve = group.test, group.curve
    return {
        "model": group.model,
        "task": group.task,
        "cap": group.cap,
        "cap_source": group.cap_source or None,
        "unit": "item",
        "class_field": group.class_field,
        "class1": None if test is None else test.class1,
        "class0": None if test is None else test.class0,
        "alternative": None if test is None else test.alternative,
        "classes": {name: asdict(counts) for name, counts in group.classes.items()},
        "tested": None if test is None else test.measure,
        "p_item": None if test is None else _number(test.p_item),
        "p_response": None if test is None or test.p_response is None else _number(test.p_response),
        "p_item_adjusted": None if group.p_adjusted is None else _number(PValue.exact(group.p_adjusted)),
        "finding": group.finding,
        "reason": group.reason,
        "scores": _scores_view(group.scores),
        "class_scores": {name: _scores_view(own) for name, own in group.class_scores.items()},
        "counterfactual": None
        if curve is None
        else {
            "p_any": None if curve.p_any is None else _number(curve.p_any),
            "worst": curve.worst,
            "caps": [
                {
                    "cap": point.cap,
                    "above": dict(point.above),
                    "exactly": dict(point.exactly),
                    "p": None if point.p is None else _number(point.p),
                }
                for point in curve.points
            ],
        },
        "safe_cap": group.safe_cap.cap,
        "safe_cap_by_class": dict(group.safe_cap.by_class),
        "safe_cap_reason": group.safe_cap.reason,
        "warnings": [*(test.notes if test is not None else ()), *group.warnings],
    }


def _number(p: PValue) -> Mapping[str, str | float]:
    """As a report's: approximations are JSON numbers, but a p-value never becomes 0."""
    view: dict[str, str | float] = dict(p.to_json())
    for key in ("approx", "error"):
        if key in view and float(view[key]) != 0:
            view[key] = float(view[key])
    return view


def _scores_view(own: Policies) -> dict[str, Any]:
    def number(value: Fraction | None) -> float | None:
        return None if value is None else float(value)

    return {
        "recorded": number(own.recorded),
        "cut_wrong": number(own.cut_wrong),
        "answered_only": number(own.answered_only),
        "bounds": None if own.low is None else [number(own.low), number(own.high)],
    }
