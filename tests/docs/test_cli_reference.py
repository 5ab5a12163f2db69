"""docs/cli.md is what the program says of itself, the README names the verifier's hash, and every option
can be set by its own variable."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import Seal

DOCS = Path(__file__).parents[2] / "docs"


def load(name: str) -> ModuleType:
    """A script of `docs/` as a module."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_commands_say() -> None:
    written = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert written == load("write_cli_reference").reference(), "docs/cli.md is stale: run `make docs`"


def test_the_readme_names_the_hash_of_the_verifier() -> None:
    written = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert written == load("write_verifier_hash").readme(), "README.md is stale: run `make docs`"


def test_a_variable_is_named_like_its_option(
    seal: Seal, demo_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEAL_VERIFY_NETWORK", "regtest")
    monkeypatch.setenv("SEAL_VERIFY_JSON", "1")
    found = seal("verify", cwd=demo_folder)
    assert (found.code, found.out[:1]) == (0, "{"), found.err
    monkeypatch.setenv("SEAL_KEY_SHOW_JSON", "1")
    assert seal("key", "show").out[:1] == "{"
    monkeypatch.setenv("SEAL_VERIFY_MIN_GRADE", "no-such-grade")
    refused = seal("verify")
    assert (refused.code, "no-such-grade" in refused.err) == (2, True)
    monkeypatch.setenv("SEAL_VERIFY_KEY", str(demo_folder / "no-such-key"))
    assert seal("verify", "--min-grade", "proof-of-work").code != 0
