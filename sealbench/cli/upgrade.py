"""`seal upgrade`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console, workspace_option
from sealbench.cli.workspace import open_workspace, settings_anywhere

if TYPE_CHECKING:
    from sealbench.stages.upgrade import FileUpgrade


@click.command("upgrade")
@click.argument("files", nargs=-1, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--every", is_flag=True, help="A line also for each proof that was complete before.")
@workspace_option
@json_option
@pass_console
def command(
    console: Console, files: tuple[Path, ...], every: bool, folder: Path | None, as_json: bool
) -> int:
    """\b
    seal upgrade

    Ask the calendars whether their promises are in a Bitcoin block by now, complete the proofs, and
    fetch the block headers that anyone needs to check them. Exit code 3 while a proof still waits: as a
    scheduled job, run it again an hour later.
    """
    from sealbench.stages.upgrade import upgrade_files, upgrade_workspace

    root = Path()
    if files:
        done = upgrade_files(files, settings_anywhere(folder))
    else:
        workspace, settings = open_workspace(folder)
        root = workspace.root
        done = upgrade_workspace(workspace, settings)
    faults = [one for one in done.files if one.fault]
    waiting = [one for one in done.files if not one.complete and not one.fault]
    if as_json:
        console.json(
            {
                "schema": "sealbench/upgrade/v1",
                "files": [
                    {
                        "path": str(one.path),
                        "changed": one.changed,
                        "complete": one.complete,
                        "fault": one.fault or None,
                        "detail": one.sentence,
                        "notes": list(one.notes),
                    }
                    for one in done.files
                ],
                "headers": done.headers,
                "notes": list(done.notes),
                "disagreement": done.disagreement or None,
            }
        )
    else:
        for one in done.files if every or files else _news(done.files):
            name = one.path.relative_to(root) if one.path.is_relative_to(root) else one.path
            console.result(f"{name}: {one.sentence}")
            for note in one.notes:
                console.note(f"  {note}")
        complete = sum(one.complete and not one.fault for one in done.files)
        console.result(f"{complete} of {len(done.files)} proofs complete")
    for note in done.notes:
        console.note(note)
    if done.disagreement:
        console.error(
            done.disagreement, "no header was kept; ask a third source and remove the one that lies"
        )
        return 1
    if faults:
        worst = min(faults, key=lambda one: one.fault)
        console.next_step(f"seal verify {worst.path}" if worst.fault == 1 else "make its folder writable")
        return worst.fault
    console.next_step("seal upgrade, in an hour" if waiting else "seal verify")
    return 3 if waiting else 0


def _news(files: Sequence[FileUpgrade]) -> list[FileUpgrade]:
    """What a job that runs every hour has to tell: a workspace of years has thousands of proofs."""
    return [one for one in files if one.changed or one.fault or not one.complete]
