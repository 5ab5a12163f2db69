"""Attempts delivered by workers: the call goes there, the redacted response comes back.

What waits, counts and decides (rate limits, budget, retries, the log) stays in this process, so it
holds for all workers together. A worker gets the endpoint's record, which names the variable of the
key and never holds the key, and one prompt; it reads the key in its own environment.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

from sealbench.endpoints.base import EndpointSettings
from sealbench.endpoints.calls import Call
from sealbench.endpoints.delivery import Deliver, Delivery, Failure
from sealbench.endpoints.on_worker import Task, deliver_on_worker
from sealbench.errors import InternalError
from sealbench.workers.pool import Member, WorkerLost, WorkerPool

# For the way there and back; a worker that hangs longer than this is given up like a silent server.
_ALLOWANCE = 30.0


class RemoteCourier:
    """Delivers one endpoint's attempts from the members of a pool."""

    allowance = _ALLOWANCE

    def __init__(self, settings: EndpointSettings, pool: WorkerPool) -> None:
        self._record = settings.to_record()
        self._limit = settings.limits.timeout
        self._pool = pool

    def place(self, stopped: asyncio.Event) -> AbstractAsyncContextManager[Deliver]:
        """Hold a free place of some member."""
        return self._hold(stopped)

    def wake(self) -> None:
        """Let whoever waits for a place see that it was stopped."""
        self._pool.wake()

    @contextlib.asynccontextmanager
    async def _hold(self, stopped: asyncio.Event) -> AsyncIterator[Deliver]:
        member = await self._pool.acquire(stopped)

        async def deliver_call(call: Call) -> Delivery:
            if member is None:
                raise InternalError("an attempt of a stopped endpoint")
            return await self._deliver(member, call)

        try:
            yield deliver_call
        finally:
            if member is not None:
                self._pool.release(member)

    async def _deliver(self, member: Member, call: Call) -> Delivery:
        task = Task(self._record, call.prompt, call.cap, self._limit, member.process)
        try:
            return await self._pool.run(member, deliver_on_worker, task)
        except WorkerLost:
            # Whether the request had left is not known: an attempt like that of a killed process.
            return Failure("interrupted", f"the worker {member.name} went away")
