"""The scheduling page's script is run as it stands; its timers, crontab and workflow are read by field."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from pages import ROOT, Block, blocks
from shell_session import Session

from sealbench.running.run_records import read_run
from sealbench.stages.init import init
from sealbench.store import Workspace
from sealbench.testing.calendar import CalendarServer
from tests import workshop

PAGE = ROOT / "docs" / "scheduling.md"
PLAN = workshop.PLAN.format(
    endpoints='["reference/constant"]', caps=[300], repeats=1, first="reference/constant", cap=300
).replace('battery = "primes"', 'battery = "template"')


def block(language: str, holds: str = "") -> str:
    (found,) = [one.text for one in blocks(PAGE) if one.language == language and holds in one.text]
    return found


class Scheduler:
    """Starts the page's script in a workspace whose calendar is on this machine."""

    def __init__(self, tmp_path: Path, calendar: CalendarServer) -> None:
        self.workspace: Workspace = init(
            tmp_path / "workspace", network="regtest", calendars=(calendar.url,), explorers=(calendar.url,)
        ).workspace
        self.calendar = calendar
        (self.workspace.root / "plan.toml").write_text(PLAN)
        script = self.workspace.root / "wave.sh"
        script.write_text(block("bash"))
        script.chmod(0o755)
        state = tmp_path / "state"
        state.mkdir()
        self._session = Session(self.workspace.root, state, {"PER_CLASS": "3"})

    def start(self, wave: str, *, code: int) -> str:
        """Start it once; what it printed."""
        line = f"WAVE={wave} ./wave.sh" + (f"  # exit code {code}" if code else "")
        self._session.run(Block("bash", line))
        return self._session.outputs[f"WAVE={wave} ./wave.sh"]


@pytest.fixture
def scheduler(tmp_path: Path) -> object:
    with CalendarServer() as calendar:
        calendar.chain.mine(5)
        yield Scheduler(tmp_path, calendar)


def test_waves_of_two_days_go_through_their_life_start_by_start(scheduler: Scheduler) -> None:
    workspace = scheduler.workspace
    scheduler.start("1", code=3)
    assert workspace.plan("wave-1-plan").exists()
    assert not workspace.run("wave-1-plan-1").exists()
    scheduler.start("1", code=3)  # no block yet: nothing new, nothing lost
    assert not workspace.run("wave-1-plan-1").exists()
    scheduler.calendar.mine()
    scheduler.start("1", code=3)
    assert read_run(workspace, "wave-1-plan-1").planned_calls == 6
    assert (workspace.run("wave-1-plan-1") / "report.json").exists()
    assert not workspace.retired("wave-1").exists()
    scheduler.calendar.mine()
    scheduler.start("1", code=3)
    assert (workspace.retired("wave-1") / "key.json").exists()
    scheduler.start("2", code=3)  # the next day
    for _ in range(2):
        scheduler.calendar.mine()
        scheduler.start("2", code=3)
    assert (workspace.retired("wave-2") / "key.json").exists()
    scheduler.calendar.mine()
    scheduler.start("2", code=0)
    before = workspace.registry.read_bytes()
    scheduler.start("2", code=0)  # nothing is due: nothing is done
    assert workspace.registry.read_bytes() == before


def test_a_plan_that_is_wrong_ends_the_job_and_says_so(scheduler: Scheduler) -> None:
    (scheduler.workspace.root / "plan.toml").write_text(PLAN.replace("caps = [300]", "caps = []"))
    printed = scheduler.start("1", code=2)
    assert "seal: error:" in printed
    assert "seal: hint:" in printed
    assert not scheduler.workspace.plan("wave-1-plan").exists()


def test_a_start_beside_another_command_comes_back_later(scheduler: Scheduler) -> None:
    with scheduler.workspace.lock():
        printed = scheduler.start("1", code=3)
    assert "another seal command is at work" in printed


def test_the_script_is_bash() -> None:
    subprocess.run(["bash", "-n", "-c", block("bash")], check=True)


def test_the_crontab_line_is_one() -> None:
    (line,) = block("crontab").splitlines()
    *when, command = line.split(None, 5)
    assert len(when) == 5
    for field, (low, high) in zip(when, [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)], strict=True):
        assert field == "*" or low <= int(field) <= high
    assert "%" not in command  # cron takes it for a line break
    subprocess.run(["bash", "-n", "-c", command], check=True)
    assert command.endswith("|| [ $? -eq 3 ]")


@pytest.mark.parametrize("kind", ["[Service]", "[Timer]"])
def test_the_units_parse_and_name_what_there_is(kind: str) -> None:
    unit = configparser.ConfigParser(interpolation=None, strict=True)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(block("ini", kind))
    if kind == "[Service]":
        assert unit["Service"]["SuccessExitStatus"] == "3"
        assert unit["Service"]["ExecStart"].endswith("/wave.sh")
    else:
        assert unit["Install"]["WantedBy"] == "timers.target"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_reads_the_units(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "wave.sh").write_text("#!/bin/sh\n")
    (folder / "wave.sh").chmod(0o755)
    for name, kind in (("seal-wave.service", "[Service]"), ("seal-wave.timer", "[Timer]")):
        text = block("ini", kind).replace("/path/to/workspace", str(folder))
        (tmp_path / name).write_text(text)
    timer = block("ini", "[Timer]")
    when = re.search(r"^OnCalendar=(.*)$", timer, re.MULTILINE)
    assert when is not None
    done = subprocess.run(["systemd-analyze", "calendar", when[1]], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    units = [str(tmp_path / name) for name in ("seal-wave.service", "seal-wave.timer")]
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--user", *units], capture_output=True, text=True
    )
    ours = [line for line in done.stderr.splitlines() if "seal-wave" in line]
    assert not ours, ours


def test_the_workflow_keeps_what_only_its_runner_has() -> None:
    """Read line by line: a reader of YAML is no dependency of this project."""
    lines = [line.partition(" #")[0].rstrip() for line in block("yaml").splitlines()]
    assert all("\t" not in line and (len(line) - len(line.lstrip())) % 2 == 0 for line in lines)
    top = [line.rstrip(":") for line in lines if line and not line.startswith(" ") and line.endswith(":")]
    assert top == ["on", "concurrency", "permissions", "jobs"]
    assert '    - cron: "23 * * * *"' in lines
    assert "          clean: false" in lines
    assert "  cancel-in-progress: false" in lines
    assert "        run: ./wave.sh || [ $? -eq 3 ]" in lines
    added = next(line.split()[2:] for line in lines if line.strip().startswith("git add"))
    assert added == ["batteries", "commitments", "preregistrations", "runs"]
