"""The workspace on disk: whole writes, nothing overwritten, one writer, private modes, plain paths."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sealbench import store
from sealbench.errors import CheckFailed, FormatError, MissingKey, NotYet, UsageError
from sealbench.store import Workspace


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".tmp-*")]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / store.SETTINGS).write_text("")
    return Workspace(tmp_path)


def test_a_workspace_is_found_from_below(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    below = workspace.root / "runs" / "a"
    below.mkdir(parents=True)
    assert Workspace.find(below).root == workspace.root
    monkeypatch.chdir(below)
    assert Workspace.find().root == workspace.root


def test_no_workspace_is_said_with_the_way_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no workspace here") as caught:
        Workspace.find(tmp_path)
    assert caught.value.hint == "seal init"


def test_every_path_lies_where_the_layout_says(workspace: Workspace) -> None:
    root = workspace.root
    assert {
        workspace.settings: root / "sealbench.toml",
        workspace.private: root / ".seal",
        workspace.author_key: root / ".seal/author.key",
        workspace.registry: root / "commitments/registry.jsonl",
        workspace.battery_key("b"): root / ".seal/keys/b.key",
        workspace.commitment("b"): root / "commitments/b.json",
        workspace.sealed("b"): root / "batteries/b.sealed.json",
        workspace.retired("b"): root / "batteries/b",
        workspace.plan("p"): root / "preregistrations/p.json",
        workspace.run("r"): root / "runs/r",
        workspace.private_run("r"): root / ".seal/runs/r",
    }.items() == {path: path for path in _all_paths(workspace)}.items()
    assert workspace.relative(workspace.commitment("b")) == "commitments/b.json"
    assert str(root) in repr(workspace)
    assert not (root / ".seal").exists(), "paths alone make nothing"


def _all_paths(workspace: Workspace) -> list[Path]:
    return [
        workspace.settings,
        workspace.private,
        workspace.author_key,
        workspace.registry,
        workspace.battery_key("b"),
        workspace.commitment("b"),
        workspace.sealed("b"),
        workspace.retired("b"),
        workspace.plan("p"),
        workspace.run("r"),
        workspace.private_run("r"),
    ]


@pytest.mark.parametrize("name", ["a", "0", "primes-plan_2", "a" * 60])
def test_good_names(name: str) -> None:
    store.check_name(name, "battery")


@pytest.mark.parametrize("name", ["", "A", "-a", "_a", "a b", "a/b", "..", "a.json", "a\n", "é", "a" * 61])
def test_names_that_are_no_files_name_everywhere(name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a battery") as caught:
        store.check_name(name, "battery")
    assert "lower-case letters" in caught.value.hint


def test_public_files_are_sorted_and_hidden_ones_left_out(workspace: Workspace) -> None:
    for path in ("runs/b/log.jsonl", "batteries/a.json", "commitments/.tmp-x", "commitments/z", "other/x"):
        target = workspace.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"")
    assert workspace.public_paths() == ["batteries/a.json", "commitments/z", "runs/b/log.jsonl"]


def test_a_link_among_public_files_is_refused(workspace: Workspace) -> None:
    (workspace.root / "runs").mkdir()
    (workspace.root / "runs" / "link").symlink_to("/etc/hostname")
    with pytest.raises(CheckFailed, match="runs/link is a link"):
        workspace.public_paths()


def test_a_new_file_is_written_whole_with_its_mode(tmp_path: Path) -> None:
    store.write_new(tmp_path / "a" / "public", b"data")
    store.write_new(tmp_path / "b" / "secret", b"K", mode=0o600)
    assert (tmp_path / "a" / "public").read_bytes() == b"data"
    assert mode(tmp_path / "a" / "public") == 0o644
    assert mode(tmp_path / "b" / "secret") == 0o600
    assert mode(tmp_path / "b") == 0o700
    assert leftovers(tmp_path) == []


def test_a_file_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "file"
    store.write_new(path, b"old")
    with pytest.raises(UsageError, match="never overwritten") as caught:
        store.write_new(path, b"new")
    assert path.read_bytes() == b"old"
    assert caught.value.hint
    assert leftovers(tmp_path) == []


def test_a_replacement_is_whole_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    store.replace(path, b"one")
    store.replace(path, b"two", mode=0o600)
    assert path.read_bytes() == b"two"
    assert mode(path) == 0o600
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("write", [store.write_new, store.replace])
def test_a_failing_disk_leaves_the_old_state(
    write: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    if write is store.replace:
        path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write(path, b"new")  # type: ignore[operator]
    assert not path.exists() or path.read_bytes() == b"old"
    assert leftovers(tmp_path) == []


def test_lines_are_appended(tmp_path: Path) -> None:
    path = tmp_path / "new" / "lines"
    store.append_line(path, b"one")
    store.append_line(path, b"two")
    assert path.read_bytes() == b"one\ntwo\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b""),
        (b"whole\n", b"whole\n"),
        (b"torn", b""),
        (b"whole\ntorn", b"whole\n"),
        (b"whole\n" + b"x" * 200_000, b"whole\n"),
        (b"x" * 200_000, b""),
        (b"x" * 65_535 + b"\n" + b"y" * 65_536, b"x" * 65_535 + b"\n"),
    ],
)
def test_a_torn_line_is_cut_off(tmp_path: Path, before: bytes, after: bytes) -> None:
    path = tmp_path / "lines"
    store.cut_torn_line(path)
    assert not path.exists()
    path.write_bytes(before)
    store.cut_torn_line(path)
    assert path.read_bytes() == after


def test_what_cannot_be_read_is_an_error_with_the_hint(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"data")
    assert store.read(tmp_path / "file") == b"data"
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(FormatError, match="cannot be read") as caught:
            store.read(path, hint="do this")
        assert caught.value.hint == "do this"


def test_a_secret_must_be_there_and_private(tmp_path: Path) -> None:
    path = tmp_path / "key"
    with pytest.raises(MissingKey, match="no such key here") as missing:
        store.read_secret(path, hint="restore it")
    assert missing.value.hint == "restore it"
    store.write_new(path, b"K", mode=0o600)
    assert store.read_secret(path, hint="") == b"K"
    for bits in (0o640, 0o604, 0o622, 0o601):
        path.chmod(bits)
        with pytest.raises(UsageError, match="can be read by others") as caught:
            store.read_secret(path, hint="")
        assert caught.value.hint == f"chmod 600 {path}"


HOLDER = """
import sys
from pathlib import Path
from sealbench.store import Workspace
with Workspace(Path(sys.argv[1])).lock():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_keeps_other_processes_out_and_ends_with_its_holder(workspace: Workspace) -> None:
    command = [sys.executable, "-c", HOLDER, str(workspace.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            with pytest.raises(NotYet, match="another seal command is at work") as caught, workspace.lock():
                pass
            assert "repeat" in caught.value.hint
            with workspace.lock("runs/r/lock"):
                assert mode(workspace.private / "runs" / "r") == 0o700
        finally:
            holder.kill()
    with workspace.lock():
        assert mode(workspace.private) == 0o700


def test_a_lock_is_free_again_after_an_error(workspace: Workspace) -> None:
    with pytest.raises(ZeroDivisionError), workspace.lock():
        raise ZeroDivisionError
    with workspace.lock():
        pass


def test_a_folder_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "batteries" / "a"
    store.write_folder(folder, {"x": b"1", "deep/er/y": b"2"})
    store.write_folder(folder, {"x": b"3"})
    assert {path.name: path.read_bytes() for path in folder.rglob("*")} == {"x": b"3"}
    writes = iter([True, False])
    original = store._temporary

    def dying(path: Path, parts: tuple[bytes, ...], mode: int) -> Path:
        if not next(writes):
            raise KeyboardInterrupt
        return original(path, parts, mode)

    monkeypatch.setattr(store, "_temporary", dying)
    with pytest.raises(KeyboardInterrupt):
        store.write_folder(folder, {"x": b"4", "z": b"5"})
    assert {path.name: path.read_bytes() for path in folder.rglob("*")} == {"x": b"3"}
    assert [path.name for path in folder.parent.iterdir()] == ["a"]


def test_files_in_hidden_folders_are_not_public(tmp_path: Path) -> None:
    workspace = store.Workspace(tmp_path)
    store.replace(tmp_path / "batteries" / ".tmp-a" / "key.json", b"{}")
    store.replace(tmp_path / "batteries" / "a" / "key.json", b"{}")
    assert workspace.public_paths() == ["batteries/a/key.json"]
