"""A folder as one tar file that has the same bytes on every machine.

Format: POSIX ustar, one top folder, entries sorted by path component by component, folders before what
is in them; time, user and group 0 without names; mode 0644 for files and 0755 for folders; no
compression, whose output differs between versions of a library. The same as

    tar --format=ustar --sort=name --mtime=@0 --owner=:0 --group=:0 --numeric-owner \\
        --mode=u=rwX,go=rX -cf NAME.tar NAME

by GNU tar. The headers are made here, because `tarfile` fills unused fields differently from version to
version. Source of the format: POSIX.1-2008, pax, "ustar Interchange Format".
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from sealbench.errors import UsageError

_BLOCK = 512
_RECORD = 20 * _BLOCK  # tar files end at a multiple of this
_NAME, _PREFIX = 100, 155  # bytes
_LARGEST = 8**11  # bytes, exclusive: eleven octal digits


def archive_parts(top: str, files: Mapping[str, bytes]) -> Iterator[bytes]:
    """The tar file of a folder called `top`, piece by piece.

    Parameters
    ----------
    files : bytes by path relative to the folder, with forward slashes.

    Raises
    ------
    UsageError : a path is too long for the format, or a file is 8 GiB or larger.
    """
    size = 0
    for path, data in _entries(top, files):
        size += _BLOCK + len(data) + -len(data) % _BLOCK
        yield _header(path, len(data))
        yield data
        yield bytes(-len(data) % _BLOCK)
    end = 2 * _BLOCK
    yield bytes(end + -(size + end) % _RECORD)


def archive_sha256(top: str, files: Mapping[str, bytes]) -> str:
    """SHA-256 (hex) of the tar file."""
    digest = hashlib.sha256()
    for part in archive_parts(top, files):
        digest.update(part)
    return digest.hexdigest()


def _entries(top: str, files: Mapping[str, bytes]) -> list[tuple[str, bytes]]:
    """Folders (with a final slash) and files, in the archive's order."""
    folders = {f"{top}/"}
    for path in files:
        parts = f"{top}/{path}".split("/")[:-1]
        folders.update("/".join(parts[:end]) + "/" for end in range(1, len(parts) + 1))
    entries = [*((folder, b"") for folder in folders), *((f"{top}/{path}", files[path]) for path in files)]
    return sorted(entries, key=lambda entry: entry[0].rstrip("/").split("/"))


def _header(path: str, size: int) -> bytes:
    prefix, name = _split(path)
    if size >= _LARGEST:
        raise UsageError(f"{path} is too large for a tar file ({size} bytes)", hint="publish the folder only")
    folder = path.endswith("/")
    fields = (
        name.ljust(_NAME, b"\0"),
        b"0000755\0" if folder else b"0000644\0",
        b"0000000\0" * 2,  # user, group
        b"%011o\0" % size,
        b"%011o\0" % 0,  # time
        b" " * 8,  # the checksum's own place
        b"5" if folder else b"0",
        bytes(100),  # link
        b"ustar\00000",
        bytes(64),  # names of user and group
        b"0000000\0" * 2,  # device
        prefix.ljust(_PREFIX, b"\0"),
        bytes(12),
    )
    header = b"".join(fields)
    return header[:148] + b"%06o\0 " % sum(header) + header[156:]


def _split(path: str) -> tuple[bytes, bytes]:
    """Prefix and name of a path: the whole path as name, else split at the last slash that fits."""
    raw = path.encode("ascii")
    if len(raw) <= _NAME:
        return b"", raw
    at = raw.rfind(b"/", 0, min(_PREFIX + 1, len(raw) - 1))
    if at <= 0 or len(raw) - at - 1 > _NAME:
        raise UsageError(f"{path} is too long for a tar file", hint="use shorter names")
    return raw[:at], raw[at + 1 :]
