"""Fixtures that many tests share: one finished demo workspace, and a command line to call."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from sealbench.cli.root import invoke

# Other work on the machine must not fail a test: no example has a deadline, no strategy is too slow.
settings.register_profile("sealbench", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("sealbench")


@dataclass(frozen=True)
class Result:
    """What a command did: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


Seal = Callable[..., Result]


@pytest.fixture(autouse=True)
def _no_user_configuration(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests see neither the user's configuration nor their proxies."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp() / "no-configuration"))
    # A folder of its own for each test, made only by one that writes there.
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.getbasetemp() / "data" / uuid.uuid4().hex))
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def configure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Write the user's configuration."""

    def write(text: str) -> None:
        folder = tmp_path / "configuration"
        (folder / "sealbench").mkdir(parents=True, exist_ok=True)
        (folder / "sealbench" / "config.toml").write_text(text)
        monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))

    return write


@pytest.fixture
def seal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Seal:
    """Run a command in this process: `seal("verify", cwd=folder)`."""

    def call(*arguments: str, cwd: Path | None = None) -> Result:
        if cwd is not None:
            monkeypatch.chdir(cwd)
        capsys.readouterr()
        code = invoke(list(arguments))
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A finished demo workspace. Read it; change only a copy (`demo_copy`)."""
    folder = tmp_path_factory.mktemp("demo") / "workspace"
    assert invoke(["demo", "--out", str(folder), "--json"]) == 0
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def demo_copy(demo_folder: Path, tmp_path: Path) -> Path:
    """A copy of the finished demo workspace that a test may change."""
    copy = tmp_path / "workspace"
    shutil.copytree(demo_folder, copy, ignore=shutil.ignore_patterns("tampered-copy"))
    return copy
