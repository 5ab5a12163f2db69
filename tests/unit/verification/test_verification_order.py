"""Step 9 by places in time that are put in by hand: heights, header times, beacons."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sealbench.formats.base import FileHash
from sealbench.formats.battery import Block
from sealbench.verification import beacon as beacons
from sealbench.verification import order
from sealbench.verification.anchors import Place
from sealbench.verification.evidence import Evidence
from sealbench.verification.memo import Memo
from sealbench.verification.order import check_order
from sealbench.verification.policy import Policy
from sealbench.verification.steps import StepResult
from sealbench.verification.tree import PublicTree

START = datetime(2027, 1, 1, tzinfo=UTC)
RUN = "runs/pairs-plan-1/run.json"


def place(height: int, *, hours: float = 0, proved: bool = True) -> Place:
    return Place(height, START + timedelta(hours=hours), proved)


@pytest.fixture
def evidence(tree: PublicTree) -> Evidence:
    return Evidence(tree, Policy(network="regtest"), Memo())


def judge(
    monkeypatch: pytest.MonkeyPatch,
    evidence: Evidence,
    *,
    earlier: Place | None,
    block: Place | None,
    start: Place | None,
) -> StepResult:
    """Step 9 for the run, with commitment and plan at `earlier` and its start's checkpoint at `start`."""
    named = evidence.runs["pairs-plan-1"].block
    assert named is not None

    def place_of(_: Evidence, path: str) -> Place | None:
        return start if "checkpoints" in path else earlier

    monkeypatch.setattr(order, "place_of", place_of)
    monkeypatch.setattr(order, "place_of_block", lambda *_: (block, named.hash if block else ""))
    return next(one for one in check_order(evidence) if one.subject in (RUN,) or "checkpoints" in one.subject)


CASES = [
    # commitment and plan, the run's block, its start's checkpoint, status, words
    (place(100), place(100), place(101), "ok", "at or before block 100"),
    (place(101), place(100), place(102), "fail", "proved no earlier than block 101"),
    (place(100), place(100), place(99), "fail", "stands in block 99"),
    (place(100), place(100), None, "not_checked", "headers are missing"),
    (place(100), None, place(101), "not_checked", "no proved header of block"),
    # Where one height is only claimed, header times count, with two hours' slack each.
    (place(900, proved=False), place(100, hours=4), place(101, hours=5), "ok", "at or before"),
    (
        place(100, proved=False),
        place(100, hours=3.9),
        place(101, hours=5),
        "not_checked",
        "too close to tell",
    ),
    (
        place(100, hours=3.9),
        place(100, proved=False),
        place(101, hours=5),
        "not_checked",
        "too close to tell",
    ),
    (place(100, hours=4.1, proved=False), place(100), place(101), "fail", "after the run's block"),
    (place(90), place(100), place(80, hours=-5, proved=False), "fail", "stands in block 80"),
    (place(90), place(100), place(80, hours=-3, proved=False), "ok", "proved only in beacon mode"),
]


@pytest.mark.parametrize(("earlier", "block", "start", "status", "words"), CASES)
def test_places(
    monkeypatch: pytest.MonkeyPatch,
    evidence: Evidence,
    earlier: Place,
    block: Place | None,
    start: Place | None,
    status: str,
    words: str,
) -> None:
    result = judge(monkeypatch, evidence, earlier=earlier, block=block, start=start)
    assert (result.step, result.status) == (9, status), result
    assert words in result.detail


def with_run(evidence: Evidence, **fields: object) -> None:
    run = evidence.runs["pairs-plan-1"].model_copy(update=fields)
    evidence.__dict__["runs"] = {"pairs-plan-1": run}


def test_a_run_without_a_block_or_a_checkpoint(monkeypatch: pytest.MonkeyPatch, evidence: Evidence) -> None:
    with_run(evidence, block=None)
    assert "names no block" in next(check_order(evidence)).detail
    evidence = Evidence(evidence.tree, evidence.policy, Memo())
    evidence.__dict__["checkpoints"] = {}
    result = judge(monkeypatch, evidence, earlier=place(1), block=place(2), start=place(3))
    assert (result.status, "no checkpoint covers" in result.detail) == ("pending", True)


def test_promises_and_amendments_are_said_to_be_unproved(
    monkeypatch: pytest.MonkeyPatch, evidence: Evidence
) -> None:
    for require in ("stamped", "registered"):
        with_run(evidence, require=require)
        late = judge(monkeypatch, evidence, earlier=place(9), block=place(5), start=place(9))
        assert (late.status, f"--require {require}" in late.detail) == ("not_checked", True)
        # What was anchored all the same, in time, is proved all the same.
        early = judge(monkeypatch, evidence, earlier=place(4), block=place(5), start=place(6))
        assert early.status == "ok"
    amended = Evidence(evidence.tree, evidence.policy, Memo())
    plan = amended.plans["pairs-plan"].model_copy(update={"amends": FileHash(path="a", sha256="0" * 64)})
    assert amended.runs and amended.commitments and amended.checkpoints
    monkeypatch.setattr(Evidence, "document", lambda *_: plan)
    result = judge(monkeypatch, amended, earlier=place(9), block=place(5), start=place(9))
    assert (result.status, "post hoc" in result.detail) == ("not_checked", True)


def test_of_another_network_no_order_is_proved(tree: PublicTree) -> None:
    evidence = Evidence(tree, Policy(), Memo())
    results = {one.subject: one for one in check_order(evidence)}
    assert results[RUN].status == "pending"
    assert results["runs/pairs-exploratory-1/run.json"].status == "not_due"


def beacon(
    monkeypatch: pytest.MonkeyPatch,
    evidence: Evidence,
    earlier: Place | None,
    block: Place | None,
    block_hash: str = "ab" * 32,
) -> StepResult:
    draft = FileHash(path="commitments/pairs.draft.json", sha256="0" * 64)
    changed = {"mode": "beacon", "draft": draft, "beacon": Block(height=144, hash="ab" * 32)}
    commitment = evidence.commitments["pairs"].model_copy(update=changed)
    evidence.__dict__["commitments"] = {"pairs": commitment}
    monkeypatch.setattr(beacons, "place_of", lambda *_: earlier)
    monkeypatch.setattr(beacons, "place_of_block", lambda *_: (block, block_hash))
    # A real proof lies beside each file here; these cases are of files without one that leads to a block.
    monkeypatch.setattr(beacons, "lacks_headers", lambda *_: False)
    return next(check_order(evidence))


@pytest.mark.parametrize(
    ("earlier", "block", "status", "words"),
    [
        (place(138), place(144), "ok", "at least 6 blocks below the beacon 144"),
        (place(139), place(144), "fail", "void"),
        (None, place(144), "pending", "not proved to stand below"),
        (place(100, proved=False), place(144), "pending", "not proved to stand below"),
        (place(100), place(144, proved=False), "not_checked", "not linked to a checkpoint"),
        (place(100), None, "not_checked", "not linked to a checkpoint"),
    ],
)
def test_beacons(
    monkeypatch: pytest.MonkeyPatch,
    evidence: Evidence,
    earlier: Place | None,
    block: Place | None,
    status: str,
    words: str,
) -> None:
    result = beacon(monkeypatch, evidence, earlier, block)
    assert (result.subject, result.status) == ("commitments/pairs.json", status), result
    assert words in result.detail


def test_a_beacon_that_is_no_block(monkeypatch: pytest.MonkeyPatch, evidence: Evidence) -> None:
    result = beacon(monkeypatch, evidence, place(100), place(144), "cd" * 32)
    assert (result.status, "not block 144 of the chain" in result.detail) == ("fail", True)


def test_a_run_in_beacon_mode_proves_the_calls(monkeypatch: pytest.MonkeyPatch, evidence: Evidence) -> None:
    block = evidence.runs["pairs-plan-1"].block
    assert block is not None
    with_run(evidence, block=block.model_copy(update={"height": 150}))
    beacon(monkeypatch, evidence, place(100), place(144))
    result = judge(monkeypatch, evidence, earlier=place(100), block=place(150), start=place(151))
    assert "no call can be older than block 144" in result.detail
    # A beacon that is not proved proves nothing about the calls either.
    beacon(monkeypatch, evidence, place(139), place(144))
    result = judge(monkeypatch, evidence, earlier=place(100), block=place(150), start=place(151))
    assert "proved only in beacon mode" in result.detail


def test_a_run_begun_below_its_beacon(monkeypatch: pytest.MonkeyPatch, evidence: Evidence) -> None:
    block = evidence.runs["pairs-plan-1"].block
    assert block is not None
    with_run(evidence, block=block.model_copy(update={"height": 143}))
    beacon(monkeypatch, evidence, place(100), place(144))
    result = judge(monkeypatch, evidence, earlier=place(100), block=place(143), start=place(151))
    assert (result.status, "before its battery's beacon 144" in result.detail) == ("fail", True)


def test_a_beacon_of_another_network_waits(monkeypatch: pytest.MonkeyPatch, tree: PublicTree) -> None:
    result = beacon(monkeypatch, Evidence(tree, Policy(), Memo()), place(100), place(144))
    assert (result.status, "not of this network" in result.detail) == ("pending", True)
