"""What a broken exchange was: no connection, a broken one, or no answer in time.

The difference matters: a connection that broke after the request left may have cost a long thought,
so it is data; a connection that never stood is no response at all.
"""

from __future__ import annotations

import ssl

import aiohttp
import httpx

from sealbench.endpoints.calls import AttemptOutcome

FAILURES = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, aiohttp.ClientError, OSError)


def classify(error: BaseException) -> tuple[AttemptOutcome, bool]:
    """(outcome of an attempt that raised, whether asking again is useless).

    The aiohttp transport reports a connection that broke in use as a connect time-out; what really
    happened is in the cause.
    """
    chain: list[BaseException] = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None and cause not in chain:
        chain.append(cause)
    if any(isinstance(item, ssl.SSLCertVerificationError) for item in chain):
        return "connection", True
    if isinstance(error, (httpx.UnsupportedProtocol, httpx.InvalidURL, aiohttp.InvalidURL)):
        return "connection", True
    if any(
        isinstance(item, (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)) for item in chain
    ):
        return "connection", False
    broken = any(isinstance(item, (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)) for item in chain)
    if not broken and isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError)):
        return "connection", False
    if not broken and isinstance(error, httpx.TimeoutException):
        return "timeout", False
    return "lost", False
