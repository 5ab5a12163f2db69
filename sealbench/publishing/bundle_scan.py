"""Look through everything that is about to be published for what must not be: keys and local paths.

A finding names the place and the kind, never the value. Shapes of keys are those that their issuers
document; a key of another shape is found only if it is one of the secrets given.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

_SEPARATOR = rb"(?:\\*/|\\+)"  # as it is, or escaped in JSON once or twice
_BEFORE = rb"(?<![A-Za-z0-9+=_-])"  # never inside a longer word, nor inside base64
_AFTER = rb"(?![A-Za-z0-9_-])"
_SHORTEST_PATH = 5  # bytes; anything shorter occurs by chance
_SHORTEST_SECRET = 8  # a placeholder such as "EMPTY", which local servers accept, is no secret

# (what it is, a byte string that must occur for the pattern to match at all, pattern)
_SHAPES: tuple[tuple[str, bytes, bytes], ...] = (
    ("a private key", b"PRIVATE KEY", rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY"),
    ("a private key", b"PuTTY-User-Key", rb"PuTTY-User-Key-File-[0-9]"),
    ("a private key", b"AGE-SECRET-KEY-1", rb"AGE-SECRET-KEY-1[A-Z0-9]{20,}"),
    ("an API key", b"sk-", _BEFORE + rb"sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}"),
    ("an API key", b"AIza", _BEFORE + rb"AIza[A-Za-z0-9_-]{35}" + _AFTER),
    ("an API key", b"xai-", _BEFORE + rb"xai-[A-Za-z0-9]{20,}"),
    ("an API key", b"gsk_", _BEFORE + rb"gsk_[A-Za-z0-9]{20,}"),
    ("an API key", b"hf_", _BEFORE + rb"hf_[A-Za-z0-9]{20,}"),
    ("an API key", b"AKIA", _BEFORE + rb"(?:AKIA|ASIA)[A-Z0-9]{16}" + _AFTER),
    ("an API key", b"ASIA", _BEFORE + rb"ASIA[A-Z0-9]{16}" + _AFTER),
    ("an API key", b"gh", _BEFORE + rb"(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{40,})"),
    ("an API key", b"glpat-", _BEFORE + rb"glpat-[A-Za-z0-9_-]{20,}"),
    ("an API key", b"xox", _BEFORE + rb"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("an API key", b"pypi-", _BEFORE + rb"pypi-[A-Za-z0-9_-]{50,}"),
    ("an access token", b"ya29.", _BEFORE + rb"ya29\.[A-Za-z0-9_-]{20,}"),
    (
        "an access token",
        b"eyJ",
        _BEFORE + rb"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    ),
    ("an access token", b"earer ", rb"\b[Bb]earer [A-Za-z0-9._+/=-]{20,}"),
    ("a password in a URL", b"://", rb"[a-z][a-z0-9+.-]*://[^\s/:@\"'<>]{1,64}:[^\s/:@\"'<>]{1,128}@"),
    ("a local path", b"home", _BEFORE + _SEPARATOR + rb"home" + _SEPARATOR + rb"[A-Za-z_][A-Za-z0-9._-]*"),
    ("a local path", b"Users", _BEFORE + _SEPARATOR + rb"Users" + _SEPARATOR + rb"[A-Za-z_][A-Za-z0-9._-]*"),
    ("a local path", b"Users", rb"\b[A-Za-z]:" + _SEPARATOR + rb"Users" + _SEPARATOR + rb"[^\s\\/\"]+"),
    ("a local path", b"root", _BEFORE + _SEPARATOR + rb"root" + _SEPARATOR + rb"[A-Za-z0-9._-]+"),
)
_COMPILED = tuple((what, needle, re.compile(pattern)) for what, needle, pattern in _SHAPES)


@dataclass(frozen=True)
class Finding:
    """Something that must not be published: the file, its line (from 1), and what it is."""

    path: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path} line {self.line}: {self.what}"


@dataclass(frozen=True)
class Forbidden:
    """What must not be published beyond the known shapes.

    Attributes
    ----------
    secrets : secret bytes of 32 bytes with what they are; found raw, in hex and in base64.
    texts : secret texts with what they are; found as they are.
    paths : folders of this machine.
    """

    secrets: tuple[tuple[str, bytes], ...] = ()
    texts: tuple[tuple[str, str], ...] = ()
    paths: tuple[str, ...] = ()


def scan(files: Mapping[str, bytes], forbidden: Forbidden) -> list[Finding]:
    """Every place at which one of the files holds what must not be published, first of its kind a line."""
    patterns = [*_COMPILED, *_path_patterns(forbidden)]
    literals = list(_literals(forbidden))
    found: dict[Finding, None] = {}
    for path, data in files.items():
        places = [(what, place) for what, literal in literals for place in _places(data, literal)]
        for what, needle, pattern in patterns:
            if needle in data:
                places += [(what, match.start()) for match in pattern.finditer(data)]
        for what, place in places:
            found[Finding(path, data.count(b"\n", 0, place) + 1, what)] = None
    return sorted(found, key=lambda one: (one.path, one.line, one.what))


def _places(data: bytes, literal: bytes) -> Iterator[int]:
    """Where a byte string occurs; a workspace has thousands of them to look for, so no pattern is made."""
    place = data.find(literal)
    while place >= 0:
        yield place
        place = data.find(literal, place + len(literal))


def _literals(forbidden: Forbidden) -> Iterator[tuple[str, bytes]]:
    for what, secret in forbidden.secrets:
        for spelling in _spellings(secret):
            yield what, spelling
    for what, text in forbidden.texts:
        if len(text) >= _SHORTEST_SECRET:
            yield what, text.encode()


def _path_patterns(forbidden: Forbidden) -> Iterator[tuple[str, bytes, re.Pattern[bytes]]]:
    for path in forbidden.paths:
        raw = path.rstrip("/").encode()
        if len(raw) >= _SHORTEST_PATH:
            yield "a local path", raw, re.compile(_BEFORE + re.escape(raw) + _AFTER)


def _spellings(secret: bytes) -> Iterable[bytes]:
    # The last character of the base64 depends on what follows, the padding may be left out.
    plain, safe = base64.b64encode(secret), base64.urlsafe_b64encode(secret)
    return {
        secret,
        secret.hex().encode(),
        secret.hex().upper().encode(),
        plain.rstrip(b"=")[:-1],
        safe.rstrip(b"=")[:-1],
    }
