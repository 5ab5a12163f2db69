"""The public side of a workspace as bytes in memory, read once; what is verified is what was read.

Links, devices and absurd sizes are refused. A changed copy shares every unchanged file's bytes, so
that thousands of damaged copies can be checked in one process.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

from sealbench.errors import CheckFailed, FormatError
from sealbench.store import PUBLIC_FOLDERS, public_files

MAX_FILE = 1 << 30  # bytes; the sealed form of a million items stays below
MAX_TOTAL = 4 << 30
MAX_FILES = 200_000


class PublicTree:
    """Relative public paths (forward slashes) and the bytes of each file. Never changes.

    `bundle` names the battery whose bundle this is, laid out as a workspace (bundle.py); None for a
    workspace itself.
    """

    def __init__(self, files: Mapping[str, bytes], *, bundle: str | None = None) -> None:
        self._files = dict(files)
        self.bundle = bundle

    def __contains__(self, path: object) -> bool:
        return path in self._files

    def __len__(self) -> int:
        return len(self._files)

    def get(self, path: str) -> bytes | None:
        """A file's bytes, None if there is no such file."""
        return self._files.get(path)

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        return tuple(sorted(self._files))

    def paths(self) -> tuple[str, ...]:
        """All paths, sorted."""
        return self._paths

    def below(self, folder: str) -> tuple[str, ...]:
        """The paths in `folder` and in the folders below it, sorted."""
        after = chr(ord("/") + 1)
        return self._paths[bisect_left(self._paths, f"{folder}/") : bisect_left(self._paths, folder + after)]

    def items(self) -> list[tuple[str, bytes]]:
        """Paths and bytes, sorted by path."""
        return [(path, self._files[path]) for path in self._paths]

    def with_file(self, path: str, data: bytes | None) -> PublicTree:
        """A copy with one file replaced, added, or (data None) removed."""
        return self.with_files({path: data})

    def with_files(self, changes: Mapping[str, bytes | None]) -> PublicTree:
        """A copy with several files replaced, added or removed."""
        files = {**self._files, **{path: data for path, data in changes.items() if data is not None}}
        for path, data in changes.items():
            if data is None:
                files.pop(path, None)
        return PublicTree(files, bundle=self.bundle)

    @classmethod
    def from_folder(cls, root: Path) -> PublicTree:
        """Read the public folders below `root`.

        Raises
        ------
        CheckFailed : a link, a special file, or more or larger files than any workspace has.
        FormatError : a file cannot be read, or `root` holds no public folder.
        """
        files = read_files(root, public_files(root))
        if not files:
            raise FormatError(
                f"{root}: no workspace here (none of {', '.join(PUBLIC_FOLDERS)} holds a file)",
                hint="seal verify PATH-OF-THE-WORKSPACE",
            )
        return cls(files)


def read_files(root: Path, paths: Iterable[str]) -> dict[str, bytes]:
    """The bytes of each of these files below `root`, by relative path.

    Raises
    ------
    CheckFailed, FormatError : as `PublicTree.from_folder`.
    """
    files: dict[str, bytes] = {}
    total = 0
    for relative in paths:
        path = root / relative
        size = path.stat(follow_symlinks=False).st_size
        total += size
        if size > MAX_FILE or total > MAX_TOTAL or len(files) >= MAX_FILES:
            raise CheckFailed(
                f"{relative}: more data than a workspace can hold",
                hint=f"files up to {MAX_FILE >> 20} MiB, {MAX_TOTAL >> 20} MiB together",
            )
        files[relative] = _read(path, relative)
    return files


def _read(path: Path, relative: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FormatError(f"{relative}: cannot be read ({error.strerror})") from error
