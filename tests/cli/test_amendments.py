"""Amendments and rebuilt batteries: whichever report is read, the other plan or battery is named in it."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "verification"))

from forgery import reforge

from sealbench.crypto.signature import AuthorKey
from sealbench.formats.battery import Commitment
from sealbench.formats.report import Report
from sealbench.testing.calendar import CalendarServer
from sealbench.verification.policy import Policy
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier
from tests.conftest import Seal
from tests.workshop import PLAN, planned

VOID = """
[[void_conditions]]
id = "V1"
condition = "nothing_censored"
where = { family = "primality" }
cap = 300
voids = ["H1"]
"""
NO_STAMP = "--no-stamp"


def run_and_report(seal: Seal, plan: str, *more: str) -> str:
    """Run a plan; its report's text on one line."""
    ran = seal("run", plan, NO_STAMP, *more)
    assert ran.code == 0, ran.err
    found = seal("report", f"{plan}-1")
    assert found.code == 0, found.err
    return " ".join(found.out.split())


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A confirmed plan `plan` for the battery `primes`, against an endpoint that is never cut."""
    planned(tmp_path, endpoints=("reference/constant",))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_report_of_an_old_plan_names_the_later_amendment(seal: Seal, root: Path) -> None:
    first = run_and_report(seal, "plan")
    assert "Amendments" not in first
    written = (root / "runs/plan-1/report.json").read_bytes()
    amend = "preregister primes --plan plan-2 --amends plan --from plan.toml --force"
    assert seal(*amend.split(), NO_STAMP).code == 0
    shown = seal("report", "plan-1", "--html", "old.html", "--markdown", "old.md")
    assert "Plan plan-2 amends plan" in shown.out
    assert "POST HOC for this run" in " ".join(shown.out.split())
    assert "POST HOC for this run" in (root / "old.html").read_text(encoding="utf-8")
    assert "POST HOC for this run" in (root / "old.md").read_text(encoding="utf-8")
    event = json.loads(seal("report", "plan-1", "--json").out)["history"][0]
    assert (event["event"], event["earlier"], event["later"], event["after_start"]) == (
        *("amend", "plan", "plan-2"),
        True,
    )
    assert (root / "runs/plan-1/report.json").read_bytes() == written
    checked = json.loads(seal("verify", "--network", "regtest", "--offline", "--json").out)
    assert [one for one in checked["steps"] if one["status"] == "fail"] == []


@pytest.fixture
def rebuilt(seal: Seal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A battery with a void verdict, and the one that replaces it, both reported and verified."""
    from sealbench.stages.init import init

    with CalendarServer() as calendar:
        init(tmp_path, network="regtest", calendars=(calendar.url,), explorers=(calendar.url,))
        monkeypatch.chdir(tmp_path)
        for battery, more in (("easy", ()), ("hard", ("--supersedes", "easy"))):
            made = seal("create", "primality", "--name", battery, "--per-class", "2", *more, NO_STAMP)
            assert made.code == 0, made.err
            text = PLAN.format(
                endpoints='["reference/constant"]', caps=[300], repeats=1, first="reference/constant", cap=300
            )
            (tmp_path / "p.toml").write_text(text.replace('"primes"', f'"{battery}"') + VOID)
            frozen = seal("preregister", battery, "--plan", f"{battery}-plan", "--from", "p.toml", "--force")
            assert frozen.code == 0, frozen.err
            seal("stamp")
            calendar.mine()
            seal("upgrade")
            run_and_report(seal, f"{battery}-plan")
    return tmp_path


def test_both_reports_show_the_void_verdict_that_a_rebuilt_battery_answers(seal: Seal, rebuilt: Path) -> None:
    commitment = Commitment.from_bytes((rebuilt / "commitments/hard.json").read_bytes())
    assert commitment.supersedes_void == "easy-plan-1: H1 void by V1"
    old, new = (" ".join(seal("report", f"{one}-plan-1").out.split()) for one in ("easy", "hard"))
    assert "Battery hard replaces easy" in old
    assert "the void verdict of this report: easy-plan-1: H1 void by V1" in old
    assert "the void verdict: easy-plan-1: H1 void by V1. Both verdicts stand." in new
    stored = {
        one: Report.from_bytes((rebuilt / f"runs/{one}-plan-1/report.json").read_bytes()).history
        for one in ("easy", "hard")
    }
    assert stored["easy"] == ()  # written before there was a rebuilt battery
    assert [event.void for event in stored["hard"]] == ["easy-plan-1: H1 void by V1"]
    checked = json.loads(seal("verify", "--network", "regtest", "--offline", "--json").out)
    assert [one for one in checked["steps"] if one["status"] == "fail"] == []


def test_the_bundles_of_both_hold_what_their_histories_name(
    seal: Seal, rebuilt: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The bundle of the replaced battery lacks the other's commitment; a later report on it names it."""
    again = seal("run", "easy-plan", "--again", NO_STAMP)
    assert again.code == 0, again.err
    assert "Battery hard replaces easy" in " ".join(seal("report", "easy-plan-2").out.split())
    for name in ("easy", "hard"):
        assert seal("retire", name, "--confirm", name, NO_STAMP).code == 0
        alone = tmp_path_factory.mktemp("bundles") / name
        shutil.copytree(rebuilt / "batteries" / name, alone)
        found = json.loads(seal("verify", str(alone), "--network", "regtest", "--offline", "--json").out)
        assert [one for one in found["steps"] if one["status"] == "fail"] == []
        reports = [one["subject"] for one in found["steps"] if one["step"] == 11 and one["status"] == "ok"]
        assert len(reports) == {"easy": 2, "hard": 1}[name], found["steps"]


@pytest.mark.parametrize(
    ("change", "step", "told"),
    [
        ("void", 8, "says that it answers a void verdict that no earlier report on easy gives"),
        ("history", 11, "its amendments and rebuilt batteries are not those of the registry"),
    ],
)
def test_what_a_report_leaves_out_or_a_commitment_invents_is_found(
    rebuilt: Path, change: str, step: int, told: str
) -> None:
    """The author makes everything consistent again, signatures included, and leaves the one claim."""
    tree = PublicTree.from_folder(rebuilt)
    key = AuthorKey.from_openssh((rebuilt / ".seal/author.key").read_bytes(), "author.key")

    def alter(files: dict[str, bytes]) -> None:
        if change == "void":
            path = "commitments/hard.json"
            invented = Commitment.from_bytes(files[path]).model_copy(
                update={"supersedes_void": "easy-plan-1: H1, H2 void by V1"}
            )
            files[path] = invented.to_bytes()
        else:
            path = "runs/hard-plan-1/report.json"
            files[path] = Report.from_bytes(files[path]).model_copy(update={"history": ()}).to_bytes()

    forged = reforge(tree, key, alter, report_again=change == "void")
    result = Verifier(Policy(network="regtest")).verify(forged)
    assert any(told in one.detail for one in result.step(step) if one.status == "fail"), result.failures
