"""What `seal report` writes besides its text: pages, tables, rows, figures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sealbench.cli.console import Console
from sealbench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sealbench.cli.report_sections import Overview
    from sealbench.render.document import Document
    from sealbench.stages.report import Reported


@dataclass(frozen=True)
class Files:
    """The files asked for."""

    html: Path | None
    markdown: Path | None
    latex: Path | None
    csv: Path | None
    figures: Path | None
    figure_format: str


def document_value(document: Document | None) -> list[dict[str, object]]:
    """The sections as JSON: their sentences, and every table as its header and rows of text."""
    from sealbench.render.document import Grid, Paragraph

    return [
        {
            "name": section.name,
            "title": section.title,
            "text": [
                sentence
                for block in section.blocks
                if not isinstance(block, Grid)
                for sentence in ((block.text,) if isinstance(block, Paragraph) else block.items)
            ],
            "tables": [
                {
                    "caption": block.caption,
                    "header": list(block.header),
                    "rows": [list(r) for r in block.rows],
                }
                for block in section.blocks
                if isinstance(block, Grid)
            ],
        }
        for section in (document.sections if document is not None else ())
    ]


def write_files(console: Console, found: Sequence[Reported], overview: Overview | None, files: Files) -> None:
    """Write everything asked for.

    Raises
    ------
    UsageError : a file or folder cannot be written.
    CouldNotCheck : PNG is asked for without its extra.
    """
    from sealbench.render.html import render_html
    from sealbench.render.markdown import render_markdown, render_markdown_document
    from sealbench.render.rows_csv import rows_csv
    from sealbench.render.table import paper_table

    if files.html is not None and len(found) > 1:
        if overview is not None:
            _write(console, files.html, _page(overview))
        for one in found:
            page = files.html.with_name(f"{files.html.stem}-{one.run.name}{files.html.suffix}")
            _write(console, page, render_html(one.shown, one.lines).encode())
    elif files.html is not None:
        page_of_one = render_html(found[0].shown, found[0].lines)
        _write(console, files.html, page_of_one.encode())
        if overview is not None:
            extra = files.html.with_name(f"{files.html.stem}-more{files.html.suffix}")
            _write(console, extra, _page(overview))
    if files.markdown is not None:
        parts = [render_markdown(one.shown) for one in found]
        parts += [] if overview is None else [render_markdown_document(overview.document)]
        _write(console, files.markdown, "\n".join(parts).encode())
    if files.latex is not None:
        _write(console, files.latex, "\n".join(paper_table(one.report, "latex") for one in found).encode())
    if files.csv is not None:
        _write(console, files.csv, rows_csv((one.run.name, one.lines) for one in found).encode())
    _write_figures(console, found, overview, files)


def _page(overview: Overview) -> bytes:
    """One HTML page; sections of several runs get anchors of their own."""
    from dataclasses import replace

    from sealbench.render.html import render_html_document

    seen: dict[str, int] = {}
    sections = []
    for section in overview.document.sections:
        seen[section.name] = count = seen.get(section.name, 0) + 1
        sections.append(section if count == 1 else replace(section, name=f"{section.name}-{count}"))
    document = replace(overview.document, sections=tuple(sections))
    return render_html_document(document, overview.figures, exploratory=True).encode()


def _write_figures(
    console: Console, found: Sequence[Reported], overview: Overview | None, files: Files
) -> None:
    from sealbench.render.figures import figures
    from sealbench.render.picture import png_writer, svg_file

    folder, form = files.figures, files.figure_format
    if folder is None:
        return
    png = png_writer() if form in ("png", "both") else None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror}", hint="--figures FOLDER that can be made") from error
    drawn = [(f"{one.run.name}_{own.name}", own) for one in found for own in figures(one.report, one.lines)]
    drawn += [(figure.name, figure) for figure in (overview.figures if overview is not None else ())]
    for name, figure in drawn:
        if form in ("svg", "both"):
            _write(console, folder / f"{name}.svg", svg_file(figure).encode())
        if png is not None:
            _write(console, folder / f"{name}.png", png(figure))


def _write(console: Console, path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", hint="choose a file that can be written") from error
    console.note(f"written {path}")
