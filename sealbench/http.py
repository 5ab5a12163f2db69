"""The one place where HTTP clients are made, and the one bounded way to read an answer or a file.

Transports stay replaceable: tests pass `httpx.MockTransport`. The aiohttp transport is several
times cheaper per request than httpx's own; it does not read proxy variables, so with a proxy set
httpx's own transport is used. Redirects are never followed.
"""

from __future__ import annotations

import asyncio
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import BinaryIO

import aiohttp
import httpx

from sealbench.errors import NetworkError

USER_AGENT = "sealbench"
THIS_MACHINE = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Answer:
    """A small HTTP answer, read whole: status, headers in lower case, at most the allowed bytes."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


def new_client(
    *, connections: int = 16, timeout: float = 30.0, transport: httpx.AsyncBaseTransport | None = None
) -> httpx.AsyncClient:
    """An asynchronous client with at most `connections` open connections and a time limit in seconds."""
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
    headers = {"user-agent": USER_AGENT}
    if transport is None and not urllib.request.getproxies():
        from httpx_aiohttp import AiohttpTransport

        transport = AiohttpTransport(limits=limits)
    # A proxy is for the world outside: servers of this machine are always reached directly.
    mounts = None
    if transport is None:
        mounts = {f"all://{host}": httpx.AsyncHTTPTransport(limits=limits) for host in THIS_MACHINE}
    return httpx.AsyncClient(
        transport=transport,
        mounts=mounts,
        limits=limits,
        timeout=timeout,
        headers=headers,
        follow_redirects=False,
    )


async def fetch(
    client: httpx.AsyncClient,
    method: str,
    url: str,
    *,
    limit: int,
    timeout: float,
    content: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> Answer:
    """One request, its whole answer within `timeout` seconds and `limit` bytes, else NetworkError.

    The time limit covers the body too, so a server that drips bytes costs no more than that.
    """
    body = bytearray()
    status, lowered = await _read_into(
        client, method, url, lambda _, chunk: body.extend(chunk), limit, timeout, content, headers
    )
    return Answer(status, bytes(body), lowered)


async def download(
    client: httpx.AsyncClient, url: str, stream: BinaryIO, *, limit: int, timeout: float
) -> Answer:
    """As `fetch` with GET, the body of a 200 written to a stream; the answer's own body stays empty."""

    def keep(status: int, chunk: bytes) -> None:
        if status == HTTPStatus.OK:
            stream.write(chunk)

    plain = {"accept-encoding": "identity"}
    status, lowered = await _read_into(client, "GET", url, keep, limit, timeout, None, plain)
    return Answer(status, b"", lowered)


async def _read_into(
    client: httpx.AsyncClient,
    method: str,
    url: str,
    keep: Callable[[int, bytes], object],
    limit: int,
    timeout: float,
    content: bytes | None,
    headers: dict[str, str] | None,
) -> tuple[int, dict[str, str]]:
    """Hand every piece of the body to `keep(status, piece)`; status and headers in the end."""
    try:
        async with asyncio.timeout(timeout):
            async with client.stream(method, url, content=content, headers=headers) as response:
                size = 0
                async for chunk in response.aiter_bytes():
                    size += len(chunk)
                    if size > limit:
                        raise NetworkError(f"{url}: answer longer than {limit} bytes")
                    keep(response.status_code, chunk)
                return response.status_code, {key.lower(): value for key, value in response.headers.items()}
    except TimeoutError as error:
        raise NetworkError(f"{url}: no whole answer within {timeout:g} s") from error
    # The aiohttp transport lets its own errors through where an answer is not HTTP at all.
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, aiohttp.ClientError, OSError) as error:
        raise NetworkError(f"{url}: {type(error).__name__}: {printable(str(error))}") from error


def printable(text: str, length: int = 120) -> str:
    """Text from outside with control characters replaced and cut to `length`, safe for a terminal."""
    return "".join(char if char.isprintable() else "?" for char in text[: length + 1])[:length]
