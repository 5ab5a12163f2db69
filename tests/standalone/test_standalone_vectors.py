"""The stand-alone verifier agrees with every vector, and uses nothing but the standard library."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import pytest
import vector_cases

from sealbench.standalone import verify

VECTORS = Path(__file__).parents[1] / "vectors"
CASES = vector_cases.cases(VECTORS)


def test_it_imports_nothing_but_the_standard_library_and_opens_no_socket() -> None:
    source = Path(verify.__file__).read_text(encoding="utf-8")
    imported = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(str(node.module).split(".")[0])
    assert imported <= set(sys.stdlib_module_names)
    assert not imported & {"socket", "ssl", "urllib", "http", "ftplib", "asyncio", "importlib", "ctypes"}


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: str(folder.relative_to(VECTORS)))
def test_vector(folder: Path) -> None:
    assert vector_cases.check_case(folder) == ""


def test_there_are_cases_of_every_kind_and_most_kinds_have_failing_ones() -> None:
    seen: dict[str, set[bool]] = {}
    for folder in CASES:
        expect = json.loads((folder / "expect.json").read_text(encoding="utf-8"))
        seen.setdefault(expect["kind"], set()).add(expect["valid"])
        assert expect["valid"] or "step" in expect, f"{folder}: a failing case says its step"
    assert set(seen) == set(vector_cases.KINDS)
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
    assert "accepted" in vector_cases.check_case(case)
    (case / "expect.json").write_text('{"kind": "canonical", "valid": true, "sha256": ""}', encoding="utf-8")
    assert "sha256" in vector_cases.check_case(case)
    assert vector_cases.main([str(tmp_path)]) == 1
