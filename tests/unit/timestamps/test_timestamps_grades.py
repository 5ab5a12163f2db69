from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from timestamps_support import LIMIT, SyntheticChain, mined, root_at, unmined, without_checkpoints

from sealbench.errors import UsageError
from sealbench.timestamps.bitcoin import (
    GRADES,
    MAINNET,
    REGTEST,
    Graded,
    Header,
    HeaderStore,
    at_least,
    grade_attestation,
)
from sealbench.timestamps.targets import compact_bits


def grade(chain: SyntheticChain, height: int, store: HeaderStore) -> Graded:
    return grade_attestation(chain.root(height), height, store, chain.network)


def test_the_order_of_grades() -> None:
    assert GRADES[0] == "mismatch"
    assert at_least("checkpointed", "chained")
    assert at_least("explorer", "explorer")
    assert not at_least("explorer", "proof-of-work")
    assert not at_least("mismatch", "pending")
    with pytest.raises(UsageError):
        at_least("verified", "explorer")


def test_checkpointed(synthetic: SyntheticChain) -> None:
    for height, first in ((2010, 2010), (2015, 2015), (3000, 2016), (0, 0)):
        end = (height // 2016 + 1) * 2016 - 1
        graded = grade(synthetic, height, synthetic.store(first, end))
        assert graded.grade == "checkpointed"
        assert graded.height_proved
        assert graded.time == datetime.fromtimestamp(Header(synthetic.headers[height]).time, UTC)
        assert f"rewriting Bitcoin from block {height}" in graded.forgery_cost


def test_lone_header_below_the_table_is_proof_of_work(synthetic: SyntheticChain) -> None:
    graded = grade(synthetic, 3000, synthetic.store(3000, 3000))
    assert graded.grade == "proof-of-work"
    assert not graded.height_proved
    assert "as claimed" in graded.detail
    assert "hashes" in graded.forgery_cost


def test_a_gap_to_the_checkpoint_is_proof_of_work(synthetic: SyntheticChain) -> None:
    store = HeaderStore({height: synthetic.headers[height] for height in range(3000, 4032) if height != 3500})
    assert grade(synthetic, 3400, store).grade == "proof-of-work"
    assert grade(synthetic, 3600, store).grade == "checkpointed"


def test_real_header_of_another_height_proves_no_height(synthetic: SyntheticChain) -> None:
    message = synthetic.root(3000)
    moved = HeaderStore({3001: synthetic.headers[3000]})
    graded = grade_attestation(message, 3001, moved, synthetic.network)
    assert graded.grade == "proof-of-work"  # it was mined, but nothing says where
    assert not graded.height_proved
    linked = synthetic.store(2016, 4031, h3001=synthetic.headers[3000])
    assert grade_attestation(message, 3001, linked, synthetic.network).grade == "mismatch"


def test_chained_needs_six_blocks_beyond(synthetic: SyntheticChain) -> None:
    for beyond, expected in ((6, "chained"), (5, "proof-of-work"), (0, "proof-of-work")):
        graded = grade(synthetic, 4100, synthetic.store(4032, 4100 + beyond))
        assert graded.grade == expected
        assert graded.height_proved == (beyond == 6)
    assert "75 headers" in grade(synthetic, 4100, synthetic.store(4032, 4106)).forgery_cost


def test_chained_across_a_retarget(synthetic: SyntheticChain) -> None:
    graded = grade(synthetic, 6060, synthetic.store(4032))
    assert graded.grade == "chained"
    assert Header(synthetic.headers[4032]).bits != Header(synthetic.headers[2016]).bits
    everything = replace(synthetic, network=without_checkpoints(synthetic.network))
    for height in (0, 1, 2016, 5000, 6063):
        assert grade(everything, height, synthetic.store()).grade == "chained"


def test_a_wrong_retarget_breaks_the_chain(synthetic: SyntheticChain) -> None:
    parent = Header(synthetic.headers[6047])
    own = Header(synthetic.headers[6048])
    for bits in (0x207FFFFF, own.bits - 1):
        forged = mined(parent.hash, root_at(1), own.time, bits)
        headers = {height: synthetic.headers[height] for height in range(4032, 6048)} | {6048: forged.raw}
        for height in range(6049, 6056):
            forged = mined(forged.hash, root_at(height), forged.time + 600, bits)
            headers[height] = forged.raw
        store = HeaderStore(headers)
        graded = grade_attestation(root_at(1), 6048, store, synthetic.network)
        assert graded.grade == "mismatch"
        assert "required" in graded.detail
        # What stands before the break and is buried is still proved; what is not buried is doubtful.
        assert grade(synthetic, 6041, store).grade == "chained"
        assert grade(synthetic, 6045, store).grade == "mismatch"


def test_lone_header_past_the_table_is_explorer(synthetic: SyntheticChain) -> None:
    # Period 2 is covered by the table's last target, period 3 by nothing.
    assert grade(synthetic, 5000, synthetic.store(5000, 5000)).grade == "proof-of-work"
    graded = grade(synthetic, 6050, synthetic.store(6050, 6050))
    assert graded.grade == "explorer"
    assert "lie by that explorer" in graded.forgery_cost
    assert not at_least(graded.grade, "proof-of-work")


def test_easy_headers_past_the_table_are_explorer_at_most(synthetic: SyntheticChain) -> None:
    easy = mined(bytes(32), root_at(7), 1_900_000_000, 0x207FFFFF)
    # Two retargets may make it this easy again, none in the table's own last period may.
    graded = grade_attestation(root_at(7), 9000, HeaderStore({9000: easy.raw}), synthetic.network)
    assert graded.grade == "explorer"
    graded = grade_attestation(root_at(7), 5000, HeaderStore({5000: easy.raw}), synthetic.network)
    assert graded.grade == "mismatch"
    hard = replace(
        synthetic.network, checkpoints=replace(synthetic.network.checkpoints, bits=(1, 0x1D00FFFF))
    )
    graded = grade_attestation(root_at(7), 6050, HeaderStore({6050: easy.raw}), hard)
    assert graded.grade == "mismatch"
    assert "easier than" in graded.detail


def test_what_is_wrong_with_a_header(synthetic: SyntheticChain) -> None:
    height, real = 3000, Header(synthetic.headers[3000])
    lazy = HeaderStore({height: unmined(real)})
    assert "too little proof of work" in grade(synthetic, height, lazy).detail
    other = mined(real.previous, real.merkle_root, real.time, real.bits - 1)
    assert "required" in grade(synthetic, height, HeaderStore({height: other.raw})).detail
    graded = grade_attestation(bytes(32), height, synthetic.store(3000, 3000), synthetic.network)
    assert (graded.grade, graded.time) == ("mismatch", None)
    assert "Merkle root" in graded.detail
    short = grade_attestation(b"", height, synthetic.store(3000, 3000), synthetic.network)
    assert short.grade == "mismatch"
    assert grade(synthetic, height, HeaderStore()).grade == "needs header"


@pytest.mark.parametrize("bits", [0x21007FFF, 0x1D80FFFF, 0, 0xFF123456, 0x20FFFFFF])
def test_targets_no_network_may_have(bits: int, synthetic: SyntheticChain) -> None:
    raw = bytes(36) + root_at(1) + bytes(4) + bits.to_bytes(4, "little") + bytes(4)
    for height in (5, 5000, 10**6, 2**32 - 1):
        for network in (MAINNET, REGTEST, synthetic.network):
            graded = grade_attestation(root_at(1), height, HeaderStore({height: raw}), network)
            assert graded.grade == "mismatch"


@pytest.mark.parametrize("height", [0, 121, 953567, 955000, 1_200_000, 2**32 - 1])
def test_regtest_work_never_passes_for_mainnet(height: int) -> None:
    easy = mined(bytes(32), root_at(1), 1_900_000_000, compact_bits(LIMIT))
    for network in ("mainnet", "regtest"):
        store = HeaderStore({height: easy.raw}, network=network)
        assert grade_attestation(root_at(1), height, store, MAINNET).grade == "mismatch"


def test_tampering_with_any_byte_of_a_chain_is_noticed(synthetic: SyntheticChain) -> None:
    good = grade(synthetic, 4040, synthetic.store(4032, 4046))
    assert good.grade == "chained"
    for height in (4035, 4040, 4043):
        for at in range(80):
            raw = bytearray(synthetic.headers[height])
            raw[at] ^= 1
            store = synthetic.store(4032, 4046, **{f"h{height}": bytes(raw)})
            assert grade(synthetic, 4040, store).grade == "mismatch", (height, at)


def test_own_files_cannot_be_older_than_the_program(synthetic: SyntheticChain) -> None:
    strict = replace(synthetic.network, earliest_own=datetime(2026, 11, 30, tzinfo=UTC))
    store = synthetic.store(2016, 4031)
    assert grade_attestation(synthetic.root(3000), 3000, store, strict).grade == "checkpointed"
    graded = grade_attestation(synthetic.root(3000), 3000, store, strict, own=True)
    assert graded.grade == "mismatch"
    assert "before any file of this kind" in graded.detail
    # A block's clock may be two hours early.
    edge = datetime.fromtimestamp(Header(synthetic.headers[3000]).time + 7200, UTC)
    strict = replace(strict, earliest_own=edge)
    assert grade_attestation(synthetic.root(3000), 3000, store, strict, own=True).grade == "checkpointed"


def test_cost_sentences_name_a_duration(synthetic: SyntheticChain) -> None:
    from sealbench.timestamps.grades import _effort

    assert "under a second" in _effort(2**32)
    assert "12 seconds" in _effort(int(2.4e15))
    assert "days" in _effort(int(2e21))
    assert "years" in _effort(int(6e23))
    assert "minutes" in _effort(int(1e17))
    assert "hours" in _effort(int(2e18))
