"""`seal report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console, workspace_option
from sealbench.cli.report_rows import is_rows_file, report_rows
from sealbench.cli.workspace import open_workspace
from sealbench.errors import UsageError

if TYPE_CHECKING:
    from sealbench.cli.report_sections import Overview
    from sealbench.stages.report import Reported
    from sealbench.store import Workspace


@click.command("report")
@click.argument("runs", nargs=-1)
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write one HTML page to FILE.")
@click.option("--markdown", type=click.Path(dir_okay=False, path_type=Path), help="Write Markdown to FILE.")
@click.option(
    "--latex", type=click.Path(dir_okay=False, path_type=Path), help="Write the LaTeX table to FILE."
)
@click.option("--csv", type=click.Path(dir_okay=False, path_type=Path), help="Write the rows to FILE.")
@click.option(
    "--figures", type=click.Path(file_okay=False, path_type=Path), help="Write the figures into FOLDER."
)
@click.option(
    "--figure-format",
    type=click.Choice(["svg", "png", "both"]),
    default="svg",
    show_default=True,
    help="PNG needs the extra `figures`.",
)
@click.option("--leaderboard", is_flag=True, help="Rank the endpoints of these runs.")
@click.option("--verbosity", is_flag=True, help="How much longer than needed the visible answers are.")
@click.option("--cascade", default=None, metavar="A,B", help="What asking B where A is verbose would give.")
@click.option(
    "--price",
    "prices",
    multiple=True,
    metavar="NAME=INPUT,OUTPUT",
    help="USD per million tokens of an endpoint, for YapTax and cascades; else the configured price.",
)
@click.option(
    "--annotate",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the verbose answers of one run to FILE, for people to judge. Private: it holds prompts.",
)
@click.option(
    "--annotations",
    type=click.Path(dir_okay=False, path_type=Path),
    multiple=True,
    help="Tabulate a sheet that a rater filled in; repeat for each rater.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["asymmetry"]),
    default=None,
    help="Exit 1 if a test shows that censoring differs by class.",
)
@workspace_option
@json_option
@pass_console
def command(
    console: Console,
    runs: tuple[str, ...],
    html: Path | None,
    markdown: Path | None,
    latex: Path | None,
    csv: Path | None,
    figures: Path | None,
    figure_format: str,
    leaderboard: bool,
    verbosity: bool,
    cascade: str | None,
    prices: tuple[str, ...],
    annotate: Path | None,
    annotations: tuple[Path, ...],
    fail_on: str | None,
    folder: Path | None,
    as_json: bool,
) -> int:
    """\b
    seal report
    seal report primes-plan-1 --html report.html --figures figures
    seal report monday tuesday wednesday --leaderboard
    seal report primes-plan-1 --verbosity --cascade small,large --price small=0.1,0.4
    seal report rows.parquet            counts by class over rows that `seal export` wrote

    Figures and verdicts of ended runs (default: the latest): censoring and loss by class with exact
    p-values, token costs, scores under each policy, deviations from the plan. Several runs are
    also set side by side, with an exact test of each against the earlier ones.
    """
    if any(is_rows_file(name) for name in runs):
        _refuse_beside_rows(
            html=html,
            markdown=markdown,
            latex=latex,
            figures=figures,
            leaderboard=leaderboard,
            verbosity=verbosity,
            cascade=cascade,
            price=prices,
            annotate=annotate,
            annotations=annotations,
            fail_on=fail_on,
        )
        return report_rows(console, runs, csv=csv, as_json=as_json)
    from sealbench.cli.report_files import Files, write_files
    from sealbench.cli.report_sections import Wanted, across
    from sealbench.stages.report import report

    workspace, settings = open_workspace(folder)
    found = [report(workspace, name) for name in (runs or (None,))]
    for one in found:
        if one.fresh:
            console.note(f"written {one.folder / 'report.json'} and report.md")
        if not one.compared:
            version = one.report.analysis_version
            console.note(
                f"{one.run.name}: written by analysis version {version}, not computed again by this one"
            )
    overview = across(found, Wanted(leaderboard, verbosity, cascade, prices, annotations), settings)
    _print(console, found, overview, as_json)
    write_files(console, found, overview, Files(html, markdown, latex, csv, figures, figure_format))
    if annotate is not None:
        _annotate(console, workspace, found, annotate)
    console.next_step("seal stamp, then seal verify")
    asymmetric = any(test.finding == "asymmetric" for one in found for test in one.report.tests)
    return 1 if fail_on == "asymmetry" and asymmetric else 0


def _refuse_beside_rows(**options: object) -> None:
    """UsageError for what needs a run's log and not its rows alone."""
    for name, given in options.items():
        if given:
            flag = "--" + name.replace("_", "-")
            raise UsageError(
                f"{flag} is for runs; exported rows have --csv and --json", hint=f"leave {flag} out"
            )


def _annotate(console: Console, workspace: Workspace, found: list[Reported], path: Path) -> None:
    """Write the sheet of one run and say what becomes of it."""
    from sealbench.stages.annotate import annotation_sheet

    if len(found) != 1:
        raise UsageError(
            "--annotate writes the sheet of one run",
            hint=f"seal report {found[0].run.name} --annotate {path}",
        )
    sheet = annotation_sheet(workspace, found[0].run, found[0].lines, path)
    name = found[0].run.name
    if not sheet.rows:
        console.note(f"no answer of run {name} is verbose at its largest cap: no sheet is written")
        return
    console.note(f"written {path}: {sheet.rows} answers, readable by you alone")
    console.note("it holds prompts and answers: private while the battery is sealed; raters see the items")
    console.next_step(f"fill in the column type, then seal report {name} --annotations {path}")


def _print(console: Console, found: list[Reported], overview: Overview | None, as_json: bool) -> None:
    from sealbench.cli.report_files import document_value
    from sealbench.formats.report import report_view
    from sealbench.render.terminal import render_terminal, render_terminal_document

    if not as_json:
        for one in found:
            console.result(render_terminal(one.shown, color=console.color))
        if overview is not None:
            console.result(render_terminal_document(overview.document, color=console.color))
        return
    views = [report_view(one.shown) for one in found]
    if len(views) == 1 and overview is None:
        console.json(views[0])
        return
    sections = document_value(None if overview is None else overview.document)
    console.json({"schema": "sealbench/reports/v1", "reports": views, "across": sections})
