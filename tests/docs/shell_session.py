"""Runs a page's shell blocks as a reader would: one after the other, each command's exit code checked.

The shell is bash. `seal` on its path is a small client that has this process run the command, because
starting Python and judging a family's baselines anew for each of sixty commands would take minutes.
"""

from __future__ import annotations

import io
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from pages import Block

from sealbench.cli.root import invoke

_EXPECTED = re.compile(r"#.*\bexit code (\d+)")
_PATIENCE = 240.0  # seconds for one command
_CLIENT = """\
#!{python} -IS
import json, os, socket, sys
with socket.create_connection(("127.0.0.1", {port})) as server:
    server.sendall(json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode())
    server.shutdown(socket.SHUT_WR)
    code, out, err = json.loads(server.makefile("rb").read())
sys.stdout.write(out)
sys.stderr.write(err)
sys.exit(code)
"""


@dataclass(frozen=True)
class StandIn:
    """What is run instead of a documented command that needs what no test has, and why."""

    command: str
    instead: str
    why: str


@dataclass
class Session:
    """A shell whose folder and variables last from command to command.

    Attributes
    ----------
    folder : where the next command runs.
    state : a folder for the session's own files.
    before : called with each documented command before it is run, for example to let time pass.
    outputs : what each documented command printed.
    """

    folder: Path
    state: Path
    variables: dict[str, str]
    stand_ins: tuple[StandIn, ...] = ()
    before: Callable[[str], None] = lambda _: None
    outputs: dict[str, str] = field(default_factory=dict)

    def run(self, block: Block) -> None:
        """Every command of a block; AssertionError with its output where the exit code is another."""
        for line in commands(block):
            command = without_comment(line)
            instead = {one.command: one.instead for one in self.stand_ins}.get(command, command)
            expected = _EXPECTED.search(line)
            self.before(command)
            code, output = self._execute(instead)
            self.outputs[command] = output
            told = f"$ {instead}\n{output}\nexit code {code}"
            assert code == (int(expected[1]) if expected else 0), told

    def _execute(self, command: str) -> tuple[int, str]:
        where, kept, printed = (self.state / name for name in ("folder", "variables", "printed"))
        kept.touch()
        script = f"set -a; source {kept}\n{command}\ncode=$?\npwd > {where}; export -p > {kept}\nexit $code"
        with socket.create_server(("127.0.0.1", 0)) as server, printed.open("wb") as output:
            self._write_client(server.getsockname()[1])
            # Then the environment of the tests' own Python, for `python` and `python3`.
            path = f"{self.state}:{Path(sys.executable).parent}:{os.environ['PATH']}"
            process = subprocess.Popen(
                ["bash", "--noprofile", "--norc", "-c", script],
                cwd=self.folder,
                env={**os.environ, **self.variables, "PATH": path},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            try:
                _serve(server, process)
            finally:
                process.kill()
                process.wait()
        self.folder = Path(where.read_text().strip())
        return process.returncode, printed.read_text()

    def _write_client(self, port: int) -> None:
        client = self.state / "seal"
        client.write_text(_CLIENT.format(python=sys.executable, port=port))
        client.chmod(0o755)


def _serve(server: socket.socket, process: subprocess.Popen[bytes]) -> None:
    """Run each `seal` that the shell calls, in this thread, until the shell has ended."""
    server.settimeout(0.02)
    until = time.monotonic() + _PATIENCE
    while process.poll() is None:
        assert time.monotonic() < until, f"not done after {_PATIENCE} s"
        try:
            connection, _ = server.accept()
        except TimeoutError:
            continue
        with connection:
            connection.settimeout(None)
            arguments, folder, variables = json.loads(connection.makefile("rb").read())
            connection.sendall(json.dumps(_invoke(arguments, folder, variables)).encode())


def _invoke(arguments: list[str], folder: str, variables: dict[str, str]) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    here = Path.cwd()
    os.chdir(folder)
    try:
        with mock.patch.dict(os.environ, variables, clear=True), redirect_stdout(out), redirect_stderr(err):
            code = invoke(arguments)
    finally:
        os.chdir(here)
    return code, out.getvalue(), err.getvalue()


def commands(block: Block) -> Iterator[str]:
    """The commands of a block: lines, with those joined that a backslash or a here-document continues."""
    waiting, end = "", ""
    for line in block.lines:
        waiting += ("\n" if waiting else "") + line
        here = re.search(r"<<'?(\w+)'?", line)
        end = here[1] if here else end
        if line.endswith("\\") or (end and line != end):
            continue
        if waiting.strip():
            yield waiting
        waiting, end = "", ""
    assert not waiting, f"a block ends within a command: {waiting}"


def without_comment(line: str) -> str:
    """A command without the comment beside it (two spaces before the #)."""
    return line.partition("  #")[0].strip()
