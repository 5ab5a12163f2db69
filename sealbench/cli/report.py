"""`seal report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console, workspace_option
from sealbench.cli.workspace import open_workspace
from sealbench.errors import UsageError

if TYPE_CHECKING:
    from sealbench.stages.report import Reported


@click.command("report")
@click.argument("runs", nargs=-1)
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write one HTML page to FILE.")
@click.option("--markdown", type=click.Path(dir_okay=False, path_type=Path), help="Write Markdown to FILE.")
@click.option(
    "--latex", type=click.Path(dir_okay=False, path_type=Path), help="Write the LaTeX table to FILE."
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
    fail_on: str | None,
    folder: Path | None,
    as_json: bool,
) -> int:
    """\b
    seal report
    seal report primes-plan-1 --html report.html

    Figures and verdicts of ended runs (default: the latest): censoring and loss by class with exact
    p-values, token costs, scores under each policy, deviations from the plan.
    """
    from sealbench.stages.report import report

    workspace, _ = open_workspace(folder)
    found = [report(workspace, name) for name in (runs or (None,))]
    for one in found:
        if one.fresh:
            console.note(f"written {one.folder / 'report.json'} and report.md")
    _print(console, found, as_json)
    _write_files(console, found, html, markdown, latex)
    console.next_step("seal stamp, then seal verify")
    asymmetric = any(test.finding == "asymmetric" for one in found for test in one.report.tests)
    return 1 if fail_on == "asymmetry" and asymmetric else 0


def _print(console: Console, found: list[Reported], as_json: bool) -> None:
    from sealbench.formats.report import report_view
    from sealbench.render.terminal import render_terminal

    if not as_json:
        for one in found:
            console.result(render_terminal(one.report, color=console.color))
        return
    views = [report_view(one.report) for one in found]
    console.json(views[0] if len(views) == 1 else {"schema": "sealbench/reports/v1", "reports": views})


def _write_files(
    console: Console, found: list[Reported], html: Path | None, markdown: Path | None, latex: Path | None
) -> None:
    from sealbench.render.html import render_html
    from sealbench.render.markdown import render_markdown
    from sealbench.render.table import paper_table

    if html is not None:
        if len(found) != 1:
            raise UsageError("--html takes one run", hint=f"seal report {found[0].run.name} --html {html}")
        html.write_text(render_html(found[0].report, found[0].lines), encoding="utf-8")
        console.note(f"written {html}")
    if markdown is not None:
        markdown.write_text("\n".join(render_markdown(one.report) for one in found), encoding="utf-8")
        console.note(f"written {markdown}")
    if latex is not None:
        text = "\n".join(paper_table(one.report, "latex") for one in found)
        latex.write_text(text, encoding="utf-8")
        console.note(f"written {latex}")
