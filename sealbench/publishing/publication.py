"""One change of a workspace's public side: signed files, registry events, a checkpoint, the file list.

Every stage that publishes does it through `Publication`, under the workspace's lock, in this order:
files (new ones, with signatures), registry lines, checkpoint, `files.json`. A crash in between
leaves files that no event names, which `seal verify` shows and `seal status` explains.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from sealbench import store
from sealbench.clock import Clock
from sealbench.crypto.digest import sha256_file, sha256_hex
from sealbench.crypto.signature import AuthorKey, PublicKey
from sealbench.errors import CheckFailed
from sealbench.formats.base import FileHash, Record, format_instant
from sealbench.formats.registry import (
    NO_LINE,
    Checkpoint,
    Event,
    PublicFiles,
    Registry,
    RegistryLine,
)
from sealbench.store import Workspace


def author_key(workspace: Workspace) -> AuthorKey:
    """The author's key on this machine; MissingKey with the way to restore it."""
    return _read_key(workspace.author_key)


def _read_key(path: Path) -> AuthorKey:
    hint = "seal key restore BACKUP, or put .seal/author.key back from your own copy"
    return AuthorKey.from_openssh(store.read_secret(path, hint=hint), str(path))


def read_registry(workspace: Workspace) -> Registry:
    """The registry with its chain checked; FormatError names the first bad line."""
    return _parse_registry(store.read(workspace.registry, hint="seal init"))


@lru_cache(maxsize=1)
def _parse_registry(data: bytes) -> Registry:
    # One command reads it several times, and in between it seldom grows.
    return Registry.from_bytes(data)


def is_registered(workspace: Workspace, path: Path) -> bool:
    """Whether a file is there and an event names it; else it is free, or left by a process that died."""
    return path.exists() and _names(read_registry(workspace).lines, workspace.relative(path))


def _names(lines: Iterable[RegistryLine], relative: str) -> bool:
    return any(file.path == relative for line in lines for file in line.files)


class Publication:
    """What one command adds to the public side. Made by `publish`, never directly."""

    def __init__(self, workspace: Workspace, clock: Clock) -> None:
        self.workspace = workspace
        self.clock = clock
        self.key = author_key(workspace)
        self._lines: list[RegistryLine] = []
        self._hashes: list[str] = []
        if workspace.registry.exists():
            registry = read_registry(workspace)
            self._lines, self._hashes = list(registry.lines), list(registry.hashes)
        self._published = len(self._lines)
        self.written: list[Path] = []

    def identity(self) -> dict[str, Any]:
        """The fields that every signed file carries: author, registry, its size and last hash now."""
        return {
            "author": self.key.public.fingerprint,
            "registry": self._hashes[0],
            "registry_size": self._published,
            "registry_head": self._hashes[self._published - 1],
        }

    def write_signed(self, path: Path, document: Record) -> FileHash:
        """Write a new file and its `.sig`; UsageError if the name is taken."""
        data = document.to_bytes()
        self._discard_leftover(path)
        store.write_new(path, data)
        store.write_new(path.with_name(path.name + ".sig"), self.key.sign(data))
        self.written.append(path)
        return self.hash_of(path)

    def write(self, path: Path, data: bytes) -> FileHash:
        """Write a new file that another file's hash binds."""
        self._discard_leftover(path)
        store.write_new(path, data)
        return self.hash_of(path)

    def _discard_leftover(self, path: Path) -> None:
        """Remove what a process wrote here that died before its registry line: nothing is bound to it."""
        relative = self.workspace.relative(path)
        if relative.startswith(store.CHECKPOINTS) or _names(self._lines, relative):
            return
        for left in (path, path.with_name(path.name + ".sig")):
            left.unlink(missing_ok=True)

    def hash_of(self, path: Path) -> FileHash:
        """A public file's path and hash as other files name it."""
        return FileHash(path=self.workspace.relative(path), sha256=sha256_file(path))

    def event(self, event: Event, subject: str, files: list[FileHash], detail: dict[str, Any]) -> None:
        """Append one registry line at once."""
        line = RegistryLine(
            seq=len(self._lines),
            prev=self._hashes[-1] if self._hashes else NO_LINE,
            at=format_instant(self.clock()),
            event=event,
            subject=subject,
            files=tuple(sorted(files, key=lambda file: file.path)),
            detail=detail,
        )
        data = line.to_bytes()
        store.append_line(self.workspace.registry, data)
        self._lines.append(line)
        self._hashes.append(sha256_hex(data))

    def checkpoint(self) -> Path | None:
        """Write and sign `checkpoints/SIZE.json` if events were added since the last one."""
        path = self._checkpoint_path()
        if not self._lines or path.exists():
            return None
        self.write_signed(path, self._checkpoint())
        return path

    def finish_checkpoint(self) -> None:
        """Sign the newest checkpoint if a process died between writing it and signing it."""
        path = self._checkpoint_path()
        signature = path.with_name(path.name + ".sig")
        if path.exists() and not signature.exists():
            data = store.read(path)
            # After a rotation another key is at hand: it must not sign for the one the file names.
            if data == self._checkpoint().to_bytes():
                store.write_new(signature, self.key.sign(data))

    @property
    def rotation_pending(self) -> bool:
        """Whether the registry names the next key, and it is not in force yet."""
        if not self.workspace.next_author_key.exists():
            return False
        fresh = _read_key(self.workspace.next_author_key)
        return any(line.event == "key" and line.subject == fresh.public.fingerprint for line in self._lines)

    def finish_rotation(self) -> None:
        """Put the next key in force, the old one having signed the line that names it.

        A process may die between any two of these steps: the next command takes up where it was.
        """
        if not self.rotation_pending:
            return
        fresh = _read_key(self.workspace.next_author_key)
        keys = [line for line in self._lines if line.event == "key" and "public_key" in line.detail]
        self.checkpoint()
        self.finish_checkpoint()
        public = [PublicKey.from_openssh(str(line.detail["public_key"])) for line in keys]
        signers = "".join(key.allowed_signer + "\n" for key in public)
        store.replace(self.workspace.root / store.ALLOWED_SIGNERS, signers.encode())
        self.workspace.next_author_key.replace(self.workspace.author_key)
        self.key = fresh

    def _checkpoint_path(self) -> Path:
        return self.workspace.root / store.CHECKPOINTS / f"{len(self._lines)}.json"

    def _checkpoint(self) -> Checkpoint:
        return Checkpoint(
            author=self.key.public.fingerprint,
            registry=self._hashes[0],
            size=len(self._lines),
            head=self._hashes[-1],
        )


@contextmanager
def publish(workspace: Workspace, clock: Clock) -> Iterator[Publication]:
    """Lock the workspace, let the caller publish, then write the checkpoint and the file list."""
    with workspace.lock():
        # A half line is what a process left that died while appending; its event never happened.
        store.cut_torn_line(workspace.registry)
        publication = Publication(workspace, clock)
        publication.finish_checkpoint()
        if publication.rotation_pending:
            refuse_damage(workspace)
            publication.finish_rotation()
            refresh_files(workspace)
        yield publication
        publication.checkpoint()
        publication.finish_rotation()
        refresh_files(workspace)


def settle(workspace: Workspace, clock: Clock) -> None:
    """Write the checkpoint and file list that a command left out which died after its registry line."""
    listed = PublicFiles.from_bytes(store.read(workspace.root / store.FILES), store.FILES)
    known = {file.path: file.sha256 for file in listed.files}
    if known.get(store.REGISTRY) != sha256_file(workspace.registry):
        with publish(workspace, clock):
            refuse_damage(workspace)


def refresh_files(workspace: Workspace) -> None:
    """Rewrite `commitments/files.json`: the hash of every public file but itself and unfinished runs."""
    store.replace(workspace.root / store.FILES, list_files(workspace).to_bytes())


def list_files(workspace: Workspace) -> PublicFiles:
    """The public files as they are now. Files of a run without a `run_end` or `run_abort` are left out."""
    finished = set()
    if workspace.registry.exists():
        registry = read_registry(workspace)
        finished = {line.subject for line in registry.lines if line.event in ("run_end", "run_abort")}
    files = []
    for relative in workspace.public_paths():
        parts = relative.split("/")
        if relative == store.FILES or (parts[0] == "runs" and parts[1] not in finished):
            continue
        files.append(FileHash(path=relative, sha256=sha256_file(workspace.root / relative)))
    return PublicFiles(files=tuple(files))


def refuse_damage(workspace: Workspace) -> None:
    """CheckFailed if a listed public file was changed or removed since the last command.

    A command may have died after it appended to the registry or renewed a proof, headers or the signers
    and before it listed them. So the registry must only begin as listed, and files that commands
    replace are left to `seal verify`, which checks what is in them.
    """
    path = workspace.root / store.FILES
    listed = PublicFiles.from_bytes(store.read(path), store.FILES)
    for file in listed.files:
        target = workspace.root / file.path
        if target.is_file() and (_is_replaced(file.path) or sha256_file(target) == file.sha256):
            continue
        if file.path == store.REGISTRY and target.is_file() and _begins_as(target, file.sha256):
            continue
        raise CheckFailed(
            f"{file.path} is missing or was changed since the last command",
            hint="seal verify, then restore the file from version control",
        )


def _is_replaced(path: str) -> bool:
    return path.endswith(".ots") or path in (store.HEADERS, store.ALLOWED_SIGNERS)


def _begins_as(registry: Path, expected: str) -> bool:
    """Whether the first lines of the registry, however many, have this SHA-256."""
    digest = hashlib.sha256()
    with registry.open("rb") as lines:
        for line in lines:
            digest.update(line)
            if digest.hexdigest() == expected:
                return True
    return False
