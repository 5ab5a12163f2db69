"""The pool: who gets a place, who waits, and what is lost when a member goes away."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest

from sealbench.errors import InternalError, NotYet
from sealbench.workers.pool import AnotherProcess, Member, WorkerLost, WorkerPool, pool_over
from sealbench.workers.process import greet, this_process


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, 20))


class Silent(Executor):
    """An executor that never answers."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        return Future()


def test_places_go_to_the_member_with_the_most_free_ones_and_are_limited() -> None:
    async def main() -> None:
        pool = WorkerPool([Member("small", Silent(), 1), Member("large", Silent(), 2)])
        stopped = asyncio.Event()
        names = [(await pool.acquire(stopped)).name for _ in range(3)]  # type: ignore[union-attr]
        assert sorted(names) == ["large", "large", "small"]
        assert names[0] == "large"
        waiting = asyncio.ensure_future(pool.acquire(stopped))
        await asyncio.sleep(0.01)
        assert not waiting.done()
        pool.release(pool.members["small"])
        assert (await waiting) is pool.members["small"]

    run(main())


def test_a_stop_wakes_whoever_waits_for_a_place() -> None:
    async def main() -> None:
        pool = pool_over(Silent(), 1)
        stopped = asyncio.Event()
        await pool.acquire(stopped)
        waiting = [asyncio.ensure_future(pool.acquire(stopped)) for _ in range(3)]
        await asyncio.sleep(0.01)
        stopped.set()
        pool.wake()
        assert await asyncio.gather(*waiting) == [None, None, None]

    run(main())


def test_one_that_is_stopped_passes_a_free_place_on() -> None:
    async def main() -> None:
        pool = pool_over(Silent(), 1)
        first, second = asyncio.Event(), asyncio.Event()
        held = await pool.acquire(second)
        given_up = asyncio.ensure_future(pool.acquire(first))
        await asyncio.sleep(0.01)
        waiting = asyncio.ensure_future(pool.acquire(second))
        await asyncio.sleep(0.01)
        first.set()
        assert held is not None
        pool.release(held)
        assert await given_up is None
        assert await waiting is held

    run(main())


def test_what_a_member_was_at_work_on_is_lost_with_it_and_nothing_else_is() -> None:
    async def main() -> None:
        with ThreadPoolExecutor(1) as threads:
            pool = WorkerPool([Member("dead", Silent(), 1), Member("alive", threads, 1)], watch=_nothing)
            dead, alive = pool.members["dead"], pool.members["alive"]
            lost = asyncio.ensure_future(pool.run(dead, int, "1"))
            kept = asyncio.ensure_future(pool.run(alive, _slow, 7))
            await asyncio.sleep(0.01)
            pool.leave("dead")
            with pytest.raises(WorkerLost):
                await lost
            assert await kept == 7
            with pytest.raises(WorkerLost):
                await pool.run(dead, int, "1")

    run(main())


def test_a_task_that_is_cancelled_is_not_taken_for_a_lost_worker() -> None:
    async def main() -> None:
        pool = pool_over(Silent(), 1)
        task = asyncio.ensure_future(pool.run(pool.members["executor"], int, "1"))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert pool.members["executor"].present

    run(main())


def test_the_error_of_a_task_is_the_error_of_the_call() -> None:
    async def main() -> None:
        with ThreadPoolExecutor(1) as threads:
            pool = pool_over(threads, 1)
            with pytest.raises(ValueError, match="invalid literal"):
                await pool.run(pool.members["executor"], int, "no number")
            assert pool.members["executor"].present

    run(main())


def test_a_killed_process_is_a_lost_worker_and_an_empty_pool_says_so() -> None:
    async def main() -> None:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
            pool = pool_over(processes, 1)
            with pytest.raises(WorkerLost):
                await pool.run(pool.members["executor"], os._exit, 9)
            with pytest.raises(NotYet, match="no worker is left"):
                await pool.acquire(asyncio.Event())

    run(main())


def test_a_task_meant_for_an_earlier_process_loses_the_member() -> None:
    async def main() -> None:
        with ThreadPoolExecutor(1) as threads:
            pool = WorkerPool([Member("again", threads, 1)], watch=_nothing)
            with pytest.raises(WorkerLost):
                await pool.run(pool.members["again"], _another)
            assert "again" not in pool.members

    run(main())


def test_a_watch_that_fails_fails_whoever_waits() -> None:
    async def broken(pool: WorkerPool) -> None:
        await asyncio.sleep(0.01)
        raise NotYet("the scheduler went away")

    async def main() -> None:
        pool = WorkerPool(watch=broken)
        async with pool.at_work():
            with pytest.raises(NotYet, match="the scheduler went away"):
                await pool.acquire(asyncio.Event())

    run(main())


def test_a_member_may_join_later_and_takes_the_place_of_one_of_its_name() -> None:
    async def main() -> None:
        pool = WorkerPool(watch=_nothing)
        async with pool.at_work():
            waiting = asyncio.ensure_future(pool.acquire(asyncio.Event()))
            await asyncio.sleep(0.01)
            old, new = Member("same", Silent(), 1), Member("same", Silent(), 1)
            pool.join(old)
            assert await waiting is old
            pool.join(new)
            assert not old.present
            assert await pool.acquire(asyncio.Event()) is new

    run(main())


def test_no_place_at_all_is_a_bug() -> None:
    with pytest.raises(InternalError):
        pool_over(Silent(), 0)


def test_a_greeting_names_the_process_and_what_it_lacks_and_no_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("A_KEY", "the-value-of-the-key")
    monkeypatch.setenv("EMPTY_KEY", " ")
    greeting = greet(("A_KEY", "EMPTY_KEY", "NO_KEY"))
    assert greeting.unset == ("EMPTY_KEY", "NO_KEY")
    assert greeting.process == this_process()
    assert "the-value" not in repr(greeting)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        assert processes.submit(this_process).result() != this_process()


async def _nothing(pool: WorkerPool) -> None:
    await asyncio.Event().wait()


def _slow(value: int) -> int:
    time.sleep(0.05)
    return value


def _another() -> None:
    assert threading.current_thread() is not threading.main_thread()
    raise AnotherProcess
