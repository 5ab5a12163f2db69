"""An author who wants easier items: other secrets, sizes or blocks than the draft announced.

Signatures, hashes and registry are made consistent again (`reforge`). Proofs of time are waived where a
forger can have none, so that the reason for a failure is the cheat.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from expectations import assert_fails
from forgery import edit, reforge

from sealbench.crypto import merkle
from sealbench.crypto.derivation import ItemKeys, secret_commitment
from sealbench.crypto.signature import AuthorKey
from sealbench.formats.battery import BatteryKey, Block, Commitment, FamilyParameters
from sealbench.formats.draft import Draft
from sealbench.formats.reveal import Reveal
from sealbench.publishing.sealing import open_battery
from sealbench.store import Workspace
from sealbench.verification.policy import Policy
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier
from tests.conftest import Seal

DRAFT, COMMITMENT = "commitments/later.draft.json", "commitments/later.json"
OTHER_K = secret_commitment(bytes(32)).hex()


@pytest.fixture
def strict() -> Verifier:
    return Verifier(Policy(network="regtest"))


@pytest.fixture
def lenient() -> Verifier:
    return Verifier(Policy(network="regtest", accept_unanchored=True))


def author_of(root: Path) -> AuthorKey:
    return AuthorKey.from_openssh(Workspace(root).author_key.read_bytes())


def easier(commitment: Commitment) -> tuple[FamilyParameters, ...]:
    first, *rest = commitment.parameters.families
    return (first.model_copy(update={"parameters": {**first.parameters, "digits": 4}}), *rest)


def test_the_draft_binds_secret_sizes_and_height(
    beacon_root: Path, beacon: PublicTree, lenient: Verifier
) -> None:
    """K, parameters and height were bound before the block: the commitment cannot leave them."""
    author = author_of(beacon_root)
    commitment = Commitment.from_bytes(beacon.get(COMMITMENT) or b"")
    assert commitment.beacon is not None
    below = Block(height=commitment.beacon.height - 1, hash="00" * 32)
    smaller = commitment.parameters.model_copy(update={"families": easier(commitment)})
    for fields in ({"secret_commitment": OTHER_K}, {"parameters": smaller}, {"beacon": below}):
        forged = reforge(beacon, author, edit(COMMITMENT, Commitment, **fields))
        assert_fails(lenient.verify(forged), 8, COMMITMENT, "than its draft")
    hidden = edit(COMMITMENT, Commitment, mode="sealed", beacon=None, draft=None)
    assert_fails(lenient.verify(reforge(beacon, author, hidden)), 8, "names no beacon")


def test_a_draft_ground_after_its_block_is_not_below_it(
    beacon_root: Path, beacon: PublicTree, strict: Verifier, lenient: Verifier
) -> None:
    """Try one K after the other once the block is known, then exchange draft and commitment together.

    Everything agrees, and everything is signed; only the draft's proof is not to be had any more.
    """

    def ground(files: dict[str, bytes]) -> None:
        for path, model in ((DRAFT, Draft), (COMMITMENT, Commitment)):
            edit(path, model, secret_commitment=OTHER_K)(files)

    author = author_of(beacon_root)
    forged = reforge(beacon, author, ground)
    waiting = strict.verify(forged)
    assert waiting.verdict == "pending"
    assert any(
        one.status == "pending" and DRAFT in one.detail and "not proved to stand below" in one.detail
        for one in waiting.step(9)
    )
    # The old proof is of the old draft.
    assert_fails(strict.verify(reforge(beacon, author, ground, keep_proofs=True)), 3, DRAFT)


def test_another_block_is_not_the_beacon(beacon_root: Path, beacon: PublicTree, lenient: Verifier) -> None:
    """A block hash chosen for its items: the chain holds another one at that height."""
    commitment = Commitment.from_bytes(beacon.get(COMMITMENT) or b"")
    assert commitment.beacon is not None
    chosen = commitment.beacon.model_copy(update={"hash": "00" * 32})
    forged = reforge(beacon, author_of(beacon_root), edit(COMMITMENT, Commitment, beacon=chosen))
    assert_fails(lenient.verify(forged), 9, COMMITMENT, "is not block")


def test_a_draw_thrown_away_stays_in_the_registry(
    beacon_root: Path, beacon: PublicTree, strict: Verifier, lenient: Verifier
) -> None:
    """A draw whose items did not please cannot be taken back: without its events it is a gap, and shows."""
    author = author_of(beacon_root)

    def drop(files: dict[str, bytes]) -> None:
        for path in [path for path in files if path.startswith((COMMITMENT, "batteries/later"))]:
            del files[path]

    forged = reforge(beacon, author, drop)
    assert_fails(lenient.verify(forged), 8, COMMITMENT)
    forged = reforge(
        beacon,
        author,
        drop,
        change_lines=lambda lines: [
            line for line in lines if all(file.path != COMMITMENT for file in line.files)
        ],
    )
    result = strict.verify(forged)
    assert result.verdict == "pending"
    assert any(
        one.status == "pending" and "neither its items nor a void event followed" in one.detail
        for one in result.step(9)
        if one.subject == DRAFT
    )
    assert "drafts without items" in " ".join(one.detail for one in result.step(8))


def test_the_salts_cannot_be_had_from_anything_public(
    seal: Seal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One item is opened; its sibling's leaf is now public, and its text can be guessed (yes or no).

    With a salt that stood in any public file, or none, two hashes would tell the answer.
    """
    monkeypatch.chdir(tmp_path)
    for command in (
        ["init", ".", "--network", "regtest"],
        ["create", "primality", "--name", "small", "--per-class", "2", "--no-stamp"],
    ):
        assert seal(*command).code == 0
    workspace = Workspace(tmp_path)
    battery = open_battery(workspace, "small")
    opened = seal("reveal", "small", "--item", battery.items[0].id, "--yes", "--no-stamp")
    assert opened.code == 0, opened.err
    path = tmp_path / "commitments" / "reveals" / "small-1.json"
    (entry,) = [one for one in Reveal.from_bytes(path.read_bytes()).entries if one.index == 0]
    sibling_leaf = bytes.fromhex(entry.path[0])
    guess = battery.items[1].to_bytes()
    keys = ItemKeys(battery.secret)
    assert merkle.leaf_hash(guess, keys.salt(1)) == sibling_leaf  # the guess is right: only the salt lacks
    tree = PublicTree.from_folder(tmp_path)
    salts = {b"", *(data[at : at + 32] for _, data in tree.items() for at in range(len(data)))}
    for _, data in tree.items():
        words = data.replace(b'"', b" ").split()
        salts |= {bytes.fromhex(word.decode()) for word in words if _is_hash(word)}
    assert len(salts) > 1000
    assert bytes.fromhex(entry.salt) in salts  # the opened item's own salt was found this way
    assert not any(merkle.leaf_hash(guess, salt) == sibling_leaf for salt in salts)


def _is_hash(word: bytes) -> bool:
    return len(word) == 64 and all(byte in b"0123456789abcdef" for byte in word)


def test_the_key_is_in_no_public_file(beacon_root: Path, beacon: PublicTree) -> None:
    key = BatteryKey.from_bytes(Workspace(beacon_root).battery_key("later").read_bytes())
    for path, data in beacon.items():
        assert key.secret.encode() not in data, path
        assert key.secret_bytes() not in data, path
