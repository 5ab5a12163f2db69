"""`seal init`."""

from __future__ import annotations

from pathlib import Path

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console


@click.command("init")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=Path())
@click.option(
    "--network",
    type=click.Choice(["mainnet", "regtest"]),
    default="mainnet",
    show_default=True,
    help="Bitcoin network of the timestamps; regtest proves nothing about time.",
)
@json_option
@pass_console
def command(console: Console, folder: Path, network: str, as_json: bool) -> None:
    """\b
    seal init my-audit

    Make a workspace in FOLDER (default: here): its folders, sealbench.toml, a .gitignore for the
    private files, and a signing key of your own. Back the key up: a lost key means a new registry.
    """
    from sealbench.stages.init import init

    made = init(folder.resolve(), network=network)
    if as_json:
        console.json(
            {
                "schema": "sealbench/init/v1",
                "workspace": str(made.workspace.root),
                "author": made.fingerprint,
                "network": network,
            }
        )
    else:
        console.result(f"workspace {made.workspace.root}")
        console.result(f"author    {made.fingerprint}  (key: {made.workspace.author_key})")
    console.next_step("seal create primality --name primes --per-class 8")
