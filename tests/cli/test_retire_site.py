"""`seal retire --site DIR`: pages that stand alone, the same bytes each time, nothing sealed in them."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from sealbench.stages.init import init
from sealbench.stages.site import write_site
from sealbench.store import Workspace
from tests.conftest import Seal
from tests.workshop import sealed


class Page(HTMLParser):
    """What one page links to, its ids, and the tags that it uses."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tags: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            assert not name.startswith("on"), (tag, name)
            if name in ("href", "src"):
                self.links.append(value or "")
            elif name == "id":
                self.ids.append(value or "")


@pytest.fixture(scope="module")
def site(demo_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site(Workspace(demo_folder), tmp_path_factory.mktemp("site") / "site").folder


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_every_link_leads_to_a_file_of_the_site(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) == 5  # the index, two batteries, two reports
    for path in pages:
        page = Page(path)
        assert "script" not in page.tags
        assert len(set(page.ids)) == len(page.ids), path
        for link in page.links:
            target, _, anchor = unquote(link).partition("#")
            assert not re.match(r"[a-z]+:|/", target), link
            found = (path.parent / target).resolve() if target else path
            assert found.is_file() and found.is_relative_to(site.resolve()), link
            assert not anchor or anchor in Page(found).ids


def test_nothing_from_outside(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "default-src 'none'" in text
        assert not re.search(r"(?:src|href)=\"(?:https?:)?//|@import|url\(", text)


def test_a_battery_has_timeline_figures_and_downloads(site: Path, demo_folder: Path) -> None:
    text = (site / "primes" / "index.html").read_text(encoding="utf-8")
    for words in (
        "created and committed to",
        "preregistered",
        "began",
        "reported",
        "retired",
        "in block 1 or",
    ):
        assert words in text
    assert text.count("<svg") == 3
    assert "prove nothing about time" in text
    archive = (site / "primes" / "primes.tar").read_bytes()
    assert archive == (demo_folder / "archives" / "primes.tar").read_bytes()
    assert hashlib.sha256(archive).hexdigest() in text
    assert contents(site / "primes" / "files") == contents(demo_folder / "batteries" / "primes")


def test_the_same_bytes_again_and_over_an_older_site(site: Path, demo_folder: Path, tmp_path: Path) -> None:
    first = contents(site)
    write_site(Workspace(demo_folder), tmp_path / "again")
    assert contents(tmp_path / "again") == first
    write_site(Workspace(demo_folder), tmp_path / "again")
    assert contents(tmp_path / "again") == first


def test_sealed_batteries_show_only_what_is_public(seal: Seal, tmp_path: Path) -> None:
    workspace, _ = sealed(tmp_path / "w")
    secret = json.loads(workspace.battery_key("primes").read_bytes())["secret"].encode()
    done = seal("retire", "--site", "site", "--json", cwd=workspace.root)
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert (told["schema"], told["batteries"]) == ("sealbench/site/v1", ["primes"])
    found = contents(workspace.root / "site")
    assert not any(secret in data for data in found.values())
    page = found["primes/index.html"].decode()
    assert "sealed: its items are secret" in page.lower()
    assert "not stamped" in page
    assert "primes/files/batteries/primes.sealed.json" in found
    assert not [path for path in found if path.endswith((".tar", "battery.json", "key.json"))]


def test_a_workspace_without_batteries(seal: Seal, tmp_path: Path) -> None:
    init(tmp_path / "w", network="regtest")
    assert seal("retire", "--site", str(tmp_path / "site"), cwd=tmp_path / "w").code == 0
    assert "There is no battery yet" in (tmp_path / "site" / "index.html").read_text()


def test_drafts_are_told_apart(seal: Seal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sealbench.testing.calendar import CalendarServer

    with CalendarServer() as calendar:
        calendar.mine(5)
        init(tmp_path / "w", network="regtest", calendars=(calendar.url,), explorers=(calendar.url,))
        monkeypatch.chdir(tmp_path / "w")
        announced = seal("create", "primality", "--name", "later", "--per-class", "2", "--beacon", "+72")
        assert announced.code == 0, announced.err
    assert seal("retire", "--site", "site").code == 0
    page = (tmp_path / "w" / "site" / "later" / "index.html").read_text()
    assert "Announced: its items are not drawn yet." in page
    assert "announced, to be drawn from block" in page


def test_damage_and_leaks_are_refused(seal: Seal, demo_copy: Path) -> None:
    report = demo_copy / "runs" / "primes-plan-1" / "report.md"
    good = report.read_bytes()
    report.write_bytes(good + b"\n")
    refused = seal("retire", "--site", "site", cwd=demo_copy)
    assert (refused.code, "was changed since the last command" in refused.err) == (1, True)
    report.write_bytes(good)
    assert not (demo_copy / "site").exists()


def test_a_leak_is_refused_with_its_place(
    seal: Seal, demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "primality")  # stands in every page
    refused = seal("retire", "--site", "site", cwd=demo_copy)
    assert (refused.code, "the value of OPENAI_API_KEY" in refused.err) == (1, True)
    assert " line " in refused.err
    assert not (demo_copy / "site").exists()


def test_wrong_folders(seal: Seal, demo_copy: Path, tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine.txt").write_text("mine")
    shutil.copy(demo_copy / "sealbench.toml", tmp_path / "file")
    for arguments, words in (
        (("--site", str(full)), "holds other files"),
        (("--site", str(tmp_path / "file")), "file"),
        (("--site", "batteries/site"), "lies among the workspace's files"),
        (("--site", ".seal/site"), "lies among the workspace's files"),
        (("--site", "commitments"), "lies among the workspace's files"),
        (("primes", "--site", "site"), "retires nothing"),
        ((), "no battery named"),
    ):
        refused = seal("retire", *arguments, cwd=demo_copy)
        assert (refused.code, words in refused.err) == (2, True), (arguments, refused.err)
    assert [path.name for path in full.iterdir()] == ["mine.txt"]
