"""Everything that this machine must keep to itself is known, and nothing that is about to be published."""

from __future__ import annotations

from pathlib import Path

import pytest

from sealbench.crypto.signature import AuthorKey
from sealbench.errors import FormatError
from sealbench.publishing.sealing import read_secret
from sealbench.running.known_secrets import forbidden_here
from sealbench.stages.create import create
from tests.workshop import sealed


def test_keys_variables_and_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace, _ = sealed(tmp_path / "w")
    create(workspace, ["primality"], name="other", per_class=2)
    with workspace.settings.open("a") as settings:
        settings.write('\n[endpoints.lab]\nprovider = "compatible"\nmodel = "m"\napi_key_env = "LAB_KEY"\n')
    monkeypatch.setenv("LAB_KEY", "of the laboratory")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "of a provider")
    monkeypatch.setenv("OPENAI_API_KEY", " ")
    monkeypatch.setenv("UNRELATED", "of nobody")
    found = forbidden_here(workspace, {"primes"})
    assert dict(found.secrets) == {
        "the author's key": AuthorKey.from_openssh(workspace.author_key.read_bytes()).secret_bytes(),
        "the key of battery other": read_secret(workspace, "other"),
    }
    assert dict(found.texts) == {
        "the value of LAB_KEY": "of the laboratory",
        "the value of ANTHROPIC_API_KEY": "of a provider",
    }
    assert {str(workspace.root.resolve()), str(Path.home())} <= set(found.paths)


def test_a_key_set_aside_under_a_published_name_is_another_key(tmp_path: Path) -> None:
    workspace, _ = sealed(tmp_path / "w")
    path = workspace.battery_key("primes")
    path.with_name("primes.key.unused-0123456789ab").write_bytes(
        path.read_bytes().replace(read_secret(workspace, "primes").hex().encode(), b"0" * 64)
    )
    assert ("the key of battery primes", bytes(32)) in forbidden_here(workspace, {"primes"}).secrets


def test_a_key_that_cannot_be_read_is_not_passed_over(tmp_path: Path) -> None:
    workspace, _ = sealed(tmp_path / "w")
    workspace.battery_key("broken").write_bytes(b"{")
    with pytest.raises(FormatError, match=r"broken\.key"):
        forbidden_here(workspace, {"primes"})
