"""Esplora explorers that answer, lie, disagree and misbehave."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from scripted_servers import (
    Handler,
    answering,
    babbling,
    closing,
    dripping,
    flooding,
    half_closing,
    http,
    raw_server,
    stalling,
)
from timestamps_support import DATA, SyntheticChain

from sealbench.errors import ConfigurationError, NetworkError, ProofFailed
from sealbench.http import new_client
from sealbench.testing.calendar import explore
from sealbench.testing.chain import RegtestChain
from sealbench.timestamps.bitcoin import MAINNET, REGTEST, Header, HeaderStore, display, grade_attestation
from sealbench.timestamps.explorer import Explorer, Explorers
from sealbench.timestamps.headers import HeaderSource, complete_headers

LIMIT = 0.4
ONE, TWO = "https://one.example/api", "https://two.example/api"
REAL = HeaderStore.read((DATA / "headers_mainnet.json").read_bytes())


def esplora(headers: HeaderStore, tip: int = 958000) -> httpx.MockTransport:
    """An explorer that serves these headers."""
    by_hash = {display(Header(raw).hash): raw for _, raw in headers.items()}

    def respond(request: httpx.Request) -> httpx.Response:
        parts = request.url.path.removeprefix("/api").strip("/").split("/")
        if parts[0] == "block-height" and (raw := headers.get(int(parts[1]))):
            return httpx.Response(200, text=display(Header(raw).hash))
        if parts[0] == "block" and parts[1] in by_hash:
            return httpx.Response(200, text=by_hash[parts[1]].hex())
        if parts == ["blocks", "tip", "height"]:
            return httpx.Response(200, text=str(tip))
        return httpx.Response(404, text="Block not found")

    return httpx.MockTransport(respond)


def test_headers_and_tip() -> None:
    chain = RegtestChain()
    chain.mine(10)

    async def run() -> None:
        def respond(method: str, path: str, _: bytes) -> bytes:
            status, _, body = explore(chain, path)
            return http(status, body)

        async with raw_server(answering(respond)) as port, new_client() as client:
            source: HeaderSource = Explorer(f"http://127.0.0.1:{port}/", client)
            assert await source.tip() == 10
            assert await source.header(3) == chain.header(3)
            assert await source.headers(2, 8) == [chain.header(height) for height in range(2, 10)]
            with pytest.raises(NetworkError, match="404"):
                await source.headers(8, 9)

    asyncio.run(run())


def test_addresses_are_checked() -> None:
    client = new_client(transport=esplora(REAL))
    for url in ("http://explorer.example", "ftp://x", ""):
        with pytest.raises(ConfigurationError):
            Explorer(url, client)
    with pytest.raises(ConfigurationError):
        Explorers([])
    asyncio.run(client.aclose())


HOSTILE: dict[str, Handler] = {
    "stalls": stalling,
    "drips": dripping,
    "floods": flooding,
    "closes": closing,
    "closes half way": half_closing,
    "speaks no HTTP": babbling,
    "redirects elsewhere": answering(lambda *_: http(302, b"", "location: http://127.0.0.1:1/\r\n")),
    "page": answering(lambda *_: http(200, b"<html>\x1b[2J</html>")),
    "another block's header": answering(
        lambda _, path, __: http(
            200, (REAL.get(358391) or b"").hex().encode() if "header" in path else b"ab" * 32
        )
    ),
    "truncated header": answering(
        lambda _, path, __: http(200, b"00" * 79 if "header" in path else b"ab" * 32)
    ),
}


@pytest.mark.parametrize("handler", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_explorers_are_bounded(handler: Handler) -> None:
    async def run() -> None:
        async with raw_server(handler) as port, new_client() as client:
            source = Explorer(f"http://127.0.0.1:{port}", client, time_limit=LIMIT)
            notes: list[str] = []
            # Far above the limit, far below what these servers would keep a client waiting.
            async with asyncio.timeout(30):
                store = await complete_headers(HeaderStore(), [358391], [source], MAINNET, note=notes.append)
            assert len(store) == 0
            assert notes
            assert all(note.isprintable() for note in notes)

    asyncio.run(run())


async def completed(transport: httpx.MockTransport, height: int, notes: list[str]) -> HeaderStore:
    async with new_client(transport=transport) as client:
        sources = [Explorers([Explorer(ONE, client)])]
        return await complete_headers(HeaderStore(), [height], sources, MAINNET, note=notes.append)


def test_real_headers_are_taken_and_graded() -> None:
    for height, raw in REAL.items():
        notes: list[str] = []
        store = asyncio.run(completed(esplora(REAL), height, notes))
        assert dict(store.items()) == {height: raw}
        graded = grade_attestation(Header(raw).merkle_root, height, store, MAINNET)
        assert graded.grade == "proof-of-work"


@pytest.mark.parametrize("height", [800000, 958012, 5])
def test_an_easy_header_is_never_taken(height: int) -> None:
    easy = HeaderStore.read((DATA / "attacks" / "easy-header.json").read_bytes()).get(800000)
    assert easy is not None
    notes: list[str] = []
    store = asyncio.run(completed(esplora(HeaderStore({height: easy})), height, notes))
    assert len(store) == 0
    assert any("not taken" in note and "207fffff" in note for note in notes)


def test_a_header_of_another_period_is_not_taken() -> None:
    notes: list[str] = []
    moved = HeaderStore({428648: REAL.get(358391) or b""})
    assert len(asyncio.run(completed(esplora(moved), 428648, notes))) == 0
    assert "required" in notes[0]


def test_a_header_of_another_height_of_the_period_is_a_mismatch() -> None:
    moved = HeaderStore({358392: REAL.get(358391) or b""})
    store = asyncio.run(completed(esplora(moved), 358392, []))
    assert grade_attestation(b"\1" * 32, 358392, store, MAINNET).grade == "mismatch"


def both(one: httpx.MockTransport, two: httpx.MockTransport) -> httpx.MockTransport:
    def respond(request: httpx.Request) -> httpx.Response:
        chosen = one if request.url.host == "one.example" else two
        answer = chosen.handler(request)
        assert isinstance(answer, httpx.Response)
        return answer

    return httpx.MockTransport(respond)


async def ask_both(transport: httpx.MockTransport, height: int) -> bytes:
    async with new_client(transport=transport) as client:
        return await Explorers([Explorer(ONE, client), Explorer(TWO, client)]).header(height)


def test_disagreeing_explorers_are_an_error_that_shows_both(synthetic: SyntheticChain) -> None:
    one, two = HeaderStore({5: synthetic.headers[5]}), HeaderStore({5: synthetic.headers[6]})
    with pytest.raises(ProofFailed) as caught:
        asyncio.run(ask_both(both(esplora(one), esplora(two)), 5))
    for part in (
        ONE,
        TWO,
        display(Header(synthetic.headers[5]).hash),
        display(Header(synthetic.headers[6]).hash),
    ):
        assert part in caught.value.message
    assert asyncio.run(ask_both(both(esplora(one), esplora(one)), 5)) == synthetic.headers[5]


def test_one_silent_explorer_is_no_disagreement(synthetic: SyntheticChain) -> None:
    one, nothing = HeaderStore({5: synthetic.headers[5]}), HeaderStore()
    assert asyncio.run(ask_both(both(esplora(one), esplora(nothing)), 5)) == synthetic.headers[5]
    with pytest.raises(NetworkError, match="no explorer answered"):
        asyncio.run(ask_both(both(esplora(nothing), esplora(nothing)), 5))


def test_the_higher_tip_counts() -> None:
    async def run() -> None:
        transport = both(esplora(REAL, 5), esplora(REAL, 7))
        async with new_client(transport=transport) as client:
            assert await Explorers([Explorer(ONE, client), Explorer(TWO, client)]).tip() == 7
        async with new_client(transport=httpx.MockTransport(lambda _: httpx.Response(500))) as client:
            with pytest.raises(NetworkError, match="newest"):
                await Explorers([Explorer(ONE, client)]).tip()

    asyncio.run(run())


def test_heights_are_asked_for_once_and_in_parallel() -> None:
    chain, asked, at_once = RegtestChain(), list[str](), [0, 0]
    chain.mine(40)

    async def run() -> HeaderStore:
        async def respond(request: httpx.Request) -> httpx.Response:
            at_once[0] += 1
            at_once[1] = max(at_once)
            asked.append(request.url.path)
            await asyncio.sleep(0.002)
            at_once[0] -= 1
            status, _, body = explore(chain, request.url.path.removeprefix("/api"))
            return httpx.Response(status, content=body)

        async with new_client(transport=httpx.MockTransport(respond)) as client:
            sources = [Explorer(ONE, client)]
            return await complete_headers(HeaderStore(), [3, 3, 20, 7], sources, REGTEST)

    store = asyncio.run(run())
    assert store.segments() == [(0, 27)]
    assert len(asked) == len(set(asked)) == 2 * 26 + 1
    assert 4 <= at_once[1] <= 8
