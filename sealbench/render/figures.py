"""The three figures of a report, for every family and wording: costs, censoring against the cap, cost curves.

Each endpoint has a panel of its own, because token counts of different endpoints are never compared. A
response that was cut is an open mark at what was charged: its cost is known only to be larger.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from sealbench.analysis.cost import instance_costs, is_whole
from sealbench.formats.report import Comparison, Cost, Report
from sealbench.formats.run import LogLine
from sealbench.render import svg
from sealbench.render.document import clean, endpoint_text
from sealbench.render.svg import Figure, LogAxis
from sealbench.stats.results import decimal_text
from sealbench.stats.survival import CostCurve, kaplan_meier

_LEFT, _RIGHT = 150, svg.WIDTH - 20
_ROW = 26
_CURVE = 150
_MOST_MARKS = 400  # per row; more are thinned evenly, and the description says so


@dataclass(frozen=True)
class _Panel:
    """One endpoint's responses with usage in one family and wording."""

    endpoint: str
    reference: bool
    lines: tuple[LogLine, ...]

    @property
    def title(self) -> str:
        return endpoint_text(self.endpoint, self.reference)

    def at(self, cap: int, label: str) -> list[LogLine]:
        return [line for line in self.lines if line.cap == cap and line.class_label == label]

    def axis(self, caps: Sequence[int]) -> LogAxis:
        tokens = [float(line.charged_tokens or 1) for line in self.lines]
        return LogAxis.of([*tokens, *map(float, caps)], _LEFT, _RIGHT)


def figures(report: Report, lines: Sequence[LogLine]) -> tuple[Figure, ...]:
    """All figures of a report; a family without a single token count has none.

    Parameters
    ----------
    report : the run's report.
    lines : the same run's log lines.
    """
    groups: dict[tuple[str, str], list[LogLine]] = defaultdict(list)
    for line in lines:
        if line.charged_tokens is not None and not line.missing:
            groups[(line.family, line.wording)].append(line)
    found: list[Figure] = []
    for (family, wording), own in sorted(groups.items()):
        where = {"family": family, "wording": wording}
        panels = _panels(report, own)
        if panels:
            labels = _labels(report, where, own)
            found.append(_strip_plot(report, where, panels, labels))
            found.append(_cut_curves(report, where, panels, labels))
            found.append(_cost_curves(report, where, panels, labels))
    return tuple(found)


def _panels(report: Report, lines: Sequence[LogLine]) -> list[_Panel]:
    by_endpoint: dict[str, list[LogLine]] = defaultdict(list)
    for line in lines:
        by_endpoint[line.endpoint].append(line)
    return [
        _Panel(endpoint.name, endpoint.reference, tuple(by_endpoint[endpoint.name]))
        for endpoint in report.scope.endpoints
        if endpoint.name in by_endpoint
    ]


def _labels(report: Report, where: Mapping[str, str], lines: Sequence[LogLine]) -> list[str]:
    """The classes in the report's order, so that a class keeps its colour in all figures."""
    for test in report.tests:
        if test.hypothesis is None and test.where == where:
            named = [test.class1, test.class0]
            return named + sorted({line.class_label for line in lines} - set(named))
    return sorted({line.class_label for line in lines})


def _name(kind: str, where: Mapping[str, str]) -> str:
    return f"{kind}_{where['family']}_{where['wording']}"


def _strip_plot(
    report: Report, where: Mapping[str, str], panels: Sequence[_Panel], labels: Sequence[str]
) -> Figure:
    costs = {(cost.endpoint, cost.cap): cost for cost in report.costs if cost.where == where}
    caps = report.scope.caps
    parts = svg.legend(labels, _LEFT, 20)
    note = "open mark: cut, costs more · dashed: the cap · shaded: caps that delete a class whole"
    parts.append(svg.text(_LEFT, 38, note))
    sentences: list[str] = []
    y, thinned = 62.0, False
    for panel in panels:
        axis = panel.axis(caps)
        parts.append(svg.text(8, y, panel.title, bold=True))
        y += 8
        top = y
        for cap in caps:
            cost = costs.get((panel.endpoint, cap))
            parts += _wipe_out(cost, axis, y, y + _ROW * len(labels))
            parts.append(svg.line(axis.x(cap), y, axis.x(cap), y + _ROW * len(labels), dash="4 3"))
            for index, label in enumerate(labels):
                own = panel.at(cap, label)
                thinned |= len(own) > _MOST_MARKS
                parts.append(svg.text(8, y + _ROW / 2 + 4, f"cap {cap}, {_clipped(label)}"))
                parts += _marks(own, axis, y + _ROW / 2, index)
                y += _ROW
            sentences.append(_strip_sentence(panel, cap, cost))
        parts += axis.draw(top, y, "charged tokens")
        y += 56
    if thinned:
        sentences.append(f"Rows of more than {_MOST_MARKS} responses show every few of them only.")
    title = f"Charged tokens by class: {where['family']}, {where['wording']}"
    return svg.finished(_name("costs", where), title, " ".join(sentences), y - 10, parts)


def _clipped(label: str) -> str:
    """A class name that fits beside its row; the legend has it whole."""
    return label if len(label) <= 12 else f"{label[:11]}…"


def _marks(lines: Sequence[LogLine], axis: LogAxis, y: float, index: int) -> Iterator[str]:
    """Marks spread over the row's height by turns, so that equal costs do not hide each other."""
    step = -(-len(lines) // _MOST_MARKS) or 1
    for place, line in enumerate(lines[::step]):
        shift = (place % 5 - 2) * 3.4
        yield svg.mark(axis.x(line.charged_tokens or 0), y + shift, index, is_open=not is_whole(line))


def _wipe_out(cost: Cost | None, axis: LogAxis, top: float, bottom: float) -> list[str]:
    separation = cost.separation if cost is not None else None
    if separation is None or separation.wipe_out_low is None or separation.wipe_out_high is None:
        return []
    return [svg.band(axis.x(separation.wipe_out_low), axis.x(separation.wipe_out_high), top, bottom)]


def _strip_sentence(panel: _Panel, cap: int, cost: Cost | None) -> str:
    if cost is None:
        return f"{panel.title}, cap {cap}: nothing."
    parts = [
        f"{label} {own.minimum} to {own.maximum} tokens, {own.cut} of {own.responses} cut"
        for label, own in sorted(cost.classes.items())
        if own.minimum is not None
    ]
    sentence = f"{panel.title}, cap {cap}: {'; '.join(parts) or 'no usage'}."
    separation = cost.separation
    if separation is not None and separation.wipe_out_high is not None:
        end = f"{separation.wipe_out_high - 1}{' or more' if separation.high_at_least else ''}"
        sentence += f" Any cap from {separation.wipe_out_low} to {end} cuts all of {separation.expensive}"
        sentence += f" and none of {separation.cheap}."
    return sentence


def _cut_curves(
    report: Report, where: Mapping[str, str], panels: Sequence[_Panel], labels: Sequence[str]
) -> Figure:
    """Instances cut at least once: curves for caps below the largest, marks for the caps that were run."""
    tests = {
        (test.endpoint, test.cap): test
        for test in report.tests
        if test.hypothesis is None and test.where == where and test.measure == "censored"
    }

    def curve(panel: _Panel, axis: LogAxis, label: str, place: _Place) -> list[str]:
        largest = max(report.scope.caps)
        most: dict[str, int] = {}
        for line in panel.at(largest, label):
            most[line.instance] = max(most.get(line.instance, 0), line.charged_tokens or 0)
        parts = []
        if most:
            costs = sorted(most.values())
            points = [(axis.left, place.y(Fraction(1)))]
            for rank, cost in enumerate(costs, start=1):
                if cost < largest:
                    points.append((axis.x(cost), place.y(Fraction(len(costs) - rank, len(costs)))))
            parts.append(svg.steps([*points, (axis.x(largest), points[-1][1])], place.index))
        for cap in report.scope.caps:
            parts += _observed(tests.get((panel.endpoint, cap)), label, axis.x(cap), place)
        return parts

    sentences = [
        f"{panel.title}, cap {cap}: {_cut_sentence(tests[(panel.endpoint, cap)])}."
        for panel in panels
        for cap in report.scope.caps
        if (panel.endpoint, cap) in tests
    ]
    title = f"Instances cut, against the cap: {where['family']}, {where['wording']}"
    lead = (
        "Curves: what smaller caps would have cut. Marks at the dashed lines: caps that were run, with exact "
        "95% intervals. "
    )
    return _curves(
        "censoring",
        where,
        panels,
        labels,
        report,
        curve,
        title,
        lead + " ".join(sentences),
        "instances cut",
        "cap, in tokens",
    )


def _observed(test: Comparison | None, label: str, x: float, place: _Place) -> list[str]:
    counts = test.classes.get(label) if test is not None else None
    if (
        counts is None
        or counts.cut_rate is None
        or counts.cut_rate.low is None
        or counts.cut_rate.high is None
    ):
        return []
    judged = counts.instances_used
    if not judged:
        return []
    x += 5 * (place.index - 0.5)  # classes beside each other, not on top
    low, high = (place.y(Fraction(Decimal(end))) for end in (counts.cut_rate.low, counts.cut_rate.high))
    colour = svg.COLOURS[place.index % len(svg.COLOURS)]
    middle = place.y(Fraction(counts.instances_cut, judged))
    return [svg.line(x, low, x, high, colour=colour), svg.mark(x, middle, place.index, is_open=False, size=4)]


def _cut_sentence(test: Comparison) -> str:
    return ", ".join(
        f"{counts.instances_cut} of {counts.instances_used} {label} instances cut"
        for label, counts in sorted(test.classes.items())
    )


def _cost_curves(
    report: Report, where: Mapping[str, str], panels: Sequence[_Panel], labels: Sequence[str]
) -> Figure:
    """Kaplan–Meier curves at the largest cap: the share of instances that cost more than so many tokens."""
    largest = max(report.scope.caps)
    pairs = {
        (panel.endpoint, label): instance_costs(panel.at(largest, label))
        for panel in panels
        for label in labels
    }
    fitted = {key: kaplan_meier(own) for key, own in pairs.items() if own}

    def curve(panel: _Panel, axis: LogAxis, label: str, place: _Place) -> list[str]:
        result = fitted.get((panel.endpoint, label))
        if result is None:
            return []
        own = pairs[(panel.endpoint, label)]
        points = [(axis.left, place.y(Fraction(1)))]
        points += [(axis.x(float(step.tokens)), place.y(step.surviving)) for step in result.steps]
        end = axis.x(float(max(cost for cost, _ in own)))
        parts = [svg.steps([*points, (end, points[-1][1])], place.index)]
        if any(not whole for _, whole in own):
            parts.append(svg.mark(end, points[-1][1], place.index, is_open=True, size=4))
        return parts

    medians = [
        f"{panel.title}, {label}: median {_median(fitted[(panel.endpoint, label)])} tokens."
        for panel in panels
        for label in labels
        if (panel.endpoint, label) in fitted
    ]
    title = f"Kaplan–Meier cost curves at cap {largest}: {where['family']}, {where['wording']}"
    lead = (
        "Share of instances that cost more than so many tokens; an open mark ends a curve that was cut; "
        "dashed lines are the caps that were run. "
    )
    text = lead + " ".join(medians)
    return _curves("survival", where, panels, labels, report, curve, title, text, "instances that cost more")


def _median(curve: CostCurve) -> str:
    if curve.median is not None:
        return decimal_text(curve.median)
    return "unknown" if curve.largest is None else f"> {decimal_text(curve.largest)}"


@dataclass(frozen=True)
class _Place:
    """One class in one panel: its number, and the panel's top and bottom."""

    index: int
    top: float
    bottom: float

    def y(self, share: Fraction) -> float:
        return self.bottom - (self.bottom - self.top) * float(share)


_Curve = Callable[[_Panel, LogAxis, str, _Place], list[str]]


def _curves(
    kind: str,
    where: Mapping[str, str],
    panels: Sequence[_Panel],
    labels: Sequence[str],
    report: Report,
    curve: _Curve,
    title: str,
    description: str,
    label: str,
    tokens: str = "charged tokens",
) -> Figure:
    """One panel of step curves per endpoint, shares from 0 to 100% against tokens."""
    parts = svg.legend(labels, _LEFT, 20)
    y = 44.0
    for panel in panels:
        axis = panel.axis(report.scope.caps)
        parts.append(svg.text(8, y, panel.title, bold=True))
        top, bottom = y + 28, y + 28 + _CURVE
        parts += svg.share_axis(axis, top, bottom, label)
        parts += axis.draw(top, bottom, tokens)
        parts += [svg.line(axis.x(cap), top, axis.x(cap), bottom, dash="4 3") for cap in report.scope.caps]
        for index, name in enumerate(labels):
            parts += curve(panel, axis, name, _Place(index, top, bottom))
        y = bottom + 56
    return svg.finished(_name(kind, where), title, clean(description), y - 10, parts)
