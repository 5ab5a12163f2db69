"""Calls a second and CPU a call: bare aiohttp, httpx, this package, and Inspect AI if it is there.

    python benchmarks/bench_engine.py [--calls 10000] [--connections 64] [--inspect /path/to/inspect]

All of them ask the same built-in constant endpoint, which runs in a process of its own, so CPU is the
client's alone. `sealbench, engine` sends, reads and redacts; `sealbench, whole run` also grades, chains
and journals every call on disk, as `seal run` does. Bare aiohttp comes first and last, to show how much
the machine drifts meanwhile; ratios are to the mean of both. Inspect AI is asked for fewer calls.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import httpx

from sealbench.config import Settings
from sealbench.endpoints.base import Limits, resolve
from sealbench.endpoints.engine import Call, run_calls
from sealbench.running.endpoint_choice import freeze_endpoint
from sealbench.stages.create import create
from sealbench.stages.init import init
from sealbench.stages.run import execute_run
from sealbench.stages.start_run import OpenRun, start_exploratory
from sealbench.store import Workspace

PROMPT = "Is 999983 a prime number?"
CAP = 300
SERVER = (
    "import sys\n"
    "from sealbench.testing.server import ReferenceServer\n"
    "with ReferenceServer() as server:\n"
    "    print(server.url, flush=True)\n"
    "    sys.stdin.read()\n"
)
INSPECT_TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import match

@task
def constant():
    samples = [Sample(id=n, input={prompt!r}, target="Yes") for n in range({calls})]
    return Task(dataset=MemoryDataset(samples), scorer=match())
"""


@dataclass(frozen=True)
class Measured:
    """One client's figures."""

    name: str
    calls: int
    seconds: float
    cpu: float

    @property
    def rate(self) -> float:
        """Calls a second."""
        return self.calls / self.seconds

    @property
    def cpu_per_call(self) -> float:
        """Milliseconds of this client's CPU a call."""
        return self.cpu / self.calls * 1000


def body() -> dict[str, object]:
    return {
        "model": "constant",
        "messages": [{"role": "user", "content": PROMPT}],
        "max_completion_tokens": CAP,
    }


async def drain(calls: int, connections: int, one: Callable[[], Awaitable[None]]) -> None:
    left = iter(range(calls))

    async def work() -> None:
        for _ in left:
            await one()

    await asyncio.gather(*(work() for _ in range(connections)))


async def bare_aiohttp(url: str, calls: int, connections: int) -> None:
    connector = aiohttp.TCPConnector(limit=connections)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def one() -> None:
            async with session.post(f"{url}/chat/completions", json=body()) as response:
                await response.json()

        await drain(calls, connections, one)


async def plain_httpx(url: str, calls: int, connections: int) -> None:
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
    async with httpx.AsyncClient(limits=limits, trust_env=False) as client:

        async def one() -> None:
            (await client.post(f"{url}/chat/completions", json=body())).json()

        await drain(calls, connections, one)


async def ours(url: str, calls: int, connections: int) -> None:
    found = resolve("reference/constant", {})
    endpoint = dataclasses.replace(found, base_url=url, limits=Limits(max_connections=connections))
    done = 0

    def count(_outcome: object) -> None:
        nonlocal done
        done += 1

    summary = await run_calls(
        (Call(number, "c", PROMPT, CAP) for number in range(calls)),
        {"c": endpoint},
        before_attempt=lambda _call, _attempt: None,
        on_outcome=count,
    )
    if not (summary.complete and done == calls):
        raise SystemExit(f"{calls - done} calls were not done")


ITEMS = 8  # of the battery that the whole run asks again and again


def pilot(folder: Path, url: str, calls: int) -> tuple[Workspace, OpenRun]:
    """A workspace with a begun run of about this many calls."""
    workspace = init(folder, network="regtest", calendars=("http://127.0.0.1:1",)).workspace
    create(workspace, ["primality"], name="primes", per_class=ITEMS // 2)
    endpoint = freeze_endpoint(f"{url}#constant", {})
    repeats = max(1, calls // ITEMS)
    opened = start_exploratory(workspace, "primes", endpoints=[endpoint], caps=[CAP], repeats=repeats)
    return workspace, opened


def whole_run(workspace: Workspace, opened: OpenRun, connections: int) -> None:
    result = execute_run(
        workspace,
        opened.run,
        opened.battery.items,
        opened.battery.secret,
        opened.planned(),
        settings=Settings(network="regtest"),
        max_connections=connections,
    )
    if not result.ended:
        raise SystemExit(f"{result.left} calls were not done")


def measure_whole_run(url: str, calls: int, connections: int) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        workspace, opened = pilot(Path(folder) / "workspace", url, calls)
        act = lambda: whole_run(workspace, opened, connections)  # noqa: E731
        return measure("sealbench, whole run", opened.run.planned_calls, act)


def measure(name: str, calls: int, act: Callable[[], None], who: int = resource.RUSAGE_SELF) -> Measured:
    before, started = resource.getrusage(who), time.perf_counter()
    act()
    seconds, after = time.perf_counter() - started, resource.getrusage(who)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(name, calls, seconds, cpu)


def inspect_ai(command: str, url: str, calls: int, connections: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        task = Path(folder) / "constant.py"
        task.write_text(INSPECT_TASK.format(prompt=PROMPT, calls=calls))
        arguments = [command, "eval", task.name, "--model", "openai-api/local/constant"]
        arguments += ["--max-connections", str(connections), "--max-tokens", str(CAP)]
        arguments += ["--display", "none", "--log-dir", folder, "--max-samples", str(connections)]
        environment = {**os.environ, "LOCAL_API_KEY": "none", "LOCAL_BASE_URL": url}
        done = subprocess.run(
            arguments, env=environment, cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"Inspect AI failed: {done.stderr.strip().splitlines()[-1:]}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--inspect", default=shutil.which("inspect"), help="Inspect AI's command")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    calls, connections = options.calls, options.connections
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        url = server.stdout.readline().strip() if server.stdout else ""
        plans = [
            ("bare aiohttp", calls, bare_aiohttp),
            ("httpx", max(1, calls // 10), plain_httpx),
            ("sealbench, engine", calls, ours),
        ]
        results = []
        for name, count, client in plans:
            asyncio.run(client(url, min(200, count), connections))  # connections and caches warm
            act = lambda client=client, count=count: asyncio.run(client(url, count, connections))  # noqa: E731
            results.append(measure(name, count, act))
        results.append(measure_whole_run(url, calls, connections))
        act = lambda: asyncio.run(bare_aiohttp(url, calls, connections))  # noqa: E731
        results.append(measure("bare aiohttp again", calls, act))
        if options.inspect:
            few = max(1, calls // 20)
            act = lambda: inspect_ai(options.inspect, url, few, connections)  # noqa: E731
            results.append(measure("Inspect AI", few, act, resource.RUSAGE_CHILDREN))
    finally:
        if server.stdin:
            server.stdin.close()
        server.wait()
        if server.stdout:
            server.stdout.close()
    show(results, as_json=options.json, inspect_found=bool(options.inspect))


def show(results: list[Measured], *, as_json: bool, inspect_found: bool) -> None:
    bare = [r.cpu_per_call for r in results if r.name.startswith("bare aiohttp")]
    base = sum(bare) / len(bare)
    slowest = results[-1].rate if inspect_found else None
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if as_json:
        rows = [
            {
                "name": r.name,
                "calls": r.calls,
                "calls_per_second": r.rate,
                "cpu_ms_per_call": r.cpu_per_call,
                "cpu_ratio": r.cpu_per_call / base,
            }
            for r in results
        ]
        sys.stdout.write(
            json.dumps({"schema": "sealbench/bench-engine/v1", "peak_mb": memory, "rows": rows}) + "\n"
        )
        return
    write = sys.stdout.write
    last = f"{'rate, Inspect = 1':>19}" if slowest else ""
    write(f"{'client':<22}{'calls':>8}{'calls/s':>10}{'CPU ms/call':>13}{'CPU, aiohttp = 1':>18}{last}\n")
    for r in results:
        ratio = r.cpu_per_call / base
        times = f"{r.rate / slowest:>19.1f}" if slowest else ""
        write(f"{r.name:<22}{r.calls:>8}{r.rate:>10.0f}{r.cpu_per_call:>13.3f}{ratio:>18.1f}{times}\n")
    write(f"peak memory of this process: {memory:.0f} MB\n")
    if not inspect_found:
        write("Inspect AI is not installed here: give its command with --inspect to compare\n")


if __name__ == "__main__":
    main()
