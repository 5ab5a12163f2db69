"""Two and four Dask workers as separate processes: `make test-dask`.

The server counts every request it gets, so what the log says can be held against it: each planned call
stands in the log once, and each further request is an attempt that the log calls interrupted.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from sealbench.config import Settings
from sealbench.errors import MissingKey, NetworkError, NotYet
from sealbench.formats.run import LogLine
from sealbench.publishing.sealing import open_battery
from sealbench.running.run_records import planned_calls
from sealbench.stages.run import RunResult, execute_run
from sealbench.stages.start_run import start_run
from sealbench.store import Workspace
from sealbench.testing.server import ReferenceServer
from sealbench.workers.dask_cluster import DaskCluster
from tests.cli.run_support import log_of
from tests.conftest import Seal
from tests.integration.dask_processes import DaskProcesses, dask_processes
from tests.workshop import planned

pytest.importorskip("distributed", reason="needs the extra: pip install 'sealbench[dask]'")
pytestmark = [
    pytest.mark.integration,
    # distributed's own warnings, and its threads that outlive a lost connection, are not ours.
    pytest.mark.filterwarnings("ignore"),
]


def workspace_for(root: Path, server: ReferenceServer, *, repeats: int) -> tuple[Workspace, Settings]:
    """A workspace whose plan asks 8 instances `repeats` times at this server, 64 calls at a time."""
    name = f"{server.url}#constant"
    workspace, settings = planned(root, per_class=4, endpoints=(name,), repeats=repeats)
    table = {"provider": "compatible", "model": "constant", "base_url": server.url, "max_connections": 64}
    return workspace, Settings(**{**vars(settings), "endpoints": {name: table}})


def execute(
    workspace: Workspace,
    settings: Settings,
    cluster: DaskProcesses,
    on_line: Callable[[LogLine], None] | None = None,
    patience: float = 90,
) -> RunResult:
    opened = start_run(workspace, "plan")
    with DaskCluster(cluster.address, patience=patience) as dask:
        return execute_run(
            workspace,
            opened.run,
            opened.battery.items,
            opened.battery.secret,
            opened.planned(),
            settings=settings,
            pool=dask.pool(),
            on_line=on_line,
            backoff=0.01,
        )


class KillAfter:
    """Called with every log line; does something once, after so many."""

    def __init__(self, lines: int, act: Callable[[], None]) -> None:
        self._left = lines
        self._act = act

    def __call__(self, _: LogLine) -> None:
        self._left -= 1
        if self._left == 0:
            threading.Thread(target=self._act).start()


@pytest.mark.parametrize("workers", [2, 4])
def test_a_killed_worker_loses_nothing_and_doubles_nothing(tmp_path: Path, workers: int) -> None:
    with ReferenceServer(latency=0.1) as server, dask_processes(workers) as cluster:
        workspace, settings = workspace_for(tmp_path / "workspace", server, repeats=40)
        kill = KillAfter(60, lambda: cluster.kill_worker(0))
        result = execute(workspace, settings, cluster, kill)
        requests = server.requests["constant"]
    lines = log_of(workspace.root)
    keys = {line.key for line in lines}
    assert result.ended
    assert keys == set(planned_calls(result.run, open_battery(workspace, "primes").items))
    assert len(lines) == len(keys) == 320
    outcomes = Counter(attempt.outcome for line in lines for attempt in line.attempts)
    # Up to four calls were in flight on the dead worker. Each is an attempt of its own, and the server
    # saw those of them whose request had left.
    assert 1 <= outcomes["interrupted"] <= 4
    assert outcomes["answered"] == len(lines)
    assert len(lines) <= requests <= len(lines) + outcomes["interrupted"]
    assert set(outcomes) == {"answered", "interrupted"}


def test_all_workers_killed_and_a_new_one_started_goes_on_in_the_same_run(tmp_path: Path) -> None:
    def kill_and_start() -> None:
        cluster.kill_worker(0)
        cluster.kill_worker(1)
        time.sleep(1)
        cluster.start_worker()

    with ReferenceServer(latency=0.05) as server, dask_processes(2) as cluster:
        workspace, settings = workspace_for(tmp_path / "workspace", server, repeats=20)
        result = execute(workspace, settings, cluster, KillAfter(40, kill_and_start))
    assert result.ended
    assert len(log_of(workspace.root)) == 160


def test_no_worker_left_keeps_what_is_done_and_the_same_run_goes_on_later(tmp_path: Path) -> None:
    with ReferenceServer(latency=0.05) as server, dask_processes(1) as cluster:
        workspace, settings = workspace_for(tmp_path / "workspace", server, repeats=20)
        with pytest.raises(NotYet, match="no fit worker"):
            execute(workspace, settings, cluster, KillAfter(40, lambda: cluster.kill_worker(0)), patience=2)
        done = len(log_of(workspace.root))
        assert 40 <= done < 160
        cluster.start_worker()
        cluster.wait_for(1)
        result = execute(workspace, settings, cluster)
    assert result.ended
    assert result.done_now == 160 - done
    outcomes = Counter(attempt.outcome for line in log_of(workspace.root) for attempt in line.attempts)
    assert 1 <= outcomes["interrupted"] <= 4


def test_a_lost_scheduler_ends_the_run_and_keeps_what_is_done(tmp_path: Path) -> None:
    with ReferenceServer(latency=0.05) as server, dask_processes(2) as cluster:
        workspace, settings = workspace_for(tmp_path / "workspace", server, repeats=40)
        with pytest.raises(NetworkError, match="went away"):
            execute(workspace, settings, cluster, KillAfter(40, cluster.kill_scheduler))
    assert 40 <= len(log_of(workspace.root)) < 320


def test_only_workers_that_hold_the_key_are_used(tmp_path: Path) -> None:
    notes: list[str] = []
    with dask_processes(1) as cluster, DaskCluster(cluster.address, on_note=notes.append) as dask:
        with pytest.raises(MissingKey, match="A_SECRET_KEY"):
            dask.require(["A_SECRET_KEY"])
        assert len(notes) == 1
        cluster.start_worker({"A_SECRET_KEY": "sk-of-the-worker"})
        cluster.wait_for(2)
        dask.require(["A_SECRET_KEY"])
        assert len(dask.pool().members) == 1
    assert "sk-of-the-worker" not in "".join(notes)


def test_the_command_spreads_a_run(tmp_path: Path, seal: Seal) -> None:
    with dask_processes(2) as cluster:
        workspace, _ = planned(tmp_path / "workspace", per_class=2, caps=(300, 4000))
        options = ("--max-connections", "3", "--dask", cluster.address)
        result = seal("run", "--no-stamp", *options, cwd=workspace.root)
    assert result.code == 0, result.err
    assert "the workers can make 8 calls at a time, this run makes 3: --max-connections 8" in result.err
    assert len(log_of(workspace.root)) == 8


def test_a_battery_is_made_and_checked_by_workers(demo_folder: Path, tmp_path: Path, seal: Seal) -> None:
    with dask_processes(2) as cluster:
        assert seal("init", "--network", "regtest", cwd=tmp_path).code == 0
        arguments = ("--name", "p", "--per-class", "100", "--no-stamp", "--dask", cluster.address)
        result = seal("create", "primality", *arguments, cwd=tmp_path)
        assert result.code == 0, result.err
        where = (str(demo_folder), "--network", "regtest", "--json")
        spread = seal("verify", *where, "--dask", cluster.address)
    alone = seal("verify", *where, "--jobs", "1")
    assert spread.code == alone.code == 0
    assert spread.out == alone.out


def test_the_command_says_what_is_missing(tmp_path: Path, seal: Seal) -> None:
    workspace, _ = planned(tmp_path / "workspace")
    result = seal("run", "--no-stamp", "--dask", "tcp://127.0.0.1:9", cwd=workspace.root)
    assert (result.code, "no Dask scheduler answers at tcp://127.0.0.1:9" in result.err) == (4, True)
    result = seal("run", "--no-stamp", "--dask", "no address", cwd=workspace.root)
    assert result.code in (2, 4)
    assert "hint" in result.err
    assert not (workspace.root / "runs" / "plan-1").exists()
    with dask_processes(0) as cluster:
        result = seal("run", "--no-stamp", "--dask", cluster.address, cwd=workspace.root)
    assert (result.code, "no worker has joined" in result.err) == (3, True), result.err
    assert not (workspace.root / "runs" / "plan-1").exists()
