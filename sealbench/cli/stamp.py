"""`seal stamp`."""

from __future__ import annotations

from pathlib import Path

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console, workspace_option
from sealbench.cli.workspace import open_workspace, settings_anywhere


@click.command("stamp")
@click.argument("files", nargs=-1, type=click.Path(dir_okay=False, path_type=Path))
@workspace_option
@json_option
@pass_console
def command(console: Console, files: tuple[Path, ...], folder: Path | None, as_json: bool) -> None:
    """\b
    seal stamp
    seal stamp paper.pdf

    Submit files to OpenTimestamps calendars and write FILE.ots beside each. Without FILE: every
    commitment, plan and checkpoint of the workspace that has no proof yet. Calendars see neither
    names nor hashes of the files.
    """
    from sealbench.stages.stamp import stamp, stamp_files

    if files:
        done = stamp_files(files, settings_anywhere(folder))
    else:
        workspace, settings = open_workspace(folder)
        done = stamp(workspace, settings)
    if as_json:
        console.json(
            {
                "schema": "sealbench/stamp/v1",
                "files": [str(path) for path in done.files],
                "answered": list(done.answered),
                "failed": [{"calendar": calendar, "reason": reason} for calendar, reason in done.failed],
            }
        )
    else:
        for path in done.files:
            console.result(f"stamped {path}.ots")
        if not done.files:
            console.result("nothing to stamp: every commitment, plan and checkpoint has its proof")
    for calendar, reason in done.failed:
        console.note(f"calendar {calendar}: {reason}")
    if done.answered:
        console.note(f"promised by {', '.join(done.answered)}")
        console.next_step("seal upgrade (an hour or three from now)")
