"""Calls made by an executor's workers: the same log as without, keys that never leave their process."""

from __future__ import annotations

import asyncio
import pickle
from collections import Counter
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from sealbench.endpoints.base import EndpointSettings, Limits, resolve
from sealbench.endpoints.engine import Attempt, Budget, Call, Outcome, Summary, run_calls
from sealbench.endpoints.on_worker import Task, deliver_on_worker
from sealbench.errors import MissingKey
from sealbench.formats.run import LogLine, read_log
from sealbench.stages.run import execute_run
from sealbench.stages.start_run import start_run
from sealbench.testing.server import ReferenceServer
from sealbench.workers.pool import AnotherProcess, Member, WorkerPool, pool_over
from tests.cli.run_support import chat, scripted_server
from tests.workshop import planned

PROMPT = "Is 999983 a prime number?"
SECRET = "sk-verysecretkey0123456789"
FAST = Limits(max_connections=8, timeout=5.0, max_attempts=5)


class Recorder:
    """Attempts that were announced, and outcomes."""

    def __init__(self) -> None:
        self.announced: list[tuple[Any, int]] = []
        self.outcomes: list[Outcome] = []

    def before(self, call: Call, attempt: Attempt) -> None:
        self.announced.append((call.key, attempt.number))

    def done(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)


def run(
    calls: list[Call], endpoints: dict[str, EndpointSettings], pool: WorkerPool, **options: Any
) -> tuple[Summary, Recorder]:
    log = Recorder()
    summary = asyncio.run(
        run_calls(
            calls,
            endpoints,
            before_attempt=log.before,
            on_outcome=log.done,
            pool=pool,
            backoff=0.002,
            **options,
        )
    )
    return summary, log


def constant(server: ReferenceServer, limits: Limits = FAST) -> dict[str, EndpointSettings]:
    return {"c": replace(resolve("reference/constant", {}), base_url=server.url, limits=limits)}


def plan(count: int) -> list[Call]:
    return [Call(number, "c", PROMPT, 300) for number in range(count)]


def test_every_call_is_made_once_and_no_more_run_at_a_time_than_there_are_places() -> None:
    with ReferenceServer(latency=0.01) as server, ThreadPoolExecutor(3) as threads:
        counted = _Counting(threads)
        summary, log = run(plan(30), constant(server), pool_over(counted, 3))
        assert server.requests["constant"] == 30
    assert summary.complete
    assert counted.most == 3
    assert Counter(outcome.call.key for outcome in log.outcomes) == Counter(range(30))
    assert Counter(log.announced) == Counter((number, 1) for number in range(30))


def test_the_rate_holds_for_all_workers_together() -> None:
    limits = Limits(max_connections=8, requests_per_minute=1200)  # one start each 50 ms
    with ReferenceServer() as server, ThreadPoolExecutor(8) as threads:
        summary, log = run(plan(9), constant(server, limits), pool_over(threads, 8))
    assert summary.complete
    starts = sorted(outcome.attempts[0].started_at for outcome in log.outcomes)
    assert (starts[-1] - starts[0]).total_seconds() >= 8 * 0.05 - 0.01


def test_the_budget_holds_for_all_workers_together() -> None:
    with ReferenceServer() as server, ThreadPoolExecutor(8) as threads:
        summary, log = run(plan(40), constant(server), pool_over(threads, 8), budget=Budget(calls=9))
        assert 0 < server.requests["constant"] == len(log.announced) <= 9
    assert summary.budget_exhausted
    assert summary.done + summary.undone == 40


def test_a_worker_that_dies_leaves_an_attempt_and_the_call_is_made_again() -> None:
    with ReferenceServer() as server, ThreadPoolExecutor(4) as threads:
        # At its first call: how many each member gets depends on how busy the machine is.
        members = [Member("dying", _Dying(threads, dies_at=1), 1), Member("alive", threads, 3)]
        summary, log = run(plan(20), constant(server), WorkerPool(members, watch=_forever))
        # The answer of one request was lost on the way: the server counts it, and so does the log.
        assert server.requests["constant"] == 21
    assert summary.complete
    tries = [[attempt.outcome for attempt in outcome.attempts] for outcome in log.outcomes]
    assert sorted(map(len, tries)) == [1] * 19 + [2]
    assert ["interrupted", "answered"] in tries
    assert sum(outcome.first_attempt_lost for outcome in log.outcomes) == 1
    assert len(log.announced) == summary.endpoints["c"].attempts == 21


def test_the_key_is_read_where_the_call_is_made_and_never_travels(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    travelled: list[bytes] = []

    def answer(request: dict[str, Any], authorization: str) -> tuple[int, dict[str, Any]]:
        seen.append(authorization)
        return 200, {**chat(), "echo": authorization}

    with scripted_server(answer) as url, ThreadPoolExecutor(2) as threads:
        endpoint = EndpointSettings("c", "compatible", "m", url, "A_KEY", limits=FAST)
        monkeypatch.setenv("A_KEY", SECRET)
        _, log = run(plan(4), {"c": endpoint}, pool_over(_Listening(threads, travelled), 2), environ={})
    assert seen == [f"Bearer {SECRET}"] * 4
    assert len(travelled) == 8
    assert all(SECRET.encode() not in one for one in travelled)
    assert all(b"KEY REDACTED" in (outcome.body or b"") for outcome in log.outcomes)


def test_a_worker_without_the_key_ends_the_run_and_names_the_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    endpoint = replace(resolve("openai/gpt-5.5", {}), limits=FAST)
    with ThreadPoolExecutor(1) as threads, pytest.raises(MissingKey, match="OPENAI_API_KEY"):
        run(plan(1), {"c": endpoint}, pool_over(threads, 1))


def test_a_task_of_an_earlier_process_sends_nothing() -> None:
    with ReferenceServer() as server:
        record = constant(server)["c"].to_record()
        with pytest.raises(AnotherProcess):
            deliver_on_worker(Task(record, PROMPT, 300, 5.0, "an earlier process"))
        assert not server.requests


def test_a_stop_lets_calls_in_flight_finish() -> None:
    async def main() -> Summary:
        stop = asyncio.Event()
        done: list[Outcome] = []

        def count(outcome: Outcome) -> None:
            done.append(outcome)
            if len(done) == 10:
                stop.set()

        return await run_calls(
            plan(500),
            constant(server),
            before_attempt=lambda *_: None,
            on_outcome=count,
            stop=stop,
            pool=pool_over(threads, 2),
        )

    with ReferenceServer(latency=0.002) as server, ThreadPoolExecutor(2) as threads:
        summary = asyncio.run(main())
        assert server.requests["constant"] == summary.done
    assert summary.interrupted
    assert summary.done + summary.undone == 500
    assert summary.done < 30


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_a_whole_run_over_any_executor_gives_the_log_of_a_run_without_one(tmp_path: Path, kind: str) -> None:
    executor: Executor = (
        ThreadPoolExecutor(4)
        if kind == "threads"
        else ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    )
    with executor:
        workspace, settings = planned(tmp_path / "workspace", per_class=2, caps=(300, 4000))
        opened = start_run(workspace, "plan")
        result = execute_run(
            workspace,
            opened.run,
            opened.battery.items,
            opened.battery.secret,
            opened.planned(),
            settings=settings,
            pool=pool_over(executor, 4),
        )
    assert result.ended
    data = (workspace.run("plan-1") / "log.jsonl").read_bytes()
    lines = list(read_log(data, opened.run.digest()))
    assert {line.key for line in lines} == set(opened.planned())
    assert len(lines) == opened.run.planned_calls
    with_cap = {(line.class_label, line.cap, line.lost) for line in lines}
    assert ("prime", 300, True) in with_cap
    assert ("composite", 300, False) in with_cap
    assert all(_is_whole(line) for line in lines)


def _is_whole(line: LogLine) -> bool:
    return len(line.attempts) == 1 and line.attempts[0].status == 200 and line.body_hash is not None


class _Wrapped(Executor):
    def __init__(self, executor: Executor) -> None:
        self.executor = executor


class _Counting(_Wrapped):
    """Counts how many tasks are out at a time."""

    out = most = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.out += 1
        self.most = max(self.most, self.out)
        future = self.executor.submit(fn, *args, **kwargs)
        future.add_done_callback(self._back)
        return future

    def _back(self, _: Future[Any]) -> None:
        self.out -= 1


class _Dying(_Wrapped):
    """One of its tasks is done on a process that dies before it can say so."""

    def __init__(self, executor: Executor, *, dies_at: int) -> None:
        super().__init__(executor)
        self._left = dies_at

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self._left -= 1
        return self.executor.submit(_and_die if self._left == 0 else fn, *args, **kwargs)


class _Listening(_Wrapped):
    """Keeps what goes to a worker and what comes back, as the bytes that would travel."""

    def __init__(self, executor: Executor, travelled: list[bytes]) -> None:
        super().__init__(executor)
        self._travelled = travelled

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self._travelled.append(pickle.dumps((fn, args, kwargs)))
        future = self.executor.submit(fn, *args, **kwargs)
        self._travelled.append(pickle.dumps(future.result()))
        return future


async def _forever(pool: WorkerPool) -> None:
    await asyncio.Event().wait()


def _and_die(task: Task) -> None:
    deliver_on_worker(task)
    raise AnotherProcess
