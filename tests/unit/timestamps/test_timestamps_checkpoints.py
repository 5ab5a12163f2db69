from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest
from timestamps_support import DATA, SHARED

from sealbench.errors import FormatError, ProofFailed
from sealbench.timestamps.bitcoin import MAINNET, REGTEST, CheckpointTable, Header, display
from sealbench.timestamps.checkpoints import shipped_checkpoints


def test_shipped_table() -> None:
    table = shipped_checkpoints()
    data = table.to_bytes()
    assert len(table) == 473
    assert table.last_height == 953567
    assert CheckpointTable.from_bytes(data) == table
    assert len(data) == 12 + 473 * 36
    digest = "b4c4e8bfe4dc5df05bffb658a288a4f96542be17818750ce897173405a662db6"
    assert hashlib.sha256(data).hexdigest() == digest
    assert display(table.hashes[0]) == "00000000693067b0e6b440bc51450b9f3850561b07f6d3c021c54fbd6abb9763"


def test_genesis_blocks_are_the_real_ones() -> None:
    assert display(MAINNET.genesis.hash) == "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"
    assert display(REGTEST.genesis.hash) == "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"
    for network in (MAINNET, REGTEST):
        assert network.genesis.meets_own_target()
        assert network.genesis.target == network.pow_limit == network.required_target(0)


def test_real_headers_have_the_target_of_their_period() -> None:
    headers = json.loads((DATA / "headers_mainnet.json").read_text())["headers"]
    assert len(headers) == 9
    for height, entry in headers.items():
        header = Header(bytes.fromhex(entry["header_hex"]))
        assert display(header.hash) == entry["block_hash"]
        assert header.target == MAINNET.required_target(int(height))
        assert header.meets_own_target()
        assert header.time == entry["time"]
        assert int(header.moment.timestamp()) == entry["time"]


def test_required_target_of_the_borders() -> None:
    table = shipped_checkpoints()
    limit = MAINNET.pow_limit
    assert table.required_target(2015, limit) == limit
    assert table.required_target(953568 + 2015, limit) is not None
    assert table.required_target(953568 + 2016, limit) is None


@pytest.mark.skipif(not SHARED.is_dir(), reason="Electrum's own file is not beside this repository")
def test_equals_electrums_table() -> None:
    data = (SHARED / "electrum_checkpoints_mainnet.json").read_bytes()
    assert CheckpointTable.from_electrum_json(data) == shipped_checkpoints()


def test_electrum_json_round_trip() -> None:
    table = shipped_checkpoints()
    pairs = [
        [display(block), table.required_target((i + 1) * 2016, 0)] for i, block in enumerate(table.hashes)
    ]
    assert CheckpointTable.from_electrum_json(json.dumps(pairs).encode()) == table


@pytest.mark.parametrize(
    "data",
    [
        b"{}x",
        b"[[1]]",
        b'{"a": 1}',
        b"[" * 100_000,
        b'[["00", 5]]',
        b'[["' + b"00" * 32 + b'", 0]]',
        b'[["' + b"00" * 32 + b'", -1]]',
        b'[["' + b"00" * 32 + b'", 123456789123456789]]',  # not in compact form
        b"\xff\xfe",
    ],
)
def test_bad_electrum_json(data: bytes) -> None:
    with pytest.raises(FormatError):
        CheckpointTable.from_electrum_json(data)


def test_bad_packed_tables() -> None:
    data = shipped_checkpoints().to_bytes()
    for bad in (b"", data[:-1], data + b"\0", b"X" + data[1:], data[:8] + b"\xff" * 4 + data[12:]):
        with pytest.raises(FormatError):
            CheckpointTable.from_bytes(bad)
    with pytest.raises(FormatError, match="compact"):
        CheckpointTable.from_bytes(data[:-4] + b"\xff\xff\xff\xff")


def test_only_an_agreeing_table_supersedes() -> None:
    table = shipped_checkpoints()
    older = CheckpointTable(table.hashes[:-1], table.bits[:-1])
    assert older.superseded_by(table) is table
    with pytest.raises(ProofFailed, match="ends at block"):
        table.superseded_by(older)
    forged = replace(table, hashes=(*table.hashes[:99], bytes(32), *table.hashes[100:]))
    with pytest.raises(ProofFailed, match="disagree at block 201599") as caught:
        older.superseded_by(forged)
    assert display(table.hashes[99]) in caught.value.message
    assert "00" * 32 in caught.value.message
