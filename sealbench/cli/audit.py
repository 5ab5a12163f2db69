"""`seal audit`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console
from sealbench.errors import UsageError

_FILE = click.Path(dir_okay=False, path_type=Path)
_WIDTH = 100  # columns, where results go to a file or a pipe


@click.command("audit")
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="LOG...")
@click.option("--class", "class_field", metavar="FIELD", help="Field that holds the class (default: target).")
@click.option("--class-pattern", metavar="REGEX", help="The class out of the item's id.")
@click.option("--labels", type=_FILE, help="A CSV with a header, then item,class lines.")
@click.option("--class-from", type=_FILE, metavar="OTHERLOG", help="Class: right or wrong in another log.")
@click.option("--bins", type=click.IntRange(2), help="Split a numeric class into so many bins.")
@click.option("--name", "names", multiple=True, metavar="LABEL=NAME", help="Call a class by another name.")
@click.option("--class1", metavar="LABEL", help="The class named first.")
@click.option(
    "--alternative",
    type=click.Choice(["two-sided", "greater", "less"]),
    default="two-sided",
    show_default=True,
)
@click.option("--alpha", default="0.05", show_default=True, help="Level, corrected over all groups (Holm).")
@click.option("--format", "format_name", metavar="F", help="The logs' format (default: by content).")
@click.option("--cap", type=click.IntRange(1), help="The token cap, where the log does not hold it.")
@click.option("--column", "columns", multiple=True, metavar="ROLE=NAME", help="A column of CSV or JSONL.")
@click.option("--requests", type=_FILE, help="The request file of a batch output.")
@click.option("--metric", help="The score to read where a log has several.")
@click.option("--model", help="The model's name, for logs that do not hold it.")
@click.option(
    "--commitment",
    "commitments",
    multiple=True,
    type=_FILE,
    help="Check the samples of a sealed battery against its commitment (in a workspace: found there).",
)
@click.option("--html", type=_FILE, help="Write one HTML page to FILE.")
@click.option("--markdown", type=_FILE, help="Write Markdown to FILE.")
@click.option("--fail-on", type=click.Choice(["asymmetry"]), help="Exit 1 if cutting differs by class.")
@json_option
@pass_console
def command(
    console: Console,
    logs: tuple[Path, ...],
    class_field: str | None,
    class_pattern: str | None,
    labels: Path | None,
    class_from: Path | None,
    bins: int | None,
    names: tuple[str, ...],
    class1: str | None,
    alternative: Literal["two-sided", "greater", "less"],
    alpha: str,
    format_name: str | None,
    cap: int | None,
    columns: tuple[str, ...],
    requests: Path | None,
    metric: str | None,
    model: str | None,
    commitments: tuple[Path, ...],
    html: Path | None,
    markdown: Path | None,
    fail_on: str | None,
    as_json: bool,
) -> int:
    """\b
    seal audit logs/
    seal audit results.csv --class is_prime --name 1=prime --name 0=composite

    Does what was cut, or came back empty, depend on the right answer? Reads the logs of common
    harnesses, tests items (not responses), and says what the logs cannot show. Exit 0 whatever is
    found, unless --fail-on asymmetry.
    """
    from sealbench import store
    from sealbench.analysis.audit_asked import Asked
    from sealbench.render.audit import render_audit_html, render_audit_markdown, render_audit_terminal
    from sealbench.render.audit_view import audit_view
    from sealbench.stages.audit import Logs, audit

    asked = Asked(
        class_field,
        class_pattern,
        labels,
        class_from,
        bins,
        _pairs(names, "--name LABEL=NAME"),
        class1,
        alternative,
        cap,
        alpha,
    )
    columns_named = _pairs(columns, "--column ROLE=NAME")
    read = Logs(logs, format_name, columns_named, requests, metric, model, commitments)
    found = audit(read, asked, progress=lambda name, rows: console.progress(f"{name}: {rows} rows"))
    console.clear_progress()
    if as_json:
        console.json(audit_view(found))
    else:
        width = console.width or _WIDTH
        console.result(render_audit_terminal(found, color=console.color, width=width))
    for path, render in ((html, render_audit_html), (markdown, render_audit_markdown)):
        if path is not None:
            store.replace(path, render(found).encode())
            console.note(f"written {path}")
    return 1 if fail_on == "asymmetry" and found.is_asymmetric else 0


def _pairs(texts: tuple[str, ...], wanted: str) -> dict[str, str]:
    pairs = {}
    for text in texts:
        key, sign, value = text.partition("=")
        if not sign or not key or not value:
            raise UsageError(f"{text!r} is not of the form {wanted}", hint=wanted)
        pairs[key] = value
    return pairs
