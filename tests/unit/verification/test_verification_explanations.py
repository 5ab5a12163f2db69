"""The explanations: their commands hold on a good workspace and fail on a damaged one; docs say the same."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sealbench.store import HEADERS, Workspace
from sealbench.timestamps.header_store import HeaderStore
from sealbench.verification.explanations import EXPLANATIONS, by_hand, table
from sealbench.verification.steps import STEP_NAMES

PAGE = Path(__file__).parents[3] / "docs" / "verify.md"
NAMES = {"NAME": "primes", "PLAN": "primes-plan", "RUN": "primes-plan-1"}
TOOLS = ("bash", "sha256sum", "ssh-keygen", "factor", "python3")


def run(step: int, folder: Path) -> subprocess.CompletedProcess[str]:
    """The commands of one step in a workspace; `ots` is the one installed with this package."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "-e", "-o", "pipefail", "-c", EXPLANATIONS[step].hand]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **NAMES, "PATH": path}, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def folder(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if any(shutil.which(tool) is None for tool in TOOLS):
        pytest.skip(f"not all of {', '.join(TOOLS)} are here")
    copy = tmp_path_factory.mktemp("by-hand") / "workspace"
    shutil.copytree(workspace.root, copy)
    header = HeaderStore.from_bytes((copy / HEADERS).read_bytes()).get(1)
    assert header is not None
    (copy / "header.hex").write_text(header.hex())
    return copy


def test_every_step_is_explained() -> None:
    assert list(EXPLANATIONS) == list(STEP_NAMES)


@pytest.mark.parametrize("step", EXPLANATIONS)
def test_the_commands_hold(folder: Path, step: int) -> None:
    done = run(step, folder)
    assert done.returncode == 0, done.stderr
    expected = {
        3: ["File sha256 hash: "],
        4: ["BitcoinBlockHeaderAttestation(1)", "# Bitcoin block merkle root", "block hash"],
        2: ['Good "sealbench" signature', '"public_key":"ssh-ed25519'],
        9: ["preregistrations/primes-plan.json: BitcoinBlockHeaderAttestation(1)", '"height":'],
        11: ["reference/solver 300 prime lost 3", "reference/solver 4000 prime not lost 3", "1/12870"],
    }
    for words in expected.get(step, []):
        assert words in done.stdout
    if step in (1, 5, 6, 7, 8, 10, 12):
        assert done.stdout == ""
    if step == 4:
        roots = {line.split()[-1] for line in done.stdout.splitlines() if "merkle root" in line}
        assert len(roots) == 1


@pytest.mark.parametrize(
    ("step", "path", "old", "new"),
    [
        (1, "runs/primes-plan-1/log.jsonl", b'"cap":300', b'"cap":301'),
        (2, "commitments/primes.json", b'"items":6', b'"items":7'),
        (3, "commitments/primes.json", b'"items":6', b'"items":7'),
        (5, "batteries/primes.sealed.json", b'"ciphertext":"', b'"ciphertext":"A'),
        (6, "batteries/primes/key.json", b'"secret":"', b'"secret":"00'),
        (6, "batteries/primes/battery.json", b'"answer":"', b'"answer":"x'),
        (7, "batteries/primes/battery.json", b'"class_label":"prime"', b'"class_label":"composite"'),
        (8, "commitments/registry.jsonl", b'"event":"create"', b'"event":"report"'),
        (10, "runs/primes-plan-1/log.jsonl", b'"cap":300', b'"cap":301'),
    ],
)
def test_the_commands_catch(folder: Path, step: int, path: str, old: bytes, new: bytes) -> None:
    file = folder / path
    kept = file.read_bytes()
    assert old in kept
    try:
        file.write_bytes(kept.replace(old, new, 1))
        assert run(step, folder).returncode != 0
    finally:
        file.write_bytes(kept)


def test_deviations_by_hand(folder: Path) -> None:
    file = folder / "runs" / "primes-plan-1" / "run.json"
    kept = file.read_bytes()
    try:
        file.write_bytes(kept.replace(b'"repeats":1', b'"repeats":2'))
        assert run(12, folder).stdout == "repeats planned 1 observed 2\n"
    finally:
        file.write_bytes(kept)


def test_docs_are_the_same_text() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for part in (table(), by_hand()):
        assert part in page, f"docs/verify.md must hold exactly this:\n\n{part}"
