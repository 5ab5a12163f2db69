"""What a report says, in the order in which a reader needs it: verdicts first, limits never last or small.

Everything that was not registered stands under a heading that begins with EXPLORATORY.
"""

from __future__ import annotations

from itertools import groupby

from sealbench.formats.report import ClassCounts, Report
from sealbench.render.comparisons import registered_section, standard_section
from sealbench.render.document import (
    DASH,
    STATUSES,
    VERDICTS,
    Block,
    Bullets,
    Document,
    Grid,
    Paragraph,
    Section,
    clean,
    columns,
    endpoint_text,
    where_text,
)
from sealbench.render.endpoint_tables import endpoint_section
from sealbench.render.history import history_section
from sealbench.render.measures import cost_section, inversion_section, score_section


def document(report: Report) -> Document:
    """The report as a document."""
    sections = [
        _verdicts(report),
        history_section(report),
        registered_section(report),
        endpoint_section(report),
        standard_section(report),
        _endings(report),
        cost_section(report),
        inversion_section(report),
        score_section(report),
        _checks(report),
        _deviations(report),
        _anchors(report),
        _scope(report),
        Section("limits", "What this does not prove", (Bullets(report.not_proved),)),
    ]
    head = "EXPLORATORY: run" if report.exploratory else "Run"
    return Document(f"{head} {report.run}", _lead(report), tuple(s for s in sections if s is not None))


def _lead(report: Report) -> tuple[Block, ...]:
    totals = report.totals
    facts = [
        f"Battery {report.battery}: {totals.instances} instances.",
        f"{totals.responses} responses of {totals.planned} planned calls; {totals.missing} missing.",
        f"Plan {report.plan}, SHA-256 {report.plan_sha256}." if report.plan else "No plan was registered.",
        f"Log of {report.log_lines} lines, SHA-256 {report.log_sha256}; run.json {report.run_sha256}.",
    ]
    if report.amends:
        facts.append(f"This plan amends an earlier one (SHA-256 {report.amends}).")
    blocks: list[Block] = [Paragraph(note, strong=True) for note in report.notes]
    if all(endpoint.reference for endpoint in report.scope.endpoints):
        blocks.insert(
            0, Paragraph("All endpoints are reference endpoints: programs, no models.", strong=True)
        )
    return (*blocks, Paragraph(" ".join(facts)))


def _verdicts(report: Report) -> Section | None:
    if report.plan is None:
        return None
    rows = [
        (
            clean(v.hypothesis),
            endpoint_text(v.endpoint, _is_reference(report, v.endpoint)),
            VERDICTS[v.verdict],
            clean(v.reason),
        )
        for v in report.verdicts
    ]
    blocks: list[Block] = []
    if rows:
        blocks.append(
            Grid(
                "One row per hypothesis and endpoint",
                ("hypothesis", "endpoint", "verdict", "why"),
                columns(rows),
            )
        )
    else:
        blocks.append(Paragraph("The plan registers no hypothesis."))
    blocks.extend(
        Paragraph(f"Void condition {clean(status.id)}: {_holds(status.holds)}; {clean(status.detail)}.")
        for status in report.void_conditions
    )
    return Section("verdicts", "Verdicts against the preregistration", tuple(blocks))


def _holds(holds: bool | None) -> str:
    return "not judged" if holds is None else "HOLDS" if holds else "does not hold"


def _is_reference(report: Report, name: str) -> bool:
    return any(endpoint.name == name and endpoint.reference for endpoint in report.scope.endpoints)


def _endings(report: Report) -> Section | None:
    tests = [test for test in report.tests if test.hypothesis is None and test.measure == "censored"]
    seen: dict[tuple[str, int, str, str], ClassCounts] = {}
    for test in tests:
        for label in (test.class1, test.class0):
            key = (where_text(test.where), test.cap, endpoint_text(test.endpoint, test.reference), label)
            seen.setdefault(key, test.classes[label])
    if not seen:
        return None
    header = ("endpoint", "class", "cut, said", "cut, inferred", "at cap", "lost", "empty", "missing", "all")
    blocks: list[Block] = []
    for (where, cap), group in groupby(sorted(seen), key=lambda key: key[:2]):
        rows = [(key[2], key[3], *_ending_cells(seen[key])) for key in group]
        blocks.append(Grid(f"{where}, cap {cap}", header, columns(rows), right=frozenset(range(2, 9))))
    text = (
        "Censored: cut, said by the host or inferred from the count. Lost: censored without a final answer."
    )
    return Section("endings", "How the calls ended, in responses", (Paragraph(text), *blocks))


def _ending_cells(counts: ClassCounts) -> tuple[str, ...]:
    numbers = (
        counts.cut_reported,
        counts.cut_inferred,
        counts.at_cap,
        counts.lost,
        counts.empty,
        counts.missing + counts.absent,
        counts.responses + counts.missing + counts.absent,
    )
    return tuple(str(number) for number in numbers)


def _checks(report: Report) -> Section:
    rows = [
        (
            check.check.replace("_", " "),
            where_text(check.where) + (f", {clean(check.endpoint)}" if check.endpoint else ""),
            STATUSES[check.status],
            clean(check.detail),
        )
        for check in report.checks
    ]
    blocks: list[Block] = (
        [Grid("Exact, two-sided, uncorrected", ("check", "where", "status", "detail"), columns(rows))]
        if rows
        else []
    )
    if report.baselines:
        baselines = [(b.family, b.baseline.replace("_", " "), b.accuracy) for b in report.baselines]
        caption = "What short cuts without any search would score"
        blocks.append(
            Grid(caption, ("family", "short cut", "accuracy"), columns(baselines), right=frozenset({2}))
        )
    return Section("checks", "Balance and confounding", tuple(blocks) or (Paragraph("Nothing to check."),))


def _deviations(report: Report) -> Section:
    if report.plan is None:
        return Section("deviations", "Deviations", (Paragraph("No plan, so nothing to deviate from."),))
    if not report.deviations:
        text = "None: every registered setting was compared with run.json and the log."
        return Section("deviations", "Deviations from the plan", (Paragraph(text),))
    rows = [
        tuple(clean(part) or DASH for part in (d.field, d.planned, d.observed, d.detail))
        for d in report.deviations
    ]
    grid = Grid("Computed, not declared", ("field", "planned", "observed", "detail"), columns(rows))
    return Section("deviations", "Deviations from the plan", (grid,))


def _anchors(report: Report) -> Section:
    if not report.anchors:
        return Section("anchors", "Anchors", (Paragraph("No file of this run is anchored.", strong=True),))
    rows = [
        (
            clean(a.path),
            a.status,
            clean(a.grade),
            clean(a.network),
            DASH if a.height is None else str(a.height),
            a.time or DASH,
        )
        for a in report.anchors
    ]
    header = ("file", "status", "grade", "network", "height", "time")
    return Section(
        "anchors", "Anchors", (Grid("As verification found them", header, columns(rows), frozenset({4})),)
    )


def _scope(report: Report) -> Section:
    rows = [
        (
            endpoint_text(e.name, e.reference),
            e.provider,
            clean(e.model),
            ", ".join(map(clean, e.reported)) or DASH,
        )
        for e in report.scope.endpoints
    ]
    header = ("endpoint", "provider", "model asked for", "model reported")
    blocks: tuple[Block, ...] = (Paragraph(report.scope.statement, strong=True),)
    if rows:
        blocks += (Grid("Endpoints", header, columns(rows)),)
    return Section("scope", "Scope", blocks)
