"""Every proof of EXPECTED.json gets its expected status, and round-trips byte for byte."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from timestamps_support import DATA, expected_proofs

from sealbench.errors import FormatError
from sealbench.timestamps.bitcoin import MAINNET, REGTEST, HeaderStore, display
from sealbench.timestamps.check import ProofReport, check_file
from sealbench.timestamps.proof import attestations, digest_of, read_proof, serialize

MAINNET_HEADERS = HeaderStore.read((DATA / "headers_mainnet.json").read_bytes())
REGTEST_HEADERS = HeaderStore.read((DATA / "regtest" / "headers_regtest.json").read_bytes())
STATUS = {
    "verified": "anchored",
    "mismatch": "mismatch",
    "needs_header": "needs header",
    "pending": "pending",
    "no_known_attestation": "none",
}


def report_of(folder: Path, proof: Any, target: str | None) -> ProofReport:
    data = (folder / target).read_bytes() if target else b""
    regtest = proof.get("network") == "regtest"
    headers, network = (REGTEST_HEADERS, REGTEST) if regtest else (MAINNET_HEADERS, MAINNET)
    return check_file(data, (folder / proof["file"]).read_bytes(), headers, network)


@pytest.mark.parametrize(("folder", "proof"), expected_proofs())
def test_status(folder: Path, proof: Any) -> None:
    if proof["parse"] != "ok":
        with pytest.raises(FormatError):
            read_proof((folder / proof["file"]).read_bytes())
        return
    for target in proof["targets"]:
        report = report_of(folder, proof, target["file"])
        assert report.commits == target["matches"]
        assert report.status() == STATUS[proof["expected_status"]]
        assert report.canonical
    if not proof["targets"]:  # the file itself is not published
        report = report_of(folder, proof, None)
        assert not report.commits
        assert report.status() == "wrong file"
        assert bool(report.accepted()) == (proof["expected_status"] == "verified")
    time = proof.get("earliest_verified_block_time")
    best = report.best()
    if time is None:
        assert best is None
    else:
        assert best is not None
        assert best.time is not None
        assert int(best.time.timestamp()) == time


@pytest.mark.parametrize(("folder", "proof"), expected_proofs())
def test_contents_and_round_trip(folder: Path, proof: Any) -> None:
    if proof["parse"] != "ok":
        pytest.skip("this one must not parse, which test_status checks")
    data = (folder / proof["file"]).read_bytes()
    parsed = read_proof(data)
    assert serialize(parsed) == data
    assert digest_of(parsed) == (proof["hash_op"], bytes.fromhex(proof["digest"]))
    found = attestations(parsed)
    for kind in ("bitcoin", "pending", "ethereum", "unknown"):
        expected = [one for one in proof["attestations"] if one["type"] == kind]
        ours = [one for one in found if one.kind == kind]
        assert len(ours) == len(expected)
        if kind == "bitcoin":
            assert sorted((one.height, display(one.message)) for one in ours) == sorted(
                (one["height"], one["merkle_root_display"]) for one in expected
            )
        if kind == "pending":
            assert sorted((one.uri, one.message.hex()) for one in ours) == sorted(
                (one["uri"], one["commitment"]) for one in expected
            )


@pytest.mark.parametrize(("folder", "proof"), expected_proofs())
def test_a_proof_is_for_no_other_file(folder: Path, proof: Any) -> None:
    if proof["parse"] == "ok":
        data = (folder / proof["file"]).read_bytes()
        report = check_file(b"something else", data, MAINNET_HEADERS, MAINNET)
        assert not report.commits
        assert report.status() == "wrong file"
        assert "not for this one" in report.sentence(MAINNET)


def test_the_forged_height_is_a_mismatch() -> None:
    easy = HeaderStore.read((DATA / "attacks" / "easy-header.json").read_bytes())
    data = (DATA / "attacks" / "forged-height.txt").read_bytes()
    proof = (DATA / "attacks" / "forged-height.txt.ots").read_bytes()
    report = check_file(data, proof, easy, MAINNET)
    assert report.commits
    assert report.status() == "mismatch"
    assert "207fffff" in report.sentence(MAINNET)


def test_regtest_proofs_are_labelled_and_fail_on_mainnet() -> None:
    folder = DATA / "regtest"
    data, proof = ((folder / name).read_bytes() for name in ("battery-1.txt", "battery-1.txt.ots"))
    report = check_file(data, proof, REGTEST_HEADERS, REGTEST)
    assert [one.grade for one in report.graded] == ["chained"]
    assert report.earliest_proved_height == 121
    assert "regtest" in report.sentence(REGTEST)
    assert "proves nothing about time" in report.sentence(REGTEST)
    assert "1 other promise outstanding (harmless)" in report.sentence(REGTEST)
    assert report.only_sha256
    assert not report.weak_hash
    assert check_file(data, proof, REGTEST_HEADERS, MAINNET).status() == "mismatch"


def test_nlnl_offline_names_heights() -> None:
    name = "swap.commitment.json"
    data, proof = (DATA / "nlnl" / name).read_bytes(), (DATA / "nlnl" / f"{name}.ots").read_bytes()
    report = check_file(data, proof, HeaderStore(), MAINNET)
    assert [one.height for one in report.graded] == [960072, 960073, 960086]
    assert {one.grade for one in report.graded} == {"needs header"}
    assert report.best() is None
    assert report.earliest_proved_height is None
    assert "block 960072, 960073, 960086; fetch headers with `seal upgrade`" in report.sentence(MAINNET)


def test_ots_info_agrees_on_the_attestations() -> None:
    """The reference client reads the same heights and calendars out of a proof."""
    client = Path(sys.executable).with_name("ots")
    if not client.exists():
        pytest.skip("the reference client's command `ots` is not installed")
    for entry in json.loads((DATA / "EXPECTED.json").read_text())["proofs"]:
        if "pending" in entry["file"] or "nlnl/s" in entry["file"]:
            path = DATA / entry["file"]
            done = subprocess.run([client, "info", path], capture_output=True, text=True, timeout=30)
            assert done.returncode == 0, done.stderr
            for one in attestations(read_proof(path.read_bytes())):
                wanted = f"BitcoinBlockHeaderAttestation({one.height})" if one.height else f"'{one.uri}'"
                assert wanted in done.stdout
