from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from bitcoin.core import CTransaction
from hypothesis import given, settings
from hypothesis import strategies as st

from sealbench.crypto.digest import sha256, sha256d
from sealbench.errors import FormatError, UsageError
from sealbench.testing.chain import RegtestChain, coinbase, coinbase_path, merkle_root
from sealbench.timestamps.bitcoin import REGTEST, Header, grade_attestation
from sealbench.timestamps.proof import below


def test_the_chain_links_with_real_work() -> None:
    chain = RegtestChain()
    assert chain.mine(20) == list(range(1, 21))
    assert chain.tip == 20
    headers = [Header(chain.header(height)) for height in range(21)]
    assert headers[0] == REGTEST.genesis
    for parent, child in pairwise(headers):
        assert child.previous == parent.hash
        assert child.meets_own_target()
        assert child.bits == 0x207FFFFF
        assert child.time > parent.time
    assert chain.headers().links(REGTEST).forward.tip == 20
    assert chain.height_of(headers[7].hash) == 7
    assert chain.height_of(bytes(32)) is None


def test_a_commitment_is_proved_through_its_transaction() -> None:
    chain, commitment = RegtestChain(), sha256(b"tip")
    further = [coinbase(9, sha256(b"%d" % index)) for index in range(4)]
    (height,) = chain.mine(1, commitment=commitment, transactions=further)
    chain.mine(6)
    (attestation,) = below(chain.attest(commitment, height))
    assert attestation.height == height
    assert attestation.message == Header(chain.header(height)).merkle_root
    graded = grade_attestation(attestation.message, height, chain.headers(), REGTEST)
    assert graded.grade == "chained"
    with pytest.raises(UsageError, match="does not carry"):
        chain.attest(sha256(b"other"), height)
    with pytest.raises(UsageError, match="no block 99"):
        chain.attest(commitment, 99)


@pytest.mark.parametrize("height", [1, 16, 17, 127, 128, 255, 256, 32767, 32768, 100_000])
def test_coinbases_are_transactions_with_their_height(height: int) -> None:
    raw = coinbase(height, sha256(b"x"))
    transaction = CTransaction.deserialize(raw)  # python-bitcoinlib as an independent reader
    assert transaction.serialize() == raw
    assert transaction.is_coinbase()
    script = transaction.vin[0].scriptSig
    first = next(iter(script))
    assert first == height if height <= 16 else int.from_bytes(first, "little") == height
    assert 2 <= len(script) <= 100
    assert transaction.vout[0].nValue == 5_000_000_000 >> height // 150
    assert bytes(transaction.vout[1].scriptPubKey) == b"\x6a\x20" + sha256(b"x")


@settings(max_examples=60)
@given(st.integers(1, 40))
def test_merkle_path_of_the_coinbase(count: int) -> None:
    hashes = [sha256(b"%d" % index) for index in range(count)]
    node = hashes[0]
    for sibling in coinbase_path(hashes):
        node = sha256d(node + sibling)
    assert node == merkle_root(hashes)


def test_merkle_root_of_a_real_shape() -> None:
    one, two, three = (sha256(b"%d" % index) for index in range(3))
    assert merkle_root([one]) == one
    pair, doubled = sha256d(one + two), sha256d(three + three)
    assert merkle_root([one, two, three]) == sha256d(pair + doubled)
    assert merkle_root([]) == bytes(32)


def test_save_and_load(tmp_path: Path) -> None:
    chain, path, commitment = RegtestChain(), tmp_path / "chain.json", sha256(b"tip")
    (height,) = chain.mine(1, commitment=commitment)
    chain.mine(3)
    chain.save(path)
    again = RegtestChain.load(path)
    assert again.headers() == chain.headers()
    assert below(again.attest(commitment, height)) == below(chain.attest(commitment, height))
    assert again.mine(1) == [chain.tip + 1]


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    chain, path = RegtestChain(), tmp_path / "chain.json"
    chain.mine(3)
    chain.save(path)
    state = json.loads(path.read_text())
    changes = [
        lambda blocks: blocks[2].update(transactions=blocks[1]["transactions"]),
        lambda blocks: blocks.pop(1),
        lambda blocks: blocks.pop(0),
        lambda blocks: blocks[3].update(header="00" * 80),
        lambda blocks: blocks[3].update(header="00"),
        lambda blocks: blocks[3].pop("header"),
        lambda blocks: blocks.clear(),
    ]
    for change in changes:
        damaged = json.loads(json.dumps(state))
        change(damaged["blocks"])
        path.write_text(json.dumps(damaged))
        with pytest.raises(FormatError):
            RegtestChain.load(path)
    path.write_text("{")
    with pytest.raises(FormatError):
        RegtestChain.load(path)
    with pytest.raises(FormatError):
        RegtestChain.load(tmp_path / "missing.json")


def test_a_commitment_has_32_bytes() -> None:
    with pytest.raises(UsageError, match="32 bytes"):
        RegtestChain().mine(1, commitment=b"short")
