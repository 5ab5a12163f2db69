"""Which void verdict a rebuilt battery answers: read from the reports, never from anybody's word."""

from __future__ import annotations

from collections.abc import Iterable

from sealbench import store
from sealbench.formats.report import Report
from sealbench.publishing.publication import read_registry
from sealbench.store import Workspace


def void_verdicts(reports: Iterable[Report]) -> str | None:
    """The void verdicts of some reports as `RUN: H1, H2 void by V1`, sorted by run; None if there is none."""
    told = []
    for report in sorted(reports, key=lambda one: one.run):
        void = dict.fromkeys(one.hypothesis for one in report.verdicts if one.verdict == "void")
        by = [one.id for one in report.void_conditions if one.holds and set(one.voids) & set(void)]
        if void:
            told.append(f"{report.run}: {', '.join(void)} void by {', '.join(by)}")
    return "; ".join(told) or None


def void_verdict_of(workspace: Workspace, battery: str | None) -> str | None:
    """The void verdicts in the registered reports on a battery."""
    if battery is None:
        return None
    names = {line.subject for line in read_registry(workspace).events("report")}
    paths = [workspace.run(name) / "report.json" for name in sorted(names)]
    reports = [Report.from_bytes(store.read(path), workspace.relative(path)) for path in paths]
    return void_verdicts(report for report in reports if report.battery == battery)
