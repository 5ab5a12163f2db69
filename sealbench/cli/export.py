"""`seal export`."""

from __future__ import annotations

from pathlib import Path

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console, workspace_option
from sealbench.cli.workspace import open_workspace
from sealbench.errors import UsageError

_FILE = click.Path(path_type=Path)


@click.command("export")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--parquet", type=_FILE, help="Write Parquet to FILE; needs the extra `parquet`.", metavar="FILE"
)
@click.option("--csv", type=_FILE, help="Write CSV to FILE.", metavar="FILE")
@workspace_option
@json_option
@pass_console
def command(
    console: Console,
    runs: tuple[str, ...],
    parquet: Path | None,
    csv: Path | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """\b
    seal export --parquet rows.parquet          every row of every ended run
    seal export wave1-plan-1 --csv rows.csv     the rows of one run
    seal report rows.parquet                    counts by class over all of them

    One row for each planned call, as the log has it: how it ended, what was charged, what was read.
    No prompt and no response stands in it. A log that is not the registered one is refused.
    """
    if (parquet is None) == (csv is None):
        raise UsageError(
            "say which one file to write", hint="seal export --parquet rows.parquet, or --csv rows.csv"
        )
    workspace, _ = open_workspace(folder)
    from sealbench.stages.export import export_csv, export_parquet

    if parquet is not None:
        exported = export_parquet(workspace, runs, parquet)
    else:
        exported = export_csv(workspace, runs, csv or Path())
    if as_json:
        console.json(
            {
                "schema": "sealbench/export/v1",
                "format": "parquet" if parquet is not None else "csv",
                "path": str(exported.path),
                "runs": list(exported.runs),
                "rows": exported.rows,
            }
        )
    else:
        console.result(f"{exported.rows} rows of {len(exported.runs)} runs in {exported.path}")
    if parquet is not None:
        console.next_step(f"seal report {parquet}")
