"""`seal upgrade`."""

from __future__ import annotations

from pathlib import Path

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console, workspace_option
from sealbench.cli.workspace import open_workspace, settings_anywhere


@click.command("upgrade")
@click.argument("files", nargs=-1, type=click.Path(dir_okay=False, path_type=Path))
@workspace_option
@json_option
@pass_console
def command(console: Console, files: tuple[Path, ...], folder: Path | None, as_json: bool) -> int:
    """\b
    seal upgrade

    Ask the calendars whether their promises are in a Bitcoin block by now, complete the proofs, and
    fetch the block headers that anyone needs to check them. Exit code 3 while a proof still waits.
    """
    from sealbench.stages.upgrade import upgrade_files, upgrade_workspace

    if files:
        done = upgrade_files(files, settings_anywhere(folder))
    else:
        workspace, settings = open_workspace(folder)
        done = upgrade_workspace(workspace, settings)
    waiting = [one for one in done.files if not one.complete]
    if as_json:
        console.json(
            {
                "schema": "sealbench/upgrade/v1",
                "files": [
                    {
                        "path": str(one.path),
                        "changed": one.changed,
                        "complete": one.complete,
                        "detail": one.sentence,
                        "notes": list(one.notes),
                    }
                    for one in done.files
                ],
                "headers": done.headers,
                "notes": list(done.notes),
            }
        )
    else:
        for one in done.files:
            console.result(f"{one.path.name}: {one.sentence}")
            for note in one.notes:
                console.note(f"  {note}")
        console.result(f"{len(done.files) - len(waiting)} of {len(done.files)} proofs complete")
    for note in done.notes:
        console.note(note)
    console.next_step("seal upgrade, in an hour" if waiting else "seal verify")
    return 3 if waiting else 0
