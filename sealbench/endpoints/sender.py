"""How a request leaves: an aiohttp session, without the layers of an HTTP client above it.

Redirects, cookies and authentication are no business of a run, and skipping them saves much of the CPU
of a call. Cookies are never kept: no call may be recognised as following another. With proxy variables
set, httpx with its own proxy support is used instead; tests pass an httpx transport.
"""

from __future__ import annotations

import contextlib
import ssl
import urllib.request
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable

import aiohttp
import httpx

from sealbench.endpoints.base import HttpRequest
from sealbench.http import USER_AGENT, new_client

Reply = tuple[int, dict[str, str], bytes]
Send = Callable[[HttpRequest], Awaitable[Reply]]
MAX_BODY = 64 * 1024 * 1024
CONNECT_TIMEOUT = 30.0
# Below the 5 s after which common servers close idle connections: a request sent into a closing
# connection would count as lost.
KEEPALIVE_SECONDS = 3.0
# What is sent is what a provider's `build_request` says, and nothing that the library would add.
_NOT_ADDED = frozenset({"accept", "accept-encoding", "content-type"})


@contextlib.asynccontextmanager
async def open_sender(
    connections: int, transport: httpx.AsyncBaseTransport | None = None
) -> AsyncIterator[Send]:
    """A function that sends one request and returns status, headers in lower case, and the whole body.

    The body is decoded and at most 64 MB. Errors are those of `failures.FAILURES`.
    """
    if transport is not None:
        try:
            yield _over_httpx(transport.handle_async_request)
        finally:
            await transport.aclose()
    elif urllib.request.getproxies():
        async with new_client(connections=connections) as client:

            async def send(request: httpx.Request) -> httpx.Response:
                return await client.send(request, stream=True)

            yield _over_httpx(send)
    else:
        async with _session(connections) as session:
            yield _over_aiohttp(session)


def _session(connections: int) -> aiohttp.ClientSession:
    context: ssl.SSLContext = httpx.create_ssl_context()
    connector = aiohttp.TCPConnector(limit=connections, keepalive_timeout=KEEPALIVE_SECONDS, ssl=context)
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        # The caller limits an attempt as a whole.
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT),
        skip_auto_headers=_NOT_ADDED,
        headers={"user-agent": USER_AGENT},
    )


def _over_aiohttp(session: aiohttp.ClientSession) -> Send:
    async def send(request: HttpRequest) -> Reply:
        async with session.request(
            request.method,
            request.url,
            headers=request.headers,
            data=request.body,
            allow_redirects=False,
        ) as response:
            body = await _whole(response.content.iter_any())
            return response.status, _lowered(response.raw_headers), body

    return send


def _over_httpx(handle: Callable[[httpx.Request], Awaitable[httpx.Response]]) -> Send:
    async def send(request: HttpRequest) -> Reply:
        outgoing = httpx.Request(
            request.method,
            request.url,
            headers={"user-agent": USER_AGENT, **request.headers},
            content=request.body,
            extensions={"timeout": {"connect": CONNECT_TIMEOUT}},
        )
        response = await handle(outgoing)
        try:
            body = await _whole(response.aiter_bytes())
        finally:
            await response.aclose()
        return response.status_code, _lowered(response.headers.raw), body

    return send


async def _whole(chunks: AsyncIterable[bytes]) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for chunk in chunks:
        size += len(chunk)
        if size > MAX_BODY:
            raise httpx.ReadError(f"body longer than {MAX_BODY} bytes")
        parts.append(chunk)
    return b"".join(parts)


def _lowered(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    # Not a library's mapping: guessing each header's encoding costs more than the rest of the answer.
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in raw}
