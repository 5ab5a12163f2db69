"""One changed byte anywhere in a complete workspace: verification fails, naming step and file.

Two attackers. The first only changes a byte: `files.json` must show it. The second repairs `files.json`
too, so a deeper step must show it, except in the bytes named in `BOUND_BY_NOTHING_ELSE`.

A seeded sample runs always; `-m slow` tries every byte of files up to 4 KB and 5,000 of each other.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterator

import pytest

from sealbench.store import FILES, HEADERS
from sealbench.verification.steps import Verification
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier

WHOLE_UP_TO = 4_096  # bytes
BEYOND = 5_000  # random bytes of each larger file
SAMPLE = 1_700  # bytes in all, for the quick test
SEED = 20261130

# What the second attacker can change without being caught, because no other file speaks of it:
#   - in proofs, the bytes that serve only a calendar's promise beside the Bitcoin attestation (its
#     address, its own path): a promise is nobody's evidence once the block is there;
#   - in headers.bin, on regtest only, bytes of the newest blocks: every second nonce is a proof of work.
BOUND_BY_NOTHING_ELSE = (".ots", HEADERS)


def flipped(data: bytes, position: int, pattern: int) -> bytes:
    return data[:position] + bytes([data[position] ^ pattern]) + data[position + 1 :]


def every_byte(tree: PublicTree, rng: random.Random) -> Iterator[tuple[str, int, int]]:
    """(path, position, bits to flip) of the whole suite."""
    for path, data in tree.items():
        whole = len(data) <= WHOLE_UP_TO
        positions = range(len(data)) if whole else rng.sample(range(len(data)), min(BEYOND, len(data)))
        for position in positions:
            yield path, position, 1 << rng.randrange(8)


def sample(tree: PublicTree, rng: random.Random) -> Iterator[tuple[str, int, int]]:
    """Some bytes of every file: the same number of each, so that small files are not left out."""
    share = SAMPLE // len(tree)
    for path, data in tree.items():
        for position in rng.sample(range(len(data)), min(share, len(data))):
            yield path, position, 1 << rng.randrange(8)


def names(result: Verification, path: str) -> bool:
    """Whether a failure names the file, as its subject or in its sentence."""
    return any(path in failure.subject or path in failure.detail for failure in result.failures)


def relisted(tree: PublicTree, path: str, changed: bytes) -> PublicTree:
    """The change with files.json repaired: the old hash exchanged for the new one."""
    old, new = (hashlib.sha256(data).hexdigest() for data in (tree.get(path) or b"", changed))
    listed = (tree.get(FILES) or b"").replace(old.encode(), new.encode())
    return tree.with_files({path: changed, FILES: listed})


def try_plain(
    tree: PublicTree,
    verifier: Verifier,
    changes: Iterator[tuple[str, int, int]],
    figures: Counter[str],
) -> None:
    for path, position, pattern in changes:
        figures["tried"] += 1
        result = verifier.verify(tree.with_file(path, flipped(tree.get(path) or b"", position, pattern)))
        assert result.verdict == "fail", f"{path}: byte {position} ^ {pattern} was not noticed"
        assert names(result, path), f"{path}: byte {position}: {result.failures[0]}"
        figures["caught"] += 1
        figures[f"first at step {result.failures[0].step:02d}"] += 1


def try_relisted(
    tree: PublicTree,
    verifier: Verifier,
    changes: Iterator[tuple[str, int, int]],
    figures: Counter[str],
) -> None:
    for path, position, pattern in changes:
        if path == FILES:
            continue  # the attacker repairs it
        figures["tried"] += 1
        changed = flipped(tree.get(path) or b"", position, pattern)
        result = verifier.verify(relisted(tree, path, changed))
        where = f"{path}: byte {position} ^ {pattern}: {result.sentence}"
        if result.verdict == "fail":
            assert names(result, path), f"{where}: {result.failures[0]}"
            figures["caught"] += 1
            figures[f"first at step {result.failures[0].step:02d}"] += 1
        elif result.verdict != "ok":
            # A proof that leads into no block at hand, or headers moved to other heights: evidence is
            # missing, so it is not OK.
            assert path.endswith((".ots", HEADERS)), where
            figures["evidence missing, not OK"] += 1
        else:
            assert path.endswith(BOUND_BY_NOTHING_ELSE), where
            kind = "headers.bin" if path == HEADERS else "a promise in a proof"
            figures[f"bound by nothing else ({kind})"] += 1


def test_sample_of_bytes(tree: PublicTree, verifier: Verifier, figures: Counter[str]) -> None:
    try_plain(tree, verifier, sample(tree, random.Random(SEED)), figures)
    assert figures["caught"] == figures["tried"] > SAMPLE // 2


def test_sample_of_bytes_with_files_json_repaired(
    tree: PublicTree, verifier: Verifier, figures: Counter[str]
) -> None:
    try_relisted(tree, verifier, sample(tree, random.Random(SEED + 1)), figures)
    assert figures["tried"] > SAMPLE // 2


@pytest.mark.slow
def test_every_byte(tree: PublicTree, verifier: Verifier, figures: Counter[str]) -> None:
    try_plain(tree, verifier, every_byte(tree, random.Random(SEED)), figures)
    assert figures["caught"] == figures["tried"] > 50_000


@pytest.mark.slow
def test_every_byte_with_files_json_repaired(
    tree: PublicTree, verifier: Verifier, figures: Counter[str]
) -> None:
    try_relisted(tree, verifier, every_byte(tree, random.Random(SEED)), figures)
    assert figures["tried"] > 50_000
