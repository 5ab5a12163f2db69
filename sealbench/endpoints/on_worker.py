"""What runs on a worker: one attempt, with the key of the worker's own environment.

All tasks of one worker process share one HTTP session, which lives on an event loop in a thread of
its own, so that connections are kept between calls whichever thread a task runs in.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from sealbench.endpoints.base import EndpointSettings, Limits, get_provider, read_api_key
from sealbench.endpoints.delivery import Delivery, deliver, too_late
from sealbench.endpoints.sender import Send, open_sender
from sealbench.workers.pool import AnotherProcess
from sealbench.workers.process import this_process

T = TypeVar("T")
_CONNECTIONS = 1024  # of one worker, all endpoints together; the coordinator keeps each one's ceiling


@dataclass(frozen=True)
class Task:
    """One attempt to be made.

    Attributes
    ----------
    endpoint : the record of the endpoint's settings; names the key's variable.
    limit : seconds for the attempt, body included.
    process : the process it is meant for, empty for any of an executor's.
    """

    endpoint: dict[str, Any]
    prompt: str
    cap: int
    limit: float
    process: str


def deliver_on_worker(task: Task) -> Delivery:
    """Make one attempt; blocks until it has ended.

    Raises
    ------
    AnotherProcess : before anything is sent, if the task was meant for an earlier process.
    MissingKey : the variable that should hold the key is not set on this worker.
    """
    if task.process and task.process != this_process():
        # A scheduler repeats the tasks of a worker that died; repeating a request is not its decision.
        raise AnotherProcess
    settings = EndpointSettings.from_record(task.endpoint, limits=Limits(timeout=task.limit))
    api_key = read_api_key(settings, required=get_provider(settings.provider).needs_key)
    return _session().run(settings, api_key, task)


class _Session:
    """An event loop in a thread, and the HTTP session on it."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._ready = threading.Event()
        self._send: Send | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._main, name="seal-worker-http", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise self._failure

    def _main(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001  # told to the thread that waits for it
            self._failure = error
            self._ready.set()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        async with open_sender(_CONNECTIONS) as self._send:
            self._loop = asyncio.get_running_loop()
            self._ready.set()
            await self._stop.wait()

    def run(self, settings: EndpointSettings, api_key: str | None, task: Task) -> Delivery:
        async def attempt(send: Send) -> Delivery:
            try:
                async with asyncio.timeout(task.limit):
                    return await deliver(settings, api_key, send, task.prompt, task.cap)
            except TimeoutError:
                return too_late(settings)

        if self._loop is None or self._send is None:
            raise RuntimeError("the session has not begun")
        return self._wait(attempt(self._send), self._loop)

    @staticmethod
    def _wait(work: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> T:
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    def close(self) -> None:
        if self._loop is not None and self._stop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(timeout=5)


_lock = threading.Lock()
_current: _Session | None = None


def _session() -> _Session:
    """The session of this process; a forked child does not use its parent's."""
    global _current  # noqa: PLW0603  # one per process is the point
    with _lock:
        if _current is None or _current.pid != os.getpid():
            _current = _Session()
            atexit.register(_current.close)
        return _current
