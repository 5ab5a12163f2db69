"""Submit files to OpenTimestamps calendars; a proof is written beside each file, or none at all."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sealbench import store
from sealbench.anchoring import proof_path, stampable_files
from sealbench.config import Settings
from sealbench.errors import UsageError
from sealbench.http import new_client
from sealbench.publishing.publication import refresh_files
from sealbench.store import Workspace
from sealbench.timestamps.calendars import SubmitResult, submit


@dataclass(frozen=True)
class Stamped:
    """What was stamped: files, calendars that answered, calendars that failed with their reasons."""

    files: tuple[Path, ...]
    answered: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]


def stamp(workspace: Workspace, settings: Settings) -> Stamped:
    """Stamp every commitment, plan and checkpoint of a workspace that has no proof yet.

    Raises
    ------
    NetworkError : too few calendar operators answered; nothing was written.
    """
    with workspace.lock():
        files = [path for path in stampable_files(workspace) if not proof_path(path).exists()]
        result = stamp_files(files, settings)
        refresh_files(workspace)
    return result


def stamp_files(files: Sequence[Path], settings: Settings) -> Stamped:
    """Stamp these files in one submission per calendar.

    Raises
    ------
    UsageError : a file is missing or has a proof already, or a folder cannot be written.
    NetworkError : too few calendar operators answered; nothing was written.
    """
    if not files:
        return Stamped((), (), ())
    for path in files:
        if proof_path(path).exists():
            raise UsageError(f"{proof_path(path)} exists", hint=f"seal upgrade {path}")
        if not path.is_file():
            raise UsageError(f"{path}: no such file", hint="seal stamp FILE")
    _try_folders({path.parent for path in files})
    contents = {path: store.read(path) for path in files}
    result = asyncio.run(_submit(contents, settings))
    for path, proof in result.proofs.items():
        store.write_new(proof_path(path), proof)
    return Stamped(tuple(files), tuple(result.answered), tuple(result.failed))


def _try_folders(folders: Iterable[Path]) -> None:
    """Refuse before any calendar is asked, if a proof could not be written afterwards."""
    for folder in folders:
        try:
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise UsageError(
                f"{folder}: cannot be written ({error.strerror}), and a proof lies beside its file",
                hint="copy the file to a folder that can be written, and stamp it there",
            ) from error


async def _submit(contents: dict[Path, bytes], settings: Settings) -> SubmitResult:
    async with new_client(connections=len(settings.calendars) or 1) as client:
        return await submit(
            contents,
            settings.calendars,
            minimum_operators=settings.minimum_operators,
            client=client,
        )
