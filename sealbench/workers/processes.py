"""Processes of this machine that share computations."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context


@contextmanager
def processes(count: int) -> Iterator[Executor | None]:
    """An executor of so many fresh processes, gone when the block ends; at once if it ends by an exception.

    Fresh ones, not forked: a fork copies whatever threads and locks the caller happens to have. None where
    no process can be begun: some sandboxes have no semaphores, or allow no further process.
    """
    others = set(active_children())
    executor = _begin(count)
    if executor is None:
        yield None
        return
    with executor:
        try:
            yield executor
        except BaseException:
            # The executor finds itself broken, gives up what waits, and sees them off.
            for process in set(active_children()) - others:
                process.terminate()
            raise


def _begin(count: int) -> Executor | None:
    executor = None
    try:
        # Before signals are blocked: what multiprocessing starts here for itself unblocks them again.
        executor = ProcessPoolExecutor(count, mp_context=get_context("spawn"))
        # Ctrl-C reaches the whole group of processes, and each would print a traceback of its own. What is
        # blocked while they are begun stays blocked in them; this process gets it right afterwards.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            for _ in range(count):
                executor.submit(int)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    except (OSError, ImportError, NotImplementedError):
        if executor is not None:
            executor.shutdown(wait=False, cancel_futures=True)
        return None
    return executor
