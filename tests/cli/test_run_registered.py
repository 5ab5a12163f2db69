"""A plan run without a network: frozen and signed, nothing stamped, and the verdicts that say so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sealbench.formats.run import Run
from tests.conftest import Seal
from tests.workshop import PLAN

BATTERY = ("create", "primality", "--name", "primes", "--per-class", "3", "--no-stamp")


@pytest.fixture
def folder(seal: Seal, tmp_path: Path) -> Path:
    """A workspace on mainnet with a frozen plan; no calendar was ever asked."""
    root = tmp_path / "workspace"
    assert seal("init", str(root)).code == 0
    assert seal(*BATTERY, cwd=root).code == 0
    endpoints = '["reference/solver"]'
    text = PLAN.format(endpoints=endpoints, caps=[300], repeats=1, first="reference/solver", cap=300)
    (root / "plan.toml").write_text(text)
    freeze = ("preregister", "primes", "--plan", "plan", "--from", "plan.toml", "--no-stamp", "--force")
    assert seal(*freeze, cwd=root).code == 0
    return root


def test_refused_unless_asked_for(seal: Seal, folder: Path) -> None:
    plain = seal("run", "plan", cwd=folder)
    assert (plain.code, "--require stamped" in plain.err) == (3, True)
    stamped = seal("run", "plan", "--require", "stamped")
    assert (stamped.code, "seal run plan --require registered" in stamped.err) == (3, True)
    assert not list((folder / "runs").iterdir())


def test_a_registered_run_is_whole_but_for_time(seal: Seal, folder: Path) -> None:
    done = seal("run", "plan", "--require", "registered", "--no-stamp", cwd=folder)
    assert done.code == 0, done.err
    run = Run.from_bytes((folder / "runs" / "plan-1" / "run.json").read_bytes())
    assert (run.require, run.exploratory, run.block) == ("registered", False, None)
    report = json.loads(seal("report", "plan-1", "--json").out)
    assert not report["exploratory"]
    assert any("--require registered" in sentence for sentence in report["not_proved"])
    assert seal("retire", "primes", "--confirm", "primes", "--no-stamp").code == 0
    found = seal("verify", "--json")
    steps = json.loads(found.out)["steps"]
    assert found.code == 3
    assert {one["step"] for one in steps if one["status"] == "pending"} == {4}
    assert {one["step"] for one in steps if one["status"] == "not_checked"} == {9}
    assert {one["step"] for one in steps if one["status"] == "not_due"} == {3}
    waived = seal("verify", "--accept-unanchored")
    assert (waived.code, "ok except time" in waived.out) == (0, True)
    # Files that say the same thing are one line, unless every one is asked for.
    assert waived.out.count("never stamped") == 1
    assert seal("verify", "--accept-unanchored", "--every").out.count("never stamped") > 4


def test_a_plan_that_no_event_names_is_refused(seal: Seal, folder: Path) -> None:
    plans = folder / "preregistrations"
    copy = json.loads((plans / "plan.json").read_bytes())
    copy["name"] = "other"
    text = json.dumps(copy, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    (plans / "other.json").write_text(text)
    result = seal("run", "other", "--require", "registered", cwd=folder)
    assert (result.code, "no event of the registry names the plan other" in result.err) == (3, True)
    assert "seal: hint: seal verify" in result.err
