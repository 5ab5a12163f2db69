"""The independent checker agrees with every vector, with the demo's workspace, and sees changed bytes."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent
VECTORS = HERE.parent / "vectors"


def _load(name: str) -> ModuleType:
    sys.path.insert(0, str(HERE))
    try:
        spec = importlib.util.spec_from_file_location(f"spec_{name}", HERE / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(HERE))
    return module


vectors = _load("vectors")
checker = vectors.checker
CASES = vectors.cases(VECTORS)


def test_neither_file_uses_anything_but_the_standard_library() -> None:
    own = {"checker", "__future__"}
    for name in ("checker", "vectors"):
        for line in (HERE / f"{name}.py").read_text(encoding="utf-8").splitlines():
            words = line.split()
            if words[:1] in (["import"], ["from"]):
                assert words[1].split(".")[0] in sys.stdlib_module_names | own


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: str(folder.relative_to(VECTORS)))
def test_vector(folder: Path) -> None:
    assert vectors.check_case(folder) == ""


def test_there_are_cases_of_every_kind_and_most_kinds_have_failing_ones() -> None:
    seen: dict[str, set[bool]] = {}
    for folder in CASES:
        expect = json.loads((folder / "expect.json").read_text(encoding="utf-8"))
        seen.setdefault(expect["kind"], set()).add(expect["valid"])
        assert expect["valid"] or "step" in expect, f"{folder}: a failing case says its step"
    assert set(seen) == set(vectors.KINDS)
    both = {kind for kind, outcomes in seen.items() if outcomes == {True, False}}
    assert both >= {
        "canonical",
        "inclusion",
        "envelope",
        "opened_item",
        "sshsig",
        "registry",
        "log",
        "headers",
    }


def test_an_expectation_that_is_wrong_is_reported(tmp_path: Path) -> None:
    case = tmp_path / "case"
    case.mkdir()
    good = (VECTORS / "canonical" / "sorted_keys" / "input.json").read_bytes()
    (case / "input.json").write_bytes(good)
    (case / "expect.json").write_text('{"kind": "canonical", "valid": false, "step": 1}', encoding="utf-8")
    assert "accepted" in vectors.check_case(case)
    (case / "expect.json").write_text('{"kind": "canonical", "valid": true, "sha256": ""}', encoding="utf-8")
    assert "sha256" in vectors.check_case(case)
    assert vectors.main([str(tmp_path)]) == 1


@pytest.fixture
def no_ssh_keygen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but hashes: a program started for every signature of every case takes half a minute."""
    monkeypatch.setenv("PATH", "")


@pytest.mark.usefixtures("no_ssh_keygen")
@pytest.mark.parametrize("path", sorted(checker.load(VECTORS / "workspace")))
def test_a_changed_byte_in_any_file_is_seen(path: str) -> None:
    tree = checker.load(VECTORS / "workspace")
    data = bytearray(tree[path])
    data[len(data) // 2] ^= 1
    found = checker.Workspace({**tree, path: bytes(data)}).check()
    assert "FAIL" in {status for status, _, _ in found}


@pytest.mark.usefixtures("no_ssh_keygen")
@pytest.mark.parametrize("path", sorted(checker.load(VECTORS / "workspace")))
def test_a_missing_file_is_seen(path: str) -> None:
    tree = checker.load(VECTORS / "workspace")
    del tree[path]
    found = checker.Workspace(tree).check()
    assert "FAIL" in {status for status, _, _ in found}


@pytest.mark.parametrize(
    "path",
    [
        "commitments/mixed.json",
        "batteries/mixed/battery.json",
        "batteries/mixed/key.json",
        "batteries/mixed/responses/mixed-plan-1.jsonl",
        "runs/mixed-plan-1/log.jsonl",
        "preregistrations/mixed-plan.json",
    ],
)
def test_a_changed_byte_is_seen_even_with_a_new_file_list(path: str) -> None:
    """`files.json` guards against damage; the chains and hashes must hold without it."""
    tree = checker.load(VECTORS / "workspace")
    digits = [at for at, byte in enumerate(tree[path]) if chr(byte) in "23456"]
    data = bytearray(tree[path])
    data[digits[len(digits) // 2]] ^= 1
    tree[path] = bytes(data)
    listed = checker.read(tree["commitments/files.json"])
    for entry in listed["files"]:
        entry["sha256"] = checker.sha256(tree[entry["path"]])
    tree["commitments/files.json"] = checker.canonical(listed).encode()
    found = checker.Workspace(tree).check()
    assert "FAIL" in {status for status, _, _ in found}
    assert ("OK", "commitments/files.json", "") in found


@pytest.mark.usefixtures("no_ssh_keygen")
def test_signatures_are_not_checked_without_ssh_keygen() -> None:
    found = checker.Workspace(checker.load(VECTORS / "workspace")).check()
    unchecked = [subject for status, subject, _ in found if status == "NOT CHECKED"]
    assert "commitments/mixed.json" in unchecked
    assert "FAIL" not in {status for status, _, _ in found}


def test_the_demo_workspace_is_found_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from sealbench.cli.root import invoke

    assert invoke(["demo", "--out", str(tmp_path / "demo"), "--json"]) == 0
    assert checker.main([str(tmp_path / "demo")]) == 0
    assert checker.main([str(tmp_path / "demo" / "tampered-copy")]) == 1
    shown = capsys.readouterr().out
    assert "battery primes" in shown
    assert "run pairs-plan-1" in shown
