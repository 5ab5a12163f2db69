"""Block headers by height, and the file `commitments/headers.bin` that carries them.

Format of the file: magic `SEALHDR` and a version byte; 1 byte length and the network's name in ASCII;
4 bytes number of segments; per segment 4 bytes first height, 4 bytes number of headers, then the
headers of 80 bytes each. Integers big-endian. Segments are in order of height and never touch, so one
set of headers has one encoding. The store checks nothing about the headers; grades.py does.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any

from sealbench.errors import FormatError, ProofFailed
from sealbench.timestamps.links import Links
from sealbench.timestamps.networks import HEADER_SIZE, MAX_HEIGHT, NETWORKS, Header, Network, display

MAGIC = b"SEALHDR\x01"
_HINT = "fetch the headers again with `seal upgrade`"
_LINES = "one line for each: HEIGHT HEADER"


class HeaderStore:
    """Headers of one network, any number of contiguous segments. Never changes after it is made."""

    def __init__(self, headers: Mapping[int, bytes] | None = None, *, network: str = "mainnet") -> None:
        """`headers` maps heights to raw 80-byte headers; FormatError for another length or height."""
        self.network = network
        self._firsts: list[int] = []
        self._packed: list[bytes] = []
        self._links: dict[Network, Links] = {}
        self._pack(headers or {})

    def _pack(self, headers: Mapping[int, bytes]) -> None:
        runs: list[list[bytes]] = []
        expected = -1
        for height in sorted(headers):
            raw = headers[height]
            if not 0 <= height <= MAX_HEIGHT or len(raw) != HEADER_SIZE:
                raise FormatError(f"height {height}: not a height and a header of 80 bytes", hint=_HINT)
            if height != expected:
                self._firsts.append(height)
                runs.append([])
            runs[-1].append(raw)
            expected = height + 1
        self._packed = [b"".join(run) for run in runs]

    def get(self, height: int) -> bytes | None:
        """The raw header at a height, None if it is not here."""
        index = bisect_right(self._firsts, height) - 1
        if index < 0:
            return None
        start = (height - self._firsts[index]) * HEADER_SIZE
        return self._packed[index][start : start + HEADER_SIZE] or None

    def __len__(self) -> int:
        return sum(map(len, self._packed)) // HEADER_SIZE

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HeaderStore):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash((self.network, tuple(self._firsts), tuple(self._packed)))

    def items(self) -> Iterator[tuple[int, bytes]]:
        """Heights and raw headers in order of height."""
        for first, packed in zip(self._firsts, self._packed, strict=True):
            for start in range(0, len(packed), HEADER_SIZE):
                yield first + start // HEADER_SIZE, packed[start : start + HEADER_SIZE]

    def segments(self) -> list[tuple[int, int]]:
        """(first height, number of headers) of each contiguous run."""
        return [
            (first, len(packed) // HEADER_SIZE)
            for first, packed in zip(self._firsts, self._packed, strict=True)
        ]

    def links(self, network: Network) -> Links:
        """What these headers prove about heights under the network's rules; computed once per store."""
        if network not in self._links:
            self._links[network] = Links(self, network)
        return self._links[network]

    def merge(self, other: HeaderStore) -> HeaderStore:
        """Both stores' headers; ProofFailed showing both where they disagree."""
        if len(self) and len(other) and self.network != other.network:
            raise ProofFailed(f"headers of {self.network} and of {other.network} do not belong in one file")
        merged = dict(self.items())
        for height, raw in other.items():
            if merged.setdefault(height, raw) != raw:
                raise disagreement(height, "one source", merged[height], "another", raw)
        return HeaderStore(merged, network=self.network if len(self) else other.network)

    def replaced(self, headers: Mapping[int, bytes]) -> HeaderStore:
        """This store with `headers` in place of what it held at their heights (reorganisations)."""
        return HeaderStore(dict(self.items()) | dict(headers), network=self.network)

    def to_bytes(self) -> bytes:
        """The file `headers.bin` of these headers."""
        name = self.network.encode("ascii")
        parts = [MAGIC, bytes([len(name)]), name, len(self._firsts).to_bytes(4, "big")]
        for (first, count), packed in zip(self.segments(), self._packed, strict=True):
            parts += [first.to_bytes(4, "big"), count.to_bytes(4, "big"), packed]
        return b"".join(parts)

    @classmethod
    def from_bytes(cls, data: bytes) -> HeaderStore:
        """Read `headers.bin` strictly; FormatError unless the bytes are their own re-encoding."""
        if data[: len(MAGIC)] != MAGIC:
            raise FormatError("not a file of packed block headers (wrong first bytes)", hint=_HINT)
        start = len(MAGIC) + 1
        end = start + (data[start - 1] if len(data) >= start else 0)
        try:
            store = cls(network=data[start:end].decode("ascii"))
        except UnicodeDecodeError as error:
            raise FormatError("packed block headers: the network's name is not ASCII", hint=_HINT) from error
        if store.network not in NETWORKS:
            raise FormatError("packed block headers: of a network this version does not know", hint=_HINT)
        count, at = int.from_bytes(data[end : end + 4], "big"), end + 4
        while at < len(data) and len(store._firsts) < count:
            first, number = (int.from_bytes(data[at + i : at + i + 4], "big") for i in (0, 4))
            store._firsts.append(first)
            store._packed.append(data[at + 8 : at + 8 + number * HEADER_SIZE])
            at += 8 + number * HEADER_SIZE
        if not _in_order(store.segments()) or store.to_bytes() != data:
            raise FormatError("packed block headers: damaged, or not in the one canonical form", hint=_HINT)
        return store

    @classmethod
    def from_json(cls, data: bytes) -> HeaderStore:
        """Headers as JSON.

        Any of: heights to raw header hex; heights to objects with `header_hex`, alone or under
        `headers`; one object with `height` and `header_hex`; or `start_height` with a list
        `headers_hex`. A `network` field names the network, mainnet otherwise.
        """
        try:
            value = json.loads(data)
            network = value.get("network", "mainnet")
            headers = {int(height): bytes.fromhex(text) for height, text in _json_headers(value)}
            return cls(headers, network=str(network))
        except (ArithmeticError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise FormatError(
                f"not a JSON file of block headers ({type(error).__name__})",
                hint='write {"HEIGHT": "RAW HEADER IN 160 HEX DIGITS", …}',
            ) from error

    @classmethod
    def from_lines(cls, data: bytes) -> HeaderStore:
        """Mainnet headers as text, `HEIGHT HEADER` a line: what a shell loop over an explorer gives."""
        headers: dict[int, bytes] = {}
        try:
            for line in data.decode("ascii").splitlines():
                if line.strip():
                    height, text = line.split()
                    headers[int(height)] = bytes.fromhex(text)
        except ValueError as error:
            raise FormatError("not a file of block headers", hint=_LINES) from error
        if not headers:
            raise FormatError("holds no block header", hint=_LINES)
        return cls(headers)

    @classmethod
    def read(cls, data: bytes) -> HeaderStore:
        """A header file of any kind: packed, JSON, or lines."""
        if data[: len(MAGIC)] == MAGIC:
            return cls.from_bytes(data)
        return cls.from_json(data) if data.lstrip()[:1] in {b"{", b"[", b""} else cls.from_lines(data)


def disagreement(height: int, one: str, first: bytes, another: str, second: bytes) -> ProofFailed:
    """The error for two different headers at one height, showing both hashes."""
    return ProofFailed(
        f"two different headers for block {height}: {display(Header(first).hash)} from {one}, "
        f"{display(Header(second).hash)} from {another}",
        hint="ask a third source (`seal doctor` lists them) and remove the one that is wrong",
    )


def _in_order(segments: list[tuple[int, int]]) -> bool:
    ends = [first + count for first, count in segments]
    touching = any(end >= first for end, (first, _) in zip(ends, segments[1:], strict=False))
    return not touching and all(count > 0 for _, count in segments) and max(ends, default=0) <= MAX_HEIGHT + 1


def _json_headers(value: dict[str, Any]) -> Iterator[tuple[Any, str]]:
    if "headers_hex" in value:
        yield from enumerate(value["headers_hex"], start=value["start_height"])
    elif "header_hex" in value:
        yield value["height"], value["header_hex"]
    else:
        for height, entry in value.get("headers", value).items():
            if str(height).isdecimal():
                yield height, entry["header_hex"] if isinstance(entry, dict) else entry
