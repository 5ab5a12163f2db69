"""The newest commit of a git repository, as plain files, without a checkout.

A checkout would run what the repository's attributes and the machine's configuration ask for. Here the
objects are fetched into a bare repository and read out one by one: no hook, filter, submodule,
credential helper or line-end conversion has a place to act, and links are never made.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from sealbench.errors import CheckFailed, CouldNotCheck, NetworkError
from sealbench.fetching.new_folder import Limits, NewFolder
from sealbench.http import printable

PROTOCOLS = ("https", "ssh", "git")
_POLL = 0.1  # seconds between two looks at a clone's size
_KEPT = ("PATH", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "TMPDIR")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "credential.helper=",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=60",
)


@dataclass(frozen=True)
class Clone:
    """What was taken: the commit, and how many links and submodules outside `plain` were left out."""

    commit: str
    left_out: int


def clone(
    url: str,
    folder: Path,
    limits: Limits | None = None,
    *,
    plain: tuple[str, ...] = (),
    protocols: tuple[str, ...] = PROTOCOLS,
) -> Clone:
    """Write the files of a repository's newest commit into `folder`, which is empty.

    Parameters
    ----------
    plain : top folders in which a link or submodule is an error; elsewhere they are left out.
    protocols : the transports git may use.

    Raises
    ------
    CouldNotCheck : git is missing, fails, or the repository is larger or slower than the limits.
    CheckFailed : the commit holds what no workspace does.
    """
    bounds = limits or Limits()
    git = shutil.which("git")
    if git is None:
        raise CouldNotCheck(
            "git is not installed here", hint="install git, or download the repository's archive"
        )
    bare = folder.with_name(f"{folder.name}.git")
    environment = _environment(bare.parent, protocols)
    command = [git, *(word for setting in _SETTINGS for word in ("-c", setting))]
    options = ["--bare", "--quiet", "--depth=1", "--single-branch", "--no-tags", "--template="]
    try:
        _bounded([*command, "clone", *options, "--", url, str(bare)], bare, environment, bounds, url)
        repository = [*command, "--git-dir", str(bare)]
        commit = _output([*repository, "rev-parse", "--verify", "HEAD^{commit}"], environment, url)
        left_out = _write_files(repository, commit, NewFolder(folder, bounds), environment, plain)
    finally:
        shutil.rmtree(bare, ignore_errors=True)
        _messages(bare).unlink(missing_ok=True)
    return Clone(commit, left_out)


def _environment(home: Path, protocols: tuple[str, ...]) -> dict[str, str]:
    """Nothing of the caller's but the way to the network; no configuration, no prompt."""
    names = (*_KEPT, *_PROXIES, *(name.upper() for name in _PROXIES))
    return {
        **{name: os.environ[name] for name in names if name in os.environ},
        "HOME": str(home),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "false",
        "SSH_ASKPASS": "false",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_ALLOW_PROTOCOL": ":".join(protocols),
        "GIT_SSH_COMMAND": "ssh -o BatchMode=yes -o ForwardAgent=no -o PermitLocalCommand=no",
    }


def _bounded(
    command: list[str], growing: Path, environment: dict[str, str], limits: Limits, url: str
) -> None:
    """Run git while watching the clock and what it has written; the whole process group ends with it."""
    messages = _messages(growing)
    deadline = time.monotonic() + limits.seconds
    by_hand = f"git clone {url} by hand, then: seal verify FOLDER"
    with messages.open("wb") as stream:
        process = subprocess.Popen(
            command,
            env=environment,
            cwd=growing.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stream,
            start_new_session=True,
        )
        try:
            while True:
                try:
                    process.wait(_POLL)
                    break
                except subprocess.TimeoutExpired:
                    pass
                if time.monotonic() > deadline:
                    raise CouldNotCheck(f"{url}: not cloned within {limits.seconds:g} s", hint=by_hand)
                _check_size(growing, messages, limits, url, by_hand)
        finally:
            _end(process)
    _check_size(growing, messages, limits, url, by_hand)
    if process.returncode != 0:
        raise NetworkError(f"{url}: git clone failed: {_last_line(messages)}", hint=by_hand)


def _messages(bare: Path) -> Path:
    return bare.with_suffix(".messages")


def _check_size(growing: Path, messages: Path, limits: Limits, url: str, hint: str) -> None:
    size = messages.stat().st_size
    for folder, _, names in os.walk(growing):
        for name in names:
            try:
                size += os.lstat(f"{folder}/{name}").st_size
            except OSError:
                continue  # git renames its temporary files
    if size > limits.transfer:
        raise CouldNotCheck(f"{url}: larger than {limits.transfer >> 20} MiB", hint=hint)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git and the helpers it started, and wait for it."""
    with suppress(ProcessLookupError, PermissionError):  # all may have ended by themselves
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _last_line(messages: Path) -> str:
    lines = messages.read_bytes()[-4000:].decode("utf-8", "replace").strip().splitlines()
    return printable(lines[-1], 200) if lines else "it says nothing"


def _output(command: list[str], environment: dict[str, str], url: str) -> str:
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    if done.returncode != 0:
        raise CheckFailed(
            f"{url}: holds no commit", hint="is this the address of a repository with files in it?"
        )
    return done.stdout.decode("ascii").strip()


def _write_files(
    repository: list[str], commit: str, target: NewFolder, environment: dict[str, str], plain: tuple[str, ...]
) -> int:
    left_out = 0
    reader = [*repository, "cat-file", "--batch"]
    with _running(reader, environment) as blobs:
        for mode, kind, name, size, path in _entries(repository, commit, target.limits, environment):
            if mode in ("100644", "100755", "100664") and kind == "blob":
                _copy(blobs, name, size, path, target)
            elif path.split("/")[0] in plain:
                raise CheckFailed(
                    f"{path[:200]!r} is a link or submodule; public folders hold plain files only"
                )
            else:
                left_out += 1
    return left_out


def _entries(
    repository: list[str], commit: str, limits: Limits, environment: dict[str, str]
) -> Iterator[tuple[str, str, str, int, str]]:
    """(mode, kind, object, size, path) of each file; the list is read only as far as the limit allows."""
    command = [*repository, "ls-tree", "-r", "-z", "-l", "--full-tree", commit]
    with _running(command, environment) as process:
        stream, rest, count = _pipe(process.stdout), b"", 0
        while block := stream.read(1 << 16):
            *entries, rest = (rest + block).split(b"\0")
            for entry in entries:
                count += 1
                if count > limits.files:
                    raise CheckFailed(f"the commit holds more than {limits.files} files")
                about, _, path = entry.partition(b"\t")
                mode, kind, name, size = about.decode("ascii").split()
                yield mode, kind, name, int(size) if size != "-" else 0, os.fsdecode(path)


def _copy(process: subprocess.Popen[bytes], name: str, size: int, path: str, target: NewFolder) -> None:
    """One object through `git cat-file --batch`: a line about it, its bytes, a line feed."""
    asked, answer = _pipe(process.stdin), _pipe(process.stdout)
    asked.write(name.encode("ascii") + b"\n")
    asked.flush()
    if answer.readline() != f"{name} blob {size}\n".encode():
        raise CheckFailed(f"{path[:200]!r}: git has another object for it than it lists")
    target.add_file(path, size, answer.read)
    answer.read(1)


@contextmanager
def _running(command: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A git process that is ended however the block ends."""
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        _end(process)
        for pipe in (process.stdin, process.stdout):
            _pipe(pipe).close()


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise CouldNotCheck("git was started without its pipes")
    return stream
