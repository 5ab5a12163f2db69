"""A report as plain text for a terminal: 80 columns unless told otherwise, colour only if asked for."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Sequence

from sealbench.formats.report import Report
from sealbench.render.content import document
from sealbench.render.document import BREAKS, Block, Bullets, Cell, Document, Grid, Link, Paragraph, Struck

_GAP = 2
_LEAST = 6  # characters a column keeps when a table is squeezed
_CODES = {"bold": "1", "red": "31", "yellow": "33", "strike": "9"}
_TIED = re.compile(r"(=|≥|>) ")
# Whole cells that a reader must find at a glance.
_COLOURS = {"FALSIFIED": "red", "CONFOUNDED": "red", "asymmetric": "yellow", "void": "yellow"}


def render_terminal(report: Report, *, color: bool = False, width: int = 80) -> str:
    """The whole report; lines are at most `width` characters wide unless a single word is longer."""
    return render_terminal_document(document(report), color=color, width=width)


def render_terminal_document(content: Document, *, color: bool = False, width: int = 80) -> str:
    """Any document, for example one over several runs."""
    return _Writer(max(40, width), color).document(content)


class _Writer:
    def __init__(self, width: int, color: bool) -> None:
        self.width = width
        self.color = color

    def document(self, content: Document) -> str:
        lines = [self.styled(content.title, "bold"), "=" * min(self.width, len(content.title)), ""]
        for block in content.lead:
            lines += [*self.block(block), ""]
        for section in content.sections:
            lines += [self.styled(line, "bold") for line in textwrap.wrap(section.title, self.width)]
            lines.append("-" * min(self.width, len(section.title)))
            for block in section.blocks:
                lines += [*self.block(block), ""]
        return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"

    def styled(self, text: str, style: str) -> str:
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.color else text

    def block(self, block: Block) -> list[str]:
        if isinstance(block, Paragraph):
            lines = textwrap.wrap(block.text, self.width) or [""]
            return [self.styled(line, "bold") for line in lines] if block.strong else lines
        if isinstance(block, Bullets):
            return [
                line
                for item in block.items
                for line in textwrap.wrap(item, self.width, initial_indent="- ", subsequent_indent="  ")
            ]
        return self.grid(block)

    def grid(self, grid: Grid) -> list[str]:
        rows = [[_plain(cell) for cell in row] for row in grid.rows]
        widths = _fit([list(grid.header), *rows], self.width)
        lines = textwrap.wrap(grid.caption, self.width)
        lines += self.row(grid.header, widths, frozenset(), header=True)
        lines.append((" " * _GAP).join("-" * width for width in widths))
        tall = any(
            len(_wrap(cell, width)) > 1 for row in rows for cell, width in zip(row, widths, strict=True)
        )
        previous = ""
        for index, (row, plain) in enumerate(zip(grid.rows, rows, strict=True)):
            if tall and index and plain[0] != previous:
                lines.append("")
            previous = plain[0]
            lines += self.row(row, widths, grid.right)
        return lines

    def row(
        self, cells: Sequence[Cell], widths: Sequence[int], right: frozenset[int], *, header: bool = False
    ) -> list[str]:
        wrapped = [_wrap(_plain(cell), width) for cell, width in zip(cells, widths, strict=True)]
        lines = []
        for line in range(max(len(parts) for parts in wrapped)):
            shown = []
            for column, (cell, parts, width) in enumerate(zip(cells, wrapped, widths, strict=True)):
                text = parts[line] if line < len(parts) else ""
                space = " " * max(0, width - _width(text))
                coloured = self.cell(cell, text, header)
                shown.append(space + coloured if column in right and not header else coloured + space)
            lines.append((" " * _GAP).join(shown).rstrip())
        return lines

    def cell(self, cell: Cell, text: str, header: bool) -> str:
        if not self.color or not text:
            return text
        if isinstance(cell, Struck):
            return self.styled(text, "strike")
        if header:
            return self.styled(text, "bold")
        return self.styled(text, _COLOURS[cell]) if cell in _COLOURS else text


def _plain(cell: Cell) -> str:
    if isinstance(cell, Link):
        return cell.text
    return f"[{cell.text}]" if isinstance(cell, Struck) else cell


def _width(text: str) -> int:
    """Columns a text takes: wide characters two, combining ones none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def _wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width`, broken at spaces, else inside names after a mark, else anywhere."""
    lines: list[str] = []
    for word in _words(text):
        joined = f"{lines[-1]} {word}" if lines else word
        if _width(joined) <= width:
            lines[-1:] = [joined]
            continue
        pieces = [word] if _width(word) <= width else BREAKS.split(word)
        lines.append("")
        for piece in pieces:
            if _width(lines[-1] + piece) <= width:
                lines[-1] += piece
            else:
                parts = textwrap.wrap(piece, width) or [""]
                lines[-1:] = [*filter(None, lines[-1:]), *parts]
    return lines or [""]


def _words(text: str) -> list[str]:
    """The words of a cell; "= 7.8e-05" and "≥ 300" stay whole."""
    return [word.replace("\0", " ") for word in _TIED.sub("\\1\0", text).split()]


def _fit(rows: Sequence[Sequence[str]], total: int) -> list[int]:
    """Column widths: what the cells want, the widest made narrower until the table fits.

    A column is first squeezed no further than its longest word; only if that is not enough are words
    broken.
    """
    columns = list(zip(*rows, strict=True))
    widths = [max(_width(cell) for cell in column) or 1 for column in columns]
    pieces = [
        [part for cell in column for word in _words(cell) for part in BREAKS.split(word)]
        for column in columns
    ]
    words = [max((_width(word) for cell in column for word in _words(cell)), default=1) for column in columns]
    parts = [max(map(_width, own), default=1) for own in pieces]
    room = total - _GAP * (len(columns) - 1)
    for least in (words, parts, [min(part, _LEAST) for part in parts]):
        while sum(widths) > room:
            loose = [index for index, width in enumerate(widths) if width > least[index]]
            if not loose:
                break
            widths[max(loose, key=lambda index: widths[index])] -= 1
    return widths
