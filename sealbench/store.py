"""A workspace on disk: where every file lives, whole writes, append-only files, one writer at a time.

    sealbench.toml   batteries/  commitments/  preregistrations/  runs/      public
    archives/        retired batteries as tar files, made from batteries/    git-ignored
    .seal/           author.key  keys/  runs/  lock                          private, git-ignored

Public files are written whole or not at all. What is committed is never overwritten.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sealbench.crypto.digest import sha256_file
from sealbench.errors import CheckFailed, FormatError, MissingKey, NotYet, UsageError

SETTINGS = "sealbench.toml"
PUBLIC_FOLDERS = ("batteries", "commitments", "preregistrations", "runs")
REGISTRY = "commitments/registry.jsonl"
FILES = "commitments/files.json"
HEADERS = "commitments/headers.bin"
ALLOWED_SIGNERS = "commitments/allowed_signers"
CHECKPOINTS = "commitments/checkpoints"
REVEALS = "commitments/reveals"


_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}\Z")


def check_name(name: str, what: str) -> None:
    """UsageError unless `name` can be a file's name on every system and part of a public path."""
    if not _NAME.match(name):
        raise UsageError(
            f"{name!r} cannot name a {what}",
            hint="use up to 60 lower-case letters, digits, - and _, beginning with a letter or digit",
        )


class Workspace:
    """The paths of one workspace. Nothing is read or made before a method is called."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def __repr__(self) -> str:
        return f"Workspace({str(self.root)!r})"

    @classmethod
    def find(cls, start: Path | None = None) -> Workspace:
        """The workspace that `start` (default: the current folder) lies in; UsageError if none."""
        start = (start or Path.cwd()).resolve()
        for folder in (start, *start.parents):
            if (folder / SETTINGS).is_file():
                return cls(folder)
        raise UsageError(f"no workspace here: no {SETTINGS} in {start} or above", hint="seal init")

    @property
    def settings(self) -> Path:
        """The workspace's configuration file."""
        return self.root / SETTINGS

    @property
    def private(self) -> Path:
        """Everything that must never be published."""
        return self.root / ".seal"

    @property
    def author_key(self) -> Path:
        """The author's private key."""
        return self.private / "author.key"

    @property
    def next_author_key(self) -> Path:
        """The key that a rotation under way is about to put in force."""
        return self.private / "author.key.next"

    @property
    def registry(self) -> Path:
        """The registry of all events."""
        return self.root / REGISTRY

    def battery_key(self, name: str) -> Path:
        """The secret K of one battery."""
        return self.private / "keys" / f"{name}.key"

    def commitment(self, name: str) -> Path:
        """The commitment of one battery."""
        return self.root / "commitments" / f"{name}.json"

    def draft(self, name: str) -> Path:
        """The draft of one battery that waits for its beacon, or waited."""
        return self.root / "commitments" / f"{name}.draft.json"

    @property
    def reveals(self) -> Path:
        """The folder of opened items and of proofs that a battery is part of another."""
        return self.root / REVEALS

    def sealed(self, name: str) -> Path:
        """The envelope of one battery."""
        return self.root / "batteries" / f"{name}.sealed.json"

    def retired(self, name: str) -> Path:
        """The folder in which a retired battery is published."""
        return self.root / "batteries" / name

    def archive(self, name: str) -> Path:
        """The retired battery as one tar file, for a release; not under version control."""
        return self.root / "archives" / f"{name}.tar"

    def plan(self, name: str) -> Path:
        """A frozen plan."""
        return self.root / "preregistrations" / f"{name}.json"

    def run(self, name: str) -> Path:
        """The public folder of one run."""
        return self.root / "runs" / name

    def private_run(self, name: str) -> Path:
        """The private folder of one run: attempts and raw responses."""
        return self.private / "runs" / name

    def relative(self, path: Path) -> str:
        """A public path as the files spell it: relative to the root, with forward slashes."""
        return path.relative_to(self.root).as_posix()

    def public_paths(self) -> list[str]:
        """The relative path of every file of the public folders, sorted; links are refused."""
        return sorted(public_files(self.root))

    @contextmanager
    def lock(self, what: str = "lock") -> Iterator[None]:
        """Keep other processes out of this workspace (or of one run); NotYet if one is at work."""
        self.private.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.private / what
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("a", encoding="ascii") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise NotYet(
                    f"another seal command is at work in {self.root}",
                    hint="wait until it has ended, then repeat this command",
                ) from error
            yield


def public_files(root: Path) -> Iterator[str]:
    """As `plain_files`, for those of a workspace's public folders that are there."""
    # A link to nowhere is no folder, and must be refused all the same.
    return plain_files(root, [one for one in PUBLIC_FOLDERS if os.path.lexists(root / one)])


def plain_files(root: Path, folders: Iterable[str]) -> Iterator[str]:
    """The path, relative to `root`, of every file of these folders below it; "" is `root` itself.

    Hidden files and folders are no part of a workspace.

    Raises
    ------
    CheckFailed : a link or a special file.
    FormatError : a folder cannot be read.
    """
    waiting = list(folders)
    while waiting:
        folder = waiting.pop()
        if folder and (root / folder).is_symlink():
            raise CheckFailed(f"{folder} is a link; public folders hold plain files only")
        try:
            entries = sorted(os.scandir(root / folder), key=lambda entry: entry.name)
        except OSError as error:
            raise FormatError(f"{folder}: cannot be read ({error.strerror})") from error
        for entry in entries:
            relative = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(relative)
            elif entry.is_file(follow_symlinks=False):
                yield relative
            else:
                kind = "a link" if entry.is_symlink() else "not a plain file"
                raise CheckFailed(
                    f"{relative} is {kind}; public folders hold plain files only",
                    hint=f"replace {relative} by the file itself",
                )


def read(path: Path, *, hint: str = "") -> bytes:
    """A whole file; FormatError if it is missing or cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror})", hint=hint) from error


def read_secret(path: Path, *, hint: str) -> bytes:
    """A private file; MissingKey if it is not there, UsageError if others may read it."""
    try:
        mode = path.stat().st_mode
        data = path.read_bytes()
    except OSError as error:
        raise MissingKey(f"{path}: no such key here ({error.strerror})", hint=hint) from error
    if stat.S_IMODE(mode) & 0o077:
        raise UsageError(f"{path} can be read by others", hint=f"chmod 600 {path}")
    return data


def write_new(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Write a file that must not exist yet, whole or not at all; UsageError if it exists."""
    temporary = _temporary(path, (data,), mode)
    try:
        # A hard link fails where the name is taken; a rename would overwrite it.
        os.link(temporary, path)
    except FileExistsError as error:
        raise UsageError(f"{path} exists and is never overwritten", hint="choose another name") from error
    finally:
        temporary.unlink()
    _sync_folder(path.parent)


def replace(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Write a file whole, in place of what was there; a reader sees the old or the new bytes."""
    replace_parts(path, (data,), mode=mode)


def replace_parts(path: Path, parts: Iterable[bytes], *, mode: int = 0o644) -> None:
    """As `replace`, for a file that is made piece by piece and may be larger than memory likes."""
    _temporary(path, parts, mode).replace(path)
    _sync_folder(path.parent)


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a folder with all its files, whole or not at all, in place of what was there.

    Only for a folder that nothing is bound to yet: what stood in it is removed. `files` are bytes by
    path relative to the folder.
    """
    # Hidden, so that what a dying process leaves is no public file; one writer at a time holds the lock.
    draft = folder.with_name(f".tmp-{folder.name}")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        for path, data in files.items():
            _temporary(draft / path, (data,), 0o644).replace(draft / path)
        if folder.exists():
            shutil.rmtree(folder)
        draft.rename(folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    _sync_folder(folder.parent)


def set_aside(path: Path) -> None:
    """Rename a private file that no event ever named, so that nothing is lost and its name is free."""
    if path.exists():
        mark = sha256_file(path)[:12]
        path.replace(path.with_name(f"{path.name}.unused-{mark}"))


def append_line(path: Path, line: bytes) -> None:
    """Append one line and its line feed, and wait until it is on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as stream:
        stream.write(line + b"\n")
        stream.flush()
        os.fsync(stream.fileno())


def cut_torn_line(path: Path) -> None:
    """Remove what stands after the last line feed of an append-only file; nothing if it is not there."""
    if not path.exists():
        return
    with path.open("r+b") as stream:
        end = stream.seek(0, os.SEEK_END)
        position = end
        while position > 0:
            start = max(0, position - 65536)
            stream.seek(start)
            block = stream.read(position - start)
            newline = block.rfind(b"\n")
            if newline >= 0:
                position = start + newline + 1
                break
            position = start
        if position != end:
            stream.truncate(position)


def _temporary(path: Path, parts: Iterable[bytes], mode: int) -> Path:
    private = not mode & 0o077
    path.parent.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".tmp-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            os.fchmod(stream.fileno(), mode)
            stream.writelines(parts)
            stream.flush()
            os.fsync(stream.fileno())
    except BaseException:
        Path(name).unlink()
        raise
    return Path(name)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
