"""JSON files of any size, one element at a time: lines of JSONL, and the members of one long array.

Memory stays at the size of the largest single element.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from sealbench.errors import FormatError

_CHUNK = 1 << 18
_LONGEST = 1 << 28  # characters of one element; nothing a log holds is longer
_SPACE = " \t\r\n"


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSONL file with their line numbers; empty lines are skipped."""
    try:
        with path.open(encoding="utf-8-sig") as stream:
            for number, line in enumerate(stream, 1):
                if line.isspace():
                    continue
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise _half_line(path, number, line, error) from error
                if not isinstance(record, dict):
                    raise FormatError(
                        f"{path.name} line {number}: not a JSON object", hint="one object a line"
                    )
                yield number, record
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not UTF-8 text", hint="save the log as UTF-8") from error


def _half_line(path: Path, number: int, line: str, error: Exception) -> FormatError:
    if not line.endswith("\n"):
        return FormatError(
            f"{path.name} line {number}: the file ends in the middle of a line",
            hint=f"the log was cut off while it was written; to audit what is whole: head -n {number - 1} "
            f"{path.name} > whole.jsonl",
        )
    return FormatError(
        f"{path.name} line {number}: not valid JSON ({error})", hint="repair or remove the line"
    )


def array_elements(path: Path, *keys: str) -> Iterator[Any]:
    """The elements of the array at a path of keys inside one big JSON object, streamed.

    Without keys the file itself is the array.
    """
    for at, value in _Walker(path).walk(keys):
        if at is None:
            yield value


def other_members(path: Path, *keys: str) -> dict[str, Any]:
    """Everything of the object but that array: members by dotted path ("eval", "results.stats")."""
    return {at: value for at, value in _Walker(path).walk(keys) if at is not None}


class _Walker:
    """A file read in chunks; values are decoded as soon as they are whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.buffer = ""
        self.place = 0
        self.done = False
        self.decoder = json.JSONDecoder()

    def walk(self, keys: tuple[str, ...]) -> Iterator[tuple[str | None, Any]]:
        """(None, element) for elements of the wanted array, (dotted path, value) for other members."""
        try:
            with self.path.open(encoding="utf-8-sig") as stream:
                self.stream: TextIO = stream
                if keys:
                    yield from self.members(keys, "")
                else:
                    yield from ((None, element) for element in self.elements())
                if self.peek() != "":
                    raise self.broken("something follows the end of the value")
        except OSError as error:
            raise FormatError(f"{self.path}: cannot be read ({error.strerror})") from error
        except UnicodeDecodeError as error:
            raise FormatError(f"{self.path}: not UTF-8 text", hint="save the log as UTF-8") from error

    def members(self, keys: tuple[str, ...], prefix: str) -> Iterator[tuple[str | None, Any]]:
        self.expect("{")
        if self.peek() == "}":
            self.expect("}")
            return
        while True:
            key = self.value()
            if not isinstance(key, str):
                raise self.broken("a key is not a text")
            self.expect(":")
            if key == keys[0] and len(keys) == 1 and self.peek() == "[":
                for element in self.elements():
                    yield None, element
            elif key == keys[0] and len(keys) > 1 and self.peek() == "{":
                yield from self.members(keys[1:], f"{prefix}{key}.")
            else:
                yield prefix + key, self.value()
            if self.peek() != ",":
                self.expect("}")
                return
            self.expect(",")

    def elements(self) -> Iterator[Any]:
        self.expect("[")
        if self.peek() == "]":
            self.expect("]")
            return
        while True:
            yield self.value()
            if self.peek() != ",":
                self.expect("]")
                return
            self.expect(",")

    def more(self, size: int = _CHUNK) -> bool:
        """Read on; what was used is dropped. False at the end of the file."""
        part = self.stream.read(size)
        self.buffer, self.place = self.buffer[self.place :] + part, 0
        self.done = self.done or not part
        return bool(part)

    def peek(self) -> str:
        """The next character that is no space, "" at the end; it is not consumed."""
        while True:
            while self.place < len(self.buffer):
                if self.buffer[self.place] not in _SPACE:
                    return self.buffer[self.place]
                self.place += 1
            if not self.more():
                return ""

    def expect(self, wanted: str) -> None:
        found = self.peek()
        if found != wanted:
            where = "the file ends" if found == "" else f"{found!r} stands"
            raise self.broken(f"{where} where {wanted!r} is expected")
        self.place += 1

    def value(self) -> Any:
        if self.peek() == "":
            raise self.broken("the file ends where a value is expected")
        while True:
            try:
                value, end = self.decoder.raw_decode(self.buffer, self.place)
            except (ValueError, RecursionError) as error:
                length = len(self.buffer) - self.place
                # Doubling keeps the work for a long element linear.
                if (
                    length > _LONGEST
                    or isinstance(error, RecursionError)
                    or not self.more(max(_CHUNK, length))
                ):
                    reason = str(error) if not self.done else "the file ends in the middle of a value"
                    raise self.broken(reason) from error
                continue
            # A number at the very end of the buffer may go on in the next chunk.
            if end == len(self.buffer) and not self.done:
                self.more()
                continue
            self.place = end
            return value

    def broken(self, reason: str) -> FormatError:
        return FormatError(
            f"{self.path}: not valid JSON ({reason})",
            hint="the file may have been cut off while it was written; export the log again",
        )
