"""Wrong use: one error line, one hint with the next command, the right exit code, nothing lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sealbench.config import load
from tests.conftest import Seal
from tests.workshop import planned, sealed


@pytest.fixture(scope="module")
def sealed_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sealed") / "workspace"
    sealed(folder)
    return folder


@pytest.fixture(scope="module")
def planned_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planned") / "workspace"
    planned(folder)
    return folder


CREATE = ["create", "primality", "--name", "other", "--per-class", "2", "--no-stamp"]
WRONG_IN_SEALED = [
    (["run"], 3, "no plan is preregistered", "seal preregister"),
    (["run"], 3, "no plan is preregistered", "--exploratory"),
    (["run", "primes"], 3, "battery without a plan", "seal preregister primes"),
    (["run", "nothing"], 3, "no plan nothing", "seal preregister"),
    (["run", "--cap", "0"], 2, "cap of 0", "--cap 300"),
    (["run", "primes", "--exploratory", "--cap", "300"], 2, "needs an endpoint", "--endpoint"),
    (
        ["run", "primes", "--exploratory", "--cap", "300", "--endpoint", "reference/slover"],
        2,
        "no endpoint reference/slover",
        "reference/solver",
    ),
    (["run", "primes", "--exploratory", "--cap", "300", "--endpoint", "opena/x"], 2, "opena/x", "openai/x"),
    (["create", "primaliti", "--name", "x", "--per-class", "2"], 2, "primaliti", "primality"),
    ([*CREATE[:2], "--name", "primes", "--per-class", "2"], 2, "already used", "--name primes-2"),
    ([*CREATE[:2], "--name", "Not A Name", "--per-class", "2"], 2, "cannot name", "lower-case"),
    ([*CREATE[:2], "--name", "registry", "--per-class", "2"], 2, "another file", "--name"),
    ([*CREATE[:2], "--name", "x", "--per-class", "0"], 2, "at least 1", "--per-class 8"),
    ([*CREATE, "-p", "digits=1"], 2, "digits", "digits"),
    ([*CREATE, "-p", "primality.digit=6"], 2, "digit", "digits"),
    ([*CREATE, "-p", "subset_sum.k=2"], 2, "subset_sum.k=2", "seal families"),
    ([*CREATE, "--wording", "shouted"], 2, "shouted", "plain"),
    (["preregister", "primes", "--plan", "p"], 2, "--template", "seal preregister primes"),
    (["preregister", "nothing", "--plan", "p", "--template", "two-class"], 1, "nothing.json", "seal create"),
    (["preregister", "primes", "--plan", "p", "--template", "none"], 2, "no template", "two-class"),
    (["preregister", "primes", "--plan", "p", "--from", "absent.toml"], 2, "absent.toml", "--template"),
    (["report"], 3, "no run has ended", "seal run"),
    (["report", "nothing-1"], 3, "no run nothing-1", "seal status"),
    (["retire", "primes", "--confirm", "prime"], 2, "nothing was published", "seal retire primes"),
    (["verify", "absent"], 2, "no such file", "seal verify"),
    (["verify", "--network", "testnet9"], 2, "testnet9", "regtest"),
    (["verfy"], 2, "no command 'verfy'", "seal verify"),
    (["init", "."], 2, "workspace already", "seal status"),
    (["stamp"], 4, "nothing was stamped", "try again"),
]


@pytest.mark.parametrize(("arguments", "code", "error", "hint"), WRONG_IN_SEALED)
def test_wrong_use(
    seal: Seal, sealed_folder: Path, arguments: list[str], code: int, error: str, hint: str
) -> None:
    before = _snapshot(sealed_folder)
    result = seal(*arguments, cwd=sealed_folder)
    assert result.code == code, result
    errors = [line for line in result.err.splitlines() if line.startswith("seal: error:")]
    hints = [line for line in result.err.splitlines() if line.startswith("seal: hint:")]
    assert len(errors) == 1 and error in errors[0], result.err
    assert len(hints) == 1 and hint in hints[0], result.err
    assert "Traceback" not in result.err
    assert result.out == ""
    assert _snapshot(sealed_folder) == before


def test_outside_a_workspace(seal: Seal, tmp_path: Path) -> None:
    result = seal("status", cwd=tmp_path)
    assert result.code == 2
    assert "seal: hint: seal init" in result.err


def test_unconfirmed_plan_shows_both_ways(seal: Seal, sealed_folder: Path, tmp_path: Path) -> None:
    workspace, settings = sealed(tmp_path / "workspace")
    folder = workspace.root
    assert seal("preregister", "primes", "--plan", "p", "--template", "two-class", cwd=folder).code == 0
    frozen = seal(
        "preregister", "primes", "--plan", "p", "--from", "p.toml", "--no-stamp", "--force", cwd=folder
    )
    assert frozen.code == 0, frozen.err
    result = seal("run", cwd=folder)
    assert result.code == 3
    assert "never been stamped" in result.err
    assert "seal stamp" in result.err and "--require stamped" in result.err
    assert not list((folder / "runs").iterdir())
    assert settings == load(workspace.settings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("caps = [300]\n->caps = [0]\n", "cap of 0"),
        ('class1 = "prime"->class1 = "primes"', "no item of class primes"),
        ("cap = 300->cap = 301", "cap 301 is not among"),
        ('endpoints = ["reference/solver"]->endpoints = ["reference/solvent"]', "reference/solvent"),
        ('direction = "greater"->direction = "more"', "direction"),
        ('funding = "none"->funding = none', "Invalid value"),
        ('funding = "none"->', "funding"),
        ('measure = "censored"->measure = "cut"', "measure"),
        ('battery = "primes"->battery = "pairs"', "a plan for battery pairs"),
        ("repeats = 1->repeats = 0", "repeats"),
        ('family = "primality"->family = "subset_sum"', "no item of the battery fits"),
        ('family = "primality"->colour = "red"', "filters on colour"),
    ],
)
def test_wrong_plans(seal: Seal, planned_folder: Path, change: str, message: str) -> None:
    old, _, new = change.partition("->")
    text = (planned_folder / "plan.toml").read_text()
    assert old in text
    wrong = planned_folder / "wrong.toml"
    wrong.write_text(text.replace(old, new))
    result = seal(
        "preregister", "primes", "--plan", "wrong", "--from", "wrong.toml", "--no-stamp", cwd=planned_folder
    )
    assert result.code == 2, result
    assert message in result.err
    assert "seal: hint:" in result.err
    assert not (planned_folder / "preregistrations" / "wrong.json").exists()


def test_plan_part_that_is_not_there(seal: Seal, planned_folder: Path) -> None:
    result = seal("run", "--cap", "301", "--no-stamp", cwd=planned_folder)
    assert result.code == 2
    assert "--cap 301 is not in the plan" in result.err
    assert "--exploratory" in result.err


def test_missing_and_exposed_key(seal: Seal, tmp_path: Path) -> None:
    workspace, _ = sealed(tmp_path / "workspace")
    key = workspace.battery_key("primes")
    key.chmod(0o644)
    exposed = seal(
        "run", "primes", "--exploratory", "--cap", "9", "--endpoint", "reference/solver", cwd=workspace.root
    )
    assert exposed.code == 2
    assert f"chmod 600 {key}" in exposed.err
    key.unlink()
    gone = seal(
        "run", "primes", "--exploratory", "--cap", "9", "--endpoint", "reference/solver", cwd=workspace.root
    )
    assert gone.code == 4
    assert "no such key here" in gone.err and "seal key restore BACKUP" in gone.err
    workspace.author_key.unlink()
    author = seal(*CREATE, cwd=workspace.root)
    assert author.code == 4
    assert "author.key" in author.err


@pytest.mark.parametrize("damage", ["flip", "truncate", "remove"])
def test_corrupted_battery(seal: Seal, tmp_path: Path, damage: str) -> None:
    workspace, _ = sealed(tmp_path / "workspace")
    path = workspace.sealed("primes")
    data = path.read_bytes()
    if damage == "remove":
        path.unlink()
    else:
        middle = len(data) // 2
        flipped = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
        path.write_bytes(data[:middle] if damage == "truncate" else flipped)
    for arguments in (
        ["run", "primes", "--exploratory", "--cap", "300", "--endpoint", "reference/solver"],
        ["create", "subset_sum", "--name", "other", "--per-class", "2", "--no-stamp"],
        ["retire", "primes", "--confirm", "primes"],
        ["verify", "--network", "regtest"],
    ):
        result = seal(*arguments, cwd=workspace.root)
        assert result.code == 1, (arguments, result)
        assert "primes.sealed.json" in result.err + result.out
    assert not (workspace.root / "batteries" / "primes").exists()


def test_a_bug_is_said_to_be_one(seal: Seal, monkeypatch: pytest.MonkeyPatch, sealed_folder: Path) -> None:
    import sealbench.stages.status as stage

    def broken(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(stage, "status", broken)
    result = seal("status", cwd=sealed_folder)
    assert result.code == 70
    assert "a bug in seal: RuntimeError: boom" in result.err
    assert "Traceback" not in result.err


def test_interrupt(seal: Seal, monkeypatch: pytest.MonkeyPatch, sealed_folder: Path) -> None:
    import sealbench.stages.status as stage

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(stage, "status", interrupted)
    assert seal("status", cwd=sealed_folder).code == 130


def test_every_command_begins_its_help_with_an_example(seal: Seal) -> None:
    from sealbench.cli.root import COMMANDS

    groups = {"key": ("show", "backup", "restore", "rotate", "revoke"), "headers": ("update",)}
    names = [(name,) for name in COMMANDS]
    names += [(group, name) for group, inner in groups.items() if group in COMMANDS for name in inner]
    for name in names:
        result = seal(*name, "--help")
        assert result.code == 0
        body = result.out.split("\n\n", 1)[1].strip()
        assert body.startswith(f"seal {' '.join(name)}"), body
        assert "--json" in result.out or (name[0] in groups and len(name) == 1)
        assert re.search(r"--help", result.out)


def _snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
