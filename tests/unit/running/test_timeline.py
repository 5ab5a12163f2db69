"""A battery's events in order, each with the author's word and the block that proves it."""

from __future__ import annotations

from pathlib import Path

from sealbench.publishing.bundle_record import BundleScope
from sealbench.publishing.publication import read_registry
from sealbench.running.timeline import battery_timeline
from sealbench.store import Workspace
from tests.workshop import planned, sealed


def timeline(workspace: Workspace, name: str) -> list[tuple[str, str]]:
    registry = read_registry(workspace)
    scope = BundleScope.of(registry, name, None)
    return [(one.what, one.proved) for one in battery_timeline(workspace, registry, scope)]


def test_a_retired_battery(demo_folder: Path) -> None:
    found = timeline(Workspace(demo_folder), "primes")
    assert [what for what, _ in found] == [
        "created and committed to",
        "plan primes-plan preregistered",
        "run primes-plan-1 began",
        "run primes-plan-1 ended",
        "run primes-plan-1 reported",
        "retired",
    ]
    blocks = [int(proved.split()[2]) for _, proved in found]
    assert blocks == sorted(blocks)
    assert found[0][1] == "in block 1 or before (chained)"
    assert "by checkpoint" in found[-1][1]


def test_nothing_of_other_batteries_and_nothing_unproved(tmp_path: Path) -> None:
    workspace, _ = sealed(tmp_path / "w")
    assert timeline(workspace, "primes") == [("created and committed to", "not stamped")]
    assert timeline(workspace, "other") == []


def test_a_plan_by_its_own_proof(tmp_path: Path) -> None:
    workspace, _ = planned(tmp_path / "w")
    found = timeline(workspace, "primes")
    assert [what for what, _ in found] == ["created and committed to", "plan plan preregistered"]
    assert {proved.split(" (")[0] for _, proved in found} == {"in block 1 or before"}
