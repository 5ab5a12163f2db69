"""Processes that compute for this one: they leave Ctrl-C to it, and go when it wants no more."""

from __future__ import annotations

import signal
import threading
import time
from multiprocessing import active_children

import pytest

from sealbench.workers.processes import processes


def _blocked() -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_they_leave_interrupts_to_the_process_that_began_them() -> None:
    with processes(1) as executor:
        assert executor.submit(_blocked).result(60)
        assert not _blocked()


def test_an_exception_ends_them_whatever_they_are_at() -> None:
    before = active_children()
    with pytest.raises(KeyboardInterrupt), processes(1) as executor:
        waiting = [executor.submit(time.sleep, 600) for _ in range(3)]
        raise KeyboardInterrupt
    for future in waiting:
        assert future.exception(60) is not None
    assert active_children() == before
    assert not any(thread.name.startswith("ExecutorManager") for thread in threading.enumerate())
