"""A report as Markdown (GitHub's tables and strike-through), for pasting and for reading as it is."""

from __future__ import annotations

import re

from sealbench.formats.report import Report
from sealbench.render.content import document
from sealbench.render.document import Block, Bullets, Cell, Document, Grid, Link, Paragraph, Struck

# Characters that would otherwise be read as mark-up; names of endpoints come from outside.
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~#])")


def render_markdown(report: Report) -> str:
    """The whole report, ending with a line feed."""
    return render_markdown_document(document(report))


def render_markdown_document(content: Document) -> str:
    """Any document, for example one over several runs."""
    parts = [f"# {escape(content.title)}", *(_block(block) for block in content.lead)]
    for section in content.sections:
        parts += [f"## {escape(section.title)}", *(_block(block) for block in section.blocks)]
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", text)


def grid(table: Grid) -> str:
    """A pipe table under its caption."""
    lines = [f"**{escape(table.caption)}**", "", _row([escape(head) for head in table.header])]
    lines.append(_row(["---:" if column in table.right else "---" for column in range(len(table.header))]))
    lines += [_row([_cell(cell) for cell in row]) for row in table.rows]
    return "\n".join(lines)


def _block(block: Block) -> str:
    if isinstance(block, Paragraph):
        return f"**{escape(block.text)}**" if block.strong else escape(block.text)
    if isinstance(block, Bullets):
        return "\n".join(f"- {escape(item)}" for item in block.items)
    return grid(block)


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(cell: Cell) -> str:
    if isinstance(cell, Link):
        return f"[{escape(cell.text)}](<{cell.address}>)"
    return f"~~{escape(cell.text)}~~" if isinstance(cell, Struck) else escape(cell)
