"""The figure of YapIndex against release date: one mark per endpoint with its interval, no line."""

from __future__ import annotations

from datetime import date
from math import ceil, floor, log10

from sealbench.analysis.releases import Releases
from sealbench.render import svg
from sealbench.render.document import clean
from sealbench.render.numbers import number
from sealbench.render.svg import Figure

_LEFT, _RIGHT, _TOP, _HEIGHT = 70.0, svg.WIDTH - 170.0, 34.0, 220.0
_NAME_WIDTH, _NAME_HEIGHT = 160.0, 14.0


def release_figure(found: Releases) -> Figure:
    """Days to the right, YapIndex upwards, each endpoint named beside its mark."""
    points = found.points
    days = [point.released.toordinal() for point in points]
    first, last = min(days), max(days)
    room = max(30, (last - first) // 12)
    ticks = _ticks(max(float(point.index + point.half_width) for point in points))
    highest = ticks[-1]
    bottom = _TOP + _HEIGHT

    def x(day: int) -> float:
        return _LEFT + (day - first + room) / (last - first + 2 * room) * (_RIGHT - _LEFT)

    def y(value: float) -> float:
        return bottom - value / highest * _HEIGHT

    parts = [svg.text(_LEFT, 18, "YapIndex: characters beyond the minimal answer, ± 95% bootstrap")]
    for tick in ticks:
        parts.append(svg.line(_LEFT, y(tick), _RIGHT, y(tick), opacity=0.15))
        parts.append(svg.text(_LEFT - 6, y(tick) + 4, f"{tick:g}", anchor="end"))
    parts.append(svg.line(_LEFT, bottom, _RIGHT, bottom))
    for day in dict.fromkeys((first, (first + last) // 2, last)):
        parts.append(svg.text(x(day), bottom + 16, date.fromordinal(day).isoformat(), anchor="middle"))
    named: list[tuple[float, float]] = []
    for point in sorted(points, key=lambda point: -point.index):
        across, up = x(point.released.toordinal()), y(float(point.index))
        low, high = (float(point.index + side * point.half_width) for side in (-1, 1))
        parts.append(svg.line(across, y(max(0.0, low)), across, y(high)))
        parts.append(svg.mark(across, up, 0, is_open=False, size=4))
        place = _free(across, up - 5, named)
        named.append((across, place))
        parts.append(svg.text(across + 9, place, clean(point.endpoint)))
    title = f"YapIndex against release date: battery {clean(found.battery)}, cap {found.cap}"
    sentences = [
        f"{clean(point.endpoint)}, released {point.released.isoformat()}: {number(point.index)} ± "
        f"{number(point.half_width)}."
        for point in points
    ]
    return svg.finished(
        f"releases_{found.battery}_{found.cap}", title, " ".join(sentences), bottom + 34, parts
    )


def _ticks(largest: float) -> list[float]:
    """Round numbers from 0 to the first at or above `largest`, ten at most."""
    power = 10.0 ** floor(log10(max(1.0, largest)))
    step = next(part * power for part in (0.1, 0.2, 0.5, 1.0, 2.0) if largest <= 8 * part * power)
    return [step * count for count in range(max(1, ceil(largest / step)) + 1)]


def _free(across: float, up: float, named: list[tuple[float, float]]) -> float:
    """The height of a name, moved down until it lies on no name beside it."""
    for other, taken in named:
        if abs(other - across) < _NAME_WIDTH and abs(taken - up) < _NAME_HEIGHT:
            up = taken + _NAME_HEIGHT
    return up
