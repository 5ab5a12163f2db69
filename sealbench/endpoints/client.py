"""One endpoint's client: attempts, retries and waits of one call, journal first.

Every attempt is announced (`before_attempt`) before its request leaves. How it is delivered, from here
or by a worker, is the courier's business, what a response means the provider's, whether it is asked
again that of `retries`; here is only the order of acts.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_result,
    wait_random_exponential,
)

from sealbench.clock import Clock
from sealbench.endpoints.base import EndpointSettings, Parsed, get_provider
from sealbench.endpoints.budget import Cost, Ledger, actual, ceiling
from sealbench.endpoints.calls import Attempt, AttemptOutcome, Call, Outcome, Stopped
from sealbench.endpoints.delivery import Courier, Deliver, Failure, Response, too_late
from sealbench.endpoints.limits import Gate, Pacer
from sealbench.endpoints.retries import Verdict, judge, stated_delay, stop_hint

# After this many calls in a row that ended in a 5xx, the next one stops the endpoint: an outage must
# not use up the plan.
OUTAGE_CALLS = 10
_TIMEOUT_STATUSES = frozenset({408, 504, 524})
BeforeAttempt = Callable[[Call, Attempt], None]
_NOTHING = Cost(0, Decimal(0))


class Halted(Exception):
    """The call is left undone: the run or its endpoint was stopped."""


class StopEndpoint(Exception):
    """No call to this endpoint (or to this cap of it) can succeed."""

    def __init__(self, stopped: Stopped) -> None:
        super().__init__(stopped.reason)
        self.stopped = stopped


@dataclass(frozen=True)
class Try:
    """What became of one attempt."""

    attempt: Attempt
    response: Response | None
    parsed: Parsed
    verdict: Verdict
    delay: float | None = None

    @property
    def limited(self) -> bool:
        """The server said that it was asked too often."""
        return self.verdict == "retry" and (self.attempt.status == 429 or self.parsed.error_status == 429)


class EndpointClient:
    """Asks one endpoint. Not for use from several event loops."""

    def __init__(
        self,
        settings: EndpointSettings,
        courier: Courier,
        *,
        ledger: Ledger,
        before_attempt: BeforeAttempt,
        now: Clock,
        backoff: float,
    ) -> None:
        self.settings = settings
        self.gate = Gate(settings.limits.max_connections)
        self.halt = asyncio.Event()
        self.abandoned = False
        self.attempts = 0
        self.budget_exhausted = False
        self._provider = get_provider(settings.provider)
        self._courier = courier
        self._ledger = ledger
        self._before_attempt = before_attempt
        self._now = now
        self._requests = Pacer(settings.limits.requests_per_minute)
        self._tokens = Pacer(settings.limits.tokens_per_minute)
        self._answered_caps: set[int] = set()
        self._failed_in_a_row = 0
        self._deadlines: set[asyncio.Timeout] = set()
        self._exponential = wait_random_exponential(multiplier=backoff, max=60)

    def __repr__(self) -> str:
        return f"EndpointClient({self.settings.name!r})"

    def stop(self) -> None:
        """No new request from now on."""
        self.halt.set()
        self._courier.wake()

    def abandon(self) -> None:
        """End the attempts in flight now; their calls are left undone."""
        self.abandoned = True
        for deadline in self._deadlines:
            deadline.reschedule(asyncio.get_running_loop().time())

    async def ask(self, call: Call) -> Outcome:
        """All attempts of one call; raises Halted or StopEndpoint if it is to be left undone."""
        tries: list[Try] = []
        await self.gate.enter()
        try:
            tries.append(await self._try(call, 1))
            if tries[0].verdict == "retry":
                await self._retry(call, tries)
        finally:
            self.gate.leave()
        last = tries[-1]
        self._check_usable(call, last)
        response = last.response
        return Outcome(
            call=call,
            attempts=tuple(item.attempt for item in tries),
            status=response.status if response else None,
            headers=response.headers if response else {},
            body=response.body if response else None,
            parsed=last.parsed,
        )

    async def _retry(self, call: Call, tries: list[Try]) -> None:
        """Ask again, as often and as long as the limits allow, after the first of `tries`."""
        first = True

        async def one_try() -> Try:
            nonlocal first
            if not first:
                tries.append(await self._try(call, len(tries) + 1))
            first = False
            return tries[-1]

        limits = self.settings.limits

        def enough(state: RetryCallState) -> bool:
            # Being told to wait is no attempt that failed: only time bounds those.
            failed = sum(not item.limited for item in tries)
            return failed >= limits.max_attempts or (state.seconds_since_start or 0.0) >= limits.max_elapsed

        # A new object per call: tenacity keeps the state of one call in it.
        await AsyncRetrying(
            stop=enough,
            wait=self._wait,
            retry=retry_if_result(lambda result: result.verdict == "retry"),
            sleep=self._pause,
            retry_error_callback=_last_result,
        )(one_try)

    def _check_usable(self, call: Call, last: Try) -> None:
        """Stop the endpoint, or this cap of it, if no call could succeed now."""
        if last.attempt.outcome == "answered":
            self._answered_caps.add(call.cap)
            self._failed_in_a_row = 0
            return
        self._failed_in_a_row += last.attempt.outcome == "retry"
        settings = self.settings
        refused = last.verdict == "rejected" and call.cap not in self._answered_caps
        out_of_order = self._failed_in_a_row > OUTAGE_CALLS
        unreachable = last.attempt.outcome == "connection"
        if not (last.verdict == "stop" or unreachable or refused or last.limited or out_of_order):
            return
        reason = last.parsed.error or "no answer"
        status = last.response.status if last.response else None
        if status is not None:
            reason = f"HTTP {status}: {reason}"
        if unreachable:
            hint = (
                f"check that {settings.base_url or settings.provider} is right and reachable, then run again"
            )
        elif last.limited:
            hint = f"set requests_per_minute for {settings.name} in sealbench.toml, then run again"
        elif last.verdict == "retry":
            hint = f"{settings.name} seems out of order; run again later: what is done is kept"
        else:
            hint = stop_hint(status, last.parsed, settings.name, settings.model, settings.api_key_env)
        cap = call.cap if refused else None
        raise StopEndpoint(Stopped(settings.name, cap, reason, hint, status, last.parsed))

    async def _try(self, call: Call, number: int) -> Try:
        if self.halt.is_set():
            raise Halted
        reserved = ceiling(call.prompt, call.cap, self.settings)
        if not await self._ledger.reserve(reserved):
            self.budget_exhausted = True
            raise Halted
        spent = _NOTHING
        try:
            delay = max(self._requests.delay(1), self._tokens.delay(reserved.tokens))
            if delay > 0:
                await self._pause(delay)
            async with self._courier.place(self.halt) as deliver:
                if self.halt.is_set():
                    raise Halted
                attempt = Attempt(number, self._now())
                self._before_attempt(call, attempt)
                self.attempts += 1
                spent = reserved
                result = await self._send(call, deliver, attempt)
                spent = self._spent(result, reserved)
        finally:
            self._tokens.give_back(reserved.tokens - spent.tokens)
            self._ledger.settle(reserved, spent)
        return result

    def _spent(self, result: Try, reserved: Cost) -> Cost:
        parsed = result.parsed
        if result.response is not None and result.response.status >= 400:
            return _NOTHING
        if parsed.charged_tokens is None or parsed.prompt_tokens is None:
            return reserved
        return actual(parsed.prompt_tokens, parsed.charged_tokens, self.settings)

    async def _send(self, call: Call, deliver: Deliver, attempt: Attempt) -> Try:
        started = time.monotonic()
        limit = self.settings.limits.timeout + self._courier.allowance
        try:
            async with asyncio.timeout(limit) as deadline:
                self._deadlines.add(deadline)
                try:
                    delivery = await deliver(call)
                finally:
                    self._deadlines.discard(deadline)
        except TimeoutError:
            if self.abandoned:
                raise Halted from None
            delivery = too_late(self.settings)
        if isinstance(delivery, Failure):
            done = replace(attempt, ended_at=self._now(), outcome=delivery.outcome)
            parsed = Parsed(end="error", error=delivery.error)
            return Try(done, None, parsed, "stop" if delivery.final else "retry")
        return self._read(call, attempt, started, delivery)

    def _read(self, call: Call, attempt: Attempt, started: float, response: Response) -> Try:
        status, headers, body = response.status, response.headers, response.body
        parsed = self._provider.parse_response(status, headers, body, call.cap)
        verdict = judge(status, headers, parsed)
        ended_at = self._now()
        if status == 429 or parsed.error_status == 429:
            self.gate.limited(started)
        elif verdict == "accept":
            self.gate.succeeded()
        outcome = _outcome(status, verdict, parsed)
        done = Attempt(attempt.number, attempt.started_at, ended_at, status, outcome)
        delay = stated_delay(headers, body, ended_at) if verdict == "retry" else None
        return Try(done, response, parsed, verdict, delay)

    def _wait(self, state: RetryCallState) -> float:
        stated = None if state.outcome is None else state.outcome.result().delay
        return float(self._exponential(state)) if stated is None else float(stated)

    async def _pause(self, seconds: float) -> None:
        """Sleep, but wake up and give the call up as soon as the endpoint is halted."""
        if self.halt.is_set():
            raise Halted
        if seconds <= 0:
            return
        try:
            await asyncio.wait_for(self.halt.wait(), seconds)
        except TimeoutError:
            return
        raise Halted


def _last_result(state: RetryCallState) -> Any:
    return state.outcome.result() if state.outcome is not None else None


def _outcome(status: int, verdict: Verdict, parsed: Parsed) -> AttemptOutcome:
    if parsed.fault is None:
        return "answered"
    if verdict in ("rejected", "stop", "accept"):
        return "rejected"
    if parsed.fault == "status":
        return "timeout" if status in _TIMEOUT_STATUSES else "retry"
    return "error_body" if parsed.fault == "error_body" else "malformed"
