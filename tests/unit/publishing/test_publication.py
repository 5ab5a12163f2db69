"""Publishing: signed files, registry lines, checkpoints and the file list, in that order, and no other."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from sealbench import store
from sealbench.crypto.digest import sha256_hex
from sealbench.crypto.signature import AuthorKey
from sealbench.errors import CheckFailed, FormatError, MissingKey, NotYet, UsageError
from sealbench.formats.base import FileHash
from sealbench.formats.registry import NO_LINE, Checkpoint, PublicFiles
from sealbench.publishing.publication import (
    Publication,
    list_files,
    publish,
    read_registry,
    refresh_files,
    refuse_damage,
)
from sealbench.store import Workspace


def clock() -> datetime:
    return datetime(2026, 12, 1, 12, 30, 15, 999, tzinfo=UTC)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace with a key and its first registry line."""
    made = Workspace(tmp_path)
    store.write_new(made.author_key, AuthorKey.generate().to_openssh(), mode=0o600)
    with publish(made, clock) as publication:
        publication.event("key", publication.key.public.fingerprint, [], {"network": "regtest"})
    return made


def key_of(workspace: Workspace) -> AuthorKey:
    return AuthorKey.from_openssh(workspace.author_key.read_bytes())


def test_events_are_chained_checkpointed_signed_and_listed(workspace: Workspace) -> None:
    with publish(workspace, clock) as publication:
        one = publication.write(workspace.root / "batteries" / "b.txt", b"one")
        publication.event("create", "b", [FileHash(path="z", sha256="0" * 64), one], {"x": 1})
        publication.event("void", "b", [], {})
    registry = read_registry(workspace)
    assert [line.event for line in registry.lines] == ["key", "create", "void"]
    assert [file.path for file in registry.lines[1].files] == ["batteries/b.txt", "z"]
    assert registry.lines[1].at == "2026-12-01T12:30:15Z"
    folder = workspace.root / store.CHECKPOINTS
    assert sorted(path.name for path in folder.iterdir()) == ["1.json", "1.json.sig", "3.json", "3.json.sig"]
    data = (folder / "3.json").read_bytes()
    seen = Checkpoint.from_bytes(data)
    assert (seen.size, seen.head, seen.registry) == (3, registry.head, registry.first)
    key_of(workspace).public.verify(data, (folder / "3.json.sig").read_bytes())
    listed = PublicFiles.from_bytes((workspace.root / store.FILES).read_bytes())
    paths = [file.path for file in listed.files]
    assert paths == sorted(paths)
    assert {"batteries/b.txt", "commitments/registry.jsonl", "commitments/checkpoints/3.json.sig"} <= set(
        paths
    )
    assert store.FILES not in paths


def test_the_identity_is_the_registry_as_it_was_when_the_command_began(workspace: Workspace) -> None:
    before = read_registry(workspace)
    with publish(workspace, clock) as publication:
        publication.event("void", "b", [], {})
        identity = publication.identity()
    assert identity == {
        "author": key_of(workspace).public.fingerprint,
        "registry": before.first,
        "registry_size": 1,
        "registry_head": before.head,
    }


def test_a_signed_file_is_new_and_its_signature_holds(workspace: Workspace) -> None:
    document = FileHash(path="a", sha256="1" * 64)
    path = workspace.root / "commitments" / "a.json"
    with publish(workspace, clock) as publication:
        named = publication.write_signed(path, document)
        assert publication.written == [path]
        # Until an event names it, it may be what an interrupted command left: it is written anew.
        assert publication.write_signed(path, document) == named
        publication.event("create", "a", [named], {})
        with pytest.raises(UsageError, match="never overwritten"):
            publication.write_signed(path, document)
    assert named == FileHash(path="commitments/a.json", sha256=sha256_hex(document.to_bytes()))
    signature = path.with_name("a.json.sig").read_bytes()
    key_of(workspace).public.verify(path.read_bytes(), signature)


def test_a_command_without_events_adds_no_checkpoint(workspace: Workspace) -> None:
    with publish(workspace, clock):
        pass
    assert read_registry(workspace).size == 1
    assert len(list((workspace.root / store.CHECKPOINTS).iterdir())) == 2


def test_nothing_at_all_is_published_without_a_first_line(tmp_path: Path) -> None:
    bare = Workspace(tmp_path)
    store.write_new(bare.author_key, AuthorKey.generate().to_openssh(), mode=0o600)
    assert Publication(bare, clock).checkpoint() is None
    assert list_files(bare).files == ()


def test_an_error_in_between_keeps_what_happened_and_the_next_command_goes_on(workspace: Workspace) -> None:
    with pytest.raises(ZeroDivisionError), publish(workspace, clock) as publication:
        publication.event("void", "b", [], {})
        raise ZeroDivisionError
    with publish(workspace, clock) as publication:
        publication.event("void", "c", [], {})
    registry = read_registry(workspace)
    assert [line.subject for line in registry.lines[1:]] == ["b", "c"]
    assert (workspace.root / store.CHECKPOINTS / "3.json").exists()


def test_a_half_line_of_a_process_that_died_is_cut_off(workspace: Workspace) -> None:
    with publish(workspace, clock) as publication:
        publication.event("void", "b", [], {})
    whole = workspace.registry.read_bytes()
    last = len(whole.split(b"\n")[-2]) + 1
    for kept in range(1, last, 17):
        workspace.registry.write_bytes(whole + whole[-last : -last + kept])
        with publish(workspace, clock):
            pass
        assert workspace.registry.read_bytes() == whole


def test_a_checkpoint_without_its_signature_is_finished(workspace: Workspace) -> None:
    folder = workspace.root / store.CHECKPOINTS
    signature = (folder / "1.json.sig").read_bytes()
    (folder / "1.json.sig").unlink()
    with publish(workspace, clock):
        pass
    assert (folder / "1.json.sig").read_bytes() == signature
    (folder / "1.json.sig").unlink()
    (folder / "1.json").write_bytes(b"{}")
    with publish(workspace, clock):
        pass
    assert not (folder / "1.json.sig").exists(), "only the checkpoint itself is signed, never another file"


def test_two_commands_cannot_publish_at_once(workspace: Workspace) -> None:
    with publish(workspace, clock), pytest.raises(NotYet), publish(workspace, clock):
        pass


def test_files_of_unfinished_runs_are_not_listed(workspace: Workspace) -> None:
    for name in ("a-1", "b-1", "c-1"):
        store.write_new(workspace.run(name) / "run.json", b"{}")
    with publish(workspace, clock) as publication:
        for name in ("a-1", "b-1", "c-1"):
            publication.event("run_start", name, [], {})
        publication.event("run_end", "a-1", [], {})
        publication.event("run_abort", "b-1", [], {})
    runs = [file.path for file in list_files(workspace).files if file.path.startswith("runs/")]
    assert runs == ["runs/a-1/run.json", "runs/b-1/run.json"]


def test_damage_is_refused_and_named(workspace: Workspace) -> None:
    path = workspace.root / "batteries" / "b.txt"
    with publish(workspace, clock) as publication:
        publication.write(path, b"one")
    refuse_damage(workspace)
    for damage in (lambda: path.write_bytes(b"two"), path.unlink):
        damage()
        with pytest.raises(CheckFailed, match=r"batteries/b\.txt is missing or was changed") as caught:
            refuse_damage(workspace)
        assert "seal verify" in caught.value.hint
    path.write_bytes(b"one")
    refuse_damage(workspace)
    (workspace.root / "batteries" / "new.txt").write_bytes(b"")
    refuse_damage(workspace)  # a new file is no damage; it is listed from now on
    refresh_files(workspace)
    listed = [file.path for file in list_files(workspace).files]
    assert "batteries/new.txt" in listed


def test_a_damaged_registry_stops_every_command(workspace: Workspace) -> None:
    data = workspace.registry.read_bytes()
    workspace.registry.write_bytes(data.replace(NO_LINE.encode(), b"1" * 64))
    with pytest.raises(FormatError, match="line 1"), publish(workspace, clock):
        pass


def test_without_the_authors_key_nothing_is_published(workspace: Workspace) -> None:
    workspace.author_key.chmod(0o644)
    with pytest.raises(UsageError, match="can be read by others"), publish(workspace, clock):
        pass
    workspace.author_key.unlink()
    with pytest.raises(MissingKey) as caught, publish(workspace, clock):
        pass
    assert "seal key restore" in caught.value.hint


def test_a_rotation_that_was_interrupted_is_finished_or_not_begun(workspace: Workspace) -> None:
    """The new key waits beside the old one; the registry's line decides which of them is in force."""
    old, fresh = key_of(workspace), AuthorKey.generate()
    store.write_new(workspace.next_author_key, fresh.to_openssh(), mode=0o600)
    with publish(workspace, clock) as publication:
        assert publication.key.public.raw == old.public.raw
    assert workspace.next_author_key.exists()
    with publish(workspace, clock) as publication:
        publication.event("key", fresh.public.fingerprint, [], {"public_key": fresh.public.openssh})
    assert not workspace.next_author_key.exists()
    assert key_of(workspace).public.raw == fresh.public.raw
    size = len(read_registry(workspace).lines)
    checkpoint = workspace.root / store.CHECKPOINTS / f"{size}.json"
    signature = checkpoint.with_name(checkpoint.name + ".sig").read_bytes()
    old.public.verify(checkpoint.read_bytes(), signature)
    signers = (workspace.root / store.ALLOWED_SIGNERS).read_text()
    assert signers.splitlines()[-1] == fresh.public.allowed_signer
