"""Every command of the tutorial and the how-tos that begin from nothing is run as it stands.

Calendar, explorer and models are the built-in ones on the loopback. What cannot be had without a network
or without waiting has a stand-in in the table below, with its reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pages import ROOT, Block, blocks
from shell_session import Session, StandIn, commands, without_comment

from sealbench.testing.calendar import CalendarServer

STAND_INS = (
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
    "docs/tutorial.md",
    "docs/own-numbers.md",
    "docs/own-items.md",
    "docs/beacon.md",
    "docs/revealing.md",
    "docs/retire.md",
    "docs/keys.md",
)


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
    }
    return Session(folder, state, variables, STAND_INS, wait)


@pytest.mark.parametrize("page", PAGES)
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
