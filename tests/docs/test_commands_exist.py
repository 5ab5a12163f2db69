"""Whatever `seal …` a page shows, in code blocks or within a line, is a command with those options."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
from pages import ROOT, blocks, pages, prose

from sealbench.cli.root import COMMANDS, seal

_INLINE = re.compile(r"`([^`\n]+)`")
_OPTION = re.compile(r"--?[A-Za-z][\w-]*")
# Named on purpose as what does not exist.
_EXEMPT = {"CHANGELOG.md"}


def shown(page: Path) -> list[str]:
    """Every simple command on a page that begins with `seal`."""
    candidates = [line for block in blocks(page) for line in block.lines] + _INLINE.findall(prose(page))
    found = []
    for line in candidates:
        for part in re.split(r"&&|;|\$\(|\| ", line):
            words = _words(part.partition(" # ")[0])
            while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                words = words[1:]
            if words[:1] == ["seal"] and len(words) > 1:
                found.append(" ".join(words))
    return found


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # an apostrophe of the sentence beside the command
        return text.split()


def mistakes(command: str) -> list[str]:
    """What `seal` would not know in it."""
    words = command.split()[1:]
    context = click.Context(seal)
    while words and words[0] in ("--debug", "--color", "--no-color"):
        words = words[1:]
    if not words or words[0] in ("COMMAND", "--help", "--version", "…", "-h"):
        return []
    if words[0] not in COMMANDS:
        return [f"{command}: there is no command {words[0]}"]
    found = seal.get_command(context, words[0])
    while isinstance(found, click.Group) and len(words) > 1 and words[1] in found.commands:
        found, words = found.commands[words[1]], words[1:]
    assert found is not None
    known = {name for option in found.params for name in (*option.opts, *option.secondary_opts)}
    asked = {_OPTION.match(word) for word in words[1:] if word.startswith("-")}
    unknown = {match[0] for match in asked if match} - known - {"--help", "-h"}
    return [f"{command}: no option {name}" for name in sorted(unknown)]


@pytest.mark.parametrize(
    "page",
    [page for page in pages() if page.name not in _EXEMPT],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_commands_of(page: Path) -> None:
    assert not [mistake for command in shown(page) for mistake in mistakes(command)]


def test_what_counts_as_a_mistake() -> None:
    assert mistakes("seal verify --accept-unanchored paper.pdf") == []
    assert mistakes("seal key rotate --json") == []
    assert mistakes("seal verify --fast") == ["seal verify --fast: no option --fast"]
    assert mistakes("seal destroy x") == ["seal destroy x: there is no command destroy"]
