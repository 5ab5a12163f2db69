"""One proof against one file: grades reached, words printed, and what is imported on the way."""

from __future__ import annotations

import subprocess
import sys

import pytest
from opentimestamps.core.timestamp import DetachedTimestampFile
from timestamps_support import SyntheticChain

from sealbench.crypto.digest import sha256
from sealbench.errors import FormatError
from sealbench.timestamps.bitcoin import HeaderStore
from sealbench.timestamps.check import check_file

PENDING = b"\x00" + bytes.fromhex("83dfe30d2ef90c8e")
BITCOIN = b"\x00" + bytes.fromhex("0588960d73d71901")
PROMISE = PENDING + b"\x0a\x09https://x"
FILE = b"root 3000"  # its digest is the Merkle root of block 3000 of the synthetic chain


def height(value: int) -> bytes:
    return BITCOIN + b"\x02" + bytes([value & 0x7F | 0x80, value >> 7])


def proof(*attestations: bytes, data: bytes = FILE) -> bytes:
    forks = b"".join(b"\xff" + one for one in attestations[:-1]) + attestations[-1]
    return DetachedTimestampFile.HEADER_MAGIC + b"\x01\x08" + sha256(data) + forks


def test_anchored_with_a_proved_height(synthetic: SyntheticChain) -> None:
    headers = synthetic.store(2016, 4031)
    report = check_file(
        FILE, proof(height(3000), PROMISE, PENDING + b"\x0a\x09https://y"), headers, synthetic.network
    )
    assert report.status("checkpointed") == "anchored"
    sentence = report.sentence(synthetic.network)
    assert sentence.startswith("anchored in block 3000, 2023-")
    assert "UTC, give or take two hours; 2 other promises outstanding (harmless)" in sentence
    assert report.earliest_proved_height == 3000


def test_anchored_at_a_claimed_height(synthetic: SyntheticChain) -> None:
    report = check_file(FILE, proof(height(3000)), synthetic.store(3000, 3000), synthetic.network)
    assert "height 3000 as claimed" in report.sentence(synthetic.network)
    assert "outstanding" not in report.sentence(synthetic.network)
    assert report.earliest_proved_height is None
    # The word is never "anchored" for less than what was asked for.
    assert report.status("chained") == "proof-of-work"
    assert report.sentence(synthetic.network, "chained").startswith("proof-of-work")


def test_explorer_is_not_anchored_by_default(synthetic: SyntheticChain) -> None:
    data = b"root 6050"
    report = check_file(data, proof(height(6050), data=data), synthetic.store(6050, 6050), synthetic.network)
    assert report.status() == "explorer"
    assert report.status("explorer") == "anchored"
    assert report.best() is None
    assert report.sentence(synthetic.network).startswith("explorer: ")
    assert "explorer's word" in report.sentence(synthetic.network)


def test_one_mismatch_fails_the_proof(synthetic: SyntheticChain) -> None:
    headers = synthetic.store(2016, 4031)
    report = check_file(FILE, proof(height(3000), height(3001)), headers, synthetic.network)
    assert [one.grade for one in report.graded] == ["checkpointed", "mismatch"]
    assert report.status() == "mismatch"
    assert report.sentence(synthetic.network).startswith("mismatch: block 3001")


def test_a_proved_height_goes_before_a_lower_claimed_one(synthetic: SyntheticChain) -> None:
    headers = HeaderStore({2999: synthetic.headers[3000]} | dict(synthetic.store(3000, 4031).items()))
    # 2999 holds block 3000's header: contiguous, and it does not link, so it is false.
    report = check_file(FILE, proof(height(2999), height(3000)), headers, synthetic.network)
    assert [one.grade for one in report.graded] == ["mismatch", "checkpointed"]
    apart = HeaderStore({2500: synthetic.headers[3000]} | dict(synthetic.store(3000, 4031).items()))
    report = check_file(FILE, proof(height(2500), height(3000)), apart, synthetic.network)
    best = report.best()
    assert best is not None
    assert (best.height, best.height_proved) == (3000, True)


def test_pending_none_and_other_chains(synthetic: SyntheticChain) -> None:
    litecoin = b"\x00" + bytes.fromhex("06869a0d73d71b45") + b"\x01\x07"
    report = check_file(FILE, proof(litecoin), HeaderStore(), synthetic.network)
    assert report.status() == "none"
    assert "no attestation" in report.sentence(synthetic.network)
    assert [one.kind for one in report.other] == ["litecoin"]
    report = check_file(FILE, proof(litecoin, PROMISE), HeaderStore(), synthetic.network)
    assert report.status() == "pending"
    assert report.sentence(synthetic.network) == "pending: promised by https://x"


def test_foreign_order_is_read_but_not_canonical(synthetic: SyntheticChain) -> None:
    swapped = proof(PROMISE, height(3000))
    report = check_file(FILE, swapped, HeaderStore(), synthetic.network)
    other = check_file(FILE, proof(height(3000), PROMISE), HeaderStore(), synthetic.network)
    assert report.graded == other.graded
    assert {report.canonical, other.canonical} == {True, False}


def test_flipping_any_bit_of_a_proof_never_passes_as_the_same(synthetic: SyntheticChain) -> None:
    good, headers = proof(height(3000)), synthetic.store(2016, 4031)
    for at in range(len(good)):
        for bit in range(8):
            changed = bytearray(good)
            changed[at] ^= 1 << bit
            try:
                report = check_file(FILE, bytes(changed), headers, synthetic.network)
            except FormatError:
                continue
            assert report.status() != "anchored", (at, bit)


def test_nothing_heavy_or_dangerous_is_imported() -> None:
    """No node client, no libssl by ctypes, no HTTP library for checking a proof."""
    code = (
        "import sys, sealbench.timestamps.check, sealbench.timestamps.bitcoin\n"
        "bad = ['bitcoin.rpc', 'bitcoin.core.key', 'otsclient', 'httpx', 'aiohttp', 'numpy', 'sympy']\n"
        "sys.stdout.write(' '.join(name for name in bad if name in sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("module", ["calendars", "headers", "explorer", "core_rpc", "electrum"])
def test_network_modules_load_no_node_client(module: str) -> None:
    code = (
        f"import sys, sealbench.timestamps.{module}\n"
        "bad = ['bitcoin.rpc', 'bitcoin.core.key', 'otsclient']\n"
        "sys.stdout.write(' '.join(name for name in bad if name in sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")
