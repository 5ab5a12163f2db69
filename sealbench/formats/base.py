"""What every file model shares: strict fields, one encoding, clear errors.

A document is read only if its bytes equal its own re-encoding, so every field is always written
(absent values as null) and there is exactly one way to spell each file.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, StringConstraints, ValidationError

from sealbench.crypto import canonical
from sealbench.crypto.digest import sha256_hex
from sealbench.errors import FormatError

_LARGE = 1 << 20  # bytes

# Patterns run in Rust's engine, where `$` is the very end of the text.
Int = Annotated[int, Strict(), Field(ge=-canonical.MAX_INTEGER, le=canonical.MAX_INTEGER)]
Count = Annotated[int, Strict(), Field(ge=0, le=canonical.MAX_INTEGER)]
Str = Annotated[str, Strict()]
Bool = Annotated[bool, Strict()]
Hash = Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9a-f]{64}$")]
Identifier = Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9a-f]{16}$")]
Label = Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z0-9_]{1,64}$")]
Name = Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
# Bounded, because `Fraction("1e-999999999")` would fill the memory of whoever verifies a stranger's plan.
Decimal = Annotated[
    str,
    StringConstraints(strict=True, max_length=1000, pattern=r"^-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]{1,5})?$"),
]
Digits = Annotated[str, StringConstraints(strict=True, pattern=r"^-?[0-9]+$")]
Fingerprint = Annotated[str, StringConstraints(strict=True, pattern=r"^SHA256:[A-Za-z0-9+/]{43}$")]
# Any JSON value; the canonical encoder sets its limits.
JsonObject = dict[str, Any]


def _is_instant(text: str) -> str:
    try:
        parse_instant(text)
    except ValueError as error:
        raise ValueError("not a UTC time like 2026-11-30T12:00:00Z") from error
    return text


def parse_instant(text: str) -> datetime:
    """An aware UTC time from `2026-11-30T12:00:00Z`, with optional microseconds."""
    if not text.endswith("Z") or not text.isascii():
        raise ValueError(text)
    return datetime.fromisoformat(text[:-1]).replace(tzinfo=UTC)


def format_instant(moment: datetime, *, microseconds: bool = False) -> str:
    """`2026-11-30T12:00:00Z` in UTC; with six decimals where order within a second matters."""
    spec = "microseconds" if microseconds else "seconds"
    # Two of them stand in every attempt of a log: what is in UTC already is not converted.
    utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return utc.isoformat(timespec=spec).removesuffix("+00:00") + "Z"


Instant = Annotated[
    str,
    StringConstraints(strict=True, pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$"),
    AfterValidator(_is_instant),
]


def _is_public_path(path: str) -> str:
    parts = path.split("/")
    if path.startswith("/") or any(part in ("", ".", "..") or part.startswith(".") for part in parts):
        raise ValueError("not a plain relative path")
    return path


PublicPath = Annotated[
    str,
    StringConstraints(strict=True, pattern=r"^[A-Za-z0-9_./-]{1,255}$"),
    AfterValidator(_is_public_path),
]


@contextmanager
def collector_held(size: int) -> Iterator[None]:
    """Hold the cycle collector while a large file (bytes) is read: it would search what is only growing."""
    if size < _LARGE or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class Record(BaseModel):
    """A part of a document: frozen, unknown fields refused, no coercion of scalars."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    def to_value(self) -> dict[str, Any]:
        """The JSON object of this record, as the canonical encoder takes it."""
        return self.model_dump(mode="json", by_alias=True)

    def to_bytes(self) -> bytes:
        """The canonical bytes: what is hashed, signed and stamped."""
        return canonical.encode(self.to_value())

    def digest(self) -> str:
        """SHA-256 of the canonical bytes, as `sha256sum` prints it for the file."""
        return sha256_hex(self.to_bytes())

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "file") -> Self:
        """Parse one file or line.

        Raises
        ------
        FormatError : not JSON, outside the canonical profile, a field missing, unknown or of the
            wrong type, or bytes that differ from their own re-encoding.
        """
        with collector_held(len(data)):
            value = canonical.decode(data, name)
            record = cls.from_value(value, name)
            same = record.to_value() == value
        # The bytes are the value's encoding, so equal values have equal bytes: types are strict, floats none.
        if not same:
            raise FormatError(f"{name}: differs from its own re-encoding (a field is missing or misspelt)")
        # Every field was given. One set of their names for all: pydantic's own, one for each record, would
        # be 40% of the memory of a large log.
        object.__setattr__(record, "__pydantic_fields_set__", _names_of(cls))
        return record

    @classmethod
    def from_value(cls, value: object, name: str = "value") -> Self:
        """Check a parsed JSON value against this model; FormatError names the first wrong field."""
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "top level"
            raise FormatError(f"{name}: {where}: {first['msg']}") from error


@cache
def _names_of(model: type[Record]) -> set[str]:
    return set(model.model_fields)


class FileHash(Record):
    """A public file and the SHA-256 of its bytes."""

    path: PublicPath
    sha256: Hash


class Identity(Record):
    """Whose registry a signed file belongs to, and how long that registry was when it was written."""

    author: Fingerprint
    registry: Hash
    registry_size: Count
    registry_head: Hash
