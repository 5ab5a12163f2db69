"""Bytes flipped in reveals, subset proofs, drafts and derived commitments, with `files.json` repaired.

Every byte is tried under the marker `slow` (`make tamper`); a seeded sample otherwise.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from sealbench.crypto.digest import sha256_hex
from sealbench.formats.base import FileHash
from sealbench.formats.registry import PublicFiles
from sealbench.publishing.sealing import open_battery
from sealbench.store import FILES, Workspace
from sealbench.verification.policy import Policy
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier
from tests.conftest import Seal

SAMPLE = 120  # bytes of each file


@pytest.fixture
def derived(seal: Seal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PublicTree:
    """A parent of two families, a battery derived from it with its subset proof, one item revealed."""
    monkeypatch.chdir(tmp_path)
    commands = [
        ["init", ".", "--network", "regtest"],
        ["create", "primality", "digit_sum_parity", "--name", "whole", "--per-class", "3", "--no-stamp"],
        [
            "create",
            "primality",
            "--derived-from",
            "whole",
            "--name",
            "part",
            "--per-class",
            "2",
            "--no-stamp",
        ],
        ["reveal", "part", "--subset-of", "whole", "--no-stamp"],
    ]
    for command in commands:
        done = seal(*command)
        assert done.code == 0, (command, done.err)
    workspace = Workspace(tmp_path)
    item = next(one for one in open_battery(workspace, "whole").items if one.family == "digit_sum_parity")
    done = seal("reveal", "whole", "--item", item.id, "--yes", "--no-stamp")
    assert done.code == 0, done.err
    return PublicTree.from_folder(tmp_path)


def _flip(tree: PublicTree, verifier: Verifier, path: str, positions: list[int]) -> Counter[str]:
    """Verdicts over one flipped bit at each position, `files.json` listing the changed file."""
    data = tree.get(path)
    assert data is not None
    listed = PublicFiles.from_bytes(tree.get(FILES) or b"")
    found: Counter[str] = Counter()
    for position in positions:
        changed = data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]
        files = tuple(
            FileHash(path=one.path, sha256=sha256_hex(changed)) if one.path == path else one
            for one in listed.files
        )
        repaired = {path: changed, FILES: PublicFiles(files=files).to_bytes()}
        result = verifier.verify(tree.with_files(repaired))
        named = [step for step in result.failures if path in step.subject or path in step.detail]
        found[result.verdict if named else f"{result.verdict}, not named"] += 1
    return found


def _all_caught(tree: PublicTree, paths: list[str], sample: int | None, figures: Counter[str]) -> None:
    verifier = Verifier(Policy(network="regtest", accept_unanchored=True))
    assert verifier.verify(tree).exit_code == 0
    rng = random.Random(7)
    for path in paths:
        size = len(tree.get(path) or b"")
        positions = list(range(size))
        if sample is not None and size > sample:
            positions = rng.sample(positions, sample)
        found = _flip(tree, verifier, path, positions)
        figures["tried"] += len(positions)
        figures["caught"] += found["fail"]
        assert found == {"fail": len(positions)}, (path, found)


DERIVED = [
    "commitments/reveals/whole-1.json",
    "commitments/reveals/whole-1.json.sig",
    "commitments/reveals/part-subset.json",
    "commitments/reveals/part-subset.json.sig",
    "commitments/part.json",
    "commitments/part.json.sig",
]
BEACON = ["commitments/later.draft.json", "commitments/later.draft.json.sig", "commitments/later.json"]


def test_derived_and_revealed(derived: PublicTree, figures: Counter[str]) -> None:
    _all_caught(derived, DERIVED, SAMPLE, figures)


def test_beacon(beacon: PublicTree, figures: Counter[str]) -> None:
    _all_caught(beacon, BEACON, SAMPLE, figures)


@pytest.mark.slow
def test_every_byte_derived_and_revealed(derived: PublicTree, figures: Counter[str]) -> None:
    _all_caught(derived, DERIVED, None, figures)


@pytest.mark.slow
def test_every_byte_beacon(beacon: PublicTree, figures: Counter[str]) -> None:
    _all_caught(beacon, BEACON, None, figures)
