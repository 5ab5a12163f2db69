"""The block headers that a bundle's record takes along."""

from __future__ import annotations

from pathlib import Path

import pytest

from sealbench import store
from sealbench.anchoring import needed_by
from sealbench.errors import FormatError
from sealbench.timestamps.header_store import HeaderStore
from sealbench.timestamps.networks import MAINNET

DATA = Path(__file__).parents[1] / "data" / "ots"
NLNL = {958012, 958013, 958014, 958060, 960072, 960073, 960086}


def test_the_blocks_of_real_proofs() -> None:
    # What is in the headers does not matter here, only where they stand: ten weeks before the proofs and on.
    last = MAINNET.checkpoints.last_height
    headers = HeaderStore({height: bytes(80) for height in range(948_000, 970_000)})
    files = {path.name: path.read_bytes() for path in (DATA / "nlnl").glob("*.ots")}
    needed = needed_by({**files, store.HEADERS: headers.to_bytes()}, "mainnet")
    first = min(NLNL) if min(NLNL) <= last else last + 1
    assert needed.segments() == [(first, max(NLNL) + 6 + 1 - first)]
    assert needed_by({store.HEADERS: headers.to_bytes()}, MAINNET.name) == HeaderStore()


def test_the_blocks_that_runs_and_batteries_name(demo_folder: Path) -> None:
    files = {
        path.relative_to(demo_folder).as_posix(): path.read_bytes()
        for path in demo_folder.glob("runs/*/run.json")
    }
    headers = (demo_folder / store.HEADERS).read_bytes()
    needed = needed_by({**files, store.HEADERS: headers}, "regtest")
    # Both runs began at block 7; what lies beyond it by six buries it.
    assert [first for first, _ in needed.segments()] == [0]
    assert needed.segments() == [(0, 7 + 6 + 1)]


def test_damage() -> None:
    empty = HeaderStore(network="regtest").to_bytes()
    assert len(needed_by({"a.ots": b"no proof", store.HEADERS: empty}, "regtest")) == 0
    for files in ({store.HEADERS: b"x"}, {store.HEADERS: empty, "commitments/a.json": b"{}"}):
        with pytest.raises(FormatError):
            needed_by(files, "regtest")
