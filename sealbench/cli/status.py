"""`seal status`."""

from __future__ import annotations

from pathlib import Path

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console, workspace_option
from sealbench.cli.workspace import open_workspace


@click.command("status")
@workspace_option
@json_option
@pass_console
def command(console: Console, folder: Path | None, as_json: bool) -> int:
    """\b
    seal status

    What waits: proofs to upgrade, drafts without items, batteries never run, runs unfinished or
    unreported, reveals overdue.
    Exit code 3 while a proof lacks its first Bitcoin attestation.
    """
    from sealbench.stages.status import status

    workspace, _ = open_workspace(folder)
    found = status(workspace)
    if as_json:
        console.json(
            {
                "schema": "sealbench/status/v1",
                "network": found.network,
                "batteries": list(found.batteries),
                "runs": list(found.runs),
                "keys": list(found.keys),
                "waiting": [
                    {"subject": one.subject, "state": one.state, "command": one.command}
                    for one in found.waiting
                ],
                "unanchored": found.unanchored,
                "notes": list(found.notes),
            }
        )
        return 3 if found.unanchored else 0
    label = "" if found.network == "mainnet" else f" ({found.network}: proves nothing about time)"
    console.result(f"batteries: {len(found.batteries)}, runs: {len(found.runs)}{label}")
    if len(found.keys) > 1:
        for told in found.keys:
            console.result(f"key {told}")
    for one in found.waiting:
        console.result(f"{one.subject}: {one.state}")
        console.result(f"    {one.command}")
    for note in found.notes:
        console.result(note)
    if not found.waiting:
        console.result("nothing waits")
    return 3 if found.unanchored else 0
