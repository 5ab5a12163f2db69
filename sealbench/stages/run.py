"""Make the calls of a run that are still open, log each, and close the run when none is left."""

from __future__ import annotations

import asyncio
import contextlib
import errno
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sealbench.clock import Clock, system_clock
from sealbench.config import Settings
from sealbench.endpoints.base import EndpointSettings
from sealbench.endpoints.engine import Budget, Call, Summary, run_calls, stop_on_signals
from sealbench.errors import NotYet
from sealbench.formats.battery import Item
from sealbench.formats.run import LogLine, Run
from sealbench.running.batches import custom_id, waiting_ids
from sealbench.running.journal import CallKey, Journal
from sealbench.running.ready_endpoints import running_endpoints
from sealbench.running.recording import Recorder, end_run
from sealbench.running.run_records import Selection, resume_command
from sealbench.store import Workspace
from sealbench.workers.pool import WorkerPool

Planned = Mapping[tuple[str, int], int]
# No space, no quota, or the largest file that this process may write.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True)
class RunResult:
    """What was done: calls now and in all, what is left, and how the engine ended.

    `waiting` counts those of the part asked for that wait in a batch file and were not made live.
    """

    run: Run
    done_now: int
    done: int
    left: int
    waiting: int
    ended: bool
    summary: Summary


def execute_run(
    workspace: Workspace,
    run: Run,
    items: Sequence[Item],
    secret: bytes,
    planned: Sequence[CallKey],
    *,
    settings: Settings,
    selection: Selection | None = None,
    max_connections: int | None = None,
    budget: Budget | None = None,
    on_begin: Callable[[Planned], None] | None = None,
    on_line: Callable[[LogLine], None] | None = None,
    backoff: float = 1.0,
    clock: Clock = system_clock,
    pool: WorkerPool | None = None,
) -> RunResult:
    """Make every selected call that the log does not hold yet and that waits in no batch.

    Parameters
    ----------
    items, secret : the opened battery.
    planned : all calls of the run in their drawn order.
    max_connections : calls at a time to each endpoint, whatever the configuration says.
    budget : for this execution alone; what earlier ones spent is not in it.
    on_begin : called once with the calls to be made by (endpoint, cap).
    on_line : called with each line once it is in the log.
    backoff : seconds, the scale of the exponential wait between attempts.
    pool : workers that send the requests (`workers.pool.pool_over` makes one of any executor); this
        process alone writes the log.

    Raises
    ------
    UsageError : the selection names something the run does not hold.
    NotYet : another process is at work on this run, the disk is full, or no worker is left.
    """
    chosen = selection or Selection()
    chosen.check(run)
    by_id = {item.id: item for item in items}
    with (
        _said_when_full(run),
        workspace.lock(f"runs/{run.name}/lock"),
        Journal(workspace.run(run.name), workspace.private_run(run.name), run.digest()) as journal,
        running_endpoints(run.endpoints, settings, max_connections) as endpoints,
    ):
        before = journal.size
        todo = [
            key for key in planned if key not in journal.done and chosen.holds(key, by_id[key[0]].wording)
        ]
        out = waiting_ids(workspace, run)
        live = [key for key in todo if custom_id(run, key) not in out] if out else todo
        if on_begin is not None:
            on_begin(Counter((key[1], key[2]) for key in live))
        recorder = Recorder(run, journal, by_id, secret, on_line)
        summary = asyncio.run(
            _run_until_stopped(
                (Call(key, key[1], by_id[key[0]].prompt, key[2]) for key in live),
                endpoints,
                recorder,
                budget=budget,
                backoff=backoff,
                now=clock,
                pool=pool,
            )
        )
        done = journal.size
        left = len(planned) - done
        if left == 0:
            end_run(workspace, run, done, clock)
    return RunResult(run, done - before, done, left, len(todo) - len(live), left == 0, summary)


@contextlib.contextmanager
def _said_when_full(run: Run) -> Iterator[None]:
    """A full disk ends a run like a stop: what is logged stays, and the same command goes on."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise NotYet(
            "the disk is full; every answer that is in the log is kept",
            hint=f"free some space, then {resume_command(run)}",
        ) from error


async def _run_until_stopped(
    calls: Iterable[Call],
    endpoints: Mapping[str, EndpointSettings],
    recorder: Recorder,
    *,
    budget: Budget | None,
    backoff: float,
    now: Clock,
    pool: WorkerPool | None,
) -> Summary:
    stop = asyncio.Event()
    with stop_on_signals(stop):
        return await run_calls(
            calls,
            endpoints,
            before_attempt=recorder.attempt,
            on_outcome=recorder.outcome,
            stop=stop,
            budget=budget,
            backoff=backoff,
            now=now,
            pool=pool,
        )
