"""Long runs under bad conditions: a faulty server, a hundred kills, full disks, many calls."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import random
import resource
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from sealbench.config import Settings
from sealbench.stages.run import RunResult, execute_run
from sealbench.stages.start_run import start_run
from sealbench.store import Workspace
from sealbench.testing.faulty import ALL_FAULTS, FaultScript
from sealbench.testing.server import ReferenceServer
from tests.cli.run_support import configure, log_of
from tests.cli.test_crash import RUN, _lines, _stop_after, check_complete
from tests.conftest import Seal
from tests.workshop import planned

# What each fault must look like in the log: (status, outcome) of its attempt, and, where the fault still
# is an answer, (end, answer) of its line.
ATTEMPTS = {
    "rate_limited": (429, "retry"),
    "rate_limited_ms": (429, "retry"),
    "server_error": (500, "retry"),
    "overloaded": (529, "retry"),
    "malformed": (200, "malformed"),
    "error_body": (200, "error_body"),
    "choice_error": (200, "error_body"),
    "truncated_body": (None, "lost"),
    "dropped": (None, "lost"),
}
ENDS = {
    "none": ("finished", "right"),
    "slow_body": ("finished", "right"),
    "no_usage": ("finished", "right"),
    "unknown_stop": ("unknown", "right"),
    "stop_at_cap": ("cut_inferred", "empty"),
    "empty": ("finished", "empty"),
}


def _execute(workspace: Workspace, settings: Settings, *, connections: int = 32) -> RunResult:
    opened = start_run(workspace, None)
    return execute_run(
        workspace,
        opened.run,
        opened.battery.items,
        opened.battery.secret,
        opened.planned(),
        settings=settings,
        max_connections=connections,
        backoff=0.001,
    )


@pytest.mark.parametrize("calls", [480, pytest.param(5040, marks=pytest.mark.slow)])
def test_every_fault_in_random_order(tmp_path: Path, calls: int) -> None:
    """Every planned call is one line with the right outcome; every request is an attempt, one to one."""
    rng = random.Random(calls)
    faults = [rng.choice(ALL_FAULTS) for _ in range(10 * calls)]
    with ReferenceServer(script=FaultScript(faults, pause=0.002)) as server:
        name = f"{server.url}#faulty"
        workspace, settings = planned(
            tmp_path / "workspace", per_class=8, endpoints=(name,), repeats=calls // 16
        )
        limits = {"provider": "compatible", "model": "faulty", "base_url": server.url, "max_attempts": 60}
        settings = dataclasses.replace(settings, endpoints={name: limits})
        # Many calls wait a second or more, as the server asks.
        assert _execute(workspace, settings, connections=160).ended
        requests, dealt = server.requests["faulty"], server.script.dealt
    lines = log_of(workspace.root)
    assert len(lines) == len({line.key for line in lines}) == calls
    assert sum(dealt.values()) == requests == sum(len(line.attempts) for line in lines)
    assert requests == _lines(workspace.private_run("plan-1") / "attempts.jsonl")
    expected: Counter[object] = Counter()
    ends: Counter[object] = Counter()
    for fault, count in dealt.items():
        expected[ATTEMPTS.get(fault, (200, "answered"))] += count
        if fault in ENDS:
            ends[ENDS[fault]] += count
    assert Counter((one.status, one.outcome) for line in lines for one in line.attempts) == expected
    assert Counter((line.end, line.answer) for line in lines) == ends


@pytest.mark.slow
def test_kill_at_a_hundred_moments(tmp_path: Path, seal: Seal) -> None:
    rng = random.Random(100)
    with ReferenceServer(latency=0.02) as server:
        folder = tmp_path / "workspace"
        name = f"{server.url}#constant"
        planned(folder, per_class=8, endpoints=(name,), caps=(300,), repeats=125)
        for _ in range(100):
            assert _stop_after(folder, rng.randrange(0, 19), signal.SIGKILL) == -signal.SIGKILL
        done = subprocess.run(RUN, cwd=folder, capture_output=True, timeout=300)
        assert done.returncode == 0, done.stderr
        check_complete(folder, 2000, sum(server.requests.values()))
    assert "FAIL" not in seal("verify", "--network", "regtest", cwd=folder).out


def _free_and_finish(folder: Path, done: subprocess.CompletedProcess[bytes], server: ReferenceServer) -> None:
    """After a full disk: exit 3 with the command that goes on, which then loses and doubles nothing."""
    assert done.returncode == 3, done.stderr
    assert b"the disk is full" in done.stderr
    assert b"then seal run plan" in done.stderr
    assert b"Traceback" not in done.stderr
    written = _lines(folder / "runs" / "plan-1" / "log.jsonl")
    assert 0 < written < 480
    rest = subprocess.run(RUN, cwd=folder, capture_output=True, timeout=120)
    assert rest.returncode == 0, rest.stderr
    check_complete(folder, 480, sum(server.requests.values()))


def test_a_file_that_may_not_grow_ends_the_run_like_a_stop(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    with ReferenceServer() as server:
        planned(folder, endpoints=(f"{server.url}#constant",), repeats=120)

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))

        done = subprocess.run(RUN, cwd=folder, capture_output=True, timeout=120, preexec_fn=limit)
        _free_and_finish(folder, done, server)


@contextlib.contextmanager
def _small_disk(folder: Path) -> Iterator[None]:
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1200k", "tmpfs", str(folder)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_a_full_disk_ends_the_run_like_a_stop(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with _small_disk(disk), ReferenceServer() as server:
        folder = disk / "workspace"
        planned(folder, endpoints=(f"{server.url}#constant",), repeats=120)
        free = os.statvfs(disk)
        ballast = disk / "ballast"
        ballast.write_bytes(b"x" * (free.f_bavail * free.f_frsize - 400 * 1024))
        done = subprocess.run(RUN, cwd=folder, capture_output=True, timeout=120)
        ballast.unlink()
        subprocess.run(["mount", "-o", "remount,size=32m", str(disk)], check=True)
        _free_and_finish(folder, done, server)


MEMORY = """
import json, re, sys
from pathlib import Path
from sealbench.config import Settings
from sealbench.stages.run import execute_run
from sealbench.stages.start_run import start_run
from sealbench.store import Workspace
# Of this process alone: ru_maxrss also counts what the process was before it became this one.
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
opened = start_run(Workspace(Path(sys.argv[1])), None)
planned = opened.planned()
seen = []
def count(line):
    if line.seq % (len(planned) // 10) == 0:
        seen.append(peak())
result = execute_run(Workspace(Path(sys.argv[1])), opened.run, opened.battery.items, opened.battery.secret,
    planned, settings=Settings(network="regtest"), max_connections=64, on_line=count)
print(json.dumps({"ended": result.ended, "peaks": seen}))
"""


@pytest.mark.slow
def test_memory_is_flat_in_the_number_of_calls(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    with ReferenceServer() as server:
        planned(folder, per_class=8, endpoints=(f"{server.url}#constant",), repeats=6250)
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, str(folder)], capture_output=True, timeout=900, text=True
        )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["ended"]
    assert found["peaks"][-1] < 200
    # What grows is the set of calls done: well under 300 bytes a call.
    assert found["peaks"][-1] - found["peaks"][1] < 30


def test_a_terminal_sees_figures_of_each_endpoint_and_cap(tmp_path: Path) -> None:
    """At most ten pictures a second, one line per endpoint and cap, and nothing of it left at the end."""
    folder = tmp_path / "workspace"
    with ReferenceServer(latency=0.02) as server:
        names = (f"{server.url}#constant", "sol")
        table = f'[endpoints.sol]\nprovider = "reference"\nmodel = "solver"\nbase_url = "{server.url}"\n'
        workspace, _ = planned(folder, repeats=1)
        configure(workspace.root, table + "price = { input = 1, output = 100 }")
        pilot = [*RUN[:4], "primes", "--exploratory", "--cap", "300", "--cap", "50", "--repeats", "20"]
        pilot += ["--endpoint", names[0], "--endpoint", names[1], "--max-connections", "2"]
        screen, code = _on_a_terminal(pilot, folder)
    assert code == 0
    pictures = screen.split("\x1b[J")
    shown = [one for one in pictures if "cap 300" in one]
    assert 3 <= len(shown) < 200
    last = shown[-1]
    assert "sol" in last
    assert "cut " in last
    assert "errors 0" in last
    assert "/s" in last
    assert "$" in last
    assert "left" in shown[1]
    assert last.count("cap 300") == last.count("cap 50 ") == 2
    assert "all: " in last


def _on_a_terminal(command: list[str], folder: Path) -> tuple[str, int]:
    import pty

    parent, child = pty.openpty()
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=child) as process:
        os.close(child)
        chunks = []
        while True:
            try:
                chunk = os.read(parent, 65536)
            except OSError:  # the other end is closed
                break
            if not chunk:
                break
            chunks.append(chunk)
        code = process.wait()
    os.close(parent)
    return b"".join(chunks).decode(), code
