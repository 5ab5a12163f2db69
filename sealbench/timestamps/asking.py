"""One bounded request to a calendar, an explorer or a node, whose failures are all NetworkError."""

from __future__ import annotations

import aiohttp
import httpx

from sealbench.errors import NetworkError
from sealbench.http import Answer, fetch, printable


async def ask(
    client: httpx.AsyncClient,
    method: str,
    url: str,
    *,
    limit: int,
    timeout: float,
    content: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> Answer:
    """As `sealbench.http.fetch`, and without compression, which would stretch the limit of bytes.

    The aiohttp transport lets a few of its own errors through (an answer that is not HTTP at all); they
    become NetworkError here.
    """
    plain = {"accept-encoding": "identity"} | (headers or {})
    try:
        return await fetch(client, method, url, limit=limit, timeout=timeout, content=content, headers=plain)
    except aiohttp.ClientError as error:
        raise NetworkError(f"{url}: {type(error).__name__}: {printable(str(error))}") from error
