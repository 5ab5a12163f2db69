"""Cheats by people who hold a signing key: everything that can be made consistent again is.

`reforge` repairs chains, references, signatures, checkpoints, the report and files.json; what is left
to find is what each test is about. `lenient` waives missing proofs of time, so that the reason for a
failure is the cheat and not the missing stamp.
"""

from __future__ import annotations

import base64

import pytest
from expectations import assert_fails
from forgery import Change, edit, lines_of, rechain, reforge, relist

from sealbench.crypto.signature import AuthorKey
from sealbench.formats.battery import Commitment
from sealbench.formats.registry import Checkpoint, Registry, RegistryLine
from sealbench.store import HEADERS, REGISTRY
from sealbench.timestamps.header_store import HeaderStore
from sealbench.verification.policy import Policy
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier

PRIMES, PAIRS = "primes-plan-1", "pairs-plan-1"


def last_checkpoint(tree: PublicTree) -> Checkpoint:
    registry = Registry.from_bytes(tree.get(REGISTRY) or b"")
    return Checkpoint.from_bytes(tree.get(f"commitments/checkpoints/{registry.size}.json") or b"")


def test_complete_workspace_is_ok(verifier: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    result = verifier.verify(tree)
    assert (result.verdict, result.exit_code) == ("ok", 0)
    assert "proves nothing about time" in result.sentence
    assert result.self_declared == author.public.fingerprint
    assert {one.step for one in result.steps} == set(range(1, 13))
    assert "never run: spare" in result.step(8)[0].detail


def test_an_honest_forgery_is_consistent(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    """The control: made again without a change, everything but the time still verifies."""
    assert lenient.verify(reforge(tree, author)).verdict == "ok_except_time"


def test_resigned_with_another_key(lenient: Verifier, verifier: Verifier, tree: PublicTree) -> None:
    thief = AuthorKey.generate()
    stolen = reforge(tree, thief)
    result = lenient.verify(stolen)
    assert result.verdict == "ok_except_time"
    assert f"self-declared key {thief.public.fingerprint}, owner not checked" in result.sentence
    assert "owner not checked" in result.step(2)[0].detail
    assert verifier.verify(stolen).exit_code == 3
    # The blocks know the original: its proofs do not fit the copy.
    assert_fails(verifier.verify(reforge(tree, thief, keep_proofs=True)), 3, "is for a file with sha256")


def test_trusting_the_authors_key(tree: PublicTree, author: AuthorKey) -> None:
    trusting = Verifier(Policy(network="regtest", trusted_keys=(author.public,)))
    result = trusting.verify(tree)
    assert (result.verdict, result.self_declared) == ("ok", None)
    assert "owner not checked" not in result.sentence
    stolen = reforge(tree, AuthorKey.generate())
    assert_fails(trusting.verify(stolen), 2, "none of the registry's keys is one you trust")


def test_commitment_replayed_into_another_registry(
    lenient: Verifier, tree: PublicTree, author: AuthorKey
) -> None:
    """The same author, a second registry, the first one's commitment with its own signature and proof."""
    second = reforge(
        tree,
        author,
        change_lines=lambda lines: [
            lines[0].model_copy(update={"detail": {**lines[0].detail, "mark": "00" * 16}}),
            *lines[1:],
        ],
    )
    assert lenient.verify(second).verdict == "ok_except_time"
    kept = {
        f"commitments/pairs.json{suffix}": tree.get(f"commitments/pairs.json{suffix}")
        for suffix in ("", ".sig", ".ots")
    }
    replayed = second.with_files(kept)
    lines = lines_of(second)
    registered = rehashed(lines, "commitments/pairs.json", tree)
    result = lenient.verify(relist(resealed(replayed, registered, author)))
    assert_fails(result, 8, "commitments/pairs.json", "belongs to another registry")


def rehashed(lines: list[RegistryLine], path: str, tree: PublicTree) -> list[RegistryLine]:
    """Registry lines that name a file by the hash it has in `tree`."""
    from sealbench.crypto.digest import sha256_hex

    digest = sha256_hex(tree.get(path) or b"")
    return [
        line.model_copy(
            update={
                "files": tuple(
                    file.model_copy(update={"sha256": digest}) if file.path == path else file
                    for file in line.files
                )
            }
        )
        for line in lines
    ]


def resealed(tree: PublicTree, lines: list[RegistryLine], author: AuthorKey) -> PublicTree:
    """A registry with these lines, chained, under one new checkpoint."""
    data = rechain(lines)
    registry = Registry.from_bytes(data)
    checkpoint = Checkpoint(
        author=author.public.fingerprint, registry=registry.first, size=registry.size, head=registry.head
    ).to_bytes()
    path = f"commitments/checkpoints/{registry.size}.json"
    old = {one: None for one in tree.paths() if one.startswith("commitments/checkpoints/")}
    return tree.with_files({**old, REGISTRY: data, path: checkpoint, path + ".sig": author.sign(checkpoint)})


def test_zero_signature(verifier: Verifier, tree: PublicTree) -> None:
    path = "commitments/primes.json.sig"
    lines = (tree.get(path) or b"").decode().split("\n")
    blob = base64.b64decode("".join(lines[1:-2]))
    zeroed = base64.b64encode(blob[:-64] + bytes(64)).decode()
    armoured = "\n".join(
        [lines[0], *(zeroed[at : at + 70] for at in range(0, len(zeroed), 70)), lines[-2], ""]
    )
    result = verifier.verify(relist(tree.with_file(path, armoured.encode())))
    assert_fails(result, 2, path, "does not belong to these bytes")


@pytest.mark.parametrize(
    "signature", [b"", b"\n", b"-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----\n"]
)
def test_empty_signatures(verifier: Verifier, tree: PublicTree, signature: bytes) -> None:
    path = "runs/primes-plan-1/run.json.sig"
    assert_fails(verifier.verify(relist(tree.with_file(path, signature))), 2, path)


@pytest.mark.parametrize("cut", [1, 3, 8])
def test_registry_cut_back_with_its_newest_checkpoints(
    lenient: Verifier, tree: PublicTree, author: AuthorKey, cut: int
) -> None:
    kept = last_checkpoint(tree)
    shorter = reforge(tree, author, _drop_orphans(tree, cut), change_lines=lambda lines: lines[:-cut])
    # Cut in the middle of a run, the run is unfinished; nothing is false to who holds no checkpoint.
    assert lenient.verify(shorter).verdict in ("ok_except_time", "pending")
    holder = Verifier(Policy(network="regtest", accept_unanchored=True, since=kept))
    assert holder.verify(tree).verdict == "ok"
    assert_fails(holder.verify(shorter), 8, REGISTRY, "your checkpoint", "tail was cut off")


def _drop_orphans(tree: PublicTree, cut: int) -> Change:
    """Remove what only the lines that are cut off had made."""
    lines = lines_of(tree)
    kept = {file.path for line in lines[:-cut] for file in line.files}
    gone = {file.path for line in lines[-cut:] for file in line.files} - kept
    ended = {line.subject for line in lines[:-cut] if line.event == "run_end"}
    started = {line.subject for line in lines[:-cut] if line.event == "run_start"}

    def change(files: dict[str, bytes]) -> None:
        for path in list(files):
            run = path.split("/")[1] if path.startswith("runs/") else None
            if path.removesuffix(".sig") in gone or (run and run not in started | ended):
                del files[path]

    return change


def test_a_reader_of_another_registry_is_told(tree: PublicTree, author: AuthorKey) -> None:
    other = last_checkpoint(tree).model_copy(update={"registry": "ab" * 32})
    assert_fails(Verifier(Policy(network="regtest", since=other)).verify(tree), 8, "not the registry")
    rewritten = last_checkpoint(tree).model_copy(update={"head": "ab" * 32})
    assert_fails(Verifier(Policy(network="regtest", since=rewritten)).verify(tree), 8, "rewritten")


def test_registry_rewritten_by_a_stranger(verifier: Verifier, tree: PublicTree) -> None:
    """Chain repaired, but not the checkpoints, for which the key is missing."""
    lines = lines_of(tree)
    lines[2] = lines[2].model_copy(update={"at": "2020-01-01T00:00:00Z"})
    result = verifier.verify(relist(tree.with_file(REGISTRY, rechain(lines))))
    assert_fails(result, 8, "checkpoints/3.json saw", "rewritten")


def test_regtest_workspace_without_saying_so_is_not_anchored(tree: PublicTree) -> None:
    result = Verifier().verify(tree)
    assert (result.verdict, result.exit_code) == ("pending", 3)
    assert any("--network regtest" in one.detail for one in result.step(4))
    assert "regtest" not in result.sentence
    assert Verifier(Policy(accept_unanchored=True)).verify(tree).verdict == "ok_except_time"


def test_regtest_work_offered_on_mainnet(tree: PublicTree, author: AuthorKey) -> None:
    """The label says mainnet, and so do the headers; their work does not."""

    def relabel(lines: list[RegistryLine]) -> list[RegistryLine]:
        detail = {**lines[0].detail, "network": "mainnet"}
        return [lines[0].model_copy(update={"detail": detail}), *lines[1:]]

    store = HeaderStore.from_bytes(tree.get(HEADERS) or b"")
    headers = HeaderStore(dict(store.items()), network="mainnet").to_bytes()
    forged = reforge(tree, author, change_lines=relabel).with_file(HEADERS, headers)
    assert_fails(Verifier(Policy(accept_unanchored=True)).verify(relist(forged)), 4, HEADERS, "target")
    kept = reforge(tree, author, change_lines=relabel, keep_proofs=True)
    assert_fails(Verifier().verify(kept), 4, HEADERS, "holds headers of 'regtest'")


def test_one_secret_for_two_batteries(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    """No K serves twice, however well the second commitment is signed and registered."""
    primes = Commitment.from_bytes(tree.get("commitments/primes.json") or b"")
    change = edit("commitments/spare.json", Commitment, secret_commitment=primes.secret_commitment)
    result = lenient.verify(reforge(tree, author, change))
    assert_fails(result, 8, "uses the K of primes a second time")
