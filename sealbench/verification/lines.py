"""Files of one record a line: each line through its model, remembered as suits their size.

Of a small file each line is remembered, so that a copy with one line changed costs one line; of a large one
only the whole, because a hundred thousand lines remembered twice are gigabytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from sealbench.errors import FormatError, SealError
from sealbench.formats.base import Record
from sealbench.verification.evidence import parse_document
from sealbench.verification.memo import Memo

SMALL = 4 << 20  # bytes

M = TypeVar("M", bound=Record)


def parse_lines(memo: Memo, model: type[M], data: bytes, path: str) -> tuple[M, ...]:
    """Every line; FormatError names the first that does not parse, or says that the last one is torn."""
    return tuple(_each_line(memo, model, data, path))


def check_each_line(memo: Memo, model: type[Record], data: bytes, path: str) -> None:
    """As `parse_lines`, and keeps nothing."""
    for _ in _each_line(memo, model, data, path):
        pass


def _each_line(memo: Memo, model: type[M], data: bytes, path: str) -> Iterator[M]:
    if data and not data.endswith(b"\n"):
        raise FormatError(f"{path}: the last line is torn")
    remembered = len(data) <= SMALL
    for number, raw in enumerate(data.split(b"\n")[:-1], start=1):
        try:
            if remembered:
                yield memo.call(parse_document, model, raw, path)
            else:
                yield parse_document(model, raw, path)
        except SealError as error:
            raise FormatError(f"{path} line {number}: {error.message.removeprefix(path + ': ')}") from error
