"""A command that dies before any of its writes: the same command again succeeds, and all verifies."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sealbench import store
from tests.conftest import Seal
from tests.workshop import planned, sealed

WRITES = ("write_new", "write_folder", "replace", "append_line")


class Mortal:
    """Lets a number of writes pass and dies at the next."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, passes: int) -> None:
        self.left = passes
        self.died = False
        for name in WRITES:
            monkeypatch.setattr(store, name, self._mortal(getattr(store, name)))

    def _mortal(self, write: Callable[..., None]) -> Callable[..., None]:
        def call(*arguments: Any, **options: Any) -> None:
            if self.left == 0 or self.died:
                self.died = True
                raise KeyboardInterrupt
            self.left -= 1
            write(*arguments, **options)

        return call


COMMANDS = {
    "create": ["create", "subset_sum", "--name", "later", "--per-class", "2", "--no-stamp"],
    "preregister": [
        "preregister",
        "primes",
        "--plan",
        "again",
        "--from",
        "plan.toml",
        "--no-stamp",
        "--force",
    ],
    "run": ["run", "--no-stamp"],
    "report": ["report"],
    "retire": ["retire", "primes", "--confirm", "primes", "--no-stamp"],
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A workspace in the state in which each command can be given."""
    base = tmp_path_factory.mktemp("interrupted")
    sealed(base / "create")
    planned(base / "run")
    return {"create": base / "create", "preregister": base / "run", "run": base / "run"}


@pytest.mark.parametrize("command", ["create", "preregister", "run"])
def test_dying_before_every_write(
    seal: Seal, folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    passes = 0
    while _dies_and_goes_on(seal, folders[command], tmp_path / str(passes), monkeypatch, command, passes):
        passes += 1
    assert passes >= 5


@pytest.mark.parametrize("command", ["report", "retire"])
def test_dying_after_a_run(
    seal: Seal, folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    ready = tmp_path / "ready"
    shutil.copytree(folders["run"], ready)
    assert seal("run", "--no-stamp", cwd=ready).code == 0
    if command == "retire":
        assert seal("report", cwd=ready).code == 0
    passes = 0
    while _dies_and_goes_on(seal, ready, tmp_path / str(passes), monkeypatch, command, passes):
        passes += 1
    assert passes >= 4


def _dies_and_goes_on(
    seal: Seal, source: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, command: str, passes: int
) -> bool:
    """Whether the command died; if so, that it can be given again and leaves nothing false."""
    shutil.copytree(source, folder)
    with monkeypatch.context() as patched:
        mortal = Mortal(patched, passes)
        first = seal(*COMMANDS[command], cwd=folder)
    if not mortal.died:
        assert first.code == 0, first.err
        return False
    assert first.code == 130, first.err
    second = seal(*COMMANDS[command], cwd=folder)
    # The one thing that may be said instead: the command had done all that counts before it died.
    done = "already" in second.err or "has ended" in second.err
    assert second.code == 0 or done, (passes, second.err)
    if done:
        assert seal("key", "rotate", "--no-stamp", cwd=folder).code == 0
    found = json.loads(
        seal("verify", "--network", "regtest", "--accept-unanchored", "--json", cwd=folder).out
    )
    failed = [step for step in found["steps"] if step["status"] == "fail"]
    assert not failed, (passes, failed)
    shutil.rmtree(folder)
    return True
