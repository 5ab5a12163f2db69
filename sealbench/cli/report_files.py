"""What `seal report` writes besides its text: pages, tables, rows, figures, sections over several runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sealbench.cli.console import Console
from sealbench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sealbench.render.document import Document, Section
    from sealbench.stages.report import Reported


@dataclass(frozen=True)
class Wanted:
    """The sections asked for beyond the reports themselves."""

    leaderboard: bool
    verbosity: bool
    cascade: str | None


@dataclass(frozen=True)
class Files:
    """The files asked for."""

    html: Path | None
    markdown: Path | None
    latex: Path | None
    csv: Path | None
    figures: Path | None
    figure_format: str


def across(found: Sequence[Reported], wanted: Wanted) -> Document | None:
    """The sections over these runs; None where nothing is to be said beyond each report."""
    from sealbench.render.across import across_document

    sections = _sections(found, wanted)
    limits = [limit for one in found for limit in one.report.not_proved]
    return across_document(sections, limits) if sections else None


def _sections(found: Sequence[Reported], wanted: Wanted) -> list[Section]:
    from sealbench.render import across as render

    sections: list[Section] = []
    if len(found) > 1:
        from sealbench.analysis.trend import trend

        sections.append(render.summary_section([one.report for one in found]))
        sections.append(render.trend_section(trend([(one.run, one.lines) for one in found])))
    if wanted.leaderboard:
        from sealbench.analysis.leaderboard import leaderboard

        sections.append(render.leaderboard_section(leaderboard([(one.report, one.lines) for one in found])))
    for one in found:
        if wanted.verbosity and one.run.caps:
            from sealbench.analysis.verbosity import verbosity

            cap = max(one.run.caps)
            measured = [verbosity(one.lines, endpoint.name, cap) for endpoint in one.run.endpoints]
            sections.append(render.verbosity_section(one.run.name, measured))
        if wanted.cascade is not None:
            from sealbench.analysis.cascade import cascade

            endpoints = [name.strip() for name in wanted.cascade.split(",")]
            sections.append(render.cascade_section(one.run.name, cascade(one.lines, endpoints)))
    return sections


def document_value(document: Document | None) -> list[dict[str, object]]:
    """The sections as JSON: every table as its header and rows of text."""
    from sealbench.render.document import Grid

    return [
        {
            "name": section.name,
            "title": section.title,
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


def write_files(console: Console, found: Sequence[Reported], overview: Document | None, files: Files) -> None:
    """Write everything asked for.

    Raises
    ------
    UsageError : a file or folder cannot be written.
    CouldNotCheck : PNG is asked for without its extra.
    """
    from sealbench.render.html import render_html, render_html_document
    from sealbench.render.markdown import render_markdown, render_markdown_document
    from sealbench.render.rows_csv import rows_csv
    from sealbench.render.table import paper_table

    if files.html is not None and len(found) > 1:
        if overview is not None:
            _write(console, files.html, render_html_document(overview, exploratory=True).encode())
        for one in found:
            page = files.html.with_name(f"{files.html.stem}-{one.run.name}{files.html.suffix}")
            _write(console, page, render_html(one.report, one.lines).encode())
    elif files.html is not None:
        page_of_one = render_html(found[0].report, found[0].lines)
        _write(console, files.html, page_of_one.encode())
        if overview is not None:
            extra = files.html.with_name(f"{files.html.stem}-more{files.html.suffix}")
            _write(console, extra, render_html_document(overview, exploratory=True).encode())
    if files.markdown is not None:
        parts = [render_markdown(one.report) for one in found]
        parts += [] if overview is None else [render_markdown_document(overview)]
        _write(console, files.markdown, "\n".join(parts).encode())
    if files.latex is not None:
        _write(console, files.latex, "\n".join(paper_table(one.report, "latex") for one in found).encode())
    if files.csv is not None:
        _write(console, files.csv, rows_csv((one.run.name, one.lines) for one in found).encode())
    if files.figures is not None:
        _write_figures(console, found, files.figures, files.figure_format)


def _write_figures(console: Console, found: Sequence[Reported], folder: Path, form: str) -> None:
    from sealbench.render.figures import figures
    from sealbench.render.picture import png_writer, svg_file

    png = png_writer() if form in ("png", "both") else None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror}", hint="--figures FOLDER that can be made") from error
    for one in found:
        for figure in figures(one.report, one.lines):
            path = folder / f"{one.run.name}_{figure.name}"
            if form in ("svg", "both"):
                _write(console, path.with_name(path.name + ".svg"), svg_file(figure).encode())
            if png is not None:
                _write(console, path.with_name(path.name + ".png"), png(figure))


def _write(console: Console, path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", hint="choose a file that can be written") from error
    console.note(f"written {path}")
