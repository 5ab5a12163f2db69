"""Executors that share one stream of tasks: who has a free place, and what is lost when one goes away.

A member is one `concurrent.futures.Executor` and the number of tasks it runs at a time. A task is
handed to one member and to no other: if that member goes away, `WorkerLost` says so, and whether to
do it again is the caller's decision. All methods belong to one event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from concurrent.futures import BrokenExecutor, Executor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sealbench.errors import InternalError, NotYet

T = TypeVar("T")


class WorkerLost(Exception):
    """The process that was at work on a task is gone, or can no longer be asked."""


class AnotherProcess(Exception):
    """Raised on a worker: the task was meant for the process that ran at this address before."""


@dataclass(eq=False)
class Member:
    """One executor of a pool.

    `process` is the name its process gave itself, empty where an executor has several of them.
    """

    name: str
    executor: Executor
    slots: int
    process: str = ""
    busy: int = 0
    present: bool = True
    running: set[asyncio.Future[Any]] = field(default_factory=set)


Watch = Callable[["WorkerPool"], Awaitable[None]]


class WorkerPool:
    """The members that there are now.

    Parameters
    ----------
    members : those to begin with.
    watch : runs beside the work and calls `join` and `leave`; without it a pool that is empty fails.
    """

    def __init__(self, members: Iterable[Member] = (), watch: Watch | None = None) -> None:
        self.members: dict[str, Member] = {member.name: member for member in members}
        self._watch = watch
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._failure: BaseException | None = None

    @contextlib.asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """While the block runs, members come and go."""
        if self._watch is None:
            yield
            return
        watcher = asyncio.ensure_future(self._watch(self))
        watcher.add_done_callback(self._watch_ended)
        try:
            yield
        finally:
            watcher.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await watcher

    def _watch_ended(self, watcher: asyncio.Future[None]) -> None:
        if not watcher.cancelled() and (error := watcher.exception()) is not None:
            self.fail(error)

    def join(self, member: Member) -> None:
        """Take a member in; one of the same name is gone."""
        self.leave(member.name)
        self.members[member.name] = member
        self.wake()

    def leave(self, name: str) -> None:
        """A member is gone: what it was at work on is lost."""
        member = self.members.pop(name, None)
        if member is None:
            return
        member.present = False
        for task in member.running:
            task.cancel()
        if not self.members and self._watch is None:
            self.fail(NotYet("no worker is left; every answer that is in the log is kept"))

    def fail(self, error: BaseException) -> None:
        """Nothing can be given out any more: whoever waits for a place gets this error."""
        self._failure = error
        for member in list(self.members.values()):
            member.present = False
            for task in member.running:
                task.cancel()
        self.members.clear()
        self.wake()

    def wake(self) -> None:
        """Let all that wait look again: a place may be free, or they may have been stopped."""
        while self._waiting:
            _finish(self._waiting.popleft())

    async def acquire(self, stopped: asyncio.Event) -> Member | None:
        """A place at the member with the most free ones; None once `stopped` is set.

        Raises whatever the pool failed with.
        """
        while not stopped.is_set():
            if self._failure is not None:
                raise self._failure
            free = [member for member in self.members.values() if member.busy < member.slots]
            if free:
                chosen = max(free, key=lambda member: member.slots - member.busy)
                chosen.busy += 1
                return chosen
            place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            try:
                await place
            except asyncio.CancelledError:
                self._wake_one()
                raise
        self._wake_one()
        return None

    def release(self, member: Member) -> None:
        """Give the place back."""
        member.busy -= 1
        self._wake_one()

    def _wake_one(self) -> None:
        while self._waiting:
            if _finish(self._waiting.popleft()):
                return

    async def run(self, member: Member, function: Callable[..., T], *arguments: object) -> T:
        """Hand one task to a member that was acquired, and wait for it.

        Raises WorkerLost if the member goes away before it has answered.
        """
        if not member.present:
            raise WorkerLost(member.name)
        try:
            task: asyncio.Future[T] = asyncio.wrap_future(member.executor.submit(function, *arguments))
        except RuntimeError as error:  # a broken executor is one, and so is one that was shut down
            self.leave(member.name)
            raise WorkerLost(member.name) from error
        member.running.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if member.present or not task.cancelled():
                raise
            raise WorkerLost(member.name) from None
        except (BrokenExecutor, AnotherProcess) as error:
            self.leave(member.name)
            raise WorkerLost(member.name) from error
        finally:
            member.running.discard(task)


def pool_over(executor: Executor, slots: int) -> WorkerPool:
    """A pool of one executor that runs `slots` tasks at a time.

    The executor must run each task once: Dask's own (`Client.get_executor()`) repeats the tasks of a
    worker that died without saying so. `dask_cluster.DaskCluster` makes a pool that does not.
    """
    if slots < 1:
        raise InternalError("an executor with no place for a task")
    return WorkerPool([Member("executor", executor, slots)])


def _finish(place: asyncio.Future[None]) -> bool:
    if place.done():
        return False
    place.set_result(None)
    return True
