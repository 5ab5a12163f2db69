"""The GitHub Action's own shell steps, and the plain-shell recipe that it runs, on real workspaces."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from sealbench.config import load
from sealbench.stages.create import create
from sealbench.stages.init import init
from sealbench.stages.stamp import stamp
from sealbench.testing.calendar import CalendarServer

ROOT = Path(__file__).parents[2]
ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
BASH, GIT = shutil.which("bash"), shutil.which("git")
pytestmark = pytest.mark.skipif(BASH is None or GIT is None, reason="no bash or no git here")
INPUT = re.compile(r"\$\{\{ inputs\.([a-z-]+) \}\}")


@dataclass(frozen=True)
class Step:
    """One step of the action: its name, its variables as written, its script."""

    name: str
    env: dict[str, str]
    script: str


def inputs() -> dict[str, str]:
    """The action's inputs and their defaults."""
    section = ACTION.partition("\ninputs:\n")[2].partition("\noutputs:\n")[0]
    found = re.findall(r"^  ([a-z-]+):\n    description: .+\n    default: (.*)$", section, re.MULTILINE)
    return {name: default.strip('"') for name, default in found}


def steps() -> list[Step]:
    """The action's steps, read by their indentation; `test_the_file_is_plain` keeps that possible."""
    found = []
    for text in ACTION.partition("\n  steps:\n")[2].split("    - name: ")[1:]:
        env = dict(re.findall(r"^        ([A-Z_]+): (.+)$", text.partition("      env:\n")[2], re.MULTILINE))
        script = re.sub(r"^        ", "", text.partition("      run: |\n")[2], flags=re.MULTILINE)
        found.append(Step(text.splitlines()[0], env, script))
    return found


INSTALL, VERIFY = steps()


def test_the_file_is_plain() -> None:
    names = inputs()
    assert len(names) == ACTION.partition("\noutputs:\n")[0].count("    description: ") == 16
    used = INPUT.findall(ACTION)
    assert sorted(used) == sorted(names)  # each input reaches exactly one variable
    for step in (INSTALL, VERIFY):
        assert step.script and "${{" not in step.script  # nothing is pasted into a script
        assert all(INPUT.fullmatch(value) for value in step.env.values())
    assert "secrets" not in ACTION and "uses:" not in ACTION
    assert all(f"`{name}`" in PAGE for name in names)
    assert ACTION.count("\n      shell: bash\n") == len(re.findall(r"\n      run: \|", ACTION)) == 2


def test_yaml_readers_agree() -> None:
    yaml = pytest.importorskip("yaml")
    value = yaml.safe_load(ACTION)
    assert {name: one["default"] for name, one in value["inputs"].items()} == inputs()
    read = [(one["name"], one["env"], one["run"].strip()) for one in value["runs"]["steps"]]
    assert read == [(one.name, one.env, one.script.strip()) for one in (INSTALL, VERIFY)]


@dataclass(frozen=True)
class Done:
    code: int
    log: str
    output: str


class Runner:
    """A folder as a runner has it after the step that installs: `seal` is this environment's."""

    def __init__(self, temporary: Path) -> None:
        self.temporary = temporary
        programs = temporary / "sealbench" / "bin"
        programs.mkdir(parents=True)
        seal = programs / "seal"
        seal.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sealbench "$@"\n')
        seal.chmod(0o755)

    def run(self, folder: Path, **given: str) -> Done:
        """The step `Verify` with these inputs (underscores for hyphens)."""
        values = {**inputs(), **{name.replace("_", "-"): value for name, value in given.items()}}
        output = self.temporary / "output"
        output.write_text("")
        variables = {
            **{name: values[INPUT.findall(value)[0]] for name, value in VERIFY.env.items()},
            "RUNNER_TEMP": str(self.temporary),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_ACTIONS": "true",
            "GITHUB_OUTPUT": str(output),
        }
        # As the runner calls a step with `shell: bash`.
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", VERIFY.script]
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return Done(done.returncode, done.stdout, output.read_text())


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path / "runner")


def test_a_good_workspace(runner: Runner, demo_folder: Path) -> None:
    done = runner.run(demo_folder, network="regtest", at_least_revealed="all", offline="true")
    assert (done.code, done.output) == (0, "exit-code=0\n"), done.log
    assert "verdict: ok (regtest" in done.log and "revealed: 16 of 16 items" in done.log
    one = runner.run(demo_folder, network="regtest", target="primes")
    assert one.code == 0 and "judged: battery primes" in one.log


def test_not_yet(runner: Runner, demo_folder: Path) -> None:
    done = runner.run(demo_folder)  # regtest's blocks prove nothing on mainnet
    assert (done.code, done.output) == (0, "exit-code=3\n"), done.log
    assert "::warning title=seal::not yet" in done.log
    assert runner.run(demo_folder, pending="fail").code == 3
    assert runner.run(demo_folder, accept_unanchored="true").output == "exit-code=0\n"


def test_false(runner: Runner, demo_copy: Path, tmp_path: Path) -> None:
    wrong = runner.run(demo_copy, network="regtest", expect_hash=f"{'0' * 64} {'1' * 64}")
    assert wrong.code == 1 and wrong.log.count("FAIL         expected hash") == 2
    (tmp_path / "eve.pub").write_text((demo_copy / "commitments" / "allowed_signers").read_text())
    (demo_copy / "runs" / "primes-plan-1" / "log.jsonl").write_text("")
    damaged = runner.run(demo_copy, network="regtest", key=str(tmp_path / "eve.pub"))
    assert (damaged.code, damaged.output) == (1, "exit-code=1\n")
    assert "::error title=seal::seal verify ended with exit code 1" in damaged.log
    assert runner.run(demo_copy, min_grade="nonsense").output == "exit-code=2\n"


@pytest.mark.parametrize(
    "hostile", ["$(touch pwned)", "`touch pwned`", ".; touch pwned", '"; touch pwned; "', "--help"]
)
def test_inputs_are_never_code(runner: Runner, tmp_path: Path, hostile: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    assert runner.run(folder, target=hostile).code == 2
    assert runner.run(folder, **{name.replace("-", "_"): hostile for name in inputs()}).code == 2
    assert list(folder.iterdir()) == []


def test_what_is_printed_about_files_is_no_log_command(runner: Runner, demo_copy: Path) -> None:
    (demo_copy / "commitments" / "evil\n::error::forged").mkdir()
    (demo_copy / "commitments" / "evil\n::error::forged" / "x\x1b[2J").write_text("")
    done = runner.run(demo_copy, network="regtest")
    assert done.code == 1 and "evil?::error::forged/x?[2J: is not listed" in done.log
    lines = done.log.splitlines()
    (stop,) = [number for number, line in enumerate(lines) if line.startswith("::stop-commands::")]
    mark = lines[stop].removeprefix("::stop-commands::")
    assert len(mark) == 32 and lines.index(f"::{mark}::") > stop
    assert "\x1b[2J" not in done.log and not any(line.startswith("::error::") for line in lines)
    assert lines[-1] == "::error title=seal::seal verify ended with exit code 1"


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.autocrlf=false")
    done = subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_proofs_are_completed_committed_and_pushed(runner: Runner, tmp_path: Path) -> None:
    origin, clone = tmp_path / "origin.git", tmp_path / "clone"
    with CalendarServer() as calendar:
        made = init(
            tmp_path / "author", network="regtest", calendars=(calendar.url,), explorers=(calendar.url,)
        )
        create(made.workspace, ["primality"], name="primes", per_class=1)
        stamp(made.workspace, load(made.workspace.settings))
        git(made.workspace.root, "init", "-q", "-b", "main")
        git(made.workspace.root, "add", "-A")
        git(made.workspace.root, "commit", "-qm", "sealed")
        git(tmp_path, "clone", "-q", "--bare", str(made.workspace.root), str(origin))
        git(tmp_path, "clone", "-q", str(origin), str(clone))
        assert not (clone / ".seal").exists()  # the job has no key
        asked = {"network": "regtest", "upgrade": "true", "commit": "true", "push": "true"}
        waiting = runner.run(clone, **asked)
        assert (waiting.code, waiting.output) == (0, "exit-code=3\n"), waiting.log
        assert "no proof has changed" in waiting.log
        calendar.mine()
        done = runner.run(clone, **asked)
    assert (done.code, done.output) == (0, "exit-code=0\n"), done.log
    assert git(origin, "log", "-1", "--format=%s %an", "main") == "Timestamps confirmed seal upgrade"
    changed = git(clone, "show", "--format=", "--name-only", "HEAD").splitlines()
    assert {"commitments/primes.json.ots", "commitments/headers.bin", "commitments/files.json"} <= set(
        changed
    )
    assert all(name.endswith((".ots", "headers.bin", "files.json")) for name in changed)
    assert git(clone, "status", "--porcelain") == ""
    again = runner.run(clone, network="regtest", commit="true")
    assert again.code == 0 and "no proof has changed" in again.log


def test_nothing_false_is_committed(runner: Runner, demo_copy: Path) -> None:
    git(demo_copy, "init", "-q")
    git(demo_copy, "add", "-A")
    git(demo_copy, "commit", "-qm", "demo")
    proof = demo_copy / "commitments" / "primes.json.ots"
    proof.write_bytes((demo_copy / "commitments" / "pairs.json.ots").read_bytes())
    done = runner.run(demo_copy, network="regtest", commit="true")
    assert done.code == 1 and git(demo_copy, "log", "--format=%s") == "demo"
    git(demo_copy, "checkout", "-q", "--", ".")
    (demo_copy / "staged").write_text("x")
    git(demo_copy, "add", "staged")
    staged = runner.run(demo_copy, network="regtest", commit="true")
    assert staged.code == 2 and "something is staged already" in staged.log


def test_an_upgrade_that_fails_is_told(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    done = runner.run(tmp_path / "nothing", upgrade="true")
    assert done.code == 2 and "no workspace here" in done.log


def test_the_recipe_outside_of_actions(demo_folder: Path, runner: Runner) -> None:
    path = f"{runner.temporary}/sealbench/bin{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "SEAL_VERIFY_NETWORK": "regtest", "TARGET": "pairs"}
    environment.pop("GITHUB_OUTPUT", None)
    done = subprocess.run(
        ["sh", str(ROOT / "docs" / "recipes" / "verify.sh")],
        cwd=demo_folder,
        env={**environment, "GITHUB_ACTIONS": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "judged: battery pairs" in done.stdout and "::" not in done.stdout


@pytest.mark.integration
def test_the_step_that_installs(tmp_path: Path, demo_folder: Path) -> None:
    variables = {"PYTHON": sys.executable, "RUNNER_TEMP": str(tmp_path), "GITHUB_ACTION_PATH": str(ROOT)}
    command = ["bash", "-e", "-o", "pipefail", "-c", INSTALL.script]
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    seal = tmp_path / "sealbench" / "bin" / "seal"
    checked = subprocess.run([seal, "verify", "--network", "regtest"], cwd=demo_folder, capture_output=True)
    assert checked.returncode == 0
