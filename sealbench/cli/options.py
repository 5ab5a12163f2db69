"""Options and small helpers that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from sealbench.cli.console import Console

Command = TypeVar("Command", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON on stdout.")
workspace_option = click.option(
    "-C",
    "--workspace",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    help="The workspace to work in (default: the one around the current folder).",
)
pass_console = click.make_pass_decorator(Console, ensure=True)


def example(text: str) -> str:
    """A help text that begins with an example: click keeps its line as it is after \\b."""
    return "\b\n" + text
