"""Every command of the README, the tutorial and the how-tos that begin from nothing is run as it stands.

Calendar, explorer and models are the built-in ones on the loopback. What cannot be had without a network
or without waiting has a stand-in in the table below, with its reason.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pages import ROOT, Block, blocks
from shell_session import Session, StandIn, commands, without_comment

from sealbench.formats.report import Report
from sealbench.render.summary import render_summary
from sealbench.testing.calendar import CalendarServer

STAND_INS = (
    StandIn(
        "git clone REPOSITORY sealbench && cd sealbench",
        'cp -r "$CLONE" sealbench && cd sealbench',
        "no network: a copy of the files that a clone would bring",
    ),
    StandIn(
        "pip install .",
        "python -m pip install --quiet --no-index --no-deps --no-build-isolation --target ../installed .",
        "no package index: the same build, without fetching the dependencies that are here already",
    ),
    StandIn(
        "make demo",
        "make --dry-run demo",
        "it would fetch a virtual environment; `seal demo`, its last command, is run by a fixture",
    ),
    StandIn("make test", "make --dry-run test", "the suite would run itself"),
    StandIn("make check", "make --dry-run check", "it would fetch a virtual environment"),
    StandIn(
        "read -rs BACKUP_PASSPHRASE && export BACKUP_PASSPHRASE",
        "export BACKUP_PASSPHRASE='correct horse'",
        "nobody is here to type",
    ),
    StandIn(
        "seal verify --network mainnet",
        "seal verify --network regtest --accept-unanchored",
        "the built-in chain is labelled regtest; the tutorial's first battery was never stamped in time",
    ),
)
# Commands before which time passes in which Bitcoin finds blocks: how many.
WAITS = {"seal upgrade": 7, "seal create --from-draft later": 150}
PAGES = (
    "README.md",
    "docs/tutorial.md",
    "docs/own-numbers.md",
    "docs/own-items.md",
    "docs/beacon.md",
    "docs/revealing.md",
    "docs/retire.md",
    "docs/keys.md",
)
CLONED = ("sealbench", "batteries", "commitments", "preregistrations", "runs", "tests/data/logs")


def shell_blocks(page: str) -> list[Block]:
    """The blocks of a page that are commands."""
    return [block for block in blocks(ROOT / page) if block.language == "sh"]


@pytest.fixture
def calendar() -> Iterator[CalendarServer]:
    with CalendarServer() as server:
        server.chain.mine(5)
        yield server


@pytest.fixture
def session(tmp_path: Path, calendar: CalendarServer) -> Session:
    """A reader's shell in an empty folder, whose calendar and explorer are those of this machine."""
    configuration = tmp_path / "configuration" / "sealbench"
    configuration.mkdir(parents=True)
    servers = f'calendars = ["{calendar.url}"]\nminimum_operators = 1\nexplorers = ["{calendar.url}"]\n'
    (configuration / "config.toml").write_text(f"[timestamps]\n{servers}")
    folder, state = tmp_path / "reader", tmp_path / "state"
    folder.mkdir()
    state.mkdir()

    def wait(command: str) -> None:
        if command in WAITS:
            calendar.mine(WAITS[command])

    variables = {
        "XDG_CONFIG_HOME": str(configuration.parent),
        "SEAL_INIT_NETWORK": "regtest",
        "CLONE": str(tmp_path / "clone"),
    }
    return Session(folder, state, variables, STAND_INS, wait)


def clone(target: Path) -> None:
    """What `git clone` would bring of this repository, as far as the README's commands need it."""
    target.mkdir()
    for name in CLONED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ROOT.iterdir():
        if file.is_file():
            shutil.copy(file, target / file.name)


def test_the_readme(session: Session, tmp_path: Path, demo_folder: Path) -> None:
    clone(tmp_path / "clone")
    for number, block in enumerate(shell_blocks("README.md")):
        if number:  # every block but the first, which clones, begins in the clone
            session.folder = tmp_path / "reader" / "sealbench"
        if "seal init my-audit" in block.text:
            session.variables["SEAL_VERIFY_NETWORK"] = "regtest"
        session.run(block)
    report = (demo_folder / "runs" / "primes-plan-1" / "report.json").read_bytes()
    told = render_summary(Report.from_bytes(report))
    figures = next(one for one in blocks(ROOT / "README.md") if one.text.startswith("cut at cap 300"))
    assert [line for line in figures.lines if line.strip() not in told] == []
    audited = next(output for command, output in session.outputs.items() if command.startswith("seal audit"))
    assert "1.8e-06" in audited


@pytest.mark.parametrize("page", [page for page in PAGES if page != "README.md"])
def test_the_page(session: Session, page: str) -> None:
    if page != "docs/tutorial.md":
        session.variables["SEAL_VERIFY_NETWORK"] = "regtest"
    for block in shell_blocks(page):
        session.run(block)
    assert session.outputs


def test_every_command_is_in_a_shell_block() -> None:
    """An indented or unnamed block is output, never a command that would go untested."""
    hidden = [
        f"{page}: {line}"
        for page in PAGES
        for block in blocks(ROOT / page)
        if block.language != "sh"
        for line in block.lines
        if line.split()[:1] in (["seal"], ["make"], ["pip"], ["git"], ["python3"], ["$"])
    ]
    assert not hidden


def test_every_stand_in_is_needed() -> None:
    shown = {
        without_comment(line) for page in PAGES for block in shell_blocks(page) for line in commands(block)
    }
    assert {one.command for one in STAND_INS} | set(WAITS) <= shown
