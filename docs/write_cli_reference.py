"""Write docs/cli.md from the commands themselves: `make docs`.

Everything comes from the command objects, nothing from click's formatted help, so that the page is the
same with every version of click. A test fails when the page is stale.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path

import click

from sealbench.cli.root import COMMANDS, seal

PAGE = Path(__file__).with_name("cli.md")
HEAD = """\
# Command line

Every command with its options, written by `make docs` from the program itself. Exit codes, variables and
precedence: [README](../README.md#exit-codes-environment-configuration) and [configuration](configuration.md).

Options of `seal` itself, before the command: `--color/--no-color`, `--debug` (a traceback with an error),
`--version`. Every option is also a variable, given in its row; a flag counts more.
"""


def reference() -> str:
    """The whole page: contents, then one section for each command and subcommand."""
    context = click.Context(seal, info_name="seal", auto_envvar_prefix="SEAL")
    index = ["| command | |", "|---|---|"]
    sections = []
    for name, line in COMMANDS.items():
        command = seal.get_command(context, name)
        if command is None:
            raise LookupError(f"seal {name} is listed and cannot be loaded")
        index.append(f"| [`seal {name}`](#seal-{name}) | {line} |")
        sections += [_section(command, path) for command, path in _walk(command, ("seal", name))]
    return "\n".join([HEAD, *index, "", *sections])


def _walk(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[click.Command, tuple[str, ...]]]:
    """A command and, for a group, its subcommands in their order."""
    yield command, path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _walk(inner, (*path, name))


def _section(command: click.Command, path: tuple[str, ...]) -> str:
    level = "#" * min(len(path), 3)
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    options = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
    usage = " ".join(
        [
            *path,
            *(["[OPTIONS]"] if options else []),
            *(_argument(one) for one in arguments),
            *(["COMMAND"] if isinstance(command, click.Group) else []),
        ]
    )
    lines = [f"{level} {' '.join(path)}", "", f"`{usage}`", "", *_help(command.help or ""), ""]
    if options:
        lines += ["| option | default | meaning | variable |", "|---|---|---|---|"]
        lines += [_row(one) for one in options]
        lines.append("")
    return "\n".join(lines)


def _help(text: str) -> Iterator[str]:
    """The help as Markdown: paragraphs, and those marked `\\b` (examples, tables) word for word."""
    for number, paragraph in enumerate(inspect.cleandoc(text).split("\n\n")):
        if number:
            yield ""
        if paragraph.startswith("\b"):
            yield from textwrap.indent(inspect.cleandoc(paragraph[1:]), "    ").splitlines()
        else:
            yield from (line.strip() for line in paragraph.splitlines())


def _argument(argument: click.Argument) -> str:
    name = argument.metavar or (argument.name or "").upper()
    if argument.metavar and argument.metavar.startswith("["):
        return name
    if argument.nargs == -1:
        return f"[{name}]..."
    return name if argument.required else f"[{name}]"


def _row(option: click.Option) -> str:
    spelt = ", ".join([*option.opts, *option.secondary_opts])
    value = "" if option.is_flag else " " + _value(option)
    shown = _default(option)
    default = "required" if option.required else f"`{shown}`" if shown else ""
    cells = (f"`{spelt}{value}`", default, option.help or "", f"`{option.envvar}`")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _value(option: click.Option) -> str:
    if option.metavar:
        return option.metavar
    if isinstance(option.type, click.Choice):
        return "|".join(str(choice) for choice in option.type.choices)
    spread = option.type.arity if option.type.is_composite else option.nargs
    return " ".join([option.type.name.replace(" range", "").upper()] * max(spread, 1))


def _default(option: click.Option) -> str:
    """The default if the command's own help shows it."""
    if not option.show_default or callable(option.default):
        return ""
    several = isinstance(option.default, list | tuple)
    return ", ".join(str(one) for one in option.default) if several else str(option.default)


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
