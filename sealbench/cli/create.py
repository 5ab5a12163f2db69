"""`seal create`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console, workspace_option
from sealbench.cli.stamping import stamp_now
from sealbench.cli.workspace import open_workspace
from sealbench.errors import UsageError

if TYPE_CHECKING:
    from sealbench.committing import Created
    from sealbench.store import Workspace


@click.command("create")
@click.argument("families", nargs=-1, metavar="FAMILY…")
@click.option("--name", required=True, help="Name of the battery.")
@click.option("--per-class", type=int, default=None, help="Instances per class and kind.")
@click.option(
    "--import",
    "source",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    help="Seal your own items from a .jsonl, .csv or .tsv file instead.",
)
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
    per_class: int | None,
    source: Path | None,
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
    seal create --import items.csv --name own

    Draw a fresh secret key, make the items from it, encrypt them, commit to them with a salted root,
    sign, register and stamp. Only you can read the items until you retire the battery.
    """
    workspace, settings = open_workspace(folder)
    if source is not None:
        if families or per_class is not None or given:
            raise UsageError(
                "--import takes no family, --per-class or -p",
                hint=f"seal create --import {source} --name {name}",
            )
        from sealbench.stages.import_items import import_battery

        created = import_battery(workspace, source, name=name, supersedes=supersedes)
    else:
        created = _generate(
            console, workspace, families, name, per_class, given, wordings, supersedes, allow_leaks
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


def _generate(
    console: Console,
    workspace: Workspace,
    families: tuple[str, ...],
    name: str,
    per_class: int | None,
    given: tuple[str, ...],
    wordings: tuple[str, ...],
    supersedes: str | None,
    allow_leaks: bool,
) -> Created:
    from sealbench.stages.create import create

    if per_class is None:
        raise UsageError("how many instances per class?", hint="--per-class 8; `seal plan` computes it")
    made = 0

    def advance() -> None:
        nonlocal made
        made += 1
        console.progress(f"{made} instances made")

    return create(
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
