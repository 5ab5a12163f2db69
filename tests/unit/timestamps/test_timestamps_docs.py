"""The recipes in the documents do what they say."""

from __future__ import annotations

import configparser
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from timestamps_support import REPOSITORY

from sealbench.testing.calendar import CalendarServer
from tests.workshop import sealed

RECIPES = (REPOSITORY / "docs" / "scheduled-upgrade.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", RECIPES, re.DOTALL)


@pytest.fixture
def waiting(tmp_path: Path) -> tuple[CalendarServer, Path]:
    """A workspace whose calendar is not started yet."""
    workspace, _ = sealed(tmp_path / "workspace")
    server = CalendarServer()
    text = workspace.settings.read_text("utf-8").replace(
        '["http://127.0.0.1:1"]', f'["{server.url}"]\nexplorers = ["{server.url}"]'
    )
    assert server.url in text
    workspace.settings.write_text(text, "utf-8")
    return server, workspace.root


def shell(command: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "-c", command], env=os.environ | {"PATH": path}, capture_output=True, text=True, timeout=120
    )


def test_the_line_for_cron(waiting: tuple[CalendarServer, Path]) -> None:
    server, root = waiting
    line = blocks("crontab")[0].strip()
    minute, *_, command = line.split(None, 5)
    assert minute == "17" and command.startswith("cd /path/to/workspace && ")
    command = command.replace("/path/to/workspace", str(root))
    log = root / "upgrade.log"
    with server:
        assert shell(f"cd {root} && seal stamp").returncode == 0
        assert shell(command).returncode == 0
        assert "0 of 3 proofs complete" in log.read_text("utf-8")  # asked, and waiting is no failure
        server.mine()
        assert shell(command).returncode == 0
        assert "3 of 3 proofs complete" in log.read_text("utf-8")
        before = log.read_text("utf-8")
        assert shell(command).returncode == 0
        assert log.read_text("utf-8") == before  # nothing waits: nobody is asked
    (root / "sealbench.toml").write_text("network = 7")
    assert shell(command.replace("seal status", "sh -c 'exit 3'")).returncode != 0  # cron reports it


def test_the_units_of_systemd() -> None:
    service, timer = (configparser.ConfigParser() for _ in range(2))
    texts = blocks("ini")
    for parser, text in zip((service, timer), texts, strict=True):
        parser.optionxform = str  # type: ignore[assignment,method-assign]
        parser.read_string(text)
    assert service["Service"]["ExecStart"].endswith("seal upgrade")
    assert service["Service"]["SuccessExitStatus"] == "3"
    assert service["Service"]["Type"] == "oneshot"
    assert timer["Timer"]["OnCalendar"] == "hourly"


def test_the_job_on_a_repository(waiting: tuple[CalendarServer, Path]) -> None:
    """It commits proofs and headers, nothing else, and needs no key."""
    server, root = waiting
    script = f"UPGRADE=true COMMIT=true sh {REPOSITORY / 'docs' / 'recipes' / 'verify.sh'}"
    assert script.replace(f"{REPOSITORY}/", "") in RECIPES
    git = "git -c user.name=a -c user.email=a@example.org"
    with server:
        setup = f"cd {root} && seal stamp && git init -q . && git add . && {git} commit -qm start"
        done = shell(setup)
        assert done.returncode == 0, done
        (root / ".seal" / "author.key").unlink()
        server.mine()
        done = shell(f"cd {root} && SEAL_VERIFY_NETWORK=regtest {script}")
        assert done.returncode == 0, done
    changed = set(shell(f"cd {root} && git show --name-only --format=%s").stdout.split("\n", 2)[2].split())
    assert {name for name in changed if not name.endswith(".ots")} == {
        "commitments/headers.bin",
        "commitments/files.json",
    }
    assert len(changed) == 5
    assert shell(f"cd {root} && git status --porcelain").stdout == ""
