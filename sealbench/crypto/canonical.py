"""Canonical JSON: RFC 8785 in a narrow profile, where the standard encoder already gives its bytes.

The profile (docs/spec/canonical-json.md): UTF-8, keys of `[a-z0-9_]+` sorted, no white space, no
floats, integers within ±(2^53 - 1), no duplicate keys, at most 64 levels deep. Larger integers and
all probabilities are decimal strings. A file must equal its own re-encoding byte for byte.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from sealbench.errors import FormatError

MAX_INTEGER = 2**53 - 1
MAX_DEPTH = 64
_KEY = re.compile(r"[a-z0-9_]+\Z")
# Keys that were found good before: the same few stand in every line of a log. Bounded, because a stranger's
# file may hold any.
_KNOWN_KEYS: set[str] = set()
_MOST_KNOWN_KEYS = 1024
_SURROGATE = re.compile("[\ud800-\udfff]")
_ENCODER = json.JSONEncoder(
    ensure_ascii=False,
    allow_nan=False,
    check_circular=False,  # nothing that refers to itself passes the limit of depth
    separators=(",", ":"),
    sort_keys=True,
)


def encode(value: Any) -> bytes:
    """The canonical bytes of a JSON value; FormatError if it lies outside the profile."""
    _check(value, "$", 0)
    return _ENCODER.encode(value).encode("utf-8")


def decode(data: bytes, name: str = "JSON") -> Any:
    """Parse canonical JSON strictly; FormatError unless the bytes equal their own re-encoding.

    `name` says in errors which file it was.
    """
    value = parse(data, name)
    try:
        same = encode(value) == data
    except FormatError as error:
        raise FormatError(f"{name}: {error.message}") from error
    if not same:
        raise FormatError(f"{name}: not in canonical form (its re-encoding differs)")
    return value


def parse(data: bytes, name: str = "JSON") -> Any:
    """Parse JSON strictly but in any layout: duplicate keys, floats, NaN and huge integers are refused."""
    try:
        text = data.decode("utf-8")
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_float=_refuse_float,
            parse_int=_integer,
            parse_constant=_refuse_float,
        )
    except FormatError as error:
        raise FormatError(f"{name}: {error.message}") from error
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise FormatError(f"{name}: not valid JSON ({type(error).__name__}: {_short(error)})") from error


def _short(error: Exception) -> str:
    return str(error).splitlines()[0][:120]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise FormatError("a key stands twice in one object")
    return result


def _integer(text: str) -> int:
    if len(text) > 17:
        raise FormatError(f"integer of {len(text)} digits: larger ones are decimal strings")
    return int(text)


def _refuse_float(text: str) -> NoReturn:
    raise FormatError(f"{text[:20]} is not allowed: no floats, NaN or infinities, use decimal strings")


def _check_key(key: Any, where: str) -> None:
    if not isinstance(key, str) or not _KEY.match(key):
        raise FormatError(f"{where}: key {key!r:.40} is not of [a-z0-9_]+")
    if len(_KNOWN_KEYS) < _MOST_KNOWN_KEYS and type(key) is str:
        _KNOWN_KEYS.add(key)


def _check(value: Any, where: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise FormatError(f"nested deeper than {MAX_DEPTH} levels")
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        # ASCII is the common case and cannot hold a surrogate.
        if not value.isascii() and _SURROGATE.search(value):
            raise FormatError(f"{where}: a lone surrogate is not text")
    elif isinstance(value, int):
        if not -MAX_INTEGER <= value <= MAX_INTEGER:
            raise FormatError(f"{where}: integer outside ±(2^53 - 1), use a decimal string")
    elif isinstance(value, dict):
        if value and depth == MAX_DEPTH:
            raise FormatError(f"nested deeper than {MAX_DEPTH} levels")
        for key, item in value.items():
            if key not in _KNOWN_KEYS:
                _check_key(key, where)
            # The common cases first and without a call: files are mostly flat objects of texts and numbers.
            kind = type(item)
            if (
                (kind is str and item.isascii())
                or item is None
                or kind is bool
                or (kind is int and -MAX_INTEGER <= item <= MAX_INTEGER)
            ):
                continue
            _check(item, key, depth + 1)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _check(item, where, depth + 1)
    else:
        raise FormatError(f"{where}: {type(value).__name__} has no canonical form")
