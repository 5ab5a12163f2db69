"""Amendments and rebuilt batteries in words: which came first, which verdict was answered, what counts."""

from __future__ import annotations

from sealbench.formats.report import Report
from sealbench.formats.report_history import RelatedEvent
from sealbench.render.document import Bullets, Section, clean


def history_section(report: Report) -> Section | None:
    """What the registry names beside this run; None where it names nothing."""
    if not report.history:
        return None
    items = tuple(_sentence(report, event) for event in report.history)
    return Section("history", "Amendments and rebuilt batteries", (Bullets(items),))


def _sentence(report: Report, event: RelatedEvent) -> str:
    earlier, later = clean(event.earlier), clean(event.later)
    if event.event == "amend":
        told = f"Plan {later} amends {earlier} (registry line {event.line})"
        if later == report.plan:
            return (
                f"{told}: this run followed the amendment; the verdicts of {earlier} are in its own reports."
            )
        if not event.after_start:
            return f"{told}, before this run began, which followed {report.plan} all the same."
        kept = f"whose verdicts stay those of {report.plan}"
        return f"{told}, after this run began: POST HOC for this run, {kept}."
    told = f"Battery {later} replaces {earlier} (registry line {event.line})"
    if event.void is None:
        return f"{told}; it names no void verdict that it answers."
    own = " of this report" if event.void.startswith(f"{report.run}: ") else ""
    return f"{told} and answers the void verdict{own}: {clean(event.void)}. Both verdicts stand."
