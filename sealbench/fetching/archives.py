"""Tar, gzipped tar and zip archives unpacked into a new folder, by their content and not by their name.

Refused whole: links, devices, encrypted or unusually packed members, everything that `NewFolder` refuses,
and decompressed data beyond the limits. Nothing in an archive is trusted to be as long as it says.
"""

from __future__ import annotations

import errno
import gzip
import stat
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO, cast

from sealbench.errors import CheckFailed, FormatError
from sealbench.fetching.new_folder import Limits, NewFolder

SUFFIXES = (".tar", ".tar.gz", ".tgz", ".zip")
_CHUNK = 1 << 16
_HEADER = 1 << 20  # bytes: no honest tar header, extended ones included, is longer


def unpack(path: Path, folder: Path, limits: Limits | None = None) -> None:
    """Unpack an archive into `folder`, which is empty; on an error what is there is of no use.

    Raises
    ------
    FormatError : not an archive, or damaged.
    CheckFailed : it holds what no workspace or bundle does.
    """
    target = NewFolder(folder, limits or Limits())
    try:
        with path.open("rb") as stream:
            start = stream.read(512)
            stream.seek(0)
            if start[:2] == b"\x1f\x8b":
                _unpack_gzip(path, stream, target)
            elif start[:2] == b"PK":
                _unpack_zip(stream, target)
            elif start[257:262] == b"ustar":
                _unpack_tar(stream, target)
            else:
                raise FormatError(
                    f"{path.name}: neither a tar, a gzipped tar nor a zip archive",
                    hint="unpack it by hand, then: seal verify FOLDER",
                )
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, gzip.BadGzipFile, EOFError) as error:
        raise FormatError(f"{path.name}: damaged archive ({error or type(error).__name__})") from error
    except (ValueError, OverflowError, RecursionError, NotImplementedError, RuntimeError) as error:
        # What the standard readers raise for headers that no tool writes.
        raise FormatError(f"{path.name}: malformed archive ({type(error).__name__})") from error
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise  # a full disk, a file that may not be read
        raise FormatError(f"{path.name}: malformed archive (it leads to before its own beginning)") from error


def _unpack_gzip(path: Path, stream: BinaryIO, target: NewFolder) -> None:
    """Decompress beside the folder first, within the limit, so that the tar can be read back and forth."""
    plain = target.root.with_name(f"{target.root.name}.tar")
    size = 0
    try:
        with gzip.GzipFile(fileobj=stream) as packed, plain.open("xb+") as out:
            while block := packed.read(_CHUNK):
                size += len(block)
                if size > target.limits.total:
                    raise CheckFailed(f"{path.name}: unpacks to more than {target.limits.total >> 20} MiB")
                out.write(block)
            out.seek(0)
            if out.read(512)[257:262] != b"ustar":
                raise FormatError(f"{path.name}: what is compressed in it is no tar archive")
            out.seek(0)
            _unpack_tar(out, target)
    finally:
        plain.unlink(missing_ok=True)


class _ShortReads:
    """A file whose reads are bounded, so that a header cannot ask for gigabytes of memory."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.seek = stream.seek
        self.tell = stream.tell

    def read(self, size: int = -1) -> bytes:
        """At most a header's length; CheckFailed for more."""
        if not 0 <= size <= _HEADER:
            raise CheckFailed(f"a header of {size} bytes: no archive of a workspace has one")
        return self._stream.read(size)


def _unpack_tar(stream: BinaryIO, target: NewFolder) -> None:
    with tarfile.open(fileobj=cast(BinaryIO, _ShortReads(stream)), mode="r:") as archive:
        for member in archive:
            if member.isdir():
                target.add_folder(member.name)
            elif member.isreg() and not member.issparse():
                content = archive.extractfile(member)
                if content is None:
                    raise FormatError(f"{member.name[:120]!r}: cannot be read")
                target.add_file(member.name, member.size, content.read)
            else:
                raise CheckFailed(
                    f"{member.name[:120]!r} is a link, a device or the like; only plain files are taken",
                    hint="nothing of it was kept; ask its author for plain files",
                )


def _unpack_zip(stream: BinaryIO, target: NewFolder) -> None:
    with zipfile.ZipFile(stream) as archive:
        for member in archive.infolist():
            kind = stat.S_IFMT(member.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise CheckFailed(
                    f"{member.orig_filename[:120]!r} is a link, a device or the like; only plain files are "
                    "taken",
                    hint="nothing of it was kept; ask its author for plain files",
                )
            if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise CheckFailed(f"{member.orig_filename[:120]!r}: encrypted, or packed in an unusual way")
            if member.is_dir():
                target.add_folder(member.orig_filename)
            else:
                with archive.open(member) as content:
                    target.add_file(member.orig_filename, member.file_size, content.read)
