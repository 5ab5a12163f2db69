"""Small SVG parts for the figures: a logarithmic axis, marks that differ in shape and colour, text.

Colours follow Okabe and Ito (safe for colour-blind readers), each with a contrast of at least 3 on white
and on near-black; classes differ in shape too. Lines and text take the colour of the page. Every figure
carries a title and a description.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

COLOURS = ("#1F83C4", "#D55E00", "#009E73", "#B85C93")
SHAPES = ("circle", "square", "triangle", "diamond")
WIDTH = 720


@dataclass(frozen=True)
class Figure:
    """One figure: `name` is unique within a report, `description` says in words what is to be seen."""

    name: str
    title: str
    description: str
    svg: str


@dataclass(frozen=True)
class LogAxis:
    """Token counts from `low` to `high`, on a logarithmic scale between two x positions."""

    low: float
    high: float
    left: float
    right: float

    @classmethod
    def of(cls, values: Iterable[float], left: float, right: float) -> LogAxis:
        """An axis that shows all these positive values with a little room beside them."""
        kept = [value for value in values if value > 0] or [1.0]
        low, high = min(kept), max(kept)
        return cls(low / 1.15, high * 1.15, left, right)

    def x(self, value: float) -> float:
        """Where a value stands; values below the axis stand at its end."""
        span = log10(self.high) - log10(self.low)
        share = (log10(max(value, self.low)) - log10(self.low)) / span
        return self.left + min(1.0, share) * (self.right - self.left)

    def ticks(self) -> list[int]:
        """1, 2 and 5 times powers of ten that lie on the axis; only powers on a long one."""
        powers = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        steps = (1, 2, 5) if self.high / self.low < 500 else (1,)
        marks = [step * 10**power for power in powers if power >= 0 for step in steps]
        return [mark for mark in marks if self.low <= mark <= self.high]

    def draw(self, top: float, bottom: float, label: str) -> list[str]:
        """Grid lines, tick labels and the axis title."""
        parts = []
        for mark in self.ticks():
            x = self.x(mark)
            parts.append(line(x, top, x, bottom, opacity=0.15))
            parts.append(text(x, bottom + 14, f"{mark}", anchor="middle"))
        parts.append(line(self.left, bottom, self.right, bottom))
        parts.append(text((self.left + self.right) / 2, bottom + 30, label, anchor="middle"))
        return parts


def number(value: float) -> str:
    """A coordinate with at most one decimal."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


def line(
    x1: float,
    y1: float,
    x2: float,
    y2: float,
    *,
    opacity: float = 1.0,
    dash: str = "",
    colour: str = "currentColor",
) -> str:
    """A thin line."""
    extra = f' stroke-dasharray="{dash}"' if dash else ""
    faint = f' stroke-opacity="{opacity:g}"' if opacity < 1 else ""
    ends = f'x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"'
    return f'<line {ends} stroke="{colour}"{extra}{faint}/>'


def text(x: float, y: float, content: str, *, anchor: str = "start", bold: bool = False) -> str:
    """A short text."""
    weight = ' font-weight="bold"' if bold else ""
    place = f'x="{number(x)}" y="{number(y)}" text-anchor="{anchor}"'
    return f'<text {place} fill="currentColor"{weight}>{escape(content)}</text>'


def band(x1: float, x2: float, top: float, bottom: float) -> str:
    """A shaded interval."""
    size = f'width="{number(max(0.0, x2 - x1))}" height="{number(bottom - top)}"'
    return f'<rect x="{number(x1)}" y="{number(top)}" {size} fill="currentColor" fill-opacity="0.12"/>'


def bar(x: float, y: float, width: float, height: float, index: int) -> str:
    """A horizontal bar in a class's colour."""
    size = f'width="{number(width)}" height="{number(height)}"'
    return f'<rect x="{number(x)}" y="{number(y)}" {size} fill="{COLOURS[index % len(COLOURS)]}"/>'


def mark(x: float, y: float, index: int, *, is_open: bool, size: float = 3.2) -> str:
    """One response: a filled mark, or an open one where the cost is only known to be larger."""
    colour = COLOURS[index % len(COLOURS)]
    fill = f'fill="none" stroke="{colour}" stroke-width="1.4"' if is_open else f'fill="{colour}"'
    shape = SHAPES[index % len(SHAPES)]
    if shape == "circle":
        return f'<circle cx="{number(x)}" cy="{number(y)}" r="{size}" {fill}/>'
    if shape == "square":
        side = number(2 * size * 0.9)
        corner = size * 0.9
        return (
            f'<rect x="{number(x - corner)}" y="{number(y - corner)}" width="{side}" height="{side}" {fill}/>'
        )
    points = [(x, y - size), (x + size, y + size), (x - size, y + size)]
    if shape == "diamond":
        points = [(x, y - size), (x + size, y), (x, y + size), (x - size, y)]
    return f'<polygon points="{_points(points)}" {fill}/>'


def steps(points: Sequence[tuple[float, float]], index: int) -> str:
    """A step curve: horizontal, then vertical."""
    path = [points[0]]
    for x, y in points[1:]:
        path += [(x, path[-1][1]), (x, y)]
    colour = COLOURS[index % len(COLOURS)]
    dash = ' stroke-dasharray="7 3"' if index % 2 else ""
    return f'<polyline points="{_points(path)}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'


def share_axis(axis: LogAxis, top: float, bottom: float, label: str) -> list[str]:
    """The vertical axis of a share, from 0 to 100%."""
    parts = []
    for share in (0, 25, 50, 75, 100):
        y = bottom - (bottom - top) * share / 100
        parts.append(line(axis.left, y, axis.right, y, opacity=0.15))
        parts.append(text(axis.left - 6, y + 4, f"{share}%", anchor="end"))
    parts.append(text(axis.left, top - 8, label))
    return parts


def legend(labels: Sequence[str], x: float, y: float) -> list[str]:
    """Class names with their marks, in a row."""
    parts = []
    for index, label in enumerate(labels):
        parts.append(mark(x, y - 4, index, is_open=False, size=4))
        parts.append(text(x + 9, y, label))
        x += 30 + 7.5 * len(label)
    return parts


def finished(name: str, title: str, description: str, height: float, parts: Iterable[str]) -> Figure:
    """The whole SVG element, with its title and description as text alternative."""
    open_tag = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {number(height)}" role="img" '
        f'aria-labelledby="{name}_title {name}_text" font-family="system-ui, sans-serif" font-size="12">'
    )
    head = (
        f'<title id="{name}_title">{escape(title)}</title><desc id="{name}_text">{escape(description)}</desc>'
    )
    return Figure(name, title, description, f"{open_tag}{head}{''.join(parts)}</svg>")


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in points)
