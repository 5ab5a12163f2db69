"""`seal create`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sealbench.cli import create_modes
from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console, workspace_option
from sealbench.cli.stamping import stamp_now
from sealbench.cli.workers_option import dask_cluster, dask_option
from sealbench.cli.workspace import open_workspace
from sealbench.errors import UsageError

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from sealbench.publishing.committing import Created
    from sealbench.store import Workspace


@click.command("create")
@click.argument("families", nargs=-1, metavar="FAMILY…")
@click.option("--name", default=None, help="Name of the battery.")
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
    "--for", "template", default=None, metavar="TEMPLATE", help="Make all that this template's plan needs."
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
@click.option(
    "--beacon",
    is_flag=False,
    flag_value="+144",
    default=None,
    metavar="[HEIGHT|+N]",
    help="Only announce it: its items follow from this future block (+144: a day from now).",
)
@click.option("--from-draft", default=None, metavar="NAME", help="Draw the items of an announced battery.")
@click.option("--derived-from", default=None, metavar="NAME", help="Take the first items of this battery.")
@click.option("--allow-leaks", is_flag=True, help="Make it although a short cut tells the classes apart.")
@click.option("--no-stamp", is_flag=True, help="Do not submit to calendars now (`seal stamp` does it later).")
@dask_option
@workspace_option
@json_option
@pass_console
def command(
    console: Console,
    families: tuple[str, ...],
    name: str | None,
    per_class: int | None,
    source: Path | None,
    given: tuple[str, ...],
    template: str | None,
    wordings: tuple[str, ...],
    supersedes: str | None,
    beacon: str | None,
    from_draft: str | None,
    derived_from: str | None,
    allow_leaks: bool,
    no_stamp: bool,
    dask: str | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """\b
    seal create primality --name primes --per-class 8 -p primality.digits=6
    seal create --for paper0 --name wave1 --per-class 8
    seal create primality --name large --per-class 5000 --dask tcp://127.0.0.1:8786
    seal create --import items.csv --name own
    seal create --derived-from primes --name few --per-class 4
    seal create primality --name later --per-class 8 --beacon
    seal create --from-draft later

    Draw a fresh secret key, make the items from it, encrypt them, commit to them with a salted root,
    sign, register and stamp. Only you can read the items until you retire the battery.

    With --beacon only the key and the parameters are bound now; nobody, you included, can know an item
    before the block exists. Its plans are frozen before it, and --from-draft draws the items after it.
    """
    workspace, settings = open_workspace(folder)
    if template is not None:
        families, given, wordings = create_modes.ingredients(template, families, given, wordings)
    name = _battery_name(name, source, beacon, from_draft, derived_from, wordings)
    if dask is not None and any(way is not None for way in (source, beacon, from_draft, derived_from)):
        raise UsageError(
            "--dask spreads the drawing of new instances, and this way draws none, or a block's",
            hint="leave --dask out",
        )
    if beacon is not None:
        if supersedes is not None:
            raise UsageError(
                "a draft supersedes nothing yet",
                hint=f"later: seal create --from-draft {name} --supersedes {supersedes}",
            )
        drafted = create_modes.announce(
            workspace,
            settings,
            families,
            name=name,
            per_class=per_class,
            given=given,
            wordings=wordings,
            allow_leaks=allow_leaks,
            height=beacon,
        )
        stamped = None if no_stamp else stamp_now(console, workspace, settings)
        create_modes.tell_draft(console, workspace, drafted, stamped, as_json)
        return
    if from_draft is not None:
        if families or per_class is not None or given:
            raise UsageError("the draft says what to draw", hint=f"seal create --from-draft {name}")
        created = create_modes.draw(console, workspace, settings, name, supersedes)
    elif derived_from is not None:
        created = create_modes.take_part(
            workspace,
            families,
            parent=derived_from,
            name=name,
            per_class=per_class,
            given=given,
            supersedes=supersedes,
        )
    elif source is not None:
        if families or per_class is not None or given:
            raise UsageError(
                "--import takes no family, --per-class or -p",
                hint=f"seal create --import {source} --name {name}",
            )
        from sealbench.stages.import_items import import_battery

        created = import_battery(workspace, source, name=name, supersedes=supersedes)
    else:
        with dask_cluster(console, dask) as cluster:
            executor = cluster.executor() if cluster is not None else None
            created = _generate(
                console,
                workspace,
                families,
                name,
                per_class,
                given,
                wordings,
                supersedes,
                allow_leaks,
                executor,
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
        key = workspace.battery_key(derived_from or name)
        console.note(f"key     {key}: back it up; if it is lost, nobody can ever open this battery")
    suited = template or ("import" if source else "two-class")
    console.next_step(
        "seal run (once the commitment is in a block)"
        if from_draft
        else f"seal preregister {name} --plan {name}-plan --template {suited}"
    )


def _battery_name(
    name: str | None,
    source: Path | None,
    beacon: str | None,
    from_draft: str | None,
    derived_from: str | None,
    wordings: tuple[str, ...],
) -> str:
    """The battery's name; UsageError if there is none, or if two ways of making one are asked for at once."""
    ways = {
        "--import": source,
        "--beacon": beacon,
        "--from-draft": from_draft,
        "--derived-from": derived_from,
    }
    asked = [way for way, value in ways.items() if value is not None]
    if len(asked) > 1:
        raise UsageError(f"{' and '.join(asked)} do not go together", hint="seal create --help")
    if from_draft is not None and name not in (None, from_draft):
        raise UsageError("a draft has its name already", hint=f"seal create --from-draft {from_draft}")
    if (from_draft or derived_from) and wordings != ("plain",):
        raise UsageError(
            f"the wordings are those of {from_draft or derived_from}", hint="leave --wording out"
        )
    found = name or from_draft
    if found is None:
        raise UsageError("the battery needs a name", hint="--name NAME")
    return found


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
    executor: Executor | None,
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
        executor=executor,
    )
