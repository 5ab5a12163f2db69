"""`seal families`."""

from __future__ import annotations

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console


@click.command("families")
@json_option
@pass_console
def command(console: Console, as_json: bool) -> None:
    """\b
    seal families

    List the installed task families: their classes, wordings, and parameters with defaults.
    """
    from sealbench.tasks.base import family_names, get_family

    families = [get_family(name) for name in family_names()]
    if as_json:
        console.json(
            {
                "schema": "sealbench/families/v1",
                "families": [
                    {
                        "name": family.name,
                        "version": family.version,
                        "summary": family.summary,
                        "classes": list(family.classes),
                        "wordings": list(family.wordings),
                        "parameters": family.complete({}),
                    }
                    for family in families
                ],
            }
        )
        return
    for family in families:
        console.result(f"{family.name} (version {family.version}): {family.summary}")
        console.result(f"  classes   {', '.join(family.classes)}")
        console.result(f"  wordings  {', '.join(family.wordings)}")
        for key, value in sorted(family.complete({}).items()):
            console.result(f"  -p {family.name}.{key}={_shown(value)}")
    console.next_step("seal create primality --name primes --per-class 8")


def _shown(value: object) -> str:
    return ",".join(str(entry) for entry in value) if isinstance(value, list) else str(value)
