"""The user's own checkpoint table: used when it is longer and agrees, an error when it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from sealbench.errors import CouldNotCheck, FormatError
from sealbench.timestamps import checkpoint_file
from sealbench.timestamps.bitcoin import MAINNET, NETWORKS, REGTEST, CheckpointTable, shipped_checkpoints
from sealbench.timestamps.checkpoint_file import (
    newest_checkpoints,
    user_table_path,
    writable_table_path,
    write_user_table,
)

SHIPPED = shipped_checkpoints()
LONGER = CheckpointTable((*SHIPPED.hashes, b"\x07" * 32), (*SHIPPED.bits, SHIPPED.bits[-1]))


@pytest.fixture
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data"


def test_without_a_file_the_shipped_table_counts(data_folder: Path) -> None:
    assert newest_checkpoints() is SHIPPED
    assert NETWORKS["mainnet"] is MAINNET
    assert not data_folder.exists()


def test_a_longer_table_is_used_from_then_on(data_folder: Path) -> None:
    write_user_table(writable_table_path(), LONGER)
    assert (data_folder / "sealbench" / "checkpoints_mainnet.bin").read_bytes() == LONGER.to_bytes()
    network = NETWORKS["mainnet"]
    assert network.checkpoints == LONGER
    assert network is NETWORKS["mainnet"]  # what is computed for it is kept
    assert network.anchor == (SHIPPED.last_height + 2016, b"\x07" * 32)
    assert MAINNET.checkpoints is SHIPPED
    user_table_path().unlink()  # type: ignore[union-attr]
    assert NETWORKS["mainnet"].checkpoints is SHIPPED


def test_an_older_table_gives_way_to_the_shipped_one(data_folder: Path) -> None:
    write_user_table(writable_table_path(), CheckpointTable(SHIPPED.hashes[:9], SHIPPED.bits[:9]))
    assert newest_checkpoints() == SHIPPED


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a packed checkpoint table"),
        (LONGER.to_bytes()[:-1], "not a packed checkpoint table"),
        (
            CheckpointTable((b"\x01" * 32, *LONGER.hashes[1:]), LONGER.bits).to_bytes(),
            "two checkpoints disagree at block 2015",
        ),
        (CheckpointTable((b"\x01" * 32,), SHIPPED.bits[:1]).to_bytes(), "two checkpoints disagree"),
    ],
)
def test_a_wrong_table_is_an_error_that_says_what_to_do(data_folder: Path, data: bytes, message: str) -> None:
    writable_table_path().write_bytes(data)
    with pytest.raises(FormatError, match=message) as caught:
        newest_checkpoints()
    assert str(data_folder) in caught.value.message
    assert caught.value.hint == "delete that file, then: seal headers update"
    assert NETWORKS["regtest"] is REGTEST  # regtest has no table and needs none
    assert "mainnet" in NETWORKS and "testnet" not in NETWORKS and len(NETWORKS) == 2


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    assert newest_checkpoints() is SHIPPED
    with pytest.raises(CouldNotCheck, match="cannot be written") as caught:
        writable_table_path()
    assert "XDG_DATA_HOME" in caught.value.hint


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("could not determine home directory")

    monkeypatch.setenv("XDG_DATA_HOME", "")
    monkeypatch.setattr(checkpoint_file.Path, "home", homeless)
    assert newest_checkpoints() is SHIPPED
    with pytest.raises(CouldNotCheck, match="no home folder"):
        writable_table_path()


def test_relative_data_folders_do_not_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "here")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_table_path() == tmp_path / ".local" / "share" / "sealbench" / "checkpoints_mainnet.bin"
