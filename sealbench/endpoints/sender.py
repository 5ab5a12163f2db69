"""How a request leaves: the aiohttp transport itself, without the layers of an HTTP client above it.

Redirects, cookies and authentication are no business of a run, and skipping them saves a quarter of
the CPU of a call. Cookies are never kept: no call may be recognised as following another. With proxy
variables set, an `httpx.AsyncClient` with its own proxy support is used instead.
"""

from __future__ import annotations

import contextlib
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx

from sealbench.http import new_client

Send = Callable[[httpx.Request], Awaitable[httpx.Response]]
# Below the 5 s after which common servers close idle connections: a request sent into a closing
# connection would count as lost.
KEEPALIVE_SECONDS = 3.0


@contextlib.asynccontextmanager
async def open_sender(
    connections: int, transport: httpx.AsyncBaseTransport | None = None
) -> AsyncIterator[Send]:
    """A function that sends one request and returns the response with its body still to be read."""
    if transport is None and urllib.request.getproxies():
        async with new_client(connections=connections) as client:

            async def send(request: httpx.Request) -> httpx.Response:
                return await client.send(request, stream=True)

            yield send
        return
    used = transport if transport is not None else _aiohttp_transport(connections)
    try:
        yield used.handle_async_request
    finally:
        await used.aclose()


def _aiohttp_transport(connections: int) -> httpx.AsyncBaseTransport:
    import aiohttp
    from httpx_aiohttp import AiohttpTransport

    context = httpx.create_ssl_context()

    def session() -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(limit=connections, keepalive_timeout=KEEPALIVE_SECONDS, ssl=context)
        return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())

    found: httpx.AsyncBaseTransport = AiohttpTransport(verify=context, client=session)
    return found
