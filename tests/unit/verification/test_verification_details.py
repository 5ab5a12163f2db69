"""Single faults, one by one: the step that finds each, and the words it finds for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from expectations import assert_fails
from forgery import edit, lines_of, reforge, relist

from sealbench.crypto.digest import sha256_hex
from sealbench.crypto.signature import AuthorKey
from sealbench.errors import CertificateFailed
from sealbench.formats.base import FileHash
from sealbench.formats.battery import Battery, Commitment
from sealbench.formats.registry import Checkpoint, PublicFiles, RegistryLine
from sealbench.store import FILES, REGISTRY
from sealbench.verification.battery import check_draws
from sealbench.verification.memo import Memo
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier

Edit = Callable[[bytes], bytes]
LOG = "runs/pairs-plan-1/log.jsonl"


def found(verifier: Verifier, tree: PublicTree, step: int) -> str:
    """Everything this step says of failures, as one text."""
    return "\n".join(
        f"{one.subject} {one.detail}" for one in verifier.verify(tree).step(step) if one.status == "fail"
    )


RAW_EDITS: list[tuple[str, Edit, str]] = [
    ("commitments/pairs.json", lambda data: data + b"\n", "not in canonical form"),
    ("commitments/pairs.json", lambda data: data[:-1] + b',"zz_more":1}', "zz_more"),
    (
        "commitments/pairs.json",
        lambda data: data.replace(b'"name":"pairs"', b'"name":"other"'),
        "calls itself other",
    ),
    ("commitments/checkpoints/3.json", lambda data: data.replace(b'"size":3', b'"size":2'), "of size 2"),
    (
        "runs/pairs-plan-1/report.json",
        lambda data: data.replace(b'"run":"pairs-plan-1"', b'"run":"x"'),
        "run x",
    ),
    (LOG, lambda data: data[:-1], "the last line is torn"),
    (LOG, lambda data: data.replace(b'"cap":300', b'"cap":"300"', 1), "line "),
    (REGISTRY, lambda data: data.replace(b'"event":"create"', b'"event":"invent"', 1), "line 2"),
    ("commitments/headers.bin", lambda data: data[:-1], "damaged"),
    ("commitments/pairs.json.ots", lambda data: data + b"\x00", "commitments/pairs.json.ots"),
    ("commitments/pairs.json.ots", lambda data: data[::-1], "commitments/pairs.json.ots"),
    ("batteries/primes/SHA256SUMS", lambda data: data.replace(b"  ", b" ", 1), "not a hash and a file name"),
    ("batteries/primes/SHA256SUMS", lambda data: b"0" * 64 + data[64:], "has another hash"),
    ("batteries/primes/SHA256SUMS", lambda data: data.split(b"\n", 1)[1], "every file of its folder"),
]


@pytest.mark.parametrize(("path", "change", "words"), RAW_EDITS)
def test_step_1_parsing(verifier: Verifier, tree: PublicTree, path: str, change: Edit, words: str) -> None:
    changed = relist(tree.with_file(path, change(tree.get(path) or b"")))
    told = found(verifier, changed, 1)
    assert path in told
    assert words in told


ADDED: list[tuple[str, bytes, str]] = [
    ("runs/pairs-plan-1/log.jsonl.sig", b"x", "no registry signs"),
    ("commitments/none.json.sig", b"x", "commitments/none.json, is missing"),
    ("commitments/none.json.ots", b"x", "commitments/none.json, is missing"),
    ("commitments/pairs.draft.json", b'{"b":1,"a":2}', "not in canonical form"),
]


@pytest.mark.parametrize(("path", "data", "words"), ADDED)
def test_step_1_added(verifier: Verifier, tree: PublicTree, path: str, data: bytes, words: str) -> None:
    assert words in found(verifier, relist(tree.with_file(path, data)), 1)


def test_step_1_lists(verifier: Verifier, tree: PublicTree) -> None:
    assert "commitments/files.json is missing" in found(verifier, tree.with_file(FILES, None), 1)
    assert "is not listed" in found(verifier, tree.with_file("runs/pairs-plan-1/notes.txt", b"x"), 1)
    assert "is missing, but listed" in found(verifier, tree.with_file("commitments/pairs.json", None), 1)
    listed = PublicFiles.from_bytes(tree.get(FILES) or b"")
    unsorted = PublicFiles(files=(*listed.files[1:], listed.files[0])).to_bytes()
    assert "not sorted" in found(verifier, tree.with_file(FILES, unsorted), 1)


def test_a_file_that_nothing_binds_is_named(verifier: Verifier, tree: PublicTree) -> None:
    result = verifier.verify(relist(tree.with_file("runs/pairs-plan-1/notes.txt", b"x")))
    assert result.verdict == "ok"
    assert "only listed: runs/pairs-plan-1/notes.txt" in result.step(8)[0].detail


def test_a_proof_of_another_file_and_a_weak_proof(verifier: Verifier, tree: PublicTree) -> None:
    from opentimestamps.core.notary import PendingAttestation
    from opentimestamps.core.op import OpSHA1

    from sealbench.timestamps.proof import read_proof, serialize

    path = "commitments/pairs.json"
    other = tree.get("commitments/primes.json.ots")
    changed = relist(tree.with_file(f"{path}.ots", other))
    assert f"not for {path}" in found(verifier, changed, 3)
    assert any("proof of another file" in one.detail for one in verifier.verify(changed).step(4))
    proof = read_proof(tree.get(f"{path}.ots") or b"")
    proof.timestamp.ops.add(OpSHA1()).attestations.add(PendingAttestation("https://a.example"))
    weak = relist(tree.with_file(f"{path}.ots", serialize(proof)))
    assert "may commit to two files" in found(verifier, weak, 3)


def test_a_header_changed_in_the_middle(verifier: Verifier, tree: PublicTree) -> None:
    path = "commitments/headers.bin"
    data = bytearray(tree.get(path) or b"")
    data[-80 * 5 + 40] ^= 1  # a Merkle root, five blocks below the tip
    assert path in found(verifier, relist(tree.with_file(path, bytes(data))), 4)


def test_an_extra_stamp_is_checked_too(verifier: Verifier, tree: PublicTree) -> None:
    """A report may be stamped as well: its proof must then be for it."""
    path = "runs/pairs-plan-1/report.json.ots"
    assert path in found(verifier, relist(tree.with_file(path, tree.get("commitments/pairs.json.ots"))), 3)


def test_a_proof_that_is_not_its_own_re_encoding(verifier: Verifier, tree: PublicTree) -> None:
    """An integer with a superfluous byte: the library reads it, and writes it shorter."""
    path = "commitments/pairs.json.ots"
    data = tree.get(path) or b""
    assert data[31:33] == b"\x01\x08"  # the format's version, the file's hash
    longer = data[:31] + b"\x81\x00" + data[32:]
    assert path in found(verifier, relist(tree.with_file(path, longer)), 1)


def test_parts_that_do_not_parse_are_not_checked_further(verifier: Verifier, tree: PublicTree) -> None:
    for path, steps in (
        ("batteries/primes/battery.json", (7, 10)),
        ("runs/pairs-plan-1/report.json", (11,)),
        ("batteries/primes.sealed.json", (6,)),
    ):
        result = verifier.verify(relist(tree.with_file(path, (tree.get(path) or b"") + b" ")))
        for step in steps:
            assert any(one.status == "not_checked" for one in result.step(step)), (path, step)


def test_a_checkpoint_larger_than_the_registry(
    lenient: Verifier, tree: PublicTree, author: AuthorKey
) -> None:
    old = Checkpoint.from_bytes(tree.get("commitments/checkpoints/3.json") or b"")
    data = old.model_copy(update={"size": 99}).to_bytes()
    path = "commitments/checkpoints/99.json"
    added = relist(tree.with_files({path: data, path + ".sig": author.sign(data)}))
    assert "checkpoints/99.json saw 99: its tail was cut off" in found(lenient, added, 8)


def test_a_file_written_at_another_place_of_the_registry(
    lenient: Verifier, tree: PublicTree, author: AuthorKey
) -> None:
    """Signed by the right key in the right registry, and yet not when its event says."""
    path = "commitments/spare.json"
    commitment = Commitment.from_bytes(tree.get(path) or b"")
    for update, words in (
        ({"registry_size": 12}, "says the registry had 12 lines"),
        ({"registry_head": "0" * 64}, "beside another history"),
    ):
        data = commitment.model_copy(update=update).to_bytes()
        changed = relist(tree.with_files({path: data, path + ".sig": author.sign(data)}))
        assert words in found(lenient, changed, 8)


def test_allowed_signers_must_be_the_registrys_keys(verifier: Verifier, tree: PublicTree) -> None:
    stranger = AuthorKey.generate().public.allowed_signer.encode() + b"\n"
    path = "commitments/allowed_signers"
    changed = relist(tree.with_file(path, (tree.get(path) or b"") + stranger))
    assert "does not hold exactly the registry's keys" in found(verifier, changed, 2)
    assert "is missing" in found(verifier, relist(tree.with_file("commitments/pairs.json.sig", None)), 2)


def test_a_parent_that_is_only_claimed(verifier: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    parent = FileHash(
        path="commitments/spare.json", sha256=sha256_hex(tree.get("commitments/spare.json") or b"")
    )
    derived = edit("commitments/primes.json", Commitment, derived_from=parent)
    result = verifier.verify(reforge(tree, author, derived))
    assert_fails(result, 8, "commitments/primes.json", "derived from spare, and has another K")
    assert_fails(result, 5, "batteries/spare.sealed.json", "names batteries/primes.sealed.json instead")


def test_parameters_that_no_machine_could_draw(tree: PublicTree) -> None:
    """What hostile or impossible parameters give is an answer, not a crash and not hours of work."""
    commitment = Commitment.from_bytes(tree.get("commitments/primes.json") or b"")
    key = tree.get("batteries/primes/key.json") or b""
    family = commitment.parameters.families[0]
    for update, words in (
        ({"per_class": 10**9}, "more than the 6 items committed to"),
        ({"parameters": {**family.parameters, "digits": 1}}, "give no battery"),
    ):
        families = (family.model_copy(update=update),)
        parameters = commitment.parameters.model_copy(update={"families": families})
        data = commitment.model_copy(update={"parameters": parameters}).to_bytes()
        with pytest.raises(CertificateFailed, match=words):
            check_draws(Memo(), data, key, b"")


def test_published_in_part(lenient: Verifier, tree: PublicTree) -> None:
    """Half a reveal is no reveal: each missing half is named."""
    no_key = relist(tree.with_file("batteries/primes/key.json", None))
    assert "its K is missing" in found(lenient, no_key, 6)
    no_items = relist(tree.with_file("batteries/primes/battery.json", None))
    assert "the battery is missing" in found(lenient, no_items, 6)
    no_sealed = relist(tree.with_file("batteries/primes.sealed.json", None))
    assert "without it K opens nothing" in found(lenient, no_sealed, 5)
    assert any(one.status == "not_checked" for one in lenient.verify(no_sealed).step(6))


def test_ciphertext_named_elsewhere(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    path = "batteries/spare.sealed.json"
    named = Commitment.from_bytes(tree.get("commitments/spare.json") or b"").sealed
    change = edit("commitments/pairs.json", Commitment, sealed=named)
    assert f"names {path} instead" in found(lenient, reforge(tree, author, change), 5)


def test_counts_that_the_items_do_not_have(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    change = edit("commitments/primes.json", Commitment, items=7)
    assert "there are 6 items" in found(lenient, reforge(tree, author, change), 6)


def test_root_that_the_items_do_not_give(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    change = edit("commitments/primes.json", Commitment, root="0" * 64)
    assert "do not give the committed root" in found(lenient, reforge(tree, author, change), 6)


def test_instances_that_are_two_problems(lenient: Verifier, tree: PublicTree) -> None:
    path = "batteries/primes/battery.json"
    battery = Battery.from_bytes(tree.get(path) or b"")
    items = (battery.items[0].model_copy(update={"instance": battery.items[1].instance}), *battery.items[1:])
    changed = battery.model_copy(update={"items": items}).to_bytes()
    assert "another problem in another wording" in found(lenient, relist(tree.with_file(path, changed)), 7)


def test_events_without_their_files(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    def empty(lines: list[RegistryLine]) -> list[RegistryLine]:
        return [line.model_copy(update={"files": ()}) if line.event == "report" else line for line in lines]

    assert "does not name runs/primes-plan-1/report.json" in found(
        lenient, reforge(tree, author, change_lines=empty), 8
    )


def test_events_twice(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    def twice(lines: list[RegistryLine]) -> list[RegistryLine]:
        return [*lines, next(line for line in lines if line.event == "create")]

    assert "a second time" in found(lenient, reforge(tree, author, change_lines=twice), 8)


def test_two_hashes_for_one_file(lenient: Verifier, tree: PublicTree, author: AuthorKey) -> None:
    from forgery import rechain

    lines = lines_of(tree)
    other = FileHash(path="commitments/pairs.json", sha256=sha256_hex(b"other"))
    lines.append(lines[-1].model_copy(update={"event": "deviation", "subject": "x", "files": (other,)}))
    assert "another hash than another line" in found(
        lenient, relist(tree.with_file(REGISTRY, rechain(lines))), 8
    )


def test_checkpoint_of_another_registry(lenient: Verifier, tree: PublicTree) -> None:
    path = "commitments/checkpoints/3.json"
    changed = (tree.get(path) or b"").replace(b'"registry":"', b'"registry":"00', 1)
    checkpoint = Checkpoint.from_bytes(tree.get(path) or b"").model_copy(update={"registry": "0" * 64})
    assert "another registry" in found(lenient, relist(tree.with_file(path, checkpoint.to_bytes())), 8)
    assert path in found(lenient, relist(tree.with_file(path, changed)), 1)
