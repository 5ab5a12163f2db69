"""One attempt from request to redacted response: built with the key, sent, read, secrets taken out.

This is all of a call that needs the key, so it is what runs on a worker when there are workers. What
comes back holds neither key nor account; what it means is decided where the log is written.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from sealbench.endpoints.base import EndpointSettings, get_provider
from sealbench.endpoints.calls import AttemptOutcome, Call
from sealbench.endpoints.failures import FAILURES, classify
from sealbench.endpoints.redaction import redact_body, redact_headers, redact_text
from sealbench.endpoints.sender import Send
from sealbench.http import printable


@dataclass(frozen=True)
class Response:
    """A whole response, redacted."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Failure:
    """No response: how the attempt ended, in words, and whether asking again is useless."""

    outcome: AttemptOutcome
    error: str
    final: bool = False


Delivery = Response | Failure
Deliver = Callable[[Call], Awaitable[Delivery]]


class Courier(Protocol):
    """Delivers the attempts of one endpoint, from here or from elsewhere.

    `allowance`: seconds that a delivery may take beyond the endpoint's own time limit.
    """

    allowance: float

    def place(self, stopped: asyncio.Event) -> AbstractAsyncContextManager[Deliver]:
        """Wait for a place to deliver from, and hold it; given up once `stopped` is set."""
        ...

    def wake(self) -> None:
        """`stopped` was set: whoever waits for a place looks again."""
        ...


class LocalCourier:
    """Delivers from this process."""

    allowance = 0.0

    def __init__(self, settings: EndpointSettings, api_key: str | None, send: Send) -> None:
        async def deliver_call(call: Call) -> Delivery:
            return await deliver(settings, api_key, send, call.prompt, call.cap)

        self._place: contextlib.nullcontext[Deliver] = contextlib.nullcontext(deliver_call)

    def place(self, stopped: asyncio.Event) -> AbstractAsyncContextManager[Deliver]:
        """There is always a place."""
        return self._place

    def wake(self) -> None:
        """Nobody ever waits."""


async def deliver(
    settings: EndpointSettings, api_key: str | None, send: Send, prompt: str, cap: int
) -> Delivery:
    """Send one request and return what came of it, redacted; a broken exchange is a Failure.

    Raises ConfigurationError for a setting that cannot be sent. The caller limits the time.
    """
    request = get_provider(settings.provider).build_request(prompt, cap, settings, api_key)
    try:
        status, headers, body = await send(request)
    except FAILURES as error:
        outcome, final = classify(error)
        text = redact_text(printable(f"{type(error).__name__}: {error}", 200), api_key)
        return Failure(outcome, text, final)
    return Response(status, redact_headers(headers, api_key), redact_body(body, api_key))


def too_late(settings: EndpointSettings) -> Failure:
    """What an attempt is that had no whole answer in time."""
    return Failure("timeout", f"no whole answer within {settings.limits.timeout:g} s")
