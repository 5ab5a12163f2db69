"""Thousands of headers in a row from an Esplora-style explorer, ten or so a request.

    GET /blocks/H   the blocks from height H down, newest first, as JSON

A header is put together from its six fields, and counts only if it has the hash the explorer names for
it. This is for `seal headers update` on a machine with neither node nor Electrum server: a period of
2016 blocks takes about 200 requests.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from sealbench.crypto.digest import sha256d
from sealbench.errors import NetworkError
from sealbench.http import Answer
from sealbench.timestamps.explorer import Explorer
from sealbench.timestamps.gathering import gather_all
from sealbench.timestamps.networks import display

ANSWER_LIMIT = 400_000  # bytes of one page; mempool.space adds statistics to each block
BUSY = frozenset({429, 502, 503, 504})
PAUSES = (1.0, 4.0, 16.0)  # seconds before asking a busy explorer again


class ExplorerPages:
    """One explorer as a source of long runs of headers."""

    bulk = True

    def __init__(self, explorer: Explorer, *, pauses: tuple[float, ...] = PAUSES) -> None:
        self.name = explorer.name
        self._explorer = explorer
        self._pauses = pauses

    async def header(self, height: int) -> bytes:
        """The 80 bytes of the header at a height."""
        return await self._explorer.header(height)

    async def tip(self) -> int:
        """The newest height it knows."""
        return await self._explorer.tip()

    async def headers(self, first: int, count: int) -> list[bytes]:
        """`count` consecutive headers from `first` on; NetworkError if one is missing."""
        last = first + count - 1
        found = await self._page(last)  # its length tells how far apart to ask for the others
        step = len(found)
        for page in await gather_all(map(self._page, range(last - step, first - 1, -step))):
            found.update(page)
        missing = [height for height in range(first, last + 1) if height not in found]
        if missing:
            raise NetworkError(f"{self.name}: its pages leave out block {missing[0]}")
        return [found[height] for height in range(first, last + 1)]

    async def _page(self, height: int) -> dict[int, bytes]:
        """Headers by height of the page that begins at `height`; at least that one."""
        path = f"/blocks/{height}"
        answer = await self._patiently(path)
        try:
            page = {int(block["height"]): _header(block) for block in json.loads(answer.body)}
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            reason = f"{type(error).__name__}, status {answer.status}"
            raise NetworkError(f"{self.name}{path}: not a page of blocks ({reason})") from error
        if sorted(page, reverse=True) != list(range(height, height - len(page), -1)) or not page:
            raise NetworkError(f"{self.name}{path}: not the blocks from {height} down")
        return page

    async def _patiently(self, path: str) -> Answer:
        for pause in self._pauses:
            answer = await self._explorer.get(path, limit=ANSWER_LIMIT)
            if answer.status not in BUSY:
                return answer
            await asyncio.sleep(pause)
        return await self._explorer.get(path, limit=ANSWER_LIMIT)


def _header(block: dict[str, Any]) -> bytes:
    """The 80 bytes of a block's header; ValueError unless they have the hash it is listed under."""
    numbers = [(int(block[name]) & 0xFFFFFFFF).to_bytes(4, "little") for name in ("version", "timestamp")]
    tail = [int(block[name]).to_bytes(4, "little") for name in ("bits", "nonce")]
    previous, root = (bytes.fromhex(block[name])[::-1] for name in ("previousblockhash", "merkle_root"))
    raw = numbers[0] + previous + root + numbers[1] + b"".join(tail)
    if display(sha256d(raw)) != block["id"]:
        raise ValueError("the fields do not have the hash")
    return raw
