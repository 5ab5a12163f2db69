"""A retired battery's folder by itself, laid out as the workspace that its files are from.

`record/P` stands for the workspace's file P, every other file F for `batteries/NAME/F`. The same twelve
steps then run over this tree; where a bundle differs from a workspace, evidence.py says so. Source:
docs/spec/retired.md.
"""

from __future__ import annotations

from pathlib import Path

from sealbench.crypto import canonical
from sealbench.errors import CheckFailed, FormatError, SealError
from sealbench.publishing.bundle import SUMS
from sealbench.publishing.bundle_record import RECORD
from sealbench.store import PUBLIC_FOLDERS, REGISTRY, check_name, plain_files
from sealbench.verification.tree import PublicTree, read_files


def is_bundle(folder: Path) -> bool:
    """Whether a folder is meant as a retired battery's: it has a record, and the sums or the key."""
    return (folder / RECORD).is_dir() and ((folder / SUMS).is_file() or (folder / "key.json").is_file())


def read_bundle(folder: Path) -> PublicTree:
    """The tree of one bundle.

    Raises
    ------
    CheckFailed : a link, a special file, absurd sizes, or a file of the record outside a workspace's
        public folders or in the place of one of the bundle's own files.
    FormatError : a file cannot be read, or nothing says whose bundle this is.
    """
    files = read_files(folder, plain_files(folder, [""]))
    name = _battery_name(files)
    laid_out: dict[str, bytes] = {}
    for path, data in sorted(files.items()):
        place = workspace_path(name, path)
        foreign = place.split("/")[0] not in PUBLIC_FOLDERS or place.startswith(f"batteries/{name}/")
        if path.startswith(f"{RECORD}/") and foreign:
            raise CheckFailed(
                f"{path} has no place in a record, which holds copies of a workspace's public files",
                hint="take the bundle from where its author published it",
            )
        laid_out[place] = data
    return PublicTree(laid_out, bundle=name)


def workspace_path(name: str, path: str) -> str:
    """Where a file of the bundle of battery `name` stands in the workspace."""
    return path.removeprefix(f"{RECORD}/") if path.startswith(f"{RECORD}/") else f"batteries/{name}/{path}"


def _battery_name(files: dict[str, bytes]) -> str:
    """The name in key.json; if that is damaged, as step 1 will say, the one in battery.json."""
    for path in ("key.json", "battery.json"):
        try:
            value = canonical.parse(files.get(path, b""), path)
            name = str(value["name"]) if isinstance(value, dict) and "name" in value else ""
            check_name(name, "battery")
        except SealError:
            continue
        return name
    raise FormatError(
        "neither key.json nor battery.json says which battery this is",
        hint=f"seal verify FOLDER with key.json, battery.json, {SUMS} and {RECORD}/{REGISTRY}",
    )
