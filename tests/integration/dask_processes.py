"""A Dask scheduler and workers as separate processes, for the tests and the benchmark of scaling."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping


class DaskProcesses:
    """A scheduler on a free port of this machine; workers are started and killed one by one."""

    def __init__(self, threads: int) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self._threads = threads
        self._scheduler = _dask("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
        self.workers: list[subprocess.Popen[bytes]] = []

    def start_worker(self, environ: Mapping[str, str] | None = None) -> None:
        """One more worker process, without a nanny that would start it again."""
        options = ("--nthreads", str(self._threads), "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        self.workers.append(_dask("worker", self.address, *options, environ=environ))

    def wait_for(self, count: int, seconds: float = 60) -> None:
        """Until so many workers have joined."""
        from distributed import Client

        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with (
                contextlib.suppress(OSError, TimeoutError),
                Client(self.address, timeout=5, set_as_default=False) as client,
            ):
                if count:
                    client.wait_for_workers(count, timeout=max(1.0, end - time.monotonic()))
                return
        raise TimeoutError(f"{count} workers have not joined within {seconds:g} s")

    def kill_worker(self, number: int) -> None:
        """kill -9."""
        self.workers[number].send_signal(signal.SIGKILL)
        self.workers[number].wait()

    def kill_scheduler(self) -> None:
        """kill -9."""
        self._scheduler.send_signal(signal.SIGKILL)
        self._scheduler.wait()

    def close(self) -> None:
        """End everything that was started."""
        for process in (*self.workers, self._scheduler):
            if process.poll() is None:
                process.kill()
            process.wait()


@contextlib.contextmanager
def dask_processes(workers: int, *, threads: int = 4) -> Iterator[DaskProcesses]:
    """A scheduler and so many workers, gone when the block ends."""
    cluster = DaskProcesses(threads)
    try:
        for _ in range(workers):
            cluster.start_worker()
        cluster.wait_for(workers)
        yield cluster
    finally:
        cluster.close()


def _dask(*arguments: str, environ: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    # Workers begin where no package of this repository lies, so that they use the installed one.
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **(environ or {})},
    )
