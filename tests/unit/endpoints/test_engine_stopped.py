"""The engine stopped in the middle: by a signal, a full disk, a server that vanishes."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys

import pytest
from engine_calls import Log, plan, reference, run

from sealbench.endpoints.engine import Outcome, Summary, run_calls
from sealbench.testing.server import ReferenceServer


def test_a_server_that_vanishes_mid_run_ends_it_cleanly() -> None:
    server = ReferenceServer().__enter__()
    log = Log()
    seen = 0

    def done(outcome: Outcome) -> None:
        nonlocal seen
        seen += 1
        log.done(outcome)
        if seen == 50:
            server.__exit__(None, None, None)

    async def main() -> Summary:
        endpoints = {"c": reference(server, "constant")}
        return await run_calls(
            plan(500, "c"), endpoints, before_attempt=log.before, on_outcome=done, backoff=0.001
        )

    summary = asyncio.run(main())
    assert summary.done + summary.undone == 500
    assert summary.undone > 0
    assert summary.stopped
    assert len(set(log.keys())) == summary.done


def test_stop_lets_calls_in_flight_finish_and_counts_the_rest() -> None:
    async def main() -> tuple[Summary, Log]:
        stop = asyncio.Event()
        log = Log()

        def done(outcome: Outcome) -> None:
            log.done(outcome)
            if len(log.outcomes) == 20:
                stop.set()

        summary = await run_calls(
            plan(1000, "c"),
            {"c": reference(server, "constant")},
            before_attempt=log.before,
            on_outcome=done,
            stop=stop,
        )
        return summary, log

    with ReferenceServer(latency=0.002) as server:
        summary, log = asyncio.run(main())
        assert server.requests["constant"] == len(log.journal) == len(log.outcomes)
    assert summary.interrupted
    assert summary.done < 60
    assert summary.done + summary.undone == 1000


def test_calls_that_outlast_the_grace_are_left_undone() -> None:
    async def main() -> Summary:
        stop = asyncio.Event()
        asyncio.get_running_loop().call_later(0.1, stop.set)
        return await run_calls(
            plan(5, "c"),
            {"c": reference(server, "constant")},
            before_attempt=lambda *_: None,
            on_outcome=lambda _: None,
            stop=stop,
            grace=0.1,
        )

    with ReferenceServer(latency=30) as server:
        summary = asyncio.run(asyncio.wait_for(main(), 5))
    assert (summary.done, summary.undone, summary.interrupted) == (0, 5, True)


@pytest.mark.parametrize("where", ["before", "done"])
def test_a_full_disk_ends_the_run_with_that_error(where: str) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    class FullLog(Log):
        pass

    log = FullLog()
    setattr(log, where, full)
    with ReferenceServer() as server, pytest.raises(OSError, match="No space left"):
        run(plan(100, "c"), {"c": reference(server, "constant")}, log)


SIGNALLED = """
import asyncio, dataclasses, sys
from sealbench.endpoints.base import Limits, resolve
from sealbench.endpoints.engine import Call, run_calls, stop_on_signals

async def main():
    stop = asyncio.Event()
    endpoint = dataclasses.replace(resolve("reference/constant", {}), base_url=sys.argv[1])
    def done(outcome):
        print("done", outcome.call.key, flush=True)
    with stop_on_signals(stop):
        summary = await run_calls((Call(n, "c", "Is 7 prime?", 300) for n in range(100_000)), {"c": endpoint},
                                  before_attempt=lambda *_: None, on_outcome=done, stop=stop)
    print("summary", summary.done, summary.undone, summary.interrupted, flush=True)

asyncio.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_a_run_cleanly(number: signal.Signals) -> None:
    with ReferenceServer() as server:
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", SIGNALLED, server.url], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(50)]
        process.send_signal(number)
        # Not communicate(): it would miss what readline has buffered.
        rest = process.stdout.read()
        process.stdout.close()
        assert process.wait(timeout=20) == 0
    everything = [*"".join(lines).splitlines(), *rest.splitlines()]
    word, done, undone, interrupted = everything[-1].split()
    assert (word, interrupted) == ("summary", "True")
    assert len(everything) - 1 == int(done) == server.requests["constant"]
    assert int(done) + int(undone) == 100_000
