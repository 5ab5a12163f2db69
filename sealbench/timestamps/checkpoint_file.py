"""The newest checkpoint table of this machine: the shipped one, or a newer one in the user's data folder.

`seal headers update` writes the newer one to `$XDG_DATA_HOME/sealbench/checkpoints_mainnet.bin` (usually
`~/.local/share/sealbench/`). Both are the verifier's own; nothing in a workspace can change either. The
two must agree on every period both hold, else it is an error and neither is used.
"""

from __future__ import annotations

import os
import tempfile
from functools import lru_cache
from pathlib import Path

from sealbench import store
from sealbench.errors import CouldNotCheck, FormatError, ProofFailed
from sealbench.timestamps.checkpoints import CheckpointTable, shipped_checkpoints

NAME = "checkpoints_mainnet.bin"
_HINT = "delete that file, then: seal headers update"


def user_table_path() -> Path | None:
    """Where the user's own table lies; None on a machine that knows no home folder."""
    base = os.environ.get("XDG_DATA_HOME", "")
    try:
        folder = Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "share"
    except RuntimeError:
        return None
    return folder / "sealbench" / NAME


def newest_checkpoints() -> CheckpointTable:
    """The longer of the shipped table and the user's; the same object until the file changes.

    Raises
    ------
    FormatError : the user's table is damaged, or disagrees with the shipped one (both are shown).
    CouldNotCheck : it is there and cannot be read.
    """
    path = user_table_path()
    try:
        state = path.stat() if path else None
    except OSError:
        state = None
    if path is None or state is None:
        return shipped_checkpoints()
    return _read(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _read(path: Path, _changed: int, _size: int) -> CheckpointTable:
    shipped = shipped_checkpoints()
    try:
        own = CheckpointTable.from_bytes(path.read_bytes())
        shorter, longer = (shipped, own) if len(own) > len(shipped) else (own, shipped)
        return shorter.superseded_by(longer)
    except OSError as error:
        raise CouldNotCheck(f"{path}: cannot be read ({error.strerror})", hint=f"chmod u+r {path}") from error
    except (FormatError, ProofFailed) as error:
        raise FormatError(f"{path}: {error.message}", hint=_HINT) from error


def writable_table_path() -> Path:
    """The path of the user's table, its folder made and tried; CouldNotCheck if nothing can be written."""
    path = user_table_path()
    if path is None:
        raise CouldNotCheck("this user has no home folder", hint="set XDG_DATA_HOME to a folder to write to")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise CouldNotCheck(
            f"{path.parent}: cannot be written ({error.strerror}), so no table can be kept there",
            hint="set XDG_DATA_HOME to a folder that can be written, then: seal headers update",
        ) from error
    return path


def write_user_table(path: Path, table: CheckpointTable) -> None:
    """Keep a table that has been checked, whole or not at all."""
    store.replace(path, table.to_bytes())
