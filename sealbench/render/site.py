"""A workspace as static pages: an index of its batteries, and one page for each with timeline and files.

Like the reports' pages: no script, nothing loaded from outside, light and dark. What is linked lies beside
the page. A sealed battery shows what is public of it and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sealbench.formats.report import Report
from sealbench.formats.run import LogLine
from sealbench.render.document import DASH, Block, Bullets, Grid, Link, Paragraph, Section, clean, columns
from sealbench.render.figures import figures
from sealbench.render.html import FigureSection, render_page
from sealbench.render.summary import summary_blocks

STATES = {
    "retired": "retired: all of it is public",
    "sealed": "sealed: its items are secret",
    "draft": "announced: its items are not drawn yet",
    "void": "void: never drawn, its key is never used",
}


@dataclass(frozen=True)
class Moment:
    """One event of a battery.

    Attributes
    ----------
    what : the event in words.
    said : when, by the author's own word.
    proved : by what block it is proved to have happened, or why that is open.
    """

    what: str
    said: str
    proved: str


@dataclass(frozen=True)
class Download:
    """A file of the site: its path beside the page, what it is, bytes, SHA-256."""

    path: str
    text: str
    size: int
    sha256: str


@dataclass(frozen=True)
class RunPage:
    """A reported run: its report, log lines for the figures, and where its own page is."""

    report: Report
    lines: tuple[LogLine, ...]
    address: str


@dataclass(frozen=True)
class BatteryPage:
    """What the site says of one battery.

    `facts` are names and values; `check` are commands in their order, and what each shows.
    """

    name: str
    state: str
    summary: str
    facts: tuple[tuple[str, str], ...]
    moments: tuple[Moment, ...]
    runs: tuple[RunPage, ...]
    downloads: tuple[Download, ...]
    record: tuple[Download, ...]
    check: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class IndexPage:
    """What the site says of the whole registry; `limits` is what none of this proves."""

    network: str
    facts: tuple[tuple[str, str], ...]
    batteries: tuple[BatteryPage, ...]
    downloads: tuple[Download, ...]
    limits: tuple[str, ...]


def render_index(page: IndexPage) -> str:
    """The page of all batteries."""
    rows = [
        (Link(one.name, f"{one.name}/index.html"), one.state, one.summary, str(len(one.runs)), _last(one))
        for one in page.batteries
    ]
    batteries: list[Block] = [Paragraph("There is no battery yet.")]
    if rows:
        header = ("battery", "state", "what", "reports", "last event")
        batteries = [Grid("All batteries of this registry, oldest first", header, columns(rows))]
    parts = [
        Section("batteries", "Batteries", tuple(batteries)),
        Section("registry", "Registry", (_facts("Whose registry this is", page.facts),)),
        Section("files", "Files", (_files("Files of the registry", page.downloads),)),
        Section("limits", "What this does not prove", (Bullets(page.limits),)),
    ]
    lead = [
        *_network_note(page.network),
        Paragraph(
            "Every battery was sealed before any model was run on it. A page shows what its author "
            "published: the files are there to check it by."
        ),
    ]
    return render_page("Sealed evaluation batteries", lead, parts, skip="To the batteries")


def render_battery(page: BatteryPage, network: str) -> str:
    """The page of one battery."""
    timeline = [(one.what, one.said, one.proved) for one in page.moments]
    parts: list[Section | FigureSection] = [
        Section("facts", "The battery", (_facts("What was committed to", page.facts),)),
        Section(
            "timeline",
            "Timeline",
            (
                Paragraph(
                    "Proved: a timestamp proof leads into that block, so the event is not later. Said: the "
                    "author's own word, which nothing proves."
                ),
                Grid("Events in the registry's order", ("event", "said", "proved"), columns(timeline)),
            ),
        ),
    ]
    for run in page.runs:
        parts += _run_parts(run)
    parts.append(Section("check", "Check it", _check(page)))
    parts.append(Section("files", "Files", tuple(_downloads(page))))
    lead = [*_network_note(network), Paragraph(STATES[page.state].capitalize() + ".", strong=True)]
    up = Link("All batteries", "../index.html")
    return render_page(f"Battery {page.name}", lead, parts, skip="To the battery", up=up)


def _run_parts(run: RunPage) -> list[Section | FigureSection]:
    report = run.report
    name = f"run-{report.run}"
    head = "EXPLORATORY run" if report.exploratory else "Run"
    blocks: list[Block] = [Paragraph(clean(report.scope.statement)), *summary_blocks(report)]
    page = ((Link(f"Whole report of {report.run}", run.address), str(report.log_lines)),)
    blocks.append(Grid("All tables of this run", ("report", "log lines"), page, right=frozenset({1})))
    drawn = tuple(
        # The same figure of two runs stands on one page: ids must differ.
        replace(one, svg=one.svg.replace(f"{one.name}_", f"{report.run}_{one.name}_"))
        for one in figures(report, run.lines)
    )
    parts: list[Section | FigureSection] = [Section(name, f"{head} {report.run}", tuple(blocks))]
    if drawn:
        title = f"Figures of {report.run}"
        parts.append(FigureSection(f"figures-{report.run}", title, drawn, report.exploratory))
    return parts


def _check(page: BatteryPage) -> tuple[Block, ...]:
    told = "What is public can be checked now, the items and the responses once the battery is retired."
    if page.state == "retired":
        told = (
            "The bundle is complete in itself. Take verify.py from a release of sealbench, never from the "
            "bundle."
        )
    commands = Grid("In this order", ("command", "what it shows"), columns(page.check))
    return (Paragraph(told), commands)


def _downloads(page: BatteryPage) -> list[Block]:
    blocks: list[Block] = [
        _files("The archive and the bundle in it" if page.record else "What is public", page.downloads)
    ]
    if page.record:
        blocks.append(_files("The record: what the battery rests on", page.record))
    return blocks


def _files(caption: str, downloads: Sequence[Download]) -> Grid:
    rows = [(Link(one.text, one.path), f"{one.size:,}", one.sha256) for one in downloads]
    return Grid(caption, ("file", "bytes", "SHA-256"), columns(rows), right=frozenset({1}))


def _facts(caption: str, facts: Sequence[tuple[str, str]]) -> Grid:
    return Grid(caption, ("what", "value"), columns([(name, clean(value)) for name, value in facts]))


def _last(page: BatteryPage) -> str:
    return page.moments[-1].what if page.moments else DASH


def _network_note(network: str) -> list[Block]:
    if network == "mainnet":
        return []
    told = f"The timestamps are on {network}: its blocks are made in no time and prove nothing about time."
    return [Paragraph(told, strong=True)]
