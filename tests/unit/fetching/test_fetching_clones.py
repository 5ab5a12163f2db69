"""Clones: the committed bytes and nothing else; no hook, filter, link, submodule, or endless repository."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

from sealbench.errors import CheckFailed, CouldNotCheck, NetworkError
from sealbench.fetching.clones import PROTOCOLS, clone
from sealbench.fetching.new_folder import Limits
from sealbench.store import PUBLIC_FOLDERS

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
LOCAL = (*PROTOCOLS, "file")


class Repository:
    """A repository on this machine; `git` runs a git command in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.url = f"file://{root}"
        root.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, data: bytes = b"") -> str:
        names = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a"}
        quiet = {"GIT_COMMITTER_EMAIL": "a@b", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env={**os.environ, **names, **quiet},
            input=data,
            check=True,
            capture_output=True,
        )
        return done.stdout.decode().strip()

    def commit(self, files: dict[str, bytes]) -> str:
        for name, data in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self.git("add", "-A")
        self.git("commit", "-qm", "files")
        return self.git("rev-parse", "HEAD")

    def commit_tree(self, tree: str) -> None:
        """Make a tree that no work tree could give the newest commit."""
        self.git("update-ref", "refs/heads/main", self.git("commit-tree", "-m", "tree", tree))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "place" / "files"
    path.mkdir(parents=True)
    return path


def take(repository: Repository, folder: Path, limits: Limits | None = None) -> tuple[str, int]:
    found = clone(repository.url, folder, limits, plain=PUBLIC_FOLDERS, protocols=LOCAL)
    return found.commit, found.left_out


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def test_the_newest_commit_byte_for_byte(repository: Repository, folder: Path) -> None:
    repository.commit({"old": b"gone", "runs/r/log.jsonl": b"1\n"})
    repository.git("rm", "-q", "old")
    # Attributes that would change the bytes in a checkout.
    attributes = b"* text eol=crlf ident\n*.bin filter=lfs\n"
    files = {
        ".gitattributes": attributes,
        "runs/r/log.jsonl": b"1\n2\r\n$Id$\n",
        "a.bin": b"version https://git-lfs.github.com/spec/v1\n",
        "empty": b"",
    }
    for name, data in files.items():
        (repository.root / name).write_bytes(data)
        made = repository.git("hash-object", "-w", "--stdin", "--no-filters", data=data)
        repository.git("update-index", "--add", "--cacheinfo", f"100644,{made},{name}")
    repository.git("commit", "-qm", "bytes")
    commit, left_out = take(repository, folder)
    assert (commit, left_out) == (repository.git("rev-parse", "HEAD"), 0)
    assert {name: (folder / name).read_bytes() for name in names(folder)} == files
    assert [path.name for path in folder.parent.iterdir()] == ["files"]


def test_nothing_of_the_machines_configuration_acts(
    repository: Repository, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "acted"
    hook = tmp_path / "template" / "hooks" / "post-checkout"
    hook.parent.mkdir(parents=True)
    hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
    hook.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        f"[init]\n\ttemplateDir = {tmp_path / 'template'}\n[core]\n\thooksPath = {hook.parent}\n"
        f'[filter "evil"]\n\tsmudge = touch {mark}\n\trequired = true\n'
        f'[url "file:///nowhere/"]\n\tinsteadOf = file://\n'
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(tmp_path / "template"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.hooksPath")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(hook.parent))
    with monkeypatch.context() as clean:
        for name in ("GIT_DIR", "GIT_TEMPLATE_DIR", "GIT_CONFIG_COUNT"):
            clean.delenv(name)
        repository.commit({".gitattributes": b"* filter=evil\n", "file": b"data"})
    take(repository, folder)
    assert (folder / "file").read_bytes() == b"data"
    assert not mark.exists()


def test_links_and_submodules(repository: Repository, folder: Path) -> None:
    repository.commit({"runs/r/log.jsonl": b""})
    (repository.root / "link").symlink_to("/etc/passwd")
    repository.git("add", "link")
    commit = repository.git("rev-parse", "HEAD")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{commit},module")
    repository.git("commit", "-qm", "links")
    assert take(repository, folder)[1] == 2
    assert names(folder) == ["runs/r/log.jsonl"]


@pytest.mark.parametrize("mode", ["120000", "160000"])
def test_a_link_in_a_public_folder_is_refused(repository: Repository, folder: Path, mode: str) -> None:
    commit = repository.commit({"file": b"/etc/passwd"})
    made = repository.git("rev-parse", "HEAD:file") if mode == "120000" else commit
    repository.git("update-index", "--add", "--cacheinfo", f"{mode},{made},runs/evil")
    repository.git("commit", "-qm", "evil")
    with pytest.raises(CheckFailed, match="'runs/evil' is a link or submodule"):
        take(repository, folder)


@pytest.mark.parametrize("name", ["..", ".", "a\\b", "a\x07b"])
def test_names_that_git_would_not_check_out(repository: Repository, folder: Path, name: str) -> None:
    made = repository.git("hash-object", "-w", "--stdin", data=b"evil")
    entry = f"100644 {name}\0".encode() + bytes.fromhex(made)
    tree = repository.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", data=entry)
    repository.commit_tree(tree)
    with pytest.raises(CheckFailed):
        take(repository, folder)
    assert names(folder.parent) == []


def test_a_tree_that_repeats_itself_without_end(repository: Repository, folder: Path) -> None:
    made = repository.git("hash-object", "-w", "--stdin", data=b"x")
    tree = repository.git("mktree", data=b"".join(f"100644 blob {made}\tf{n}\n".encode() for n in range(10)))
    for _ in range(9):
        lines = "".join(f"040000 tree {tree}\td{n}\n" for n in range(10))
        tree = repository.git("mktree", data=lines.encode())
    repository.commit_tree(tree)  # ten thousand million files in eleven objects
    started = time.monotonic()
    with pytest.raises(CheckFailed, match="more than 300 files"):
        take(repository, folder, Limits(files=300))
    assert time.monotonic() - started < 20


def test_too_large(repository: Repository, folder: Path) -> None:
    repository.commit({"noise": os.urandom(3 << 20), "zeros": bytes(3 << 20)})
    with pytest.raises(CouldNotCheck, match="larger than 1 MiB") as caught:
        take(repository, folder, Limits(transfer=1 << 20))
    assert caught.value.hint == f"git clone {repository.url} by hand, then: seal verify FOLDER"
    with pytest.raises(CheckFailed, match="more data than is taken"):
        take(repository, folder, Limits(file=1 << 20))
    assert [path.name for path in folder.parent.iterdir()] == ["files"]


def test_a_server_that_never_answers(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        heard = threading.Event()

        def listen() -> None:
            connection, _ = server.accept()
            with connection:
                heard.set()
                while connection.recv(4096):  # ends when git is ended
                    pass

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        url = f"git://127.0.0.1:{server.getsockname()[1]}/x"
        with pytest.raises(CouldNotCheck, match="not cloned within 1 s"):
            clone(url, folder, Limits(seconds=1.0))
        assert heard.is_set()
        thread.join(10)
        assert not thread.is_alive()


def test_what_cannot_be_cloned(repository: Repository, folder: Path) -> None:
    with pytest.raises(NetworkError, match="git clone failed: ") as caught:
        clone(repository.url, folder)  # the transport is not among those allowed
    assert "'file' not allowed" in caught.value.message
    with pytest.raises(NetworkError, match="git clone failed"):
        clone(f"file://{folder}/absent", folder, protocols=LOCAL)
    with pytest.raises((NetworkError, CheckFailed)):
        clone(repository.url, folder, protocols=LOCAL)  # no commit in it


def test_without_git(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(CouldNotCheck, match="git is not installed") as caught:
        clone("https://example.org/x", folder)
    assert "install git" in caught.value.hint
