"""A report as one HTML file: no scripts, nothing loaded from outside, light and dark, made to be printed.

Headings, tables with captions and scoped heads, a skip link, figures with text alternatives: readable by
keyboard and by screen reader.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from sealbench.formats.report import Report
from sealbench.formats.run import LogLine
from sealbench.render.content import document
from sealbench.render.document import (
    BREAKS,
    Block,
    Bullets,
    Cell,
    Document,
    Grid,
    Link,
    Paragraph,
    Section,
    Struck,
)
from sealbench.render.figures import figures
from sealbench.render.svg import Figure

_STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #fff; --rule: #bbb; --soft: #f3f3f3;
  --link: #0b5394; --alarm: #a40000 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --paper: #161616; --rule: #555;
  --soft: #232323; --link: #8ab4f8; --alarm: #ff8a80 } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
h1 { font-size: 1.6rem; line-height: 1.2 }
h2 { font-size: 1.25rem; margin-top: 2.5rem; border-bottom: 1px solid var(--rule) }
a { color: var(--link) }
.skip { position: absolute; left: -99rem }
.skip:focus { left: 1rem; background: var(--paper); padding: .5rem }
.exploratory { color: var(--alarm) }
nav ul { columns: 16rem; padding-left: 1.2rem }
.wide { overflow-x: auto; margin: 1rem 0; background:
  linear-gradient(to right, var(--paper) 40%, transparent) left / 3rem 100% no-repeat local,
  linear-gradient(to left, var(--paper) 40%, transparent) right / 3rem 100% no-repeat local,
  linear-gradient(to right, var(--rule), transparent) left / .7rem 100% no-repeat scroll,
  linear-gradient(to left, var(--rule), transparent) right / .7rem 100% no-repeat scroll }
.wide:focus-visible { outline: 2px solid var(--link) }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums }
caption { text-align: left; font-weight: 600; padding: .25rem 0 }
th, td { padding: .25rem .6rem; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--rule); overflow-wrap: normal }
thead th { background: var(--soft) }
tbody th { font-weight: 400 }
.right { text-align: right }
.whole { white-space: nowrap }
figure { margin: 1.5rem 0 }
figure svg { display: block; width: 100%; min-width: 40rem; height: auto }
figcaption { font-size: .9rem }
@media (max-width: 40rem) { th, td { padding: .2rem .35rem } table { font-size: .8rem } }
@media print { :root { --ink: #000; --paper: #fff; --rule: #999; --soft: #eee; --link: #000; --alarm: #000 }
  body { max-width: none; font-size: 10pt }
  nav, .skip { display: none }
  .wide { overflow: visible; background: none }
  figure, tr { break-inside: avoid }
  h2 { break-after: avoid }
  figure svg { min-width: 0 } }
"""
_SCIENTIFIC = re.compile(r"(= )?\d[\d.]*e-\d+")  # a browser would end the line after the sign
# Even a name that slipped through escaping could load and run nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render_html(report: Report, lines: Sequence[LogLine] = ()) -> str:
    """The whole page.

    Parameters
    ----------
    lines : the run's log lines, for the figures; without them there are none.
    """
    return render_html_document(document(report), figures(report, lines), exploratory=report.exploratory)


def render_html_document(
    content: Document, drawn: Sequence[Figure] = (), *, exploratory: bool = False
) -> str:
    """Any document as a page, its figures after the first section."""
    figure_sections = [FigureSection("figures", "Figures", tuple(drawn), exploratory)] if drawn else []
    # What was registered comes first, then what can be seen, then all tables.
    first = 1 if content.sections and content.sections[0].name == "verdicts" else 0
    parts: list[Section | FigureSection] = [*content.sections]
    parts[first:first] = figure_sections
    return render_page(content.title, content.lead, parts, exploratory=exploratory)


@dataclass(frozen=True)
class FigureSection:
    """A heading with figures under it; `name` is its anchor."""

    name: str
    title: str
    figures: tuple[Figure, ...]
    exploratory: bool = False


def render_page(
    heading_text: str,
    lead: Sequence[Block],
    parts: Sequence[Section | FigureSection],
    *,
    exploratory: bool = False,
    skip: str = "To the report",
    up: Link | None = None,
) -> str:
    """A page of sections and figures in this order.

    Parameters
    ----------
    skip : what the skip link says.
    up : the page that this one belongs to, linked above the heading.
    """
    sections = [_figures(part) if isinstance(part, FigureSection) else _section(part) for part in parts]
    contents = "".join(f'<li><a href="#{part.name}">{escape(part.title)}</a></li>' for part in parts)
    title = escape(heading_text)
    above = f"<p>{_cell(up)}</p>" if up else ""
    heading = ' class="exploratory"' if exploratory else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<a class="skip" href="#main">{escape(skip)}</a>\n'
        f"<header>{above}<h1{heading}>{title}</h1></header>\n"
        f'<nav aria-label="Contents"><ul>{contents}</ul></nav>\n'
        f'<main id="main">\n{"".join(_block(block) for block in lead)}\n{"".join(sections)}</main>\n'
        "</body>\n</html>\n"
    )


def _section(section: Section) -> str:
    heading = ' class="exploratory"' if section.title.startswith("EXPLORATORY") else ""
    body = "".join(_block(block) for block in section.blocks)
    return (
        f'<section aria-labelledby="{section.name}">'
        f'<h2 id="{section.name}"{heading}>{escape(section.title)}</h2>\n'
        f"{body}</section>\n"
    )


def _figures(part: FigureSection) -> str:
    head = f"EXPLORATORY: {part.title.lower()}" if part.exploratory else part.title
    body = "".join(
        f'<figure><div class="wide" tabindex="0" role="group" aria-label="{escape(figure.title)}">'
        f"{figure.svg}</div><figcaption><strong>{escape(figure.title)}.</strong> "
        f"{escape(figure.description)}</figcaption></figure>\n"
        for figure in part.figures
    )
    name = part.name
    return f'<section aria-labelledby="{name}"><h2 id="{name}">{escape(head)}</h2>\n{body}</section>\n'


def _block(block: Block) -> str:
    if isinstance(block, Paragraph):
        text = escape(block.text)
        return f"<p><strong>{text}</strong></p>\n" if block.strong else f"<p>{text}</p>\n"
    if isinstance(block, Bullets):
        return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in block.items) + "</ul>\n"
    return _grid(block)


def _grid(grid: Grid) -> str:
    heads = "".join(
        f'<th scope="col"{_side(grid, column)}>{escape(head)}</th>' for column, head in enumerate(grid.header)
    )
    rows = "".join(_row(grid, row) for row in grid.rows)
    caption = escape(grid.caption)
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{caption}">'
        f"<table><caption>{caption}</caption><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>\n"
    )


def _row(grid: Grid, row: Sequence[Cell]) -> str:
    first = f'<th scope="row">{_cell(row[0])}</th>'
    rest = "".join(
        f"<td{_side(grid, column)}>{_cell(cell)}</td>" for column, cell in enumerate(row) if column
    )
    return f"<tr>{first}{rest}</tr>"


def _side(grid: Grid, column: int) -> str:
    return ' class="right"' if column in grid.right else ""


def _cell(cell: Cell) -> str:
    if isinstance(cell, Struck):
        return f"<s>{escape(cell.text)}</s>"
    if isinstance(cell, Link):
        return f'<a href="{escape(cell.address)}">{_broken(cell.text)}</a>'
    return _SCIENTIFIC.sub(r'<span class="whole">\g<0></span>', _broken(cell))


def _broken(text: str) -> str:
    """Text that may be broken inside names, which can be long."""
    return "<wbr>".join(escape(part) for part in BREAKS.split(text))
