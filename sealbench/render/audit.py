"""An audit as text, Markdown, one HTML page and JSON; one summary line per group first, worst first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from html import escape
from typing import Any

from sealbench.analysis.audit_result import Audit, Group, Policies
from sealbench.render import html as page
from sealbench.render import markdown as marks
from sealbench.render.document import DASH, Bullets, Document, Grid, Paragraph, Section, Struck, clean
from sealbench.render.terminal import _Writer
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
    lead = (
        Bullets(tuple(f"{group.finding.upper()}: {_summary(group)}" for group in audit.groups)),
        *((Bullets(audit.notes),) if audit.notes else ()),
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
    """Plain text for a terminal."""
    writer, content = _Writer(width, color), audit_document(audit)
    lines = [writer.styled(content.title, "bold"), "=" * len(content.title), ""]
    for block in content.lead:
        lines += [*writer.block(block), ""]
    for section in content.sections:
        lines += [writer.styled(section.title, "bold"), "-" * min(width, len(section.title))]
        for block in section.blocks:
            lines += [*writer.block(block), ""]
    return "\n".join(line.rstrip() for line in lines).rstrip()


def render_audit_markdown(audit: Audit) -> str:
    """Markdown, ending with a line feed."""
    content = audit_document(audit)
    parts = [f"# {marks.escape(content.title)}", *(marks._block(block) for block in content.lead)]
    for section in content.sections:
        parts += [f"## {marks.escape(section.title)}", *(marks._block(block) for block in section.blocks)]
    return "\n\n".join(parts) + "\n"


def render_audit_html(audit: Audit) -> str:
    """One HTML page without scripts."""
    content = audit_document(audit)
    title = escape(content.title)
    body = "".join(page._block(block) for block in content.lead)
    body += "".join(page._section(section) for section in content.sections)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{page._POLICY}">\n'
        f"<style>{page._STYLE}</style>\n"
        f'</head>\n<body>\n<header><h1>{title}</h1></header>\n<main id="main">\n'
        f"{body}</main>\n</body>\n</html>\n"
    )


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
    advice = (
        f"safe cap: {group.safe_cap} tokens spare 95% of each class's responses, with 95% confidence"
        if group.safe_cap is not None
        else f"safe cap: these data cannot tell ({group.safe_cap_reason})"
    )
    notes = test.notes if test is not None else ()
    blocks.append(Bullets(tuple(clean(text) for text in (advice, *notes, *group.warnings))))
    return Section(f"group_{place + 1}", clean(f"{group.name}: {group.finding}"), tuple(blocks))


def _cells(own: Policies) -> tuple[str, str, str, str]:
    bounds = DASH if own.low is None else f"{_share(own.low)} to {_share(own.high)}"
    return _share(own.recorded), _share(own.cut_wrong), _share(own.answered_only), bounds


def _share(value: Fraction | None) -> str:
    return DASH if value is None else f"{float(value):.3f}"


def _p(value: Fraction | None) -> str:
    return DASH if value is None else PValue.exact(value).text()


def audit_view(audit: Audit) -> dict[str, Any]:
    """The JSON of `seal audit --json` (schema sealbench/audit/v1)."""
    return {
        "schema": "sealbench/audit/v1",
        "alpha": str(audit.alpha),
        "files": [{"path": path, "format": name, "rows": rows} for path, name, rows in audit.files],
        "notes": list(audit.notes),
        "groups": [_group_view(group) for group in audit.groups],
        "reversals": [asdict(one) for one in audit.reversals],
    }


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
        "safe_cap": group.safe_cap,
        "safe_cap_reason": group.safe_cap_reason,
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
