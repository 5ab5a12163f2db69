"""Members of a zip file, one at a time, deflated or compressed with zstd (method 93).

Python's `zipfile` cannot decompress method 93 before version 3.14; the members are found with it, and
decompressed with the `zstandard` package.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path
from types import TracebackType

from sealbench.errors import CouldNotCheck, FormatError

_ZSTD = 93
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_LARGEST = 1 << 30  # bytes of one member; a log's sample is never as large


class Archive:
    """An open zip file; FormatError wherever it is broken."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError) as error:
            raise self._broken(str(error)) from error
        self._members = {member.filename: member for member in self._zip.infolist()}

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    @property
    def names(self) -> list[str]:
        """The members' names, in the order of the archive."""
        return list(self._members)

    def read(self, name: str) -> bytes:
        """One member, decompressed and checked against its CRC."""
        member = self._members[name]
        if member.file_size > _LARGEST:
            raise self._broken(f"{name} claims {member.file_size} bytes")
        try:
            if member.compress_type != _ZSTD:
                return self._zip.read(member)
            return self._read_zstd(member)
        except NotImplementedError as error:
            raise CouldNotCheck(
                f"{self.path}: {name} is compressed by method {member.compress_type}",
                hint="convert the log with the tool that wrote it, for example inspect log dump",
            ) from error
        except (zipfile.BadZipFile, OSError, zlib.error, EOFError, struct.error, ValueError) as error:
            raise self._broken(f"{name}: {error}") from error

    def _read_zstd(self, member: zipfile.ZipInfo) -> bytes:
        import zstandard

        with self.path.open("rb") as stream:
            stream.seek(member.header_offset)
            header = _LOCAL_HEADER.unpack(stream.read(_LOCAL_HEADER.size))
            if header[0] != b"PK\x03\x04":
                raise ValueError("no local header where the directory says")
            stream.seek(header[-2] + header[-1], 1)
            packed = stream.read(member.compress_size)
        try:
            with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as reader:
                data: bytes = reader.read(member.file_size + 1)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error
        if len(data) != member.file_size or zlib.crc32(data) != member.CRC:
            raise ValueError("its checksum does not match")
        return data

    def _broken(self, reason: str) -> FormatError:
        return FormatError(
            f"{self.path}: not a whole zip file ({reason})",
            hint="copy the log again; a log still being written has no directory yet",
        )
