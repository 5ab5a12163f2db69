"""The figures of an audit: what was cut by class; token counts, and what smaller caps would have cut.

Groups never share an axis of tokens, because token counts of different models are never compared. A response
that was cut is an open mark: its cost is only known to be larger.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from sealbench.analysis.audit_result import Audit, ClassCounts, Costs, Group
from sealbench.render import svg
from sealbench.render.document import clean
from sealbench.render.svg import Figure, LogAxis

_LEFT, _RIGHT = 150, svg.WIDTH - 20
_BARS_LEFT, _BARS_RIGHT = 190, svg.WIDTH - 130
_ROW = 26
_BAR = 18
_CURVE = 150
_MOST_GROUPS = 20  # of the first figure
_MOST_TOKEN_FIGURES = 8
_LONGEST = 100  # characters of a heading that fits the width


def audit_figures(audit: Audit) -> tuple[Figure, ...]:
    """The figures of the worst groups; none where nothing was cut and nothing is known of tokens."""
    struck = [(place, group) for place, group in enumerate(audit.groups) if _happened(group)]
    with_tokens = [(place, group) for place, group in enumerate(audit.groups) if group.costs]
    found = [_censoring([group for _, group in struck[:_MOST_GROUPS]], len(struck))] if struck else []
    found += [_tokens(place, group) for place, group in with_tokens[:_MOST_TOKEN_FIGURES]]
    return tuple(found)


def _happened(group: Group) -> bool:
    return any(counts.cut or counts.empty for counts in group.classes.values())


def _measure(group: Group) -> str:
    if group.test is not None:
        return group.test.measure
    return "cut" if any(counts.cut for counts in group.classes.values()) else "empty"


def _hit(counts: ClassCounts, measure: str) -> int:
    return {"cut": counts.cut, "lost": counts.lost, "empty": counts.empty}[measure]


def _censoring(groups: Sequence[Group], of: int) -> Figure:
    """One bar per class: the share of its responses that were cut, lost or empty."""
    parts: list[str] = []
    sentences: list[str] = []
    marks = [(share, _BARS_LEFT + (_BARS_RIGHT - _BARS_LEFT) * share / 100) for share in (0, 25, 50, 75, 100)]
    y = 24.0
    for group in groups:
        measure = _measure(group)
        parts.append(svg.text(8, y, _clipped(f"{clean(group.name)}: {group.finding}", _LONGEST), bold=True))
        y += 8
        told = []
        for index, (name, counts) in enumerate(group.classes.items()):
            hit, share = _hit(counts, measure), 0.0
            if counts.responses:
                share = hit / counts.responses
            length = share * (_BARS_RIGHT - _BARS_LEFT)
            told.append(f"{clean(name)} {hit} of {counts.responses}")
            parts.append(svg.text(8, y + 13, _clipped(clean(name), 26)))
            parts.append(svg.bar(_BARS_LEFT, y + 3, length, _BAR - 6, index))
            parts.append(svg.text(_BARS_LEFT + length + 6, y + 13, f"{hit} of {counts.responses} {measure}"))
            y += _BAR
        sentences.append(f"{clean(group.name)}: {measure} in {', '.join(told)} responses ({group.finding}).")
        start = y - _BAR * len(group.classes)
        parts += [svg.line(x, start, x, y, opacity=0.15) for _, x in marks]
        y += 24
    bottom = y - 14
    parts += [svg.text(x, bottom + 4, f"{share}%", anchor="middle") for share, x in marks]
    if of > len(groups):
        sentences.append(f"The worst {len(groups)} of {of} groups are shown.")
    parts.append(
        svg.text(
            (_BARS_LEFT + _BARS_RIGHT) / 2,
            bottom + 20,
            "responses of the class, repeats included",
            anchor="middle",
        )
    )
    return svg.finished(
        "censoring", "Responses cut or empty, by class and cap", " ".join(sentences), bottom + 30, parts
    )


def _tokens(place: int, group: Group) -> Figure:
    """Above, one mark per response; below, the share of each class that a smaller cap would have cut."""
    labels = list(group.costs)
    caps = [float(group.cap)] if group.cap is not None else []
    axis = LogAxis.of(
        [*(float(tokens) for own in group.costs.values() for tokens in own.tokens), *caps], _LEFT, _RIGHT
    )
    parts = [svg.text(8, 20, _clipped(clean(group.name), _LONGEST), bold=True)]
    y = top = 42.0
    for index, label in enumerate(labels):
        parts.append(svg.text(8, y + _ROW / 2 + 4, _clipped(clean(label), 20)))
        parts += _marks(group.costs[label], axis, y + _ROW / 2, index)
        y += _ROW
    parts += axis.draw(top, y, "")
    bottom, panels = y, [(top, y)]
    if group.curve is not None and len(labels) <= len(svg.COLOURS):
        first = y + 52
        parts += svg.legend([_clipped(clean(label), 30) for label in labels], _LEFT, first - 24)
        bottom = first + _CURVE
        panels.append((first, bottom))
        parts += svg.share_axis(axis, first, bottom, "")
        parts += axis.draw(first, bottom, "cap, in tokens: share of responses with more")
        for index, label in enumerate(labels):
            parts.append(_survival(group.costs[label], axis, first, bottom, index, group.cap))
    for cap in caps:
        parts += [svg.line(axis.x(cap), start, axis.x(cap), end, dash="4 3") for start, end in panels]
        parts.append(svg.text(axis.x(cap) - 4, top - 4, f"cap {group.cap}", anchor="end"))
    title = f"Tokens by class, and what smaller caps would cut: {clean(group.name)}"
    return svg.finished(f"tokens_{place + 1}", title, " ".join(_sentences(group)), bottom + 42, parts)


def _marks(own: Costs, axis: LogAxis, y: float, index: int) -> Iterator[str]:
    """Marks spread over the row's height by turns, so that equal costs do not hide each other."""
    for place, (tokens, cut) in enumerate(zip(own.tokens, own.cut, strict=True)):
        yield svg.mark(axis.x(tokens), y + (place % 5 - 2) * 3.4, index, is_open=cut)


def _survival(own: Costs, axis: LogAxis, top: float, bottom: float, index: int, cap: int | None) -> str:
    """The step curve; at and beyond the real cap nothing is known, so it ends there."""
    count = len(own.tokens)
    points = [(axis.left, top)]
    end = axis.right
    for rank, tokens in enumerate(own.tokens, start=1):
        if cap is not None and tokens >= cap:
            end = axis.x(cap)
            break
        points.append((axis.x(tokens), bottom - (bottom - top) * (count - rank) / count))
    return svg.steps([*points, (end, points[-1][1])], index)


def _sentences(group: Group) -> Iterator[str]:
    for name, own in group.costs.items():
        counts = group.classes[name]
        yield (
            f"{clean(name)}: {own.of} responses of {own.tokens[0]} to {own.tokens[-1]} tokens, median "
            f"{median(own.tokens):g}, {counts.cut} cut."
        )
    for point in group.curve.points if group.curve is not None else ():
        above = ", ".join(f"{clean(name)} {count}" for name, count in point.above.items())
        yield f"A cap of {point.cap} would cut {above}."
    if any(len(own.tokens) < own.of for own in group.costs.values()):
        most = max(len(own.tokens) for own in group.costs.values())
        yield f"Of classes with more than {most} responses, {most} are drawn, evenly spaced by their tokens."


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
