"""Sealing a battery and opening it again: only the committed key, ciphertext and items will do."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path

import pytest

from sealbench.crypto import encryption
from sealbench.errors import CheckFailed, FormatError, MissingKey, UsageError
from sealbench.formats.battery import (
    Battery,
    BatteryKey,
    Commitment,
    SealedBattery,
    associated_data,
)
from sealbench.publishing.sealing import (
    leaf_hashes,
    open_battery,
    read_commitment,
    seal_battery,
    unseal_battery,
)
from sealbench.store import Workspace, write_new

STORED = Path(__file__).parents[2] / "vectors" / "workspace"
KEY = BatteryKey.from_bytes((STORED / "batteries/mixed/key.json").read_bytes())
BATTERY = Battery.from_bytes((STORED / "batteries/mixed/battery.json").read_bytes())
COMMITMENT = Commitment.from_bytes((STORED / "commitments/mixed.json").read_bytes())
SEALED = SealedBattery.from_bytes((STORED / "batteries/mixed.sealed.json").read_bytes())


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """The stored workspace as its author had it before retirement: with K in `.seal/keys`."""
    for folder in ("batteries", "commitments"):
        shutil.copytree(STORED / folder, tmp_path / folder)
    made = Workspace(tmp_path)
    write_new(made.battery_key("mixed"), KEY.to_bytes(), mode=0o600)
    return made


def test_sealing_again_gives_the_committed_bytes() -> None:
    assert seal_battery(KEY.secret_bytes(), "mixed", BATTERY.to_bytes(), COMMITMENT.parameters) == SEALED
    opened = unseal_battery(KEY.secret_bytes(), SEALED, COMMITMENT)
    assert (opened.items, opened.secret) == (BATTERY.items, KEY.secret_bytes())
    assert list(opened.tree.leaves) == leaf_hashes(
        KEY.secret_bytes(), [item.to_bytes() for item in BATTERY.items]
    )
    assert len(opened.tree.leaves) == COMMITMENT.items


def test_a_workspaces_battery_is_opened(workspace: Workspace) -> None:
    opened = open_battery(workspace, "mixed")
    assert opened.items == BATTERY.items
    assert opened.commitment == COMMITMENT
    assert opened.secret == KEY.secret_bytes()


def test_another_key_is_refused() -> None:
    with pytest.raises(CheckFailed, match="not the one committed to"):
        unseal_battery(bytes(32), SEALED, COMMITMENT)


def test_items_of_another_root_are_refused_although_they_decrypt() -> None:
    """The cipher binds no content: what opens must still have the committed root."""
    other = Battery(name="mixed", items=BATTERY.items[::-1])
    sealed = seal_battery(KEY.secret_bytes(), "mixed", other.to_bytes(), COMMITMENT.parameters)
    with pytest.raises(CheckFailed, match="do not have the committed root"):
        unseal_battery(KEY.secret_bytes(), sealed, COMMITMENT)


def test_a_plaintext_that_is_no_battery_is_refused() -> None:
    associated = associated_data("mixed", COMMITMENT.parameters)
    ciphertext = encryption.seal(KEY.secret_bytes(), b"{}", associated)
    sealed = SealedBattery.from_value(
        {**json.loads(SEALED.to_bytes()), "ciphertext": base64.b64encode(ciphertext).decode()}
    )
    with pytest.raises(FormatError, match=r"mixed \(decrypted\)"):
        unseal_battery(KEY.secret_bytes(), sealed, COMMITMENT)


def test_a_changed_envelope_is_refused_before_it_is_opened(workspace: Workspace) -> None:
    path = workspace.sealed("mixed")
    data = path.read_bytes()
    path.write_bytes(data.replace(b"AA", b"AB", 1) if b"AA" in data else data.replace(b"B", b"C", 1))
    with pytest.raises((CheckFailed, FormatError), match=r"not the file committed to|base64"):
        open_battery(workspace, "mixed")
    path.unlink()
    with pytest.raises(FormatError, match="cannot be read") as caught:
        open_battery(workspace, "mixed")
    assert "version control" in caught.value.hint


def test_a_missing_or_open_key_is_refused_with_what_to_do(workspace: Workspace) -> None:
    path = workspace.battery_key("mixed")
    path.chmod(0o644)
    with pytest.raises(UsageError, match="can be read by others"):
        open_battery(workspace, "mixed")
    path.unlink()
    with pytest.raises(MissingKey) as caught:
        open_battery(workspace, "mixed")
    assert "can never be opened" in caught.value.hint


def test_a_battery_that_is_not_there_is_an_error_with_the_way_to_make_it(workspace: Workspace) -> None:
    with pytest.raises(FormatError, match="cannot be read") as caught:
        read_commitment(workspace, "other")
    assert caught.value.hint.startswith("seal create")
