"""Keys: backups under a passphrase, rotation and revocation that verification follows."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path

import pytest

from sealbench.publishing.publication import Publication, author_key
from sealbench.store import Workspace
from tests.conftest import Seal
from tests.workshop import sealed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    sealed(tmp_path / "workspace")
    monkeypatch.setenv("PASS", "correct horse battery")
    return tmp_path / "workspace"


def _verify(seal: Seal, folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(
        seal("verify", "--network", "regtest", "--accept-unanchored", "--json", cwd=folder).out
    )
    return found


def test_backup_and_restore(seal: Seal, folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "keys.backup"
    assert seal("key", "backup", str(target), "--passphrase-env", "PASS", cwd=folder).code == 0
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    private = folder / ".seal"
    before = {path.name: path.read_bytes() for path in private.rglob("*.key")}
    assert len(before) == 2
    for secret in before.values():
        assert secret not in target.read_bytes()
    shutil.rmtree(private)
    restored = seal("key", "restore", str(target), "--passphrase-env", "PASS", cwd=folder)
    assert "restored 2 keys" in restored.out
    assert {path.name: path.read_bytes() for path in private.rglob("*.key")} == before
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in private.rglob("*.key"))
    again = seal("key", "restore", str(target), "--passphrase-env", "PASS", cwd=folder)
    assert "restored 0 keys" in again.out
    second = seal("key", "backup", str(target), "--passphrase-env", "PASS", cwd=folder)
    assert (second.code, "never overwritten" in second.err) == (2, True)


def test_wrong_passphrases(seal: Seal, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "keys.backup"
    assert seal("key", "backup", str(target), "--passphrase-env", "UNSET", cwd=folder).code == 2
    monkeypatch.setenv("PASS", "short")
    assert seal("key", "backup", str(target), "--passphrase-env", "PASS", cwd=folder).code == 2
    assert not target.exists()
    monkeypatch.setenv("PASS", "long enough")
    assert seal("key", "backup", str(target), "--passphrase-env", "PASS", cwd=folder).code == 0
    monkeypatch.setenv("PASS", "another one")
    wrong = seal("key", "restore", str(target), "--passphrase-env", "PASS", cwd=folder)
    assert (wrong.code, "wrong passphrase" in wrong.err) == (2, True)
    data = bytearray(target.read_bytes())
    data[-20] ^= 1
    target.write_bytes(bytes(data))
    monkeypatch.setenv("PASS", "long enough")
    assert seal("key", "restore", str(target), "--passphrase-env", "PASS", cwd=folder).code in (1, 2)


def test_rotation_is_followed(seal: Seal, folder: Path) -> None:
    first = json.loads(seal("key", "show", "--json", cwd=folder).out)["keys"]
    assert [key["current"] for key in first] == [True]
    assert seal("key", "rotate", "--no-stamp", cwd=folder).code == 0
    keys = json.loads(seal("key", "show", "--json", cwd=folder).out)["keys"]
    assert [key["current"] for key in keys] == [False, True]
    assert keys[0]["fingerprint"] == first[0]["fingerprint"]
    created = seal("create", "subset_sum", "--name", "later", "--per-class", "2", "--no-stamp", cwd=folder)
    assert created.code == 0, created.err
    verified = _verify(seal, folder)
    assert verified["verdict"] == "ok_except_time", verified
    signers = (folder / "commitments" / "allowed_signers").read_text()
    assert all(key["fingerprint"] in signers for key in keys)


def test_a_file_signed_by_the_old_key_after_the_rotation_fails(seal: Seal, folder: Path) -> None:
    old = author_key_bytes(folder)
    assert seal("key", "rotate", "--no-stamp", cwd=folder).code == 0
    (folder / ".seal" / "author.key").write_bytes(old)
    assert (
        seal("create", "subset_sum", "--name", "later", "--per-class", "2", "--no-stamp", cwd=folder).code
        == 0
    )
    verified = _verify(seal, folder)
    assert verified["verdict"] == "fail"
    assert 2 in {step["step"] for step in verified["steps"] if step["status"] == "fail"}  # type: ignore[attr-defined]


def author_key_bytes(folder: Path) -> bytes:
    return (folder / ".seal" / "author.key").read_bytes()


def test_revocation(seal: Seal, folder: Path) -> None:
    current = json.loads(seal("key", "show", "--json", cwd=folder).out)["keys"][0]["fingerprint"]
    assert seal("key", "revoke", "SHA256:nothing", cwd=folder).code == 2
    assert seal("key", "revoke", current, "--no-stamp", cwd=folder).code == 0
    keys = json.loads(seal("key", "show", "--json", cwd=folder).out)["keys"]
    assert [(key["current"], key["revoked"] is not None) for key in keys] == [(False, True), (True, False)]
    assert seal("key", "revoke", current, cwd=folder).code == 2
    assert _verify(seal, folder)["verdict"] == "ok_except_time"
    shown = seal("status", cwd=folder).out
    assert f"key {current} was revoked at registry line 3" in shown
    assert f"key {current} came in at registry line 1" in shown


@pytest.mark.parametrize("dies_at", ["event", "checkpoint", "write_signed", "finish_rotation"])
def test_an_interrupted_rotation_is_finished(
    seal: Seal, folder: Path, monkeypatch: pytest.MonkeyPatch, dies_at: str
) -> None:
    """The process dies around the registry line: the next command finishes, and everything verifies."""
    real = getattr(Publication, dies_at)

    def dies(*arguments: object) -> object:
        if dies_at == "event":
            real(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Publication, dies_at, dies)
        assert seal("key", "rotate", "--no-stamp", cwd=folder).code == 130
    assert (folder / ".seal" / "author.key.next").exists()
    created = seal("create", "subset_sum", "--name", "later", "--per-class", "2", "--no-stamp", cwd=folder)
    assert created.code == 0, created.err
    assert not (folder / ".seal" / "author.key.next").exists()
    keys = json.loads(seal("key", "show", "--json", cwd=folder).out)["keys"]
    assert [key["current"] for key in keys] == [False, True]
    assert keys[-1]["fingerprint"] == author_key(Workspace(folder)).public.fingerprint
    verified = _verify(seal, folder)
    assert verified["verdict"] == "ok_except_time", verified
