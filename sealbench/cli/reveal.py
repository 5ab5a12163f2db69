"""`seal reveal`."""

from __future__ import annotations

from pathlib import Path

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console, workspace_option
from sealbench.cli.stamping import stamp_now
from sealbench.cli.workspace import open_workspace
from sealbench.errors import UsageError
from sealbench.store import Workspace, check_name


@click.command("reveal")
@click.argument("name")
@click.option("--item", "ids", multiple=True, metavar="ID", help="An item to open; may be repeated.")
@click.option("--subset-of", "parent", metavar="PARENT", help="Show that NAME is part of PARENT instead.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--no-stamp", is_flag=True, help="Do not submit to calendars now.")
@workspace_option
@json_option
@pass_console
def command(
    console: Console,
    name: str,
    ids: tuple[str, ...],
    parent: str | None,
    yes: bool,
    no_stamp: bool,
    folder: Path | None,
    as_json: bool,
) -> None:
    """\b
    seal reveal primes --item 10c71fe78de08257
    seal reveal half --subset-of primes

    Open some items of a sealed battery, each with the proof that it was committed to; or show that a
    derived battery is part of its parent, opening nothing.
    """
    if bool(ids) == (parent is not None):
        raise UsageError("say either --item ID or --subset-of PARENT", hint=f"seal reveal {name} --item ID")
    workspace, settings = open_workspace(folder)
    check_name(name, "battery")
    if parent is not None:
        path, value, sentence = _subset(workspace, name, parent)
    else:
        path, value, sentence = _items(console, workspace, name, ids, yes)
    stamped = None if no_stamp else stamp_now(console, workspace, settings)
    relative = workspace.relative(path)
    if as_json:
        console.json({"schema": "sealbench/reveal-result/v1", "path": relative, **value, "stamped": stamped})
    else:
        console.result(sentence)
        console.result(f"written {relative}")
    console.next_step("seal verify")


def _items(
    console: Console, workspace: Workspace, name: str, ids: tuple[str, ...], yes: bool
) -> tuple[Path, dict[str, object], str]:
    from sealbench.stages.reveal import reveal, select_reveal

    chosen = select_reveal(workspace, name, ids)
    instances = {item.instance for item in chosen.items}
    wordings = sorted({item.wording for item in chosen.items})
    told = (
        f"opens {len(chosen.indices)} items: {len(instances)} instances of {name}, each in all its wordings "
        f"({', '.join(wordings)}), for everybody and for good"
    )
    console.note(told)
    if not yes and not click.confirm("Reveal them?", err=True):
        raise UsageError("nothing was revealed", hint=f"seal reveal {name} --item {ids[0]} --yes")
    document, path = reveal(workspace, chosen)
    value: dict[str, object] = {
        "battery": name,
        "items": [entry.item.id for entry in document.entries],
        "instances": sorted(instances),
    }
    return path, value, f"revealed {len(document.entries)} items of {name}, each with its path to the root"


def _subset(workspace: Workspace, name: str, parent: str) -> tuple[Path, dict[str, object], str]:
    from sealbench.stages.derive import prove_subset

    document, path = prove_subset(workspace, name, parent=parent)
    sentence = f"all {len(document.leaves)} leaves of {name} are leaves of {parent}; nothing was opened"
    return path, {"battery": name, "subset_of": parent, "leaves": len(document.leaves)}, sentence
