"""Calendars that behave, and every way one may not: each costs only itself, in bounded time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
from timestamps_support import DATA

from sealbench.errors import ConfigurationError, FormatError, NetworkError
from sealbench.http import new_client
from sealbench.testing.calendar import Calendar
from sealbench.testing.chain import RegtestChain
from sealbench.timestamps.calendars import (
    NOT_YET_SECONDS,
    AnswerCache,
    SubmitResult,
    UpgradeResult,
    submit,
    upgrade,
)
from sealbench.timestamps.proof import attestations, read_proof

FILES = {Path("a.json"): b"one", Path("b.json"): b"two"}
LIMIT = 0.4
PATIENCE = 30  # far above the limit, far below what a hostile server would keep a client waiting
A, B, C = "https://a.pool.one.example", "https://b.pool.one.example", "https://pool.two.example"
GIBBERISH = b"\x1b]0;owned\x07\x1b[2Jred\r\nmore\xff"


def calendar_app(calendar: Calendar) -> Callable[[httpx.Request], httpx.Response]:
    """The built-in calendar behind any host name."""

    def respond(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            return httpx.Response(
                200, content=calendar.promise(request.content, f"https://{request.url.host}")
            )
        proof, text = calendar.upgrade(bytes.fromhex(request.url.path.rpartition("/")[2]))
        return httpx.Response(404, text=text) if proof is None else httpx.Response(200, content=proof)

    return respond


async def submit_with(transport: Any, calendars: list[str], operators: int) -> SubmitResult:
    async with new_client(transport=transport) as client:
        return await submit(FILES, calendars, minimum_operators=operators, client=client, time_limit=LIMIT)


async def upgrade_with(transport: Any, proof: bytes, whitelist: list[str], **more: Any) -> UpgradeResult:
    async with new_client(transport=transport) as client:
        return await upgrade(proof, whitelist=whitelist, client=client, time_limit=LIMIT, **more)


def stamped(transport: Any, calendars: list[str]) -> bytes:
    return asyncio.run(submit_with(transport, calendars, 1)).proofs[Path("a.json")]


def test_two_operators_are_wanted_and_counted_by_name() -> None:
    app = httpx.MockTransport(calendar_app(Calendar(RegtestChain())))
    result = asyncio.run(submit_with(app, [A, B, C], 2))
    assert result.answered == [A, B, C]
    for proof in result.proofs.values():
        assert [one.uri for one in attestations(read_proof(proof))] == [A, B, C]
    with pytest.raises(NetworkError, match="1 of 2 calendar operators") as caught:
        asyncio.run(submit_with(app, [A, B], 2))
    assert caught.value.hint


def test_a_failing_calendar_costs_only_itself() -> None:
    calendar = Calendar(RegtestChain())

    def respond(request: httpx.Request) -> httpx.Response:
        if request.url.host == "b.pool.one.example":
            return httpx.Response(503, content=GIBBERISH)
        return calendar_app(calendar)(request)

    result = asyncio.run(submit_with(httpx.MockTransport(respond), [A, B, C], 2))
    assert result.answered == [A, C]
    ((failed, reason),) = result.failed
    assert failed == B
    assert "503" in reason
    assert reason.isprintable()


def test_every_calendar_gets_the_same_single_digest() -> None:
    bodies = []

    def respond(request: httpx.Request) -> httpx.Response:
        bodies.append(request.content)
        assert request.headers["accept"] == "application/vnd.opentimestamps.v1"
        return calendar_app(calendar)(request)

    calendar = Calendar(RegtestChain())
    asyncio.run(submit_with(httpx.MockTransport(respond), [A, C], 2))
    assert len(bodies) == 2
    assert len(set(bodies)) == 1
    assert len(bodies[0]) == 32


def test_calendars_must_be_https() -> None:
    app = httpx.MockTransport(calendar_app(Calendar(RegtestChain())))
    with pytest.raises(ConfigurationError, match="https"):
        asyncio.run(submit_with(app, ["http://calendar.example.org"], 1))
    with pytest.raises(NetworkError, match="no calendar configured"):
        asyncio.run(submit_with(app, [], 1))


UNKNOWN = b"\x00" + b"\x01" * 8 + b"\x00"
PROMISE = b"\x00" + bytes.fromhex("83dfe30d2ef90c8e")
BAD_BODIES = {
    "empty": b"",
    "garbage": b"<html>hello</html>",
    "control characters": GIBBERISH,
    "a whole proof for another file": (DATA / "regtest" / "battery-1.txt.ots").read_bytes(),
    "unknown attestation only": UNKNOWN,
    "another hash": b"\x02" + PROMISE + b"\x0a\x09https://x",
    "ripemd160": b"\x03" + PROMISE + b"\x0a\x09https://x",
    "bad URI": PROMISE + b"\x06\x05a b?c",
    "trailing bytes": PROMISE + b"\x0a\x09https://xmore",
    "cut short": PROMISE + b"\x0a\x09https:",
    "too deep": b"\x08" * 300 + PROMISE + b"\x0a\x09https://x",
    "too long": b"\xf0\x01a" * 5000 + PROMISE + b"\x0a\x09https://x",
    "huge height": b"\x00" + bytes.fromhex("0588960d73d71901") + b"\x06\xff\xff\xff\xff\xff\x01",
}


@pytest.mark.parametrize("body", BAD_BODIES.values(), ids=BAD_BODIES.keys())
def test_bad_answers(body: bytes) -> None:
    calendar = Calendar(RegtestChain())
    lying = httpx.MockTransport(
        lambda request: (
            httpx.Response(200, content=body)
            if request.url.host == "pool.two.example"
            else calendar_app(calendar)(request)
        )
    )
    result = asyncio.run(submit_with(lying, [A, C], 1))
    assert result.answered == [A]
    assert result.failed[0][0] == C
    assert result.failed[0][1].isprintable()
    with pytest.raises(NetworkError) as caught:
        asyncio.run(submit_with(lying, [C], 1))
    assert caught.value.message.isprintable()
    # The same as the answer to an upgrade: the proof stays as it was, byte for byte.
    good = httpx.MockTransport(calendar_app(calendar))
    proof = stamped(good, [A])
    upgraded = asyncio.run(
        upgrade_with(httpx.MockTransport(lambda _: httpx.Response(200, content=body)), proof, [A])
    )
    assert (upgraded.proof, upgraded.changed, upgraded.complete) == (proof, False, False)
    assert upgraded.pending == [A]
    assert upgraded.notes[0].startswith(A)
    assert upgraded.notes[0].isprintable()


def redirect(_: str, __: str, ___: bytes) -> bytes:
    return http(302, b"", "location: http://127.0.0.1:1/elsewhere\r\n")


HOSTILE: dict[str, Handler] = {
    "stalls": stalling,
    "drips": dripping,
    "floods": flooding,
    "closes": closing,
    "closes half way": half_closing,
    "speaks no HTTP": babbling,
    "redirects": answering(redirect),
    "fails": answering(lambda *_: http(500, GIBBERISH * 100)),
    "answers 204": answering(lambda *_: http(204, b"")),
}


@pytest.mark.parametrize("handler", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_servers_are_bounded(handler: Handler) -> None:
    async def run() -> None:
        async with raw_server(handler) as port, new_client() as client:
            uri = f"http://127.0.0.1:{port}"
            data = ready.replace(A.encode(), uri.encode().ljust(len(A), b"/"))
            async with asyncio.timeout(PATIENCE):
                with pytest.raises(NetworkError) as caught:
                    await submit(FILES, [uri], minimum_operators=1, client=client, time_limit=LIMIT)
                result = await upgrade(data, whitelist=[uri], client=client, time_limit=LIMIT)
            assert caught.value.message.isprintable()
            assert (result.proof, result.changed) == (data, False)
            assert len(result.notes) == 1
            assert result.notes[0].isprintable()

    ready = stamped(httpx.MockTransport(calendar_app(Calendar(RegtestChain()))), [A])
    asyncio.run(run())


def test_nobody_listens() -> None:
    with pytest.raises(NetworkError):
        asyncio.run(submit_with(None, ["http://127.0.0.1:9"], 1))


def test_upgrade_asks_every_open_calendar_and_keeps_what_was_there() -> None:
    one, two = Calendar(RegtestChain()), Calendar(RegtestChain())
    two.chain.mine(5)
    apps = {"a.pool.one.example": calendar_app(one), "pool.two.example": calendar_app(two)}
    transport = httpx.MockTransport(lambda request: apps[request.url.host](request))
    proof = stamped(transport, [A, C])
    one.mine()
    first = asyncio.run(upgrade_with(transport, proof, [A, C]))
    assert (first.changed, first.complete, first.pending) == (True, True, [C])
    assert "not yet: Pending" in first.notes[0]
    two.mine()
    second = asyncio.run(upgrade_with(transport, first.proof, [A, C]))
    assert (second.changed, second.pending, second.notes) == (True, [], [])
    found = attestations(read_proof(second.proof))
    assert [(found_one.kind, found_one.height) for found_one in found] == [
        ("bitcoin", 1),
        ("bitcoin", 6),
        ("pending", None),
        ("pending", None),
    ]
    third = asyncio.run(upgrade_with(transport, second.proof, [A, C]))
    assert (third.proof, third.changed) == (second.proof, False)


def test_only_the_whitelist_is_asked() -> None:
    asked = []

    def respond(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return calendar_app(calendar)(request)

    calendar = Calendar(RegtestChain())
    proof = stamped(httpx.MockTransport(calendar_app(calendar)), [A, C])
    result = asyncio.run(upgrade_with(httpx.MockTransport(respond), proof, [C]))
    assert asked == ["pool.two.example"]
    assert any("not asked" in text for text in result.notes)


def test_one_request_for_files_stamped_together_and_a_minute_of_patience() -> None:
    asked, now = [], [1000.0]
    calendar = Calendar(RegtestChain())

    def respond(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        return calendar_app(calendar)(request)

    transport = httpx.MockTransport(respond)
    proofs = asyncio.run(submit_with(transport, [A], 1)).proofs.values()
    asked.clear()
    cache = AnswerCache(clock=lambda: now[0])
    for proof in proofs:
        assert not asyncio.run(upgrade_with(transport, proof, [A], cache=cache)).complete
    assert len(asked) == 1
    calendar.mine()
    now[0] += NOT_YET_SECONDS - 1
    for proof in proofs:  # still believed
        assert not asyncio.run(upgrade_with(transport, proof, [A], cache=cache)).complete
    assert len(asked) == 1
    now[0] += 1
    for proof in proofs:
        assert asyncio.run(upgrade_with(transport, proof, [A], cache=cache)).complete
    assert len(asked) == 2


def test_a_refused_attestation_costs_only_its_calendar() -> None:
    """A proof for another digest: an upgrade whose attestation no block bears out."""
    calendar = Calendar(RegtestChain())
    proof = stamped(httpx.MockTransport(calendar_app(calendar)), [A])
    lie = b"\xf0\x01x\x08\x00" + bytes.fromhex("0588960d73d71901") + b"\x01\x05"
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=lie))
    seen = []

    async def refuse(height: int, message: bytes) -> str:
        seen.append((height, len(message)))
        return "its block says otherwise"

    result = asyncio.run(upgrade_with(transport, proof, [A], refuse=refuse))
    assert seen == [(5, 32)]
    assert (result.proof, result.changed, result.complete) == (proof, False, False)
    assert "its block says otherwise" in result.notes[0]


def test_an_answer_that_makes_the_proof_too_deep_is_not_merged() -> None:
    calendar = Calendar(RegtestChain())
    proof = stamped(httpx.MockTransport(calendar_app(calendar)), [A])
    deep = b"\x08" * 253 + PROMISE + b"\x0a\x09https://x"
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=deep))
    result = asyncio.run(upgrade_with(transport, proof, [A]))
    assert (result.proof, result.changed) == (proof, False)
    assert "nested" in result.notes[0]


def test_the_calendars_wording_is_passed_on_clean() -> None:
    calendar = Calendar(RegtestChain())
    proof = stamped(httpx.MockTransport(calendar_app(calendar)), [A])
    transport = httpx.MockTransport(lambda _: httpx.Response(404, content=GIBBERISH * 50))
    (note,) = asyncio.run(upgrade_with(transport, proof, [A])).notes
    assert note.isprintable()
    assert len(note) < 250
    assert "not yet" in note


def test_upgrading_a_file_that_is_no_proof() -> None:
    with pytest.raises(FormatError):
        asyncio.run(upgrade_with(httpx.MockTransport(lambda _: httpx.Response(404)), b"no", []))


def test_real_pending_proofs_ask_the_four_real_calendars() -> None:
    asked = set()

    def respond(request: httpx.Request) -> httpx.Response:
        asked.add(request.url.host)
        return httpx.Response(404, text="Pending confirmation in Bitcoin blockchain")

    from sealbench.timestamps.whitelist import DEFAULT_WHITELIST

    proof = (DATA / "nlnl" / "pending" / "swap.commitment.json.ots").read_bytes()
    result = asyncio.run(upgrade_with(httpx.MockTransport(respond), proof, list(DEFAULT_WHITELIST)))
    assert asked == {
        "alice.btc.calendar.opentimestamps.org",
        "bob.btc.calendar.opentimestamps.org",
        "btc.calendar.catallaxy.com",
        "finney.calendar.eternitywall.com",
    }
    assert len(result.pending) == 4
    done = (DATA / "nlnl" / "swap.commitment.json.ots").read_bytes()
    asked.clear()
    settled = asyncio.run(upgrade_with(httpx.MockTransport(respond), done, list(DEFAULT_WHITELIST)))
    assert settled.complete
    assert (settled.proof, settled.changed) == (done, False)
    assert len(asked) == len(settled.pending)
