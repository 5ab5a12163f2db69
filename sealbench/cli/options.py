"""Options and small helpers that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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


class GroupedCommand(click.Command):
    """A command whose help lists its options under headings.

    Parameters
    ----------
    groups : headings and, under each, the parameters' Python names; the rest comes last.
    """

    def __init__(self, *arguments: Any, groups: Mapping[str, Sequence[str]], **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.groups = groups

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each group that has anything to show, then what no group names."""
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        records = {one.name: found for one in options if (found := one.get_help_record(ctx))}
        for title, names in self.groups.items():
            with formatter.section(title):
                formatter.write_dl([records.pop(name) for name in names])
        with formatter.section("Options"):
            formatter.write_dl(list(records.values()))
