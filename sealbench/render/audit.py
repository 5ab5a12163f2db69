"""An audit as text, Markdown and one HTML page; one summary line per group first, worst first."""

from __future__ import annotations

from fractions import Fraction

from sealbench.analysis.audit_result import Audit, CheckedBattery, Group, Policies, SafeCap
from sealbench.render.audit_figures import audit_figures
from sealbench.render.document import DASH, Bullets, Document, Grid, Paragraph, Section, Struck, clean
from sealbench.render.html import render_html_document
from sealbench.render.markdown import render_markdown_document
from sealbench.render.terminal import render_terminal_document
from sealbench.stats.pvalue import PValue

_LIMITS = (
    (
        "Labels are not randomised: a small p says that items are not exchangeable between the classes. It "
        "proves no mechanism."
    ),
    '"Not shown" is not "no asymmetry". Counterfactual caps are uncorrected except for the p over all caps.',
    "Token counts of different models are never compared.",
)


def audit_document(audit: Audit) -> Document:
    """The audit as headings, paragraphs and grids."""
    told = tuple(clean(text) for text in (*map(battery_line, audit.batteries), *audit.notes))
    lead = (
        Bullets(tuple(f"{group.finding.upper()}: {_summary(group)}" for group in audit.groups)),
        *((Bullets(told),) if told else ()),
    )
    sections = [_section(place, group) for place, group in enumerate(audit.groups)]
    if audit.reversals:
        pairs = tuple(
            clean(f"{r.task}: {r.first} and {r.second} could change places") for r in audit.reversals
        )
        sections.append(Section("ranks", "Rank orders that the cut answers could reverse", (Bullets(pairs),)))
    sections.append(Section("limits", "What this does not prove", (Bullets(_LIMITS),)))
    return Document("Censoring by class in evaluation logs", lead, tuple(sections))


def render_audit_terminal(audit: Audit, *, color: bool = False, width: int = 100) -> str:
    """Plain text for a terminal, without a line feed at its end."""
    return render_terminal_document(audit_document(audit), color=color, width=width).rstrip("\n")


def render_audit_markdown(audit: Audit) -> str:
    """Markdown, ending with a line feed."""
    return render_markdown_document(audit_document(audit))


def render_audit_html(audit: Audit) -> str:
    """One HTML page without scripts, with the figures of the worst groups."""
    return render_html_document(audit_document(audit), audit_figures(audit))


def battery_line(own: CheckedBattery) -> str:
    """What is known of a sealed battery that a log names, in one line."""
    name = (
        f"sealed battery {own.battery} (commitment {own.commitment[:16]}…; its class labels are the classes, "
        "its instances the items)"
    )
    if own.path is None or own.committed is None:
        return (
            f"{name}: NOT CHECKED, for no commitment of that hash is at hand; what these {own.samples} "
            f"samples are stands in the logs alone (--commitment commitments/{own.battery}.json)"
        )
    parts = [
        f"{name}, checked against {own.path}: {own.items} of {own.committed} items in {own.samples} samples",
        "each leads to the committed root and has the committed prompt and answer",
        f"{own.regraded} scores computed again and equal",
    ]
    if own.items < own.committed:
        parts.append(f"no response here to the other {own.committed - own.items} items")
    if own.altered:
        parts.append(f"in {own.altered} samples the model was sent more than the committed prompt")
    return "; ".join([*parts, f"who sealed it, and when: seal verify {own.path}"])


def _summary(group: Group) -> str:
    parts = [clean(group.name)]
    test = group.test
    if test is not None:
        (hit1, n1), (hit0, n0) = test.items1, test.items0
        parts.append(
            f"{test.measure} in {hit1} of {n1} {test.class1} items against {hit0} of {n0} {test.class0} "
            f"items, p = {test.p_item.text()} ({test.alternative}, {_responses(group, test.measure)})"
        )
    elif group.reason:
        parts.append(group.reason)
    return clean(": ".join(parts))


def _responses(group: Group, measure: str) -> str:
    shown = [
        f"{name} {counts.cut if measure == 'cut' else counts.lost if measure == 'lost' else counts.empty}"
        f"/{counts.responses}"
        for name, counts in group.classes.items()
    ]
    return "responses: " + ", ".join(shown)


def _section(place: int, group: Group) -> Section:
    header = (
        "class",
        "items",
        "responses",
        "reported",
        "inferred",
        "other",
        "at cap",
        "empty",
        "lost",
        "missing",
    )
    rows = tuple(
        (
            clean(name),
            *(str(v) for v in (c.items, c.responses, c.cut_reported, c.cut_inferred, c.cut_other)),
            *(str(v) for v in (c.at_cap, c.empty, c.lost, c.missing)),
        )
        for name, c in group.classes.items()
    )
    caption = f"Classes by {clean(group.class_field)}"
    if group.cap_source:
        caption += f"; cap {group.cap} ({group.cap_source})"
    blocks: list[Paragraph | Bullets | Grid] = [Grid(caption, header, rows, frozenset(range(1, 10)))]
    test = group.test
    if test is not None:
        response = DASH if test.p_response is None else test.p_response.text()
        row = (
            test.measure,
            test.p_item.text(),
            _p(group.p_adjusted),
            DASH if test.p_response is None else Struck(response),
        )
        head = ("measure", "p by items", "corrected (Holm)", "p by responses (overstated)")
        blocks.append(Grid(f"{clean(test.class1)} against {clean(test.class0)}", head, (row,)))
    if group.reason:
        blocks.append(Paragraph(clean(group.reason)))
    if group.scores.scored:
        scores = (
            ("all", *_cells(group.scores)),
            *tuple((clean(name), *_cells(own)) for name, own in group.class_scores.items()),
        )
        blocks.append(Grid("Scores", ("class", "recorded", "cut wrong", "answered only", "bounds"), scores))
    if group.curve is not None:
        caps = tuple(
            (
                str(point.cap),
                clean(", ".join(f"{name} {count}" for name, count in point.above.items())),
                clean(", ".join(f"{name} {count}" for name, count in point.exactly.items())),
                DASH if point.p is None else point.p.text(),
            )
            for point in group.curve.points
        )
        over = DASH if group.curve.p_any is None else group.curve.p_any.text()
        title = f"Counterfactual caps (tokens > cap; uncorrected; over all caps together p = {over})"
        blocks.append(Grid(title, ("cap", "would be cut", "exactly at it", "p by items"), caps))
    advice = _advice(group.safe_cap)
    notes = test.notes if test is not None else ()
    blocks.append(Bullets(tuple(clean(text) for text in (advice, *notes, *group.warnings))))
    return Section(f"group_{place + 1}", clean(f"{group.name}: {group.finding}"), tuple(blocks))


def _advice(safe: SafeCap) -> str:
    told = [f"{name} {cap}" for name, cap in safe.by_class.items() if cap is not None]
    by_class = f"; by class: {', '.join(told)}" if told else ""
    if safe.cap is None:
        return f"safe cap: these data cannot tell ({safe.reason}){by_class}"
    return f"safe cap: {safe.cap} tokens spare 95% of each class's responses, with 95% confidence{by_class}"


def _cells(own: Policies) -> tuple[str, str, str, str]:
    bounds = DASH if own.low is None else f"{_share(own.low)} to {_share(own.high)}"
    return _share(own.recorded), _share(own.cut_wrong), _share(own.answered_only), bounds


def _share(value: Fraction | None) -> str:
    return DASH if value is None else f"{float(value):.3f}"


def _p(value: Fraction | None) -> str:
    return DASH if value is None else PValue.exact(value).text()
