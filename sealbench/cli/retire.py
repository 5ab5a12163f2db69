"""`seal retire`."""

from __future__ import annotations

from pathlib import Path

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console, workspace_option
from sealbench.cli.stamping import stamp_now
from sealbench.cli.workspace import open_workspace
from sealbench.errors import UsageError


@click.command("retire")
@click.argument("name")
@click.option("--confirm", default=None, metavar="NAME", help="Repeat the name instead of being asked.")
@click.option("--no-stamp", is_flag=True, help="Do not submit to calendars now.")
@workspace_option
@json_option
@pass_console
def command(
    console: Console, name: str, confirm: str | None, no_stamp: bool, folder: Path | None, as_json: bool
) -> None:
    """\b
    seal retire primes

    Publish a battery in full: its secret key, every item with its answer and certificate, and the raw
    responses of its runs. There is no way back; it cannot be run as sealed again.
    """
    from sealbench.stages.retire import retire, waiting_derived

    workspace, settings = open_workspace(folder)
    derived = waiting_derived(workspace, name)
    if derived:
        console.note(f"published with it, because they share its items: {', '.join(derived)}")
    typed = confirm if confirm is not None else click.prompt(f"Type {name} to publish it for good", err=True)
    if typed != name:
        raise UsageError(f"{typed!r} is not {name!r}; nothing was published", hint=f"seal retire {name}")
    done = retire(workspace, name)
    stamped = None if no_stamp else stamp_now(console, workspace, settings)
    if as_json:
        console.json(
            {
                "schema": "sealbench/retire/v1",
                "name": name,
                "folder": str(done.folder),
                "files": [workspace.relative(path) for path in done.files],
                "runs": list(done.runs),
                "derived": list(done.derived),
                "stamped": stamped,
            }
        )
    else:
        console.result(f"published {done.folder} ({len(done.files)} files, {len(done.runs)} runs)")
        for one in done.derived:
            console.result(f"published {workspace.retired(one)} with it")
    console.next_step("seal verify")
