"""Processes that compute for this one: they leave Ctrl-C to it, and go when it wants no more."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from multiprocessing import active_children

import pytest

from sealbench.workers.processes import processes


def _blocked() -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


FRESH = """
import signal
from sealbench.workers.processes import processes
with processes(2) as executor:
    masks = [executor.submit(signal.pthread_sigmask, signal.SIG_BLOCK, []).result(60) for _ in range(8)]
masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, []))
print(*(signal.SIGINT in mask for mask in masks))
"""


def test_they_leave_interrupts_to_the_process_that_began_them() -> None:
    # In a new interpreter: multiprocessing does more when it begins its first process.
    done = subprocess.run([sys.executable, "-c", FRESH], capture_output=True, timeout=120, check=True)
    assert done.stdout.split() == [b"True"] * 8 + [b"False"]


def test_an_exception_ends_them_whatever_they_are_at() -> None:
    before = active_children()
    with pytest.raises(KeyboardInterrupt), processes(1) as executor:
        assert executor is not None
        waiting = [executor.submit(time.sleep, 600) for _ in range(3)]
        raise KeyboardInterrupt
    for future in waiting:
        assert future.exception(60) is not None
    assert active_children() == before
    assert not any(thread.name.startswith("ExecutorManager") for thread in threading.enumerate())


@pytest.mark.parametrize(
    "error", [OSError(38, "no semaphores"), ImportError("sem_open"), NotImplementedError()]
)
def test_where_none_can_be_begun_there_is_no_executor(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("sealbench.workers.processes.ProcessPoolExecutor", refuse)
    with processes(2) as executor:
        assert executor is None
    assert not _blocked()
