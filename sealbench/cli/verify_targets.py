"""What a TARGET of `seal verify` is: a workspace, parts of one, files with proofs, an archive, an address.

A path that exists is what it is; a bare name that is no path is looked for in the workspace around.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sealbench.errors import UsageError
from sealbench.fetching.archives import SUFFIXES
from sealbench.store import PUBLIC_FOLDERS, REGISTRY, SETTINGS, Workspace
from sealbench.verification.bundle import is_bundle
from sealbench.verification.scope import SHARED, Part, PartKind, part_of

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[\w.-]+@[\w.-]+:")


@dataclass(frozen=True)
class WorkspaceTarget:
    """A workspace by its root; with `parts`, only these of it."""

    root: Path
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class FilesTarget:
    """Files with their proofs, or folders of such files."""

    paths: tuple[Path, ...]


@dataclass(frozen=True)
class ArchiveTarget:
    """An archive on this machine."""

    path: Path


@dataclass(frozen=True)
class RemoteTarget:
    """The address of a repository or archive."""

    url: str


Target = WorkspaceTarget | FilesTarget | ArchiveTarget | RemoteTarget


def choose_target(texts: Sequence[str]) -> Target:
    """One target for all that was named; nothing named is the workspace around.

    Raises
    ------
    UsageError : something named is not there, is ambiguous, or does not go with the rest.
    """
    if not texts:
        here = Path.cwd()
        if is_bundle(here) and _root_around(here) is None:
            return WorkspaceTarget(here)
        return WorkspaceTarget(here if (here / REGISTRY).is_file() else Workspace.find().root)
    targets = [_target_of(text) for text in texts]
    if len(targets) == 1:
        return targets[0]
    inside = [one for one in targets if isinstance(one, WorkspaceTarget)]
    if len(inside) == len(targets) and len({one.root.resolve() for one in inside}) == 1:
        whole = not all(one.parts for one in inside)
        named = dict.fromkeys(part for one in inside for part in one.parts)
        return WorkspaceTarget(inside[0].root, () if whole else tuple(named))
    parts = [one for one in inside if one.parts]
    for text, one in zip(texts, targets, strict=True):
        if not isinstance(one, FilesTarget) and one not in parts:
            kind = {WorkspaceTarget: "a workspace", ArchiveTarget: "an archive"}.get(type(one), "an address")
            raise UsageError(
                f"{text} is {kind}: one at a time, without other files",
                hint=shlex.join(["seal", "verify", text]),
            )
    return FilesTarget(tuple(Path(text) for text in texts))  # parts among other files: as files


def _target_of(text: str) -> Target:
    if not text:
        raise UsageError("an empty TARGET names nothing", hint="seal verify FOLDER, or no target at all")
    path = Path(text)
    if path.exists() or _proof(path).is_file():
        return target_at(path)
    if _ADDRESS.match(text):
        return RemoteTarget(text)
    root = _root_around(Path.cwd())
    if root is not None and (root / path).exists() and part_of(f"{path.as_posix()}/") is not None:
        return target_at(root / path)
    found: dict[PartKind, str] = {} if root is None else _named(root, text)
    if root is None or not found:
        where = "" if root is None else ", and no battery, plan or run of this workspace"
        raise UsageError(f"{text}: no such file or folder{where}", hint="seal verify FOLDER")
    if len(found) > 1:
        kinds = " and ".join(f"a {kind}" for kind in found)
        raise UsageError(f"{text} names {kinds}", hint=f"seal verify {found[min(found)]}")
    (kind,) = found
    return WorkspaceTarget(root, (Part(kind, text),))


def target_at(path: Path) -> Target:
    """What an existing path is (or a file that is gone and whose proof is there)."""
    if path.name == SETTINGS:
        return WorkspaceTarget(path.parent)
    if path.is_dir() and (path / REGISTRY).is_file():
        return WorkspaceTarget(path)
    if path.is_symlink() and path.is_dir():
        return target_at(path.resolve())
    root = _root_around(path.absolute().parent)
    if root is not None:
        relative = path.absolute().relative_to(root).as_posix()
        part = part_of(f"{relative}/" if path.is_dir() else relative)
        if relative in SHARED:
            return WorkspaceTarget(root)
        if part is not None and relative.split("/")[0] in PUBLIC_FOLDERS:
            return WorkspaceTarget(root, (part,))
    if is_bundle(path):
        return WorkspaceTarget(path)
    if path.is_file() and path.name.lower().endswith(SUFFIXES) and not _proof(path).is_file():
        return ArchiveTarget(path)
    return FilesTarget((path,))


def _proof(path: Path) -> Path:
    return path.parent / f"{path.name}.ots"


def _root_around(folder: Path) -> Path | None:
    """The nearest folder upwards that holds a registry."""
    return next((one for one in (folder, *folder.parents) if (one / REGISTRY).is_file()), None)


def _named(root: Path, name: str) -> dict[PartKind, str]:
    """What a bare name stands for in a workspace: kinds, and a path that stands for the same."""
    kept = f"batteries/{name}.sealed.json"
    places: dict[PartKind, tuple[str, ...]] = {
        "battery": (f"batteries/{name}", kept, f"commitments/{name}.json", f"commitments/{name}.draft.json"),
        "plan": (f"preregistrations/{name}.json",),
        "run": (f"runs/{name}",),
    }
    there = {kind: [one for one in paths if (root / one).exists()] for kind, paths in places.items()}
    return {kind: paths[0] for kind, paths in there.items() if paths and "/" not in name}
