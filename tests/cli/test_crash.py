"""Killing a run: whatever the moment, no call is lost, none is doubled, the chain holds."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from sealbench.errors import NotYet
from sealbench.formats.run import LogLine, Run, read_log
from sealbench.store import Workspace
from sealbench.testing.server import ReferenceServer
from tests.conftest import Seal
from tests.workshop import planned

RUN = [sys.executable, "-m", "sealbench", "run", "--no-stamp", "--max-connections", "4"]


def _start(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(RUN, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def _lines(log: Path) -> int:
    return log.read_bytes().count(b"\n") if log.exists() else 0


def _stop_after(folder: Path, lines: int, with_signal: signal.Signals) -> int:
    """Start the run, send the signal once the log has grown by `lines`; its exit code."""
    log = folder / "runs" / "plan-1" / "log.jsonl"
    target = _lines(log) + lines
    process = _start(folder)
    deadline = time.monotonic() + 60
    while _lines(log) < target and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    process.send_signal(with_signal)
    process.communicate(timeout=60)
    return process.returncode


def _log(folder: Path) -> list[LogLine]:
    run = Run.from_bytes((folder / "runs" / "plan-1" / "run.json").read_bytes())
    return list(read_log((folder / "runs" / "plan-1" / "log.jsonl").read_bytes(), run.digest()))


def check_complete(folder: Path, planned_calls: int, requests: int) -> None:
    """Every planned call once; every request the server saw is an attempt somebody noted."""
    lines = _log(folder)
    assert len(lines) == planned_calls
    assert max(Counter(line.key for line in lines).values()) == 1
    assert all(line.end == "finished" for line in lines)
    attempts = sum(len(line.attempts) for line in lines)
    noted = _lines(folder / ".seal" / "runs" / "plan-1" / "attempts.jsonl")
    # An attempt is noted before it is sent, so a kill can leave one that never reached the server.
    assert attempts == noted >= requests
    stored = (folder / ".seal" / "runs" / "plan-1" / "responses.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["raw"]["seq"] for line in stored] == list(range(planned_calls))


def test_kill_at_ten_moments(tmp_path: Path, seal: Seal) -> None:
    rng = random.Random(1)
    with ReferenceServer(latency=0.004) as server:
        name = f"{server.url}#constant"
        planned(tmp_path / "workspace", per_class=8, endpoints=(name,), caps=(300, 4000), repeats=30)
        folder = tmp_path / "workspace"
        for _ in range(10):
            code = _stop_after(folder, rng.randrange(1, 80), signal.SIGKILL)
            assert code == -signal.SIGKILL
        assert _lines(folder / "runs" / "plan-1" / "log.jsonl") < 16 * 2 * 30
        done = subprocess.run(RUN, cwd=folder, capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr
        check_complete(folder, 16 * 2 * 30, sum(server.requests.values()))
    result = seal("verify", "--network", "regtest", cwd=folder)
    assert "FAIL" not in result.out
    assert "960 of 960 planned calls" in result.out


@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_stop(tmp_path: Path, kind: signal.Signals) -> None:
    """SIGTERM and Ctrl-C end cleanly with exit 3, and the same command goes on."""
    with ReferenceServer(latency=0.01) as server:
        name = f"{server.url}#constant"
        planned(tmp_path / "workspace", endpoints=(name,), repeats=60)
        folder = tmp_path / "workspace"
        assert _stop_after(folder, 10, kind) == 3
        assert 10 <= _lines(folder / "runs" / "plan-1" / "log.jsonl") < 240
        done = subprocess.run(RUN, cwd=folder, capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr
        check_complete(folder, 240, sum(server.requests.values()))


def test_two_runs_exclude_each_other(tmp_path: Path, seal: Seal) -> None:
    workspace, _ = planned(tmp_path / "workspace")
    with Workspace(workspace.root).lock("runs/plan-1/lock"):
        result = seal("run", "--no-stamp", cwd=workspace.root)
    assert result.code == NotYet.exit_code
    assert "another seal command is at work" in result.err
    assert seal("run", "--no-stamp", cwd=workspace.root).code == 0


def test_parts_of_a_plan_and_again(tmp_path: Path, seal: Seal) -> None:
    endpoints = ("reference/solver", "reference/constant")
    workspace, _ = planned(tmp_path / "workspace", endpoints=endpoints, caps=(300, 4000))
    first = seal("run", "--cap", "300", "--endpoint", "reference/solver", "--no-stamp", cwd=workspace.root)
    assert first.code == 3
    assert "4 of 16 calls" in first.out
    assert {(line.cap, line.endpoint) for line in _log(workspace.root)} == {(300, "reference/solver")}
    assert seal("report", cwd=workspace.root).code == 3
    assert seal("run", "--no-stamp", cwd=workspace.root).code == 0
    over = seal("run", "--no-stamp", cwd=workspace.root)
    assert over.code == 0
    assert "nothing is left to call" in over.err
    again = seal("run", "--again", "--no-stamp", cwd=workspace.root)
    assert again.code == 0
    assert "run plan-2: 16 of 16" in again.out
