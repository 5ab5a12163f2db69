"""Bring a repository or archive here, for as long as it is verified: temporary, bounded, nothing run."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sealbench.crypto.digest import sha256_file
from sealbench.errors import UsageError
from sealbench.fetching.archives import SUFFIXES, unpack
from sealbench.fetching.clones import PROTOCOLS, clone
from sealbench.fetching.downloads import check_address, download_file, shown_address
from sealbench.fetching.new_folder import Limits
from sealbench.store import PUBLIC_FOLDERS

_REPOSITORY = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?:(?P<account>[^/@]*)@)?"
    r"(?P<host>\[[0-9a-f:.]+\]|[a-z0-9][a-z0-9._-]*|)(?::[0-9]{1,5})?/\S*",
    re.IGNORECASE,
)
_SCP = re.compile(r"[A-Za-z0-9_.-]+@[A-Za-z0-9][A-Za-z0-9.-]*:(?!//)[^\s-]\S*\Z")  # git@host:path


@dataclass(frozen=True)
class Fetched:
    """What was brought here.

    Attributes
    ----------
    folder : the files; gone when the context ends.
    source : where they are from, in words, with the commit or the archive's hash.
    sha256 : of the archive; None for a clone.
    """

    folder: Path
    source: str
    sha256: str | None = None


def is_archive_address(url: str) -> bool:
    """Whether an address names an archive by its path, and not a repository."""
    _, separator, rest = re.split("[?#]", url)[0].partition("://")
    return bool(separator) and "/" in rest and rest.lower().endswith(SUFFIXES)


def check_remote(url: str, *, allow_file: bool = False) -> None:
    """UsageError for an address of a kind that is not followed, or that holds a password."""
    if is_archive_address(url):
        check_address(url)
    else:
        _check_repository(url, _protocols(allow_file))


@contextmanager
def fetched(url: str, *, limits: Limits | None = None, allow_file: bool = False) -> Iterator[Fetched]:
    """The files of a repository's newest commit, or of an archive, at an address.

    Parameters
    ----------
    allow_file : clone `file://` addresses too.

    Raises
    ------
    UsageError : an address of a kind that is not followed, or with a password in it.
    CouldNotCheck : no network, no git, no such thing there, or it is larger or slower than the limits.
    CheckFailed : it holds what no workspace or bundle does.
    """
    check_remote(url, allow_file=allow_file)
    bounds = limits or Limits()
    with tempfile.TemporaryDirectory(prefix="seal-verify-") as name:
        place = Path(name)
        if is_archive_address(url):
            archive = place / "archive"
            asyncio.run(_download(url, archive, bounds))
            yield _unpacked(archive, place, shown_address(url), bounds)
            return
        folder = place / "files"
        folder.mkdir()
        made = clone(url, folder, bounds, plain=PUBLIC_FOLDERS, protocols=_protocols(allow_file))
        left_out = f", {made.left_out} links or submodules left out" if made.left_out else ""
        yield Fetched(_top(folder), f"{shown_address(url)} at commit {made.commit}{left_out}")


@contextmanager
def unpacked(archive: Path, *, limits: Limits | None = None) -> Iterator[Fetched]:
    """The files of an archive on this machine; raises as `fetched`."""
    with tempfile.TemporaryDirectory(prefix="seal-verify-") as name:
        yield _unpacked(archive, Path(name), str(archive), limits or Limits())


def _unpacked(archive: Path, place: Path, named: str, limits: Limits) -> Fetched:
    folder = place / "files"
    folder.mkdir()
    sha256 = sha256_file(archive)
    unpack(archive, folder, limits)
    return Fetched(_top(folder), f"{named}, SHA-256 {sha256}", sha256)


async def _download(url: str, path: Path, limits: Limits) -> None:
    from sealbench.http import new_client

    async with new_client(timeout=60.0) as client:
        await download_file(client, url, path, limits)


def _protocols(allow_file: bool) -> tuple[str, ...]:
    return (*PROTOCOLS, "file") if allow_file else PROTOCOLS


def _check_repository(url: str, protocols: tuple[str, ...]) -> None:
    """UsageError unless git would reach the address by one of these transports, without a password."""
    if _SCP.match(url):
        return
    found = _REPOSITORY.fullmatch(url)
    scheme = found["scheme"].lower() if found else ""
    if found is None or scheme not in protocols or bool(found["host"]) == (scheme == "file"):
        listed = ", ".join(f"{one}://" for one in protocols)
        raise UsageError(
            f"{shown_address(url)}: repositories are cloned from {listed} or git@HOST:PATH only",
            hint="clone it by hand, then: seal verify FOLDER",
        )
    account = found["account"]
    if account is not None and (":" in account or scheme != "ssh"):
        raise UsageError(
            "the address holds a user name or password, which would end up in logs",
            hint="clone it by hand, then: seal verify FOLDER",
        )


def _top(folder: Path) -> Path:
    """The folder itself, or the one folder in it that archives are usually packed in."""
    entries = list(folder.iterdir())
    alone = len(entries) == 1 and entries[0].is_dir() and entries[0].name not in PUBLIC_FOLDERS
    return entries[0] if alone else folder
