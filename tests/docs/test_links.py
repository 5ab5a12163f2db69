"""Links lead to files and headings that exist; code names only pages that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pages import ROOT, anchors, links, pages

_ELSEWHERE = ("https://", "http://", "mailto:")
_NAMED_PAGE = re.compile(r"\b(docs/[\w./-]+\.md)\b")


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of(page: Path) -> None:
    broken = []
    for link in links(page):
        if link.startswith(_ELSEWHERE):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or ROOT not in (target, *target.parents):
            broken.append(f"{link}: no such file")
        elif anchor and (target.suffix != ".md" or anchor not in anchors(target)):
            broken.append(f"{link}: no such heading")
    assert not broken


def test_pages_that_the_code_names_exist() -> None:
    missing = {
        f"{source.relative_to(ROOT)}: {name}"
        for source in sorted((ROOT / "sealbench").rglob("*.py"))
        for name in _NAMED_PAGE.findall(source.read_text(encoding="utf-8"))
        if not (ROOT / name).is_file()
    }
    assert not missing


def test_every_page_is_in_an_index() -> None:
    reached = {
        (index.parent / link.partition("#")[0]).resolve()
        for index in [ROOT / "docs" / "README.md", *(ROOT / "docs").glob("*/README.md")]
        for link in links(index)
    }
    left = {page for page in (ROOT / "docs").rglob("*.md") if page.resolve() not in reached}
    assert {page.relative_to(ROOT).as_posix() for page in left} <= {"docs/README.md"}


def test_what_counts_as_an_anchor(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Seal `run`\n\n## What, and why?\n\n## Again\n\n## Again\n\n```sh\n# no heading\n```\n")
    assert anchors(page) == {"seal-run", "what-and-why", "again", "again-1"}
