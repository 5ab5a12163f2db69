"""`seal headers`."""

from __future__ import annotations

from pathlib import Path

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console, workspace_option
from sealbench.cli.workspace import settings_anywhere


@click.group("headers")
def command() -> None:
    """\b
    seal headers update
    seal headers update --from electrum --json

    Bitcoin block headers: the checkpoint table that proofs are checked against.
    """


@command.command("update", short_help="Extend the checkpoint table.")
@click.option(
    "--from",
    "kind",
    type=click.Choice(("explorer", "core", "electrum")),
    default=None,
    help="Kind of source to ask (default: electrum, core, explorer, as configured).",
)
@workspace_option
@json_option
@pass_console
def update(console: Console, kind: str | None, folder: Path | None, as_json: bool) -> None:
    """\b
    seal headers update
    seal headers update --from electrum

    Extend the checkpoint table to the newest finished period of 2016 blocks, so that later blocks are
    checked without trust in an explorer. Every header is linked and its work recomputed before anything
    is kept, in $XDG_DATA_HOME/sealbench (usually ~/.local/share/sealbench).
    """
    from sealbench.stages.update_headers import update_headers

    done = update_headers(settings_anywhere(folder), kind=kind, note=console.note)
    if as_json:
        console.json(
            {
                "schema": "sealbench/headers-update/v1",
                "path": str(done.path),
                "source": done.source,
                "before": done.before,
                "after": done.after,
                "notes": list(done.notes),
            }
        )
    elif done.after > done.before:
        console.result(f"checkpoints up to block {done.after} (before: {done.before}), from {done.source}")
        console.result(f"kept in {done.path}")
    else:
        console.result(f"nothing newer: checkpoints reach block {done.before}")
    for one in done.notes:
        console.note(one)
    if done.after > done.before:
        console.next_step("seal verify")
