"""`--dask` and `--jobs`: what is missing is said with the way to get it, and nothing is begun before."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Seal
from tests.workshop import planned

ADDRESS = "tcp://127.0.0.1:8786"


@pytest.fixture
def _no_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine where the extra is not installed."""
    monkeypatch.setitem(sys.modules, "distributed", None)


@pytest.mark.usefixtures("_no_dask")
def test_without_the_extra_run_says_which_to_install_and_begins_nothing(tmp_path: Path, seal: Seal) -> None:
    workspace, _ = planned(tmp_path / "workspace")
    result = seal("run", "--no-stamp", "--dask", ADDRESS, cwd=workspace.root)
    assert result.code == 4
    assert "--dask needs the extra `dask` of sealbench" in result.err
    assert "hint: pip install 'sealbench[dask]'" in result.err
    assert not (workspace.root / "runs" / "plan-1").exists()


@pytest.mark.usefixtures("_no_dask")
def test_without_the_extra_verify_says_which_to_install(demo_folder: Path, seal: Seal) -> None:
    result = seal("verify", str(demo_folder), "--network", "regtest", "--dask", ADDRESS)
    assert (result.code, result.out) == (4, "")
    assert "pip install 'sealbench[dask]'" in result.err


@pytest.mark.usefixtures("_no_dask")
def test_without_the_extra_create_says_which_to_install_and_makes_nothing(tmp_path: Path, seal: Seal) -> None:
    assert seal("init", "--network", "regtest", cwd=tmp_path).code == 0
    result = seal("create", "primality", "--name", "p", "--per-class", "2", "--dask", ADDRESS, cwd=tmp_path)
    assert (result.code, result.out) == (4, "")
    assert "pip install 'sealbench[dask]'" in result.err
    assert not (tmp_path / "commitments" / "p.json").exists()


@pytest.mark.parametrize("way", [["--beacon"], ["--from-draft", "p"], ["--derived-from", "other"]])
def test_a_battery_that_is_not_drawn_has_nothing_to_spread(
    tmp_path: Path, seal: Seal, way: list[str]
) -> None:
    assert seal("init", "--network", "regtest", cwd=tmp_path).code == 0
    result = seal("create", "--name", "p", *way, "--dask", ADDRESS, cwd=tmp_path)
    assert result.code == 2
    assert "--dask spreads the drawing of new instances" in result.err


@pytest.mark.parametrize("way", [["--dry-run"], ["--status"], ["--batch", "write"], ["--audit-ids"]])
def test_what_makes_no_calls_has_nothing_to_spread(tmp_path: Path, seal: Seal, way: list[str]) -> None:
    workspace, _ = planned(tmp_path / "workspace")
    result = seal("run", *way, "--dask", ADDRESS, cwd=workspace.root)
    assert result.code == 2
    assert "nothing to spread" in result.err
    assert "hint: leave --dask out" in result.err


def test_files_outside_a_workspace_are_checked_here(tmp_path: Path, seal: Seal) -> None:
    file = tmp_path / "paper.pdf"
    file.write_bytes(b"paper")
    (tmp_path / "paper.pdf.ots").write_bytes(b"no proof")
    result = seal("verify", str(file), "--dask", ADDRESS)
    assert result.code == 2
    assert "--dask is for workspaces" in result.err


def test_a_number_of_jobs_must_be_one(demo_folder: Path, seal: Seal) -> None:
    result = seal("verify", str(demo_folder), "--jobs", "0")
    assert result.code == 2
    assert "--jobs" in result.err


def test_the_command_s_output_is_the_same_for_any_number_of_jobs(
    demo_folder: Path, monkeypatch: pytest.MonkeyPatch, seal: Seal
) -> None:
    monkeypatch.setattr("sealbench.stages.verify._BYTES_EACH", 1)  # even for two batteries
    outputs = {
        seal("verify", str(demo_folder), "--network", "regtest", "--every", "--jobs", jobs).out
        for jobs in ("1", "2")
    }
    assert len(outputs) == 1
    assert "self-declared key" in outputs.pop()


def test_processes_are_begun_by_the_module_too(demo_folder: Path) -> None:
    """`python -m sealbench` is what a process imports again: it must not run a second command."""
    code = (
        "import runpy, sys; import sealbench.stages.verify as stage; stage._BYTES_EACH = 1;"
        "sys.argv = ['seal', 'verify', sys.argv[1], '--network', 'regtest', '--json', '--jobs', '2'];"
        "runpy.run_module('sealbench', run_name='__main__', alter_sys=True)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(demo_folder)], capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout)["verdict"] == "ok"
