"""The Bitcoin Core source against a scripted node on the loopback."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from scripted_servers import (
    Handler,
    babbling,
    closing,
    flooding,
    http,
    raw_server,
    read_request,
    stalling,
)

from sealbench.errors import ConfigurationError, NetworkError
from sealbench.testing.chain import RegtestChain
from sealbench.timestamps.bitcoin import REGTEST, HeaderStore, display
from sealbench.timestamps.core_rpc import CoreNode
from sealbench.timestamps.headers import HeaderSource, complete_headers

LOGIN = "Basic " + base64.b64encode(b"me:secret").decode()


def node(chain: RegtestChain) -> Callable[[dict[str, Any]], Any]:
    """What a node on this chain answers to one call."""
    by_hash = {display(chain.block(height).header.hash): height for height in range(chain.tip + 1)}

    def call(request: dict[str, Any]) -> Any:
        method, params = request["method"], request["params"]
        if method == "getblockcount":
            return {"id": request["id"], "error": None, "result": chain.tip}
        if method == "getblockhash" and params[0] <= chain.tip:
            return {"id": request["id"], "error": None, "result": display(chain.block(params[0]).header.hash)}
        if method == "getblockheader" and params[1] is False and params[0] in by_hash:
            return {"id": request["id"], "error": None, "result": chain.header(by_hash[params[0]]).hex()}
        return {"id": request["id"], "error": {"code": -8, "message": "Block height out of range\x1b[2J"}}

    return call


def serving(respond: Callable[[dict[str, Any]], Any], login: str = LOGIN) -> Handler:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        size = next(
            int(line[15:]) for line in head.lower().split("\r\n") if line.startswith("content-length:")
        )
        body = await reader.readexactly(size)
        if f"authorization: {login}".lower() not in head.lower():
            writer.write(http(401, b""))
        else:
            answers = [respond(call) for call in json.loads(body)]
            writer.write(http(200, json.dumps(list(reversed(answers))).encode()))
        await writer.drain()

    return handle


async def with_node(
    handler: Handler, use: Callable[[CoreNode], Any], time_limit: float = 30, **login: Any
) -> Any:
    async with raw_server(handler) as port:
        login = login or {"user": "me", "password": "secret"}
        source = CoreNode(f"http://127.0.0.1:{port}", time_limit=time_limit, **login)
        try:
            return await use(source)
        finally:
            await source.aclose()


@pytest.fixture(scope="module")
def chain() -> RegtestChain:
    chain = RegtestChain()
    chain.mine(1100)
    return chain


def test_headers_in_batches(chain: RegtestChain) -> None:
    async def use(source: HeaderSource) -> None:
        assert await source.tip() == 1100
        assert await source.header(7) == chain.header(7)
        assert await source.headers(1, 1100) == [chain.header(height) for height in range(1, 1101)]

    asyncio.run(with_node(serving(node(chain)), use))


def test_a_height_reaches_chained_through_a_node(chain: RegtestChain) -> None:
    async def use(source: HeaderSource) -> HeaderStore:
        return await complete_headers(HeaderStore(), [900], [source], REGTEST)

    store = asyncio.run(with_node(serving(node(chain)), use))
    assert store.links(REGTEST).forward.tip == 906


def test_cookie_is_read_afresh(chain: RegtestChain, tmp_path: Path) -> None:
    cookie = tmp_path / ".cookie"

    async def use(source: CoreNode) -> None:
        with pytest.raises(NetworkError, match="cookie file"):
            await source.tip()
        cookie.write_text("__cookie__:old\n")
        with pytest.raises(NetworkError, match="refused the login") as caught:
            await source.tip()
        assert "old" not in caught.value.message
        cookie.write_text("me:secret\n")
        assert await source.tip() == 1100

    asyncio.run(with_node(serving(node(chain)), use, cookie=cookie))


def test_credentials_are_not_shown(chain: RegtestChain) -> None:
    async def use(source: CoreNode) -> None:
        with pytest.raises(NetworkError) as caught:
            await source.tip()
        assert "topsecret" not in str(caught.value) + caught.value.hint + source.name

    asyncio.run(with_node(serving(node(chain)), use, user="me", password="topsecret"))
    with pytest.raises(ConfigurationError) as caught:
        CoreNode("http://me:topsecret@127.0.0.1:8332")
    assert "topsecret" not in caught.value.message
    with pytest.raises(ConfigurationError):
        CoreNode("127.0.0.1:8332")


def test_errors_of_the_node_are_passed_on_clean(chain: RegtestChain) -> None:
    async def use(source: CoreNode) -> None:
        with pytest.raises(NetworkError, match="out of range") as caught:
            await source.headers(1099, 5)
        assert caught.value.message.isprintable()

    asyncio.run(with_node(serving(node(chain)), use))


@pytest.mark.parametrize(
    "answer",
    [{}, {"id": 0}, {"id": 0, "result": 5}, {"id": 0, "result": "zz"}, {"id": 0, "result": "00"}, [], None],
)
def test_wrong_answers(answer: Any) -> None:
    async def use(source: CoreNode) -> None:
        with pytest.raises(NetworkError):
            await source.header(5)

    asyncio.run(with_node(serving(lambda _: answer), use))


@pytest.mark.parametrize("tip", [-1, "5", None, 1.5])
def test_wrong_tips(tip: Any) -> None:
    async def use(source: CoreNode) -> None:
        with pytest.raises(NetworkError):
            await source.tip()

    asyncio.run(with_node(serving(lambda call: {"id": call["id"], "result": tip}), use))


async def text(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await read_request(reader)
    writer.write(http(200, b"Work queue depth exceeded"))
    await writer.drain()


@pytest.mark.parametrize("handler", [stalling, closing, flooding, babbling, text])
def test_broken_nodes(handler: Handler) -> None:
    async def use(source: CoreNode) -> None:
        with pytest.raises(NetworkError) as caught:
            await source.header(5)
        assert caught.value.message.isprintable()

    asyncio.run(with_node(handler, use, time_limit=0.5))


def test_no_proxy_for_the_node(chain: RegtestChain, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    async def use(source: CoreNode) -> None:
        assert await source.tip() == 1100

    asyncio.run(with_node(serving(node(chain)), use))


def test_a_clients_transport_can_be_given() -> None:
    async def run() -> None:
        transport = httpx.MockTransport(lambda _: httpx.Response(200, json=[{"id": 0, "result": 12}]))
        async with httpx.AsyncClient(transport=transport) as client:
            assert await CoreNode("http://127.0.0.1:1", user="a", password="b", client=client).tip() == 12

    asyncio.run(run())
