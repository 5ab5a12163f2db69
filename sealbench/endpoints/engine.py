"""The run engine: calls in order, several endpoints at once, nothing lost when it has to stop.

Calls are consumed lazily in the order given and dealt to one lane per endpoint; a lane keeps that
order and holds a bounded number of calls, so memory is flat in their number. `before_attempt` and
`on_outcome` are called from one event loop, never concurrently. If either raises (a full disk), the
run ends at once and the error is raised as it is.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from sealbench.clock import Clock, system_clock
from sealbench.endpoints.base import EndpointSettings, get_provider, read_api_key
from sealbench.endpoints.budget import Budget, Ledger
from sealbench.endpoints.calls import (
    LOSS_OUTCOMES,
    Attempt,
    AttemptOutcome,
    Call,
    Outcome,
    Stopped,
    Summary,
    Tally,
)
from sealbench.errors import InternalError

if TYPE_CHECKING:
    import httpx

    from sealbench.endpoints.client import EndpointClient
    from sealbench.endpoints.delivery import Courier
    from sealbench.workers.pool import WorkerPool

__all__ = [
    "LOSS_OUTCOMES",
    "Attempt",
    "AttemptOutcome",
    "Budget",
    "Call",
    "Outcome",
    "Stopped",
    "Summary",
    "Tally",
    "run_calls",
    "stop_on_signals",
]

OnOutcome = Callable[[Outcome], None]


class _Lane:
    """The calls of one endpoint on their way through its workers."""

    def __init__(self, client: EndpointClient, on_outcome: OnOutcome, end_run: Callable[[], None]) -> None:
        self.client = client
        self.done = 0
        self.undone = 0
        self.stopped: Stopped | None = None
        self.stopped_caps: dict[int, Stopped] = {}
        self._on_outcome = on_outcome
        self._end_run = end_run
        self._workers = client.settings.limits.max_connections
        self._queue: asyncio.Queue[Call | None] = asyncio.Queue(maxsize=2 * self._workers)

    def start(self, group: asyncio.TaskGroup) -> None:
        for _ in range(self._workers):
            group.create_task(self._work())

    async def put(self, call: Call) -> None:
        if self.client.halt.is_set():
            self.undone += 1
        else:
            await self._queue.put(call)

    async def close(self) -> None:
        for _ in range(self._workers):
            await self._queue.put(None)

    async def _work(self) -> None:
        from sealbench.endpoints.client import Halted, StopEndpoint

        while (call := await self._queue.get()) is not None:
            if self.client.halt.is_set() or call.cap in self.stopped_caps:
                self.undone += 1
                continue
            try:
                outcome = await self.client.ask(call)
            except Halted:
                self.undone += 1
                if self.client.budget_exhausted:
                    self._end_run()
            except StopEndpoint as stop:
                self.undone += 1
                self._stop(stop.stopped)
            else:
                self.done += 1
                self._on_outcome(outcome)

    def _stop(self, stopped: Stopped) -> None:
        if stopped.cap is not None:
            self.stopped_caps.setdefault(stopped.cap, stopped)
        elif self.stopped is None:
            self.stopped = stopped
            self.client.stop()

    def tally(self) -> Tally:
        return Tally(self.done, self.undone, self.client.attempts)


async def run_calls(
    calls: Iterable[Call],
    endpoints: Mapping[str, EndpointSettings],
    *,
    before_attempt: Callable[[Call, Attempt], None],
    on_outcome: OnOutcome,
    stop: asyncio.Event | None = None,
    budget: Budget | None = None,
    grace: float = 5.0,
    backoff: float = 1.0,
    environ: Mapping[str, str] | None = None,
    now: Clock = system_clock,
    transport: httpx.AsyncBaseTransport | None = None,
    pool: WorkerPool | None = None,
) -> Summary:
    """Make the calls and report each exactly once, or leave it undone and count it.

    Parameters
    ----------
    calls : consumed lazily and to the end, also after a stop (what is left is counted).
    endpoints : by the name that calls use.
    before_attempt : writes the journal; called before each request leaves.
    on_outcome : called once per call that is done, in order of completion.
    stop : once set, no new request; those in flight get `grace` seconds.
    backoff : seconds, the scale of the exponential wait between attempts.
    environ : where keys are read (default: the process environment); MissingKey before any request.
    transport : an httpx transport for tests.
    pool : workers that send the requests, with the keys of their own environment; all limits hold for
        them together.

    Raises
    ------
    MissingKey : a key is not set, here or on the worker that needs it.
    NotYet : no worker is left.
    """
    from sealbench.endpoints.client import EndpointClient

    stop = stop or asyncio.Event()
    ledger = Ledger(budget or Budget())
    budget_hit = asyncio.Event()

    async with _couriers(endpoints, environ, transport, pool) as couriers:
        lanes: dict[str, _Lane] = {}

        def end_run() -> None:
            budget_hit.set()
            for lane in lanes.values():
                lane.client.stop()

        for name, found in endpoints.items():
            client = EndpointClient(
                found,
                couriers[name],
                ledger=ledger,
                before_attempt=before_attempt,
                now=now,
                backoff=backoff,
            )
            lanes[name] = _Lane(client, on_outcome, end_run)
        interrupted = await _drive(calls, lanes, stop, grace)
    return Summary(
        endpoints={name: lane.tally() for name, lane in lanes.items()},
        stopped=tuple(
            found
            for lane in lanes.values()
            for found in (*([lane.stopped] if lane.stopped else []), *lane.stopped_caps.values())
        ),
        interrupted=interrupted,
        budget_exhausted=budget_hit.is_set(),
        tokens=ledger.tokens,
        usd=ledger.usd,
    )


@contextlib.asynccontextmanager
async def _couriers(
    settings: Mapping[str, EndpointSettings],
    environ: Mapping[str, str] | None,
    transport: httpx.AsyncBaseTransport | None,
    pool: WorkerPool | None,
) -> AsyncIterator[dict[str, Courier]]:
    """Each endpoint's courier, while the block runs; keys are read here only if nobody else sends."""
    if pool is not None:
        from sealbench.endpoints.remote import RemoteCourier

        async with pool.at_work():
            yield {name: RemoteCourier(found, pool) for name, found in settings.items()}
        return
    from sealbench.endpoints.delivery import LocalCourier
    from sealbench.endpoints.sender import open_sender

    keys = {
        name: read_api_key(found, required=get_provider(found.provider).needs_key, environ=environ)
        for name, found in settings.items()
    }
    total = sum(found.limits.max_connections for found in settings.values())
    async with open_sender(max(1, total), transport) as send:
        yield {name: LocalCourier(found, keys[name], send) for name, found in settings.items()}


async def _drive(
    calls: Iterable[Call], lanes: Mapping[str, _Lane], stop: asyncio.Event, grace: float
) -> bool:
    """Feed the lanes until the calls are used up; True if `stop` was set while they were."""

    async def watch() -> None:
        await stop.wait()
        for lane in lanes.values():
            lane.client.stop()
        await asyncio.sleep(grace)
        for lane in lanes.values():
            lane.client.abandon()

    watcher = asyncio.create_task(watch())
    try:
        async with asyncio.TaskGroup() as group:
            for lane in lanes.values():
                lane.start(group)
            for call in calls:
                if call.endpoint not in lanes:
                    raise InternalError(
                        f"a call names the endpoint {call.endpoint!r}, which is not in this run"
                    )
                if stop.is_set():
                    lanes[call.endpoint].client.stop()
                await lanes[call.endpoint].put(call)
            for lane in lanes.values():
                await lane.close()
    except BaseExceptionGroup as group_error:
        raise _first_leaf(group_error) from None
    finally:
        watcher.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watcher
    return stop.is_set() and any(lane.undone for lane in lanes.values())


def _first_leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


@contextlib.contextmanager
def stop_on_signals(stop: asyncio.Event) -> Iterator[None]:
    """Within the block, Ctrl-C and SIGTERM set `stop`; a second one ends the run without grace.

    For the main thread of a running event loop.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()

    def received() -> None:
        if stop.is_set() and task is not None:
            task.cancel()
        stop.set()

    installed: list[signal.Signals] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        # Not in a thread other than the main one, nor on every platform.
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, received)
            installed.append(number)
    try:
        yield
    finally:
        for number in installed:
            loop.remove_signal_handler(number)
