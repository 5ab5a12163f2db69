"""Long runs of headers out of an explorer's pages: right ones, and those of explorers that lie or tire."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest
from timestamps_support import SyntheticChain

from sealbench.errors import NetworkError, ProofFailed
from sealbench.http import new_client
from sealbench.testing.calendar import explore
from sealbench.testing.chain import RegtestChain
from sealbench.timestamps.bitcoin import CheckpointTable, Header, display
from sealbench.timestamps.checkpoint_update import fetch_newer_table
from sealbench.timestamps.explorer import Explorer
from sealbench.timestamps.explorer_pages import ExplorerPages

URL = "https://explorer.example/api"
Respond = Callable[[httpx.Request], httpx.Response]


def listed(height: int, raw: bytes) -> dict[str, Any]:
    header = Header(raw)
    return {
        "id": display(header.hash),
        "height": height,
        "version": int.from_bytes(raw[:4], "little"),
        "timestamp": header.time,
        "bits": header.bits,
        "nonce": int.from_bytes(raw[76:], "little"),
        "merkle_root": display(header.merkle_root),
        "previousblockhash": display(header.previous),
        "extras": {"ignored": 0.5},
    }


def pages(headers: list[bytes], *, size: int = 10, asked: list[str] | None = None) -> Respond:
    def respond(request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/api")
        if asked is not None:
            asked.append(path)
        if path == "/blocks/tip/height":
            return httpx.Response(200, text=str(len(headers) - 1))
        if not path.startswith("/blocks/"):
            return httpx.Response(404, text="Block not found")
        top = int(path.removeprefix("/blocks/"))
        blocks = [listed(height, headers[height]) for height in range(top, max(top - size, -1), -1)]
        return httpx.Response(200, json=blocks)

    return respond


def read(respond: Respond, first: int, count: int) -> list[bytes]:
    async def run() -> list[bytes]:
        async with new_client(transport=httpx.MockTransport(respond)) as client:
            source = ExplorerPages(Explorer(URL, client, time_limit=1), pauses=(0.0, 0.0))
            return await source.headers(first, count)

    return asyncio.run(run())


@pytest.mark.parametrize("size", [1, 10, 15])
def test_headers_of_every_page_size(synthetic: SyntheticChain, size: int) -> None:
    asked: list[str] = []
    respond = pages(synthetic.headers, size=size, asked=asked)
    assert read(respond, 100, 41) == synthetic.headers[100:141]
    assert len(asked) == len(set(asked)) == -(-41 // size)
    assert read(respond, 0, 3) == synthetic.headers[:3]


def test_the_built_in_explorer_lists_blocks_too() -> None:
    chain = RegtestChain()
    chain.mine(25)

    def respond(request: httpx.Request) -> httpx.Response:
        status, _, body = explore(chain, request.url.path.removeprefix("/api"))
        return httpx.Response(status, content=body)

    assert read(respond, 0, 26) == [raw for _, raw in chain.headers().items()]
    with pytest.raises(NetworkError, match="status 404"):
        read(respond, 20, 10)


def test_a_newer_table_out_of_pages(synthetic: SyntheticChain) -> None:
    table = synthetic.network.checkpoints
    older = replace(synthetic.network, checkpoints=CheckpointTable(table.hashes[:1], table.bits[:1]))

    def fetch(headers: list[bytes]) -> CheckpointTable:
        async def run() -> CheckpointTable:
            transport = httpx.MockTransport(pages(headers))
            async with new_client(transport=transport) as client:
                return await fetch_newer_table(older, ExplorerPages(Explorer(URL, client)))

        return asyncio.run(run())

    newer = fetch(synthetic.headers)
    assert len(newer) == 3
    assert newer.hashes[1] == table.hashes[1]
    # One header of another height, with a hash of its own, in the second period: nothing is taken.
    lying = [*synthetic.headers[:3000], synthetic.headers[3001], *synthetic.headers[3001:]]
    with pytest.raises(ProofFailed, match="does not link"):
        fetch(lying)


def test_a_busy_explorer_is_asked_again_and_not_for_ever(synthetic: SyntheticChain) -> None:
    seen: dict[str, int] = {}

    def busy(times: int) -> Respond:
        def respond(request: httpx.Request) -> httpx.Response:
            path = request.url.path
            seen[path] = seen.get(path, 0) + 1
            if seen[path] <= times:
                return httpx.Response(429, text="slow down")
            return pages(synthetic.headers)(request)

        return respond

    assert read(busy(2), 5, 8) == synthetic.headers[5:13]
    seen.clear()
    with pytest.raises(NetworkError, match="status 429"):
        read(busy(9), 5, 8)
    assert set(seen.values()) == {3}


def changed(**fields: Any) -> Callable[[list[dict[str, Any]]], Any]:
    return lambda blocks: [blocks[0] | fields, *blocks[1:]]


@pytest.mark.parametrize(
    "change",
    [
        changed(nonce=1),
        changed(id="00" * 32),
        changed(id=None),
        changed(height=7),
        changed(height="x"),
        changed(bits=-1),
        changed(bits=1 << 40),
        changed(merkle_root="zz"),
        changed(version=None),
        lambda blocks: blocks[1:],
        lambda blocks: [blocks[0], *blocks[2:]],
        lambda blocks: [],
        lambda blocks: {},
        lambda blocks: {"blocks": blocks},
        lambda blocks: [1, 2],
        lambda blocks: None,
    ],
)
def test_wrong_pages(synthetic: SyntheticChain, change: Callable[[Any], Any]) -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        blocks = json.loads(pages(synthetic.headers)(request).content)
        return httpx.Response(200, json=change(blocks))

    with pytest.raises(NetworkError):
        read(respond, 100, 10)


@pytest.mark.parametrize("body", [b"", b"\xff", b"[" * 100_000, b"x" * 500_000])
def test_rubbish_and_floods(body: bytes) -> None:
    with pytest.raises(NetworkError):
        read(lambda _: httpx.Response(200, content=body), 100, 10)


def test_a_dead_explorer_is_left_alone() -> None:
    asked = []

    def respond(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        raise httpx.ConnectError("refused")

    async def run() -> None:
        async with new_client(transport=httpx.MockTransport(respond)) as client:
            explorer = Explorer(URL, client)
            results = await asyncio.gather(*map(explorer.header, range(100)), return_exceptions=True)
            assert all(isinstance(result, NetworkError) for result in results)
            assert "left alone" in str(results[-1])

    asyncio.run(run())
    assert len(asked) < 20
