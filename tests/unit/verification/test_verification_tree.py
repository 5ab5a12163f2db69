"""Reading the public folders: whole, once, plain files only."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sealbench.errors import CheckFailed, FormatError
from sealbench.verification import tree as tree_module
from sealbench.verification.tree import PublicTree


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "commitments" / "checkpoints").mkdir(parents=True)
    (tmp_path / "commitments" / "a.json").write_bytes(b"{}")
    (tmp_path / "commitments" / "checkpoints" / "1.json").write_bytes(b"1")
    (tmp_path / "commitments" / ".hidden").write_bytes(b"x")
    (tmp_path / ".seal").mkdir()
    (tmp_path / ".seal" / "author.key").write_bytes(b"secret")
    (tmp_path / "README.md").write_bytes(b"not public data")
    return tmp_path


def test_reads_public_folders_and_nothing_else(folder: Path) -> None:
    assert PublicTree.from_folder(folder).items() == [
        ("commitments/a.json", b"{}"),
        ("commitments/checkpoints/1.json", b"1"),
    ]


@pytest.mark.parametrize("target", ["../.seal/author.key", "a.json", "/etc", "nowhere"])
def test_links_are_refused(folder: Path, target: str) -> None:
    (folder / "commitments" / "link").symlink_to(target)
    with pytest.raises(CheckFailed, match="commitments/link is a link"):
        PublicTree.from_folder(folder)


def test_a_linked_public_folder_is_refused(folder: Path) -> None:
    (folder / "runs").symlink_to(folder / "commitments")
    with pytest.raises(CheckFailed, match="runs is a link"):
        PublicTree.from_folder(folder)


def test_a_pipe_is_refused_without_waiting_for_it(folder: Path) -> None:
    os.mkfifo(folder / "commitments" / "pipe")
    with pytest.raises(CheckFailed, match="not a plain file"):
        PublicTree.from_folder(folder)


def test_absurd_sizes_are_refused_before_reading(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (folder / "commitments" / "huge.json").open("wb") as stream:
        stream.truncate(tree_module.MAX_FILE + 1)
    with pytest.raises(CheckFailed, match=r"huge\.json: more data"):
        PublicTree.from_folder(folder)
    (folder / "commitments" / "huge.json").unlink()
    monkeypatch.setattr(tree_module, "MAX_FILES", 1)
    with pytest.raises(CheckFailed, match="more data"):
        PublicTree.from_folder(folder)


def test_no_workspace(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no workspace here") as raised:
        PublicTree.from_folder(tmp_path)
    assert "seal verify" in raised.value.hint


def test_unreadable_files_are_errors_of_this_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(FormatError, match="Permission denied"):
        PublicTree.from_folder(folder)


def test_changed_copies_leave_the_original_alone() -> None:
    original = PublicTree({"a": b"1", "b": b"2"})
    assert original.with_file("a", b"3").items() == [("a", b"3"), ("b", b"2")]
    assert original.with_file("b", None).paths() == ("a",)
    assert original.with_files({"a": None, "c": b"4", "none": None}).items() == [("b", b"2"), ("c", b"4")]
    assert original.items() == [("a", b"1"), ("b", b"2")]
    assert len(original) == 2
    assert "a" in original
    assert original.get("c") is None


def test_the_files_below_a_folder_are_those_of_no_folder_with_a_longer_name() -> None:
    paths = ["batteries/a", "batteries/a-b/key.json", "batteries/a.json", "batteries/ab/x", "runs/a/x"]
    own = ["batteries/a/key.json", "batteries/a/record/commitments/a.json"]
    tree = PublicTree(dict.fromkeys([*paths, *own], b""))
    assert tree.below("batteries/a") == tuple(own)
    assert tree.below("batteries/c") == ()
