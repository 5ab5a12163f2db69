"""A fresh folder that files from outside are written into: plain files, safe names, bounded sizes.

Whatever an archive or repository says, nothing is written outside the folder, nothing twice, no link
and no device, and not more than the limits allow.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sealbench.errors import CheckFailed

_PART, _NAME, _DEPTH = 255, 1024, 32  # bytes of one name, bytes of a path, folders in each other
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Limits:
    """How much is taken from outside.

    Attributes
    ----------
    transfer : bytes over the network, of an archive or of a clone's packed objects.
    file, total : bytes of one file, and of all files once unpacked.
    files : number of files and folders.
    seconds : for one download or clone.
    """

    transfer: int = 512 << 20
    file: int = 1 << 30
    total: int = 2 << 30
    files: int = 100_000
    seconds: float = 600.0


class NewFolder:
    """Writes files below `root`, which must be empty and nobody else's."""

    def __init__(self, root: Path, limits: Limits) -> None:
        self.root = root
        self.limits = limits
        self._total = 0
        self._spelled: dict[str, tuple[str, bool]] = {}  # folded path: as spelled, and whether it is a file

    def add_file(self, name: str, size: int, read: Callable[[int], bytes]) -> None:
        """Write one file of exactly `size` bytes, taken by `read(at_most)`.

        Raises
        ------
        CheckFailed : an unsafe or repeated name, too much data, or another size than announced.
        """
        parts = safe_parts(name)
        self._total += size
        if not 0 <= size <= self.limits.file or self._total > self.limits.total:
            raise CheckFailed(
                f"{name}: more data than is taken from outside",
                hint=f"files up to {self.limits.file >> 20} MiB, {self.limits.total >> 20} MiB together",
            )
        self._claim(parts, is_file=True)
        path = self.root.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        left = size
        with path.open("xb") as stream:
            while left > 0 and (block := read(min(left, _CHUNK))):
                stream.write(block)
                left -= len(block)
        if left:
            raise CheckFailed(f"{name}: ends {left} bytes before its announced size")

    def add_folder(self, name: str) -> None:
        """Make one folder; it may be named again."""
        parts = safe_parts(name)
        if parts:
            self._claim(parts, is_file=False)
            self.root.joinpath(*parts).mkdir(parents=True, exist_ok=True)

    def _claim(self, parts: list[str], *, is_file: bool) -> None:
        """Refuse a path that stands there already, also by a file system that folds case or accents."""
        for depth in range(1, len(parts) + 1):
            path = "/".join(parts[:depth])
            ends_here = is_file and depth == len(parts)
            known = self._spelled.setdefault(_folded(path), (path, ends_here))
            fresh = known[0] is path  # this very string was put there just now
            if not fresh and (ends_here or known != (path, False)):
                raise CheckFailed(f"{path[:120]!r}: the name stands there twice, as {known[0][:120]!r}")
        if len(self._spelled) > self.limits.files:
            raise CheckFailed(f"more than {self.limits.files} files and folders")


def safe_parts(name: str) -> list[str]:
    """A relative path's parts; CheckFailed for one that leads out of its folder, or is no sane name."""
    parts = name.removesuffix("/").split("/")
    while len(parts) > 1 and parts[0] == ".":
        parts = parts[1:]
    reason = ""
    if len(os.fsencode(name)) > _NAME or len(parts) > _DEPTH:
        reason = "longer than any path here"
    elif any(part in ("", ".", "..") for part in parts) or parts[0][1:2] == ":":
        reason = "leads out of its folder"
    elif any("\\" in part or len(os.fsencode(part)) > _PART for part in parts):
        reason = "not a name on every system"
    elif any(unicodedata.category(char) in ("Cc", "Cs") for char in name):
        reason = "holds control characters"
    if reason:
        raise CheckFailed(
            f"{name[:120]!r}: {reason}", hint="nothing of it was kept; do not unpack it by hand"
        )
    return parts


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()
