"""Reads the project's Markdown: its pages, their links and anchors, the shell blocks in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:(?<=\n\n)|(?<=\A))((?:    .*\n|\n(?=    ))+)")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)


def pages() -> list[Path]:
    """Every Markdown page of the project that people read."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "batteries").glob("*.md")]
    return sorted(found)


@dataclass(frozen=True)
class Block:
    """A code block: the language it names (empty if indented or unnamed) and its text."""

    language: str
    text: str

    @property
    def lines(self) -> list[str]:
        """Its lines without indentation of the block."""
        return self.text.splitlines()


def blocks(page: Path) -> Iterator[Block]:
    """The code blocks of a page, fenced ones first."""
    text = page.read_text(encoding="utf-8")
    for match in _FENCE.finditer(text):
        yield Block(match[1], match[2])
    for match in _INDENTED.finditer(_FENCE.sub("", text)):
        lines = match[1].splitlines()
        yield Block("", "\n".join(line.removeprefix("    ") for line in lines))


def prose(page: Path) -> str:
    """A page without its code blocks."""
    return _INDENTED.sub("", _FENCE.sub("", page.read_text(encoding="utf-8")))


def links(page: Path) -> list[str]:
    """Targets of the page's links."""
    return _LINK.findall(prose(page))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found: set[str] = set()
    for heading in _HEADING.findall(_FENCE.sub("", page.read_text(encoding="utf-8"))):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        number = sum(one == slug or re.fullmatch(rf"{re.escape(slug)}-\d+", one) is not None for one in found)
        found.add(f"{slug}-{number}" if number else slug)
    return found
