"""One table per endpoint: what was asked of it, what it said it is, how its calls ended, scored and cost."""

from __future__ import annotations

from collections.abc import Callable

from sealbench.crypto import canonical
from sealbench.formats.report import Report
from sealbench.formats.report_endpoints import EndpointAtCap, EndpointSummary
from sealbench.render.document import (
    DASH,
    Block,
    Grid,
    Paragraph,
    Section,
    clean,
    columns,
    endpoint_text,
    percent,
    range_text,
)


def endpoint_section(report: Report) -> Section | None:
    """All endpoints of the run; None in reports of an analysis that did not summarise them."""
    if not report.endpoints:
        return None
    blocks: list[Block] = [
        Paragraph(
            "Responses of all families, wordings and classes together; no test rests on these tables. Token "
            "counts of different endpoints are never compared."
        )
    ]
    for endpoint in report.endpoints:
        blocks += [Paragraph(_asked(endpoint)), _table(endpoint)]
    return Section("endpoints", "Each endpoint", tuple(blocks))


def _asked(endpoint: EndpointSummary) -> str:
    """Provider, model, settings, and the names that it reported itself."""
    reported = [f"{clean(one.model)} in {one.responses} responses" for one in endpoint.reported]
    others = any(one.model != endpoint.model for one in endpoint.reported)
    settings = [
        f"{clean(key)} = {clean(canonical.encode(value).decode())}"
        for key, value in sorted(endpoint.settings.items())
    ]
    return (
        f"{endpoint_text(endpoint.name, endpoint.reference)}: provider {clean(endpoint.provider)}, model "
        f"{clean(endpoint.model)}; reported {', '.join(reported) or 'no name'}"
        f"{' (NOT THE NAME ASKED FOR)' if others else ''}; cap sent as {clean(endpoint.cap_parameter)}; "
        f"settings {', '.join(settings) or 'none'}{'' if endpoint.probed else '; not probed'}."
    )


def _table(endpoint: EndpointSummary) -> Grid:
    rows = [
        (name, *(cell(at_cap) for at_cap in endpoint.caps))
        for name, cell in _ROWS
        if name in _ALWAYS or any(cell(at_cap) not in ("0", DASH) for at_cap in endpoint.caps)
    ]
    header = ("responses", *(f"cap {at_cap.cap}" for at_cap in endpoint.caps))
    caption = endpoint_text(endpoint.name, endpoint.reference)
    return Grid(caption, header, columns(rows), right=frozenset(range(1, len(header))))


def _flag(count: int, alarm: str) -> str:
    return f"{count} ({alarm})" if count else "0"


def _sum(count: int | None) -> str:
    return DASH if count is None else str(count)


# Every count of the record; those that are 0 everywhere are left out unless a reader must see the 0.
_ROWS: tuple[tuple[str, Callable[[EndpointAtCap], str]], ...] = (
    ("came back, of planned", lambda at: f"{at.responses} of {at.planned}"),
    ("missing", lambda at: str(at.missing)),
    ("without a line", lambda at: str(at.absent)),
    ("cut, said", lambda at: str(at.cut_reported)),
    ("cut, inferred", lambda at: str(at.cut_inferred)),
    ("cut otherwise", lambda at: str(at.cut_other)),
    ("lost", lambda at: str(at.lost)),
    ("empty", lambda at: str(at.empty)),
    ("refused", lambda at: str(at.refused)),
    ("filtered", lambda at: str(at.filtered)),
    ("ending not named", lambda at: str(at.unknown)),
    ("finished at the cap", lambda at: _flag(at.at_cap, "cut or not?")),
    ("ran past the cap", lambda at: _flag(at.not_binding, "does not bind")),
    ("right, cut wrong", lambda at: percent(at.score.cut_wrong)),
    ("right, cut dropped", lambda at: percent(at.score.cut_dropped)),
    ("right, bounds", lambda at: range_text(at.score.low, at.score.high)),
    ("charged tokens", lambda at: _sum(at.charged_tokens)),
    ("reasoning tokens", lambda at: _sum(at.reasoning_tokens)),
    ("prompt tokens", lambda at: _sum(at.prompt_tokens)),
    ("no usage reported", lambda at: str(at.no_usage)),
)
_ALWAYS = frozenset(
    {
        "came back, of planned",
        "missing",
        "cut, said",
        "cut, inferred",
        "lost",
        "right, cut wrong",
        "right, cut dropped",
        "right, bounds",
        "charged tokens",
    }
)
