"""`seal create`."""

from __future__ import annotations

from pathlib import Path

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console, workspace_option
from sealbench.cli.stamping import stamp_now
from sealbench.cli.workspace import open_workspace


@click.command("create")
@click.argument("families", nargs=-1, required=True, metavar="FAMILY…")
@click.option("--name", required=True, help="Name of the battery.")
@click.option("--per-class", required=True, type=int, help="Instances per class and kind.")
@click.option(
    "-p", "given", multiple=True, metavar="FAMILY.PARAMETER=VALUE", help="A parameter; may be repeated."
)
@click.option(
    "--wording",
    "wordings",
    multiple=True,
    default=("plain",),
    show_default=True,
    help="A wording to ask every instance in; may be repeated.",
)
@click.option("--supersedes", default=None, metavar="NAME", help="The battery that this one replaces.")
@click.option("--allow-leaks", is_flag=True, help="Make it although a short cut tells the classes apart.")
@click.option("--no-stamp", is_flag=True, help="Do not submit to calendars now (`seal stamp` does it later).")
@workspace_option
@json_option
@pass_console
def command(
    console: Console,
    families: tuple[str, ...],
    name: str,
    per_class: int,
    given: tuple[str, ...],
    wordings: tuple[str, ...],
    supersedes: str | None,
    allow_leaks: bool,
    no_stamp: bool,
    folder: Path | None,
    as_json: bool,
) -> None:
    """\b
    seal create primality --name primes --per-class 8 -p primality.digits=6

    Draw a fresh secret key, make the items from it, encrypt them, commit to them with a salted root,
    sign, register and stamp. Only you can read the items until you retire the battery.
    """
    from sealbench.stages.create import create

    workspace, settings = open_workspace(folder)
    made = 0

    def advance() -> None:
        nonlocal made
        made += 1
        console.progress(f"{made} instances made")

    created = create(
        workspace,
        families,
        name=name,
        per_class=per_class,
        given=given,
        wordings=wordings,
        supersedes=supersedes,
        allow_leaks=allow_leaks,
        on_instance=advance,
    )
    stamped = None if no_stamp else stamp_now(console, workspace, settings)
    commitment = created.commitment
    if as_json:
        console.json(
            {
                "schema": "sealbench/create/v1",
                "name": name,
                "items": commitment.items,
                "instances": commitment.instances,
                "root": commitment.root,
                "commitment": {
                    "path": workspace.relative(created.path),
                    "sha256": commitment.digest(),
                },
                "stamped": stamped,
            }
        )
    else:
        console.result(f"battery {name}: {commitment.instances} instances, {commitment.items} items")
        console.result(f"root    {commitment.root}")
        console.result(f"sha256  {commitment.digest()}  {workspace.relative(created.path)}")
        key = workspace.battery_key(name)
        console.note(f"key     {key}: back it up; if it is lost, nobody can ever open this battery")
    console.next_step(f"seal preregister {name} --plan {name}-plan --template two-class")
