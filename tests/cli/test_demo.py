"""The demo's figures and files: what the acceptance of the whole loop asks for."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sealbench.cli.root import invoke
from sealbench.formats.report import Report
from sealbench.formats.run import LogLine, Run, read_log

EXPENSIVE = {"primes-plan-1": ("prime", "composite"), "pairs-plan-1": ("no", "yes")}


def _report(folder: Path, run: str) -> Report:
    return Report.from_bytes((folder / "runs" / run / "report.json").read_bytes())


def _log(folder: Path, run: str) -> list[LogLine]:
    document = Run.from_bytes((folder / "runs" / run / "run.json").read_bytes())
    return list(read_log((folder / "runs" / run / "log.jsonl").read_bytes(), document.digest()))


def check_figures(folder: Path) -> None:
    """The figures that must come out for any K."""
    for run, (expensive, cheap) in EXPENSIVE.items():
        report = _report(folder, run)
        for test in report.tests:
            if test.hypothesis is None or test.measure not in ("censored", "lost"):
                continue
            assert (test.unit, test.cap, test.class1) == ("instance", 300, expensive)
            cut = test.classes[expensive].cut_reported
            exact = (test.p.num, test.p.den) if test.p is not None and hasattr(test.p, "num") else None
            assert test.classes[cheap].cut_reported == 0
            if test.endpoint == "reference/constant":
                assert (cut, exact) == (0, ("1", "1"))
            else:
                assert (cut, exact) == (8, ("1", "12870"))
        lines = _log(folder, run)
        assert len({line.stratum for line in lines}) == 1
        at_large_cap = [line for line in lines if line.cap == 4000]
        assert len(at_large_cap) == 48
        assert all(line.answer == "right" and line.end == "finished" for line in at_large_cap)
        cut_reasoner = [line for line in lines if line.endpoint == "reference/reasoner" and line.censored]
        assert len(cut_reasoner) == 8
        assert all(line.answer == "empty" and line.visible_characters == 0 for line in cut_reasoner)


def test_figures(demo_folder: Path) -> None:
    check_figures(demo_folder)


@pytest.mark.slow
def test_figures_hold_for_fifty_keys(tmp_path: Path) -> None:
    for number in range(50):
        folder = tmp_path / f"demo-{number}"
        assert invoke(["demo", "--out", str(folder), "--json"]) == 0
        check_figures(folder)
        shutil.rmtree(folder)


def test_registered_verdicts(demo_folder: Path) -> None:
    for run in EXPENSIVE:
        verdicts = {(one.hypothesis, one.endpoint): one.verdict for one in _report(demo_folder, run).verdicts}
        found = sorted(verdicts.values())
        assert found == ["not_supported", *["supported"] * 6, "void", "void"]


def test_every_signature_is_accepted_by_ssh_keygen(demo_folder: Path) -> None:
    signers = demo_folder / "commitments" / "allowed_signers"
    principal = signers.read_text().split()[0]
    signatures = sorted(demo_folder.glob("[!.t]*/**/*.sig"))
    assert len(signatures) >= 10
    for signature in signatures:
        command = ["ssh-keygen", "-Y", "verify", "-f", str(signers), "-I", principal, "-n", "sealbench"]
        done = subprocess.run(
            [*command, "-s", str(signature)],
            input=signature.with_suffix("").read_bytes(),
            capture_output=True,
            timeout=60,
        )
        assert done.returncode == 0, (signature, done.stderr)


def test_every_proof_is_read_by_the_reference_client(demo_folder: Path) -> None:
    client = Path(sys.executable).with_name("ots")
    proofs = sorted(demo_folder.glob("[!.t]*/**/*.ots"))
    assert len(proofs) >= 10
    for proof in proofs[:: len(proofs) // 5]:  # one process each: a sample
        done = subprocess.run([client, "info", str(proof)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert "BitcoinBlockHeaderAttestation" in done.stdout
        digest = subprocess.run(["sha256sum", str(proof.with_suffix(""))], capture_output=True, text=True)
        assert digest.stdout.split()[0] in done.stdout


def test_sums_agree(demo_folder: Path) -> None:
    for name in ("primes", "pairs"):
        folder = demo_folder / "batteries" / name
        done = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def test_demo_output_is_true(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every hash the demo prints is the hash of the file it names; the copy fails where it was changed."""
    folder = tmp_path / "demo"
    assert invoke(["demo", "--out", str(folder)]) == 0
    told = capsys.readouterr().out
    for name in ("primes", "pairs"):
        path = folder / "commitments" / f"{name}.json"
        digest = subprocess.run(["sha256sum", path], capture_output=True, text=True).stdout.split()[0]
        assert digest in told
        assert json.loads(path.read_bytes())["root"] in told
    assert re.search(r"step 10 run log: FAIL runs/primes-plan-1/log.jsonl", told)
    assert "verdict: ok (regtest: proves nothing about time)" in told
    assert str(folder) in told


def test_demo_refuses_an_existing_folder(seal: Any, tmp_path: Path) -> None:
    result = seal("demo", "--out", str(tmp_path))
    assert result.code == 2
    assert "exists already" in result.err
    assert "seal: hint: seal demo --out" in result.err


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from sealbench.cli.root import invoke; invoke(['--help']); "
        "print([name for name in ('sympy', 'numpy', 'httpx', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip().endswith("[]"), done.stdout


def test_verify_imports_no_sympy_numpy_httpx_for_a_sealed_workspace(tmp_path: Path) -> None:
    from tests.workshop import sealed

    sealed(tmp_path / "workspace")
    code = (
        "import sys; from sealbench.cli.root import invoke; invoke(['verify', '--network', 'regtest']); "
        "print([name for name in ('sympy', 'httpx') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=tmp_path / "workspace"
    )
    assert done.stdout.strip().endswith("[]"), done.stdout + done.stderr
