"""A retired battery's folder checked by itself: everything that it claims, and nothing of other batteries."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from expectations import assert_fails
from forgery import sums

from sealbench.errors import CheckFailed, FormatError
from sealbench.formats.registry import Checkpoint
from sealbench.publishing.bundle import packaged_verifier
from sealbench.store import HEADERS, REGISTRY, Workspace
from sealbench.verification.bundle import is_bundle, read_bundle
from sealbench.verification.policy import Policy
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier

FOLDER = "batteries/primes/"


@pytest.fixture(scope="module")
def bundle(workspace: Workspace) -> PublicTree:
    return read_bundle(workspace.retired("primes"))


def summed(bundle: PublicTree, **changes: bytes | None) -> PublicTree:
    """A bundle with files changed, by their place in the tree, and SHA256SUMS made again as anyone can."""
    changed = bundle.with_files(dict(changes))
    own = {
        path if path.startswith(FOLDER) else f"{FOLDER}record/{path}": data for path, data in changed.items()
    }
    return changed.with_file(f"{FOLDER}SHA256SUMS", sums(own, FOLDER))


def test_a_bundle_is_ok_by_itself(verifier: Verifier, bundle: PublicTree) -> None:
    result = verifier.verify(bundle)
    assert (result.verdict, result.failures) == ("ok", ())
    assert {one.step for one in result.steps} == set(range(1, 13))
    (elsewhere,) = [one for one in result.step(1) if one.subject == REGISTRY]
    assert (elsewhere.status, "not part of this bundle" in elsewhere.detail) == ("not_due", True)
    assert [one.subject for one in result.step(10)] == ["runs/primes-plan-1/log.jsonl"]
    assert not [path for path in bundle.paths() if "pairs" in path or "spare" in path]


def test_it_is_known_by_its_record_and_its_key_or_sums(workspace: Workspace, tmp_path: Path) -> None:
    assert is_bundle(workspace.retired("primes"))
    assert not is_bundle(workspace.root)
    shutil.copytree(workspace.retired("primes"), tmp_path / "b")
    (tmp_path / "b" / "key.json").unlink()
    assert is_bundle(tmp_path / "b")
    assert read_bundle(tmp_path / "b").bundle == "primes"
    (tmp_path / "b" / "battery.json").write_bytes(b"{")
    with pytest.raises(FormatError, match="which battery this is"):
        read_bundle(tmp_path / "b")


def test_every_file_is_missed(verifier: Verifier, bundle: PublicTree) -> None:
    for path in bundle.paths():
        result = verifier.verify(bundle.with_file(path, None))
        assert result.verdict == "fail", path
        assert any(path in one.subject or path in one.detail for one in result.failures), path


WEAKER = (".ots", HEADERS, "responses/primes-plan-1.jsonl")  # evidence missing: not false, and not OK


def test_every_file_is_missed_with_the_sums_repaired(verifier: Verifier, bundle: PublicTree) -> None:
    for path in bundle.paths():
        if path.endswith("SHA256SUMS"):
            continue
        result = verifier.verify(summed(bundle, **{path: None}))
        if path.endswith(WEAKER):
            assert result.verdict in ("pending", "unchecked"), path
        elif path.endswith("verify.py"):
            assert result.verdict == "ok", path
        else:
            assert result.verdict == "fail", f"{path}: {result.sentence}"


def test_a_file_more(verifier: Verifier, bundle: PublicTree) -> None:
    path = f"{FOLDER}notes.txt"
    assert_fails(verifier.verify(bundle.with_file(path, b"x")), 1, "SHA256SUMS", "notes.txt is left out")
    listed = verifier.verify(summed(bundle, **{path: b"x"}))
    assert listed.verdict == "ok"
    assert f"bound by no event, only listed: {FOLDER}CITATION.cff" in listed.step(8)[0].detail
    assert path in listed.step(8)[0].detail


def test_sums_with_a_line_twice_or_in_another_order(verifier: Verifier, bundle: PublicTree) -> None:
    path = f"{FOLDER}SHA256SUMS"
    lines = (bundle.get(path) or b"").splitlines(keepends=True)
    for changed in ([lines[0], *lines], lines[::-1], [*lines, b"0" * 64 + b"  ../../secret\n"]):
        assert_fails(verifier.verify(bundle.with_file(path, b"".join(changed))), 1, path)


@pytest.mark.parametrize("path", ["items.jsonl", "CANARY.txt"])
def test_what_follows_from_other_files_must_follow(verifier: Verifier, bundle: PublicTree, path: str) -> None:
    data = bundle.get(FOLDER + path) or b""
    result = verifier.verify(summed(bundle, **{FOLDER + path: data.replace(b"canary", b"canari")}))
    assert_fails(result, 1, FOLDER + path)


def test_the_copy_of_the_verifier_is_compared_and_no_failure(verifier: Verifier, bundle: PublicTree) -> None:
    path = f"{FOLDER}verify.py"
    (other,) = [
        one
        for one in verifier.verify(summed(bundle, **{path: b"raise SystemExit(0)\n"})).step(1)
        if one.subject == path
    ]
    assert (other.status, "differs" in other.detail, "not run" in other.detail) == ("not_due", True, True)
    assert bundle.get(path) == packaged_verifier()
    (same,) = [one for one in verifier.verify(bundle).step(1) if one.subject == path]
    assert same.status == "ok"
    unlisted = verifier.verify(bundle.with_file(path, b"raise SystemExit(0)\n"))
    assert_fails(unlisted, 1, "verify.py")


def test_a_registry_cut_back_misses_its_checkpoints(verifier: Verifier, bundle: PublicTree) -> None:
    lines = (bundle.get(REGISTRY) or b"").splitlines(keepends=True)
    result = verifier.verify(summed(bundle, **{REGISTRY: b"".join(lines[:-1])}))
    assert_fails(result, 8, "its tail was cut off")


def test_a_readers_later_checkpoint_is_not_checked(bundle: PublicTree, workspace: Workspace) -> None:
    size = len((workspace.registry).read_bytes().splitlines())
    since = Checkpoint.from_bytes((workspace.root / f"commitments/checkpoints/{size}.json").read_bytes())
    result = Verifier(Policy(network="regtest", since=since)).verify(bundle)
    assert result.verdict == "unchecked"
    (told,) = [one for one in result.step(8) if one.status == "not_checked"]
    assert "ends at its retirement" in told.detail
    other = since.model_copy(update={"registry": "0" * 64})
    assert_fails(Verifier(Policy(network="regtest", since=other)).verify(bundle), 8, "is not the registry")


@pytest.mark.parametrize("place", ["record/batteries/primes/key.json", "record/elsewhere/x", "record/x"])
def test_a_file_without_a_place_is_refused(workspace: Workspace, tmp_path: Path, place: str) -> None:
    shutil.copytree(workspace.retired("primes"), tmp_path / "b")
    target = tmp_path / "b" / place
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(b"x")
    with pytest.raises(CheckFailed, match="no place in a record"):
        read_bundle(tmp_path / "b")


def test_links_are_refused(workspace: Workspace, tmp_path: Path) -> None:
    for number, name in enumerate(("key.json", "record/commitments/headers.bin", "responses")):
        folder = tmp_path / str(number)
        shutil.copytree(workspace.retired("primes"), folder)
        target = folder / name
        original = target.rename(tmp_path / f"moved-{number}")
        target.symlink_to(original)
        with pytest.raises(CheckFailed, match="is a link"):
            read_bundle(folder)


def test_absurd_sizes_are_refused(workspace: Workspace, tmp_path: Path) -> None:
    shutil.copytree(workspace.retired("primes"), tmp_path / "b")
    with (tmp_path / "b" / "responses" / "x.jsonl").open("wb") as stream:
        stream.truncate(2 << 30)  # sparse: takes no room
    with pytest.raises(CheckFailed, match="more data than"):
        read_bundle(tmp_path / "b")


def test_a_bundle_under_another_name_is_no_bundle(
    verifier: Verifier, workspace: Workspace, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(workspace.retired("primes"), tmp_path / "b"))
    key = folder / "key.json"
    key.write_bytes(key.read_bytes().replace(b'"primes"', b'"pairs"'))
    result = verifier.verify(read_bundle(folder))
    assert_fails(result, 1, "batteries/pairs/SHA256SUMS", "key.json")
    assert_fails(result, 1, "commitments/pairs.json", "every bundle holds it")
