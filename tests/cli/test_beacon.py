"""Beacon mode: announced, planned, drawn from a block that did not exist, run, retired, verified."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sealbench.errors import NotYet
from sealbench.formats.battery import Commitment
from sealbench.formats.draft import Draft
from sealbench.publishing.publication import read_registry
from sealbench.publishing.sealing import open_battery
from sealbench.store import Workspace
from sealbench.testing.calendar import CalendarServer
from sealbench.verification.policy import Policy
from sealbench.verification.steps import Verification
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier
from tests.conftest import Result, Seal

AHEAD = 30
PILOT = ("--exploratory", "--cap", "300", "--endpoint", "reference/solver", "--no-stamp")


@pytest.fixture
def calendar() -> Iterator[CalendarServer]:
    with CalendarServer() as server:
        server.mine(5)
        yield server


@pytest.fixture
def workspace(
    seal: Seal, tmp_path: Path, calendar: CalendarServer, monkeypatch: pytest.MonkeyPatch
) -> Workspace:
    """A regtest workspace whose calendar and explorer are on the loopback."""
    from sealbench.stages.init import init

    made = init(tmp_path / "w", network="regtest", calendars=(calendar.url,), explorers=(calendar.url,))
    monkeypatch.chdir(made.workspace.root)
    return made.workspace


def announce(seal: Seal, *more: str, height: str = f"+{AHEAD}") -> Result:
    return seal(*("create", "primality", "--name", "later", "--per-class", "4"), "--beacon", height, *more)


def freeze(seal: Seal, name: str = "p") -> Result:
    plan = ("preregister", "later", "--plan", name)
    seal(*plan, "--template", "two-class", "--endpoint", "reference/solver", "--cap", "300", "--cap", "4000")
    return seal(*plan, "--from", f"{name}.toml")


def draw(seal: Seal) -> Result:
    return seal("create", "--from-draft", "later")


def confirm(seal: Seal, calendar: CalendarServer) -> None:
    seal("stamp")
    calendar.mine()
    seal("upgrade")


def verified(workspace: Workspace) -> Verification:
    return Verifier(Policy(network="regtest")).verify(PublicTree.from_folder(workspace.root))


def to_height(calendar: CalendarServer, height: int) -> None:
    calendar.chain.mine(height - calendar.chain.tip)


def test_the_whole_life(seal: Seal, workspace: Workspace, calendar: CalendarServer) -> None:
    tip = calendar.chain.tip
    made = announce(seal, "--json")
    assert made.code == 0, made.err
    height = json.loads(made.out)["height"]
    assert height == tip + AHEAD
    assert not workspace.sealed("later").exists()
    frozen = freeze(seal)
    assert frozen.code == 0, frozen.err
    early = draw(seal)
    assert (early.code, "about" in early.err, "blocks" in early.err) == (3, True, True), early.err
    confirm(seal, calendar)
    to_height(calendar, height + 5)
    assert draw(seal).code == 3
    calendar.chain.mine(1)
    drawn = draw(seal)
    assert drawn.code == 0, drawn.err
    commitment = Commitment.from_bytes(workspace.commitment("later").read_bytes())
    assert commitment.beacon is not None
    assert commitment.beacon.hash == calendar.chain.block(height).header.hash[::-1].hex()
    assert draw(seal).code == 2
    confirm(seal, calendar)
    ran = seal("run", "p", "--no-stamp")
    assert ran.code == 0, ran.err
    confirm(seal, calendar)
    assert seal("report", "p-1").code == 0
    assert seal("retire", "later", "--confirm", "later").code == 0
    confirm(seal, calendar)
    result = verified(workspace)
    assert result.verdict == "ok", [one for one in result.steps if one.status not in ("ok", "not_due")]
    told = " ".join(one.detail for one in result.step(9))
    assert f"no call can be older than block {height}" in told
    assert f"at least 6 blocks below the beacon {height}" in told
    assert "K gives all" in result.step(6)[0].detail


def test_an_amendment_after_the_draw(seal: Seal, workspace: Workspace, calendar: CalendarServer) -> None:
    """It is frozen, run and reported; the beacon proves nothing about it, and step 9 says so."""
    announce(seal)
    freeze(seal)
    confirm(seal, calendar)
    calendar.chain.mine(AHEAD + 6)
    assert draw(seal).code == 0
    template = ("preregister", "later", "--plan", "q", "--template", "two-class")
    assert seal(*template).code == 2
    written = seal(
        *template, "--amends", "p", "--endpoint", "reference/solver", "--cap", "300", "--cap", "4000"
    )
    assert "seal preregister later --plan q --amends p --from q.toml" in written.err
    changed = (workspace.root / "q.toml").read_text().replace("repeats = 1", "repeats = 2")
    (workspace.root / "q.toml").write_text(changed)
    refused = seal("preregister", "later", "--plan", "q", "--from", "q.toml")
    assert (refused.code, "--amends PLAN" in refused.err) == (2, True), refused.err
    amended = seal("preregister", "later", "--plan", "q", "--amends", "p", "--from", "q.toml")
    assert amended.code == 0, amended.err
    confirm(seal, calendar)
    for plan in ("p", "q"):
        assert seal("run", plan, "--no-stamp").code == 0
        confirm(seal, calendar)
        assert seal("report", f"{plan}-1").code == 0
    old, new = (" ".join(seal("report", f"{plan}-1").out.split()) for plan in ("p", "q"))
    assert "Plan q amends p" in old
    assert "which followed p all the same" in old
    assert "Plan q amends p; it counts" in new
    assert "amendment q may be younger than the items" in new
    confirm(seal, calendar)
    result = verified(workspace)
    assert result.verdict == "ok", [one for one in result.steps if one.status not in ("ok", "not_due")]
    told = {one.subject: one.detail for one in result.step(9)}
    assert "is not proved" not in told["runs/p-1/run.json"]
    assert "that the calls came after this amendment is not proved" in told["runs/q-1/run.json"]


@pytest.mark.parametrize("late", ["draft", "plan"])
def test_anchored_too_late_is_void(
    seal: Seal, workspace: Workspace, calendar: CalendarServer, late: str
) -> None:
    """One block too high, by draft or by plan: the registry says so, and K is never used again."""
    announce(seal, "--no-stamp")
    height = Draft.from_bytes(workspace.draft("later").read_bytes()).height
    if late == "plan":
        confirm(seal, calendar)
    assert freeze(seal).code == 0
    seal("stamp")
    to_height(calendar, height - 6)
    calendar.mine(20)
    result = draw(seal)
    assert (result.code, f"in block {height - 5}" in result.err, "void" in result.err) == (1, True, True)
    line = read_registry(workspace).find("void", "later")
    assert line is not None
    assert not workspace.commitment("later").exists()
    for again in (draw(seal), freeze(seal, "q")):
        assert (again.code, "never used again" in again.err) == (2, True), again.err
    assert announce(seal).code == 2
    assert any(one.startswith("later: void") for one in json.loads(seal("status", "--json").out)["notes"])
    confirm(seal, calendar)
    checked = verified(workspace)
    assert checked.verdict == "ok", checked.failures
    assert "void: later" in checked.step(8)[0].detail


def test_never_stamped_is_void(seal: Seal, workspace: Workspace, calendar: CalendarServer) -> None:
    announce(seal, "--no-stamp")
    calendar.chain.mine(AHEAD + 6)
    result = draw(seal)
    assert (result.code, "never stamped" in result.err) == (1, True), result.err


def test_a_promise_without_a_block_is_not_void_yet(
    seal: Seal, workspace: Workspace, calendar: CalendarServer
) -> None:
    announce(seal)
    calendar.chain.mine(AHEAD + 6)
    result = draw(seal)
    assert (result.code, "does not name one yet" in result.err) == (3, True), result.err
    assert read_registry(workspace).find("void", "later") is None


def test_a_reorganised_beacon_does_not_matter(
    seal: Seal, workspace: Workspace, calendar: CalendarServer
) -> None:
    """Another block H than the one first seen: only the one that is buried counts."""
    announce(seal)
    confirm(seal, calendar)
    height = Draft.from_bytes(workspace.draft("later").read_bytes()).height
    to_height(calendar, height + 1)
    first = calendar.chain.block(height).header.hash
    assert draw(seal).code == 3
    del calendar.chain._blocks[height:]
    calendar.chain.mine(1, commitment=b"\x07" * 32)
    second = calendar.chain.block(height).header.hash
    assert first != second
    to_height(calendar, height + 6)
    assert draw(seal).code == 0
    commitment = Commitment.from_bytes(workspace.commitment("later").read_bytes())
    assert commitment.beacon is not None
    assert commitment.beacon.hash == second[::-1].hex()
    confirm(seal, calendar)
    assert verified(workspace).verdict == "ok"


def test_before_its_block_nothing_can_be_opened_or_run(
    seal: Seal, workspace: Workspace, calendar: CalendarServer
) -> None:
    announce(seal)
    freeze(seal)
    confirm(seal, calendar)
    with pytest.raises(NotYet, match="drawn once its block is known"):
        open_battery(workspace, "later")
    for command in (("run", "p"), ("run", "later", *PILOT), ("retire", "later", "--confirm", "later")):
        result = seal(*command)
        assert (result.code, "seal create --from-draft later" in result.err) == (3, True), result.err
    result = verified(workspace)
    assert result.verdict == "ok", result.failures
    assert any("waits for block" in one.detail for one in result.step(9))
    waiting = json.loads(seal("status", "--json").out)["waiting"]
    assert any("draft, waits for block" in one["state"] for one in waiting)


def test_an_aborted_draw_shows(seal: Seal, workspace: Workspace, calendar: CalendarServer) -> None:
    """Whoever looks at the beacon and draws nothing is seen to have done so."""
    announce(seal)
    confirm(seal, calendar)
    calendar.chain.mine(AHEAD + 6)
    seal("create", "primality", "--name", "other", "--per-class", "2")
    confirm(seal, calendar)
    waiting = json.loads(seal("status", "--json").out)["waiting"]
    assert any("aborted draw" in one["state"] for one in waiting), waiting
    result = verified(workspace)
    assert (result.verdict, result.failures) == ("pending", ())
    assert any("neither its items nor a void event" in one.detail for one in result.step(9))


def test_a_plan_too_late_is_refused_at_once(
    seal: Seal, workspace: Workspace, calendar: CalendarServer
) -> None:
    announce(seal)
    confirm(seal, calendar)
    height = Draft.from_bytes(workspace.draft("later").read_bytes()).height
    to_height(calendar, height - 8)
    seal("create", "primality", "--name", "other", "--per-class", "2")
    confirm(seal, calendar)
    result = freeze(seal)
    assert (result.code, "would void later" in result.err) == (2, True), result.err
    calendar.chain.mine(10)
    assert draw(seal).code == 0
    after = freeze(seal)
    assert (after.code, "has its items already" in after.err) == (2, True), after.err


def test_heights_that_are_refused(seal: Seal, workspace: Workspace, calendar: CalendarServer) -> None:
    for height in ("+6", "3", "+x", "-4", "primality", "+99999999"):
        result = announce(seal, height=height)
        assert (result.code, workspace.draft("later").exists()) == (2, False), height
    assert announce(seal, "--no-stamp", height="+7").code == 0


def test_on_mainnet_at_least_72_blocks() -> None:
    from sealbench.errors import UsageError
    from sealbench.stages.draft import _choose_height

    assert _choose_height("+144", 900_000, "mainnet") == 900_144
    assert _choose_height("900072", 900_000, "mainnet") == 900_072
    with pytest.raises(UsageError, match="at least 72 blocks above"):
        _choose_height("+71", 900_000, "mainnet")


def test_nobody_knows_the_newest_block(seal: Seal, workspace: Workspace, calendar: CalendarServer) -> None:
    calendar.stop()
    result = announce(seal, "--no-stamp")
    assert (result.code, "which block is the newest" in result.err) == (4, True), result.err
    assert not workspace.battery_key("later").exists()


def test_a_crash_between_items_and_registry_can_be_repeated(
    seal: Seal, workspace: Workspace, calendar: CalendarServer
) -> None:
    announce(seal)
    confirm(seal, calendar)
    calendar.chain.mine(AHEAD)
    workspace.sealed("later").write_bytes(b"half")
    assert draw(seal).code == 0
    assert len(open_battery(workspace, "later").items) == 8
