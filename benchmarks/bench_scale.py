"""Calls a second with 1, 2 and 4 Dask workers as separate processes, against a server 200 ms away.

    python benchmarks/bench_scale.py [--calls N] [--threads N] [--latency SECONDS]

The server is the built-in one, on loopback, in a process of its own. Each run is a whole one: drawn,
graded, chained, on disk. "one machine" is the same run without workers, with as many connections as one
worker has threads, and with as many as four of them have. Everything shares this machine's cores, so
the last lines also show where these end. Needs the extra `dask`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from sealbench.config import Settings, load
from sealbench.running.endpoint_choice import freeze_endpoint
from sealbench.stages.create import create
from sealbench.stages.init import init
from sealbench.stages.run import execute_run
from sealbench.stages.start_run import start_exploratory
from sealbench.store import Workspace
from sealbench.workers.dask_cluster import DaskCluster

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.integration.dask_processes import dask_processes

SERVER = """
import sys
from sealbench.testing.server import ReferenceServer
with ReferenceServer(latency=float(sys.argv[1])) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""
INSTANCES = 16


@dataclass(frozen=True)
class Measured:
    """One run: how it was spread, calls at a time, calls, seconds, CPU seconds of this process."""

    name: str
    at_a_time: int
    calls: int
    seconds: float
    cpu: float


def measure(
    workspace: Workspace,
    settings: Settings,
    name: str,
    calls: int,
    at_a_time: int,
    cluster: DaskCluster | None,
) -> Measured:
    """One exploratory run of so many calls."""
    table = {**settings.endpoints["server"], "max_connections": at_a_time}
    settings = replace(settings, endpoints={"server": table})
    opened = start_exploratory(
        workspace,
        "primes",
        endpoints=[freeze_endpoint("server", settings.endpoints)],
        caps=[300],
        repeats=calls // INSTANCES,
    )
    pool = cluster.pool() if cluster is not None else None
    began, cpu = time.perf_counter(), time.process_time()
    result = execute_run(
        workspace,
        opened.run,
        opened.battery.items,
        opened.battery.secret,
        opened.planned(),
        settings=settings,
        pool=pool,
    )
    seconds = time.perf_counter() - began
    if not result.ended:
        raise SystemExit(f"{name}: {result.left} calls are left")
    return Measured(name, at_a_time, result.done, seconds, time.process_time() - cpu)


def main() -> None:
    """Measure and print."""
    if find_spec("distributed") is None:
        print("needs the extra: pip install 'sealbench[dask]'")
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=3200, help="with four workers; fewer with fewer")
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--latency", type=float, default=0.2)
    options = parser.parse_args()
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(options.latency)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    found: list[Measured] = []
    try:
        url = server.stdout.readline().strip() if server.stdout else ""
        with tempfile.TemporaryDirectory() as folder:
            workspace = init(Path(folder) / "w", network="regtest", calendars=()).workspace
            create(workspace, ["primality"], name="primes", per_class=INSTANCES // 2)
            table = {"provider": "compatible", "model": "constant", "base_url": url}
            settings = replace(load(workspace.settings), endpoints={"server": table})
            threads = options.threads
            for places in (threads, 4 * threads):
                calls = options.calls * places // (4 * threads)
                found.append(measure(workspace, settings, "one machine", calls, places, None))
            for workers in (1, 2, 4):
                calls = options.calls * workers // 4
                with (
                    dask_processes(workers, threads=threads) as processes,
                    DaskCluster(processes.address) as cluster,
                ):
                    name = f"{workers} worker{'s' * (workers > 1)}"
                    found.append(measure(workspace, settings, name, calls, workers * threads, cluster))
    finally:
        if server.stdin:
            server.stdin.close()
        server.wait()
        if server.stdout:
            server.stdout.close()
    show(found, options.latency)


def show(found: list[Measured], latency: float) -> None:
    """The table; "most" is what so many calls at a time can reach at this latency."""
    print(f"latency {1000 * latency:.0f} ms, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"{'':<14}{'at a time':>10}{'calls':>8}{'calls/s':>10}{'most':>8}{'CPU ms/call here':>18}")
    for one in found:
        rate = one.calls / one.seconds
        print(
            f"{one.name:<14}{one.at_a_time:>10}{one.calls:>8}{rate:>10.1f}{one.at_a_time / latency:>8.0f}"
            f"{1000 * one.cpu / one.calls:>18.2f}"
        )


if __name__ == "__main__":
    main()
