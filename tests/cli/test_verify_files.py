"""`seal verify` for files: real proofs, explorers that lie, other people's commitments and batteries."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from timestamps_cli import DATA, Esplora, one_line

from sealbench.timestamps.header_store import HeaderStore
from tests.conftest import Seal
from tests.workshop import sealed

NLNL_HEIGHTS = "958012 958013 958014 958060 960072 960073 960086"


@pytest.fixture
def nlnl(tmp_path: Path) -> Path:
    shutil.copytree(DATA / "nlnl", tmp_path / "nlnl")
    return tmp_path / "nlnl"


def test_eight_real_proofs_offline(seal: Seal, nlnl: Path) -> None:
    done = seal("verify", "--offline", "nlnl", cwd=nlnl.parent)
    assert done.code == 4
    assert done.out.count("needs header: claimed in block") == 8
    assert "8 files: 8 needs header" in done.out
    assert one_line(done, "headers needed") == f"headers needed of 7 blocks: {NLNL_HEIGHTS}"
    assert "    seal verify nlnl\n" in done.out
    assert f"for h in {NLNL_HEIGHTS}; do" in done.out
    assert "seal verify nlnl --offline --headers headers.txt" in done.out
    assert "commits to battery_v2: 63 items, nlnl-items/v1, sha256 6c06eb73" in done.out
    assert "commits to or_gateway_probes_v1: 36 items, file-bytes/v1" in done.out
    assert "Traceback" not in done.err


def test_headers_are_fetched_once_per_height(
    seal: Seal, nlnl: Path, configure: Callable[[str], None]
) -> None:
    with Esplora(HeaderStore()) as explorer:
        configure(f'[timestamps]\nexplorers = ["{explorer.url}"]\n')
        done = seal("verify", "nlnl", "--json", cwd=nlnl.parent)
        assert done.code == 4
        report = json.loads(done.out)
        assert report["verdict"] == "unchecked"
        assert report["missing_headers"] == [int(height) for height in NLNL_HEIGHTS.split()]
        assert report["asked"] == [explorer.url]
        heights = [path for path in explorer.asked if path.startswith("/block-height/")]
        assert sorted(heights) == [f"/block-height/{height}" for height in NLNL_HEIGHTS.split()]
        assert "by hand" in seal("verify", "nlnl").out
        before = len(explorer.asked)
        assert seal("verify", "nlnl", "--offline").code == 4
        assert len(explorer.asked) == before


def proof_for(root: bytes, height: int, tail: bytes = b"") -> tuple[bytes, bytes]:
    """A file and a proof that its SHA-256 is the root of a block: only with a header it is wrong."""
    from opentimestamps.core.notary import BitcoinBlockHeaderAttestation
    from opentimestamps.core.timestamp import Timestamp

    from sealbench.timestamps.proof import DetachedProof, serialize

    top = Timestamp(root)
    top.attestations.add(BitcoinBlockHeaderAttestation(height))
    return tail, serialize(DetachedProof("sha256", root, top))


def test_a_real_header_that_does_not_fit_is_a_mismatch(
    seal: Seal, configure: Callable[[str], None], tmp_path: Path
) -> None:
    real = HeaderStore.read((DATA / "headers_mainnet.json").read_bytes())
    content = b"my file"
    _, proof = proof_for(hashlib.sha256(content).digest(), 358391)
    (tmp_path / "file").write_bytes(content)
    (tmp_path / "file.ots").write_bytes(proof)
    with Esplora(real) as explorer:
        configure(f'[timestamps]\nexplorers = ["{explorer.url}"]\n')
        done = seal("verify", "file", cwd=tmp_path)
    assert done.code == 1
    assert "mismatch: block 358391: the header does not hold the attested Merkle root" in done.out
    headers = tmp_path / "lines.txt"
    headers.write_text("".join(f"{height} {raw.hex()}\n" for height, raw in real.items()))
    offline = seal("verify", "file", "--offline", "--headers", "lines.txt")
    assert offline.code == 1 and offline.out == done.out
    (tmp_path / "headers.bin").write_bytes(real.to_bytes())
    assert seal("verify", "file", "--offline").code == 1  # headers beside the proof are read too


def test_lying_headers_beside_a_proof(seal: Seal, tmp_path: Path) -> None:
    shutil.copytree(DATA / "attacks", tmp_path / "attacks")
    done = seal("verify", "forged-height.txt", "--headers", "easy-header.json", cwd=tmp_path / "attacks")
    assert done.code == 1 and "207fffff" in done.out
    (tmp_path / "attacks" / "headers.bin").write_bytes(b"SEALHDR\x01rubbish")
    damaged = seal("verify", "forged-height.txt", "--offline")
    assert damaged.code == 4 and "headers.bin: not used" in damaged.err
    regtest = HeaderStore.read((DATA / "regtest" / "headers_regtest.json").read_bytes())
    (tmp_path / "attacks" / "headers.bin").write_bytes(regtest.to_bytes())
    assert "holds headers of regtest" in seal("verify", "forged-height.txt", "--offline").err


ITEMS = [
    {
        "id": f"i{number}",
        "family": "f",
        "class_label": "c",
        "prompt": f"p{number}",
        "answer": number,
        "answer_type": "int",
        "params": {},
    }
    for number in range(3)
]


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A folder of two commitments: to three items, and to a file's bytes."""
    text = json.dumps(
        [one | {"answer": str(one["answer"])} for one in ITEMS], sort_keys=True, separators=(",", ":")
    )
    items = hashlib.sha256(text.encode()).hexdigest()
    commitments = {
        "three": {"instrument": "three", "n_items": 3, "battery_hash": items},
        "probes": {"instrument": "probes", "file_hash": hashlib.sha256(b"bytes").hexdigest()},
    }
    folder = tmp_path / "foreign"
    folder.mkdir()
    for name, value in commitments.items():
        (folder / f"{name}.commitment.json").write_text(json.dumps(value))
    return folder


def test_candidate_batteries(seal: Seal, foreign: Path) -> None:
    # The hash that the battery carries itself is a lie, and is not looked at.
    (foreign / "three.json").write_text(json.dumps({"battery_hash": "0" * 64, "items": ITEMS}))
    (foreign / "probes.bin").write_bytes(b"bytes")
    right = seal("verify", ".", "--battery", "three.json", "--battery", "probes.bin", cwd=foreign)
    assert right.code == 3  # the commitments are not stamped; the batteries fit
    assert "three.json: is what three.commitment.json commits to" in right.out
    assert "probes.bin: is what probes.commitment.json commits to" in right.out
    assert "next: seal stamp" in right.err

    forged = [ITEMS[0] | {"prompt": "p9"}, *ITEMS[1:]]
    items = json.dumps(forged, sort_keys=True, separators=(",", ":")).encode()
    (foreign / "three.json").write_text(
        json.dumps({"battery_hash": hashlib.sha256(items).hexdigest(), "items": forged})
    )
    wrong = seal("verify", ".", "--battery", "three.json", "--json")
    assert wrong.code == 1
    (battery,) = json.loads(wrong.out)["batteries"]
    assert battery["status"] == "fail" and battery["matches"] == []
    assert "none of the batteries committed to" in battery["detail"]
    assert "nlnl-items/v1 gives" in battery["detail"]


def test_a_battery_with_another_number_of_items_than_stated(seal: Seal, foreign: Path) -> None:
    path = foreign / "three.commitment.json"
    path.write_text(path.read_text().replace('"n_items": 3', '"n_items": 63'))
    (foreign / "three.json").write_text(json.dumps(ITEMS))
    done = seal("verify", path.name, "--battery", "three.json", cwd=foreign)
    assert done.code == 1 and "it holds 3 items, three.commitment.json states 63" in done.out


def test_wrong_use_of_batteries_and_targets(seal: Seal, foreign: Path, tmp_path: Path) -> None:
    nothing = seal("verify", "--battery", "x", cwd=foreign)
    assert nothing.code == 2 and "needs a commitment" in nothing.err
    absent = seal("verify", ".", "--battery", "absent.json")
    assert absent.code == 1 and "absent.json" in absent.out
    (foreign / "three.commitment.json").write_text('{"n_items": 1, "n_items": 2}')
    twice = seal("verify", ".")
    assert twice.code == 1 and "a key stands twice" in twice.out
    workspace, _ = sealed(tmp_path / "workspace")
    both = seal("verify", str(workspace.root), ".")
    assert both.code == 2 and "one at a time" in both.err
    empty = tmp_path / "empty"
    empty.mkdir()
    assert seal("verify", str(empty), ".").code == 2


def test_unknown_and_other_attestations_are_shown(seal: Seal, tmp_path: Path) -> None:
    from opentimestamps.core.notary import LitecoinBlockHeaderAttestation, UnknownAttestation
    from opentimestamps.core.timestamp import Timestamp

    from sealbench.timestamps.proof import DetachedProof, serialize

    top = Timestamp(hashlib.sha256(b"x").digest())
    top.attestations.add(LitecoinBlockHeaderAttestation(77))
    top.attestations.add(UnknownAttestation(b"\x01" * 8, b"abc"))
    (tmp_path / "x").write_bytes(b"x")
    proof = serialize(DetachedProof("sha256", top.msg, top))
    (tmp_path / "x.ots").write_bytes(proof)
    done = seal("verify", "x", "--offline", cwd=tmp_path)
    assert done.code == 4
    assert "litecoin block 77: named, not checked" in done.out
    assert "unknown attestation 0101010101010101: named, not checked" in done.out
    assert (tmp_path / "x.ots").read_bytes() == proof
