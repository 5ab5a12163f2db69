"""Headers from Esplora-style block explorers, asked side by side.

    GET /block-height/H      the block's hash, 64 hex digits
    GET /block/HASH/header   the header, 160 hex digits
    GET /blocks/tip/height   the newest height

An explorer cannot pass off one block's header under another's hash, since the hash is recomputed here;
whether the block belongs at that height is for grades.py and for a second explorer to say.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

import httpx

from sealbench.crypto.digest import sha256d
from sealbench.errors import ConfigurationError, NetworkError
from sealbench.http import Answer, printable
from sealbench.timestamps.asking import ask
from sealbench.timestamps.gathering import gather_all
from sealbench.timestamps.header_store import disagreement
from sealbench.timestamps.networks import MAX_HEIGHT, display
from sealbench.timestamps.whitelist import split_address

DEFAULT_EXPLORERS = ("https://blockstream.info/api", "https://mempool.space/api")
ANSWER_LIMIT = 1_000  # bytes; the longest right answer has 161
TIME_LIMIT = 15.0  # seconds per request
_AT_ONCE = 8  # requests to one explorer at a time, out of courtesy
_PATIENCE = 8  # failures to answer at all, in a row, after which an explorer is left alone


class Explorer:
    """One explorer at `url` (https, or http on loopback; with its path, such as `/api`)."""

    bulk = False

    def __init__(self, url: str, client: httpx.AsyncClient, *, time_limit: float = TIME_LIMIT) -> None:
        split_address(url)
        self.name = url.rstrip("/")
        self._client = client
        self._time_limit = time_limit
        self._gate = asyncio.Semaphore(_AT_ONCE)
        self._failures = 0

    async def header(self, height: int) -> bytes:
        """The 80 bytes of the header at a height; NetworkError for anything else."""
        block_hash = await self._get(f"/block-height/{height}", r"[0-9a-f]{64}")
        text = await self._get(f"/block/{block_hash}/header", r"[0-9a-f]{160}")
        raw = bytes.fromhex(text)
        if display(sha256d(raw)) != block_hash:
            raise NetworkError(f"{self.name}: its header for block {height} does not have the hash it names")
        return raw

    async def headers(self, first: int, count: int) -> list[bytes]:
        """`count` consecutive headers, two requests each."""
        return await gather_all(self.header(first + index) for index in range(count))

    async def tip(self) -> int:
        """The newest height it knows."""
        return min(int(await self._get("/blocks/tip/height", r"[0-9]{1,10}")), MAX_HEIGHT)

    async def get(self, path: str, *, limit: int = ANSWER_LIMIT) -> Answer:
        """The answer to one GET, whatever its status; NetworkError if there is none within the limits."""
        async with self._gate:
            if self._failures >= _PATIENCE:
                raise NetworkError(f"{self.name}: left alone after {_PATIENCE} failures in a row")
            try:
                answer = await ask(
                    self._client, "GET", self.name + path, limit=limit, timeout=self._time_limit
                )
            except NetworkError:
                self._failures += 1
                raise
            self._failures = 0
            return answer

    async def _get(self, path: str, pattern: str) -> str:
        answer = await self.get(path)
        text = answer.body.decode("ascii", "replace").strip()
        if answer.status != 200:
            raise NetworkError(f"{self.name}{path}: answered {answer.status}: {printable(text) or 'no text'}")
        if not re.fullmatch(pattern, text):
            raise NetworkError(f"{self.name}{path}: not the answer of an explorer: {printable(text, 60)}")
        return text


class Explorers:
    """Several explorers as one source: all are asked, and they must not disagree."""

    bulk = False

    def __init__(self, explorers: Sequence[Explorer]) -> None:
        if not explorers:
            raise ConfigurationError("no explorer configured", hint="add one under `explorers`")
        self._explorers = tuple(explorers)
        self.name = ", ".join(explorer.name for explorer in explorers)

    async def header(self, height: int) -> bytes:
        """The header all that answer agree on.

        Raises NetworkError if none answers, ProofFailed showing both if two disagree.
        """
        found: dict[str, bytes] = {}
        failed: list[str] = []

        async def ask(explorer: Explorer) -> None:
            try:
                found[explorer.name] = await explorer.header(height)
            except NetworkError as error:
                failed.append(error.message)

        await gather_all(map(ask, self._explorers))
        if not found:
            raise NetworkError("no explorer answered: " + "; ".join(failed), hint="try again later")
        (name, raw), *others = sorted(found.items())
        for other, different in others:
            if different != raw:
                raise disagreement(height, name, raw, other, different)
        return raw

    async def headers(self, first: int, count: int) -> list[bytes]:
        """`count` consecutive headers."""
        return await gather_all(self.header(first + index) for index in range(count))

    async def tip(self) -> int:
        """The highest tip that any of them names."""
        tips = await asyncio.gather(*(one.tip() for one in self._explorers), return_exceptions=True)
        heights = [tip for tip in tips if isinstance(tip, int)]
        if not heights:
            raise NetworkError(f"{self.name}: no explorer names its newest block", hint="try again later")
        return max(heights)
