"""The repository is a workspace: its retired battery verifies from a clean copy, by both verifiers."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from sealbench.formats.report import Report
from sealbench.store import PUBLIC_FOLDERS
from tests.conftest import Seal

ROOT = Path(__file__).parents[2]
BATTERY = "first"
BYTES = 3_000_000  # what the whole may weigh in a clone
# Nothing is stamped: no proof to check, none to grade, and no order in time. All else must be OK.
OPEN = {3: "not_due", 4: "pending", 9: "not_checked"}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a clone of the repository brings of its workspace; read it, change only a copy."""
    folder = tmp_path_factory.mktemp("clone")
    for name in PUBLIC_FOLDERS:
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "sealbench.toml", folder)
    return folder


@pytest.fixture(scope="module")
def bundle(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The battery's folder by itself, as somebody would pass it on."""
    folder = tmp_path_factory.mktemp("bundle") / BATTERY
    shutil.copytree(clone / "batteries" / BATTERY, folder)
    return folder


@pytest.fixture(params=["workspace", "bundle"])
def target(request: pytest.FixtureRequest, clone: Path, bundle: Path) -> Path:
    """Either way to hold the battery."""
    return clone if request.param == "workspace" else bundle


def check(verdict: dict[str, object], code: int, *, accepted: bool) -> None:
    """Everything OK but time, and the exit code that says so."""
    assert (code, verdict["verdict"]) == ((0, "ok_except_time") if accepted else (3, "pending"))
    steps = verdict["steps"]
    assert isinstance(steps, list)
    # The bundle keeps the verify.py of its day; that a later one differs is told and counts for nothing.
    judged = [one for one in steps if not one["subject"].endswith("verify.py")]
    for step in range(1, 13):
        found = {one["status"] for one in judged if one["step"] == step}
        assert found == {OPEN.get(step, "ok")}, (step, found)


def alone(*arguments: str | Path) -> tuple[int, dict[str, object]]:
    """The stand-alone verifier in an interpreter without any package."""
    script = ROOT / "sealbench" / "standalone" / "verify.py"
    command: Sequence[str | Path] = [sys.executable, "-I", "-S", script, "--json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("accepted", [False, True])
def test_seal_verify(seal: Seal, target: Path, accepted: bool) -> None:
    waived = ["--accept-unanchored"] if accepted else []
    found = seal("verify", str(target), "--json", *waived)
    assert found.out, found.err
    check(json.loads(found.out), found.code, accepted=accepted)


@pytest.mark.parametrize("accepted", [False, True])
def test_verify_py(target: Path, accepted: bool) -> None:
    waived = ["--accept-unanchored"] if accepted else []
    code, verdict = alone(target, *waived)
    check(verdict, code, accepted=accepted)


def test_it_holds_what_it_is_for(clone: Path) -> None:
    """Both families at caps 300 and 4000, and at 300 the exact p of full separation, ten against ten."""
    report = Report.from_bytes((clone / "runs" / "reference-1" / "report.json").read_bytes())
    assert not report.exploratory
    separated = {
        (str(one.where["family"]), one.endpoint)
        for one in report.tests
        if one.hypothesis and one.measure == "censored" and one.p is not None and one.p.den == "184756"
    }
    searching = ("reference/solver", "reference/reasoner")
    assert separated == {(family, name) for family in ("primality", "subset_sum") for name in searching}
    assert {one.cap for one in report.tests} == {300, 4000}


def test_nothing_private_and_not_too_large(clone: Path) -> None:
    files = [path for path in clone.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < BYTES
    assert not [path for path in files if ".seal" in path.parts or b"PRIVATE KEY" in path.read_bytes()]


def test_one_byte_changed_is_found(seal: Seal, clone: Path, tmp_path: Path) -> None:
    forged = tmp_path / "forged"
    shutil.copytree(clone, forged)
    log = forged / "runs" / "reference-1" / "log.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"answer":"right"', b'"answer":"wrong"', 1))
    assert seal("verify", "--accept-unanchored", cwd=forged).code == 1
    code, verdict = alone("--accept-unanchored", forged)
    assert (code, verdict["verdict"]) == (1, "fail")
