"""One changed byte in a retired battery's folder, checked by itself: it fails, and names step and file.

Two attackers again: one who changes a byte, and one who repairs `SHA256SUMS` too. What the second can
change without being caught is what no other file speaks of, and stands in `BOUND_BY_THE_SUMS_ALONE`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from complete_workspace import build_workspace
from forgery import sums

from sealbench.store import HEADERS
from sealbench.verification.bundle import read_bundle
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier

SAMPLE = 12  # bytes of each file
WHOLE_UP_TO, BEYOND = 4_096, 1_000  # for the slow test: every byte of small files, so many of each other
SEED = 20261130
FOLDER = "batteries/primes/"
SUMS = f"{FOLDER}SHA256SUMS"
# Written for people and other programs; in the repository the retire event binds them.
BOUND_BY_THE_SUMS_ALONE = tuple(
    f"{FOLDER}{name}" for name in ("README.md", "croissant.json", "CITATION.cff", "LICENSE", "verify.py")
)
# As in test_tamper_bytes: a calendar's promise in a proof, and the newest blocks of a regtest chain.
NOBODYS_EVIDENCE = (".ots", HEADERS)


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> PublicTree:
    root = Path(tmp_path_factory.mktemp("tamper-bundle")) / "workspace"
    return read_bundle(build_workspace(root).retired("primes"))


def flips(bundle: PublicTree, each: int | None) -> Iterator[tuple[str, bytes]]:
    """Paths and their bytes with one bit flipped, at some places of each file or at nearly all."""
    rng = random.Random(SEED)
    for path, data in bundle.items():
        most = each or (len(data) if len(data) <= WHOLE_UP_TO else BEYOND)
        for place in rng.sample(range(len(data)), min(most, len(data))):
            flipped = data[place] ^ (1 << rng.randrange(8))
            yield path, data[:place] + bytes([flipped]) + data[place + 1 :]


def summed(changed: PublicTree) -> PublicTree:
    """The bundle with SHA256SUMS made again, as anyone can who changes a file."""
    own = {
        path if path.startswith(FOLDER) else f"{FOLDER}record/{path}": data for path, data in changed.items()
    }
    return changed.with_file(SUMS, sums(own, FOLDER))


def try_plain(bundle: PublicTree, verifier: Verifier, each: int | None, figures: Counter[str]) -> None:
    assert verifier.verify(bundle).verdict == "ok"
    for path, data in flips(bundle, each):
        result = verifier.verify(bundle.with_file(path, data))
        figures["tried"] += 1
        assert result.verdict == "fail", path
        named = path.removeprefix(FOLDER)
        assert any(named in one.subject or named in one.detail for one in result.failures), path
        figures["caught"] += 1
        figures[f"first at step {result.failures[0].step:02d}"] += 1


def try_summed(bundle: PublicTree, verifier: Verifier, each: int | None, figures: Counter[str]) -> None:
    for path, data in flips(bundle, each):
        if path == SUMS:
            continue  # the attacker repairs it
        result = verifier.verify(summed(bundle.with_file(path, data)))
        figures["tried"] += 1
        if result.verdict == "fail":
            figures["caught"] += 1
        elif path.endswith(NOBODYS_EVIDENCE):
            figures["nobody's evidence, or evidence missing"] += 1
        else:
            assert path in BOUND_BY_THE_SUMS_ALONE, f"{path}: {result.sentence}"
            figures["bound by the sums alone"] += 1


def test_sample_of_bytes_of_a_bundle(bundle: PublicTree, verifier: Verifier, figures: Counter[str]) -> None:
    try_plain(bundle, verifier, SAMPLE, figures)
    assert figures["caught"] == figures["tried"] > 500


def test_sample_of_bytes_of_a_bundle_with_sums_repaired(
    bundle: PublicTree, verifier: Verifier, figures: Counter[str]
) -> None:
    try_summed(bundle, verifier, SAMPLE, figures)
    assert figures["caught"] > 400


@pytest.mark.slow
def test_every_byte_of_a_bundle(bundle: PublicTree, verifier: Verifier, figures: Counter[str]) -> None:
    try_plain(bundle, verifier, None, figures)
    assert figures["caught"] == figures["tried"] > 30_000


@pytest.mark.slow
def test_every_byte_of_a_bundle_with_sums_repaired(
    bundle: PublicTree, verifier: Verifier, figures: Counter[str]
) -> None:
    try_summed(bundle, verifier, None, figures)
    assert figures["caught"] > 20_000
