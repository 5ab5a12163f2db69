"""Helpers of the timestamp tests: the data folder, and a synthetic retargeting network with a mined chain."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from sealbench.crypto.digest import sha256
from sealbench.timestamps.bitcoin import CheckpointTable, Header, HeaderStore, Network
from sealbench.timestamps.targets import compact_bits, expand_bits, retarget

REPOSITORY = Path(__file__).parents[3]
DATA = REPOSITORY / "tests" / "data" / "ots"
SHARED = REPOSITORY.parent / "shared" / "data" / "ots"
LIMIT = expand_bits(0x207FFFFF)


def mined(previous: bytes, root: bytes, time: int, bits: int, version: int = 4) -> Header:
    """A header with real work for its own bits."""
    start = version.to_bytes(4, "little") + previous + root + time.to_bytes(4, "little")
    start += bits.to_bytes(4, "little")
    for nonce in range(1 << 32):
        header = Header(start + nonce.to_bytes(4, "little"))
        if header.meets_own_target():
            return header
    raise RuntimeError("unreachable")


def unmined(header: Header) -> bytes:
    """The same header with a nonce that does not meet its target."""
    for nonce in range(1 << 32):
        other = Header(header.raw[:76] + nonce.to_bytes(4, "little"))
        if not other.meets_own_target():
            return other.raw
    raise RuntimeError("unreachable")


@dataclass(frozen=True)
class SyntheticChain:
    """A network with Bitcoin's retarget rule at toy difficulty, and its whole chain."""

    network: Network
    headers: list[bytes]

    def store(self, first: int = 0, last: int | None = None, **changed: bytes) -> HeaderStore:
        """Headers first…last inclusive; `h123=…` puts another header at a height."""
        last = len(self.headers) - 1 if last is None else last
        chosen = {height: self.headers[height] for height in range(first, last + 1)}
        chosen.update({int(name[1:]): raw for name, raw in changed.items()})
        return HeaderStore(chosen)

    def root(self, height: int) -> bytes:
        return Header(self.headers[height]).merkle_root


def root_at(height: int) -> bytes:
    return sha256(b"root %d" % height)


def make_chain(length: int = 6070, checkpoints: int = 2) -> SyntheticChain:
    """Blocks 0…length - 1 whose second period comes twice as fast, so that the target halves."""
    time, bits = 1_700_000_000, 0x207FFFFF
    genesis = mined(bytes(32), root_at(0), time, bits)
    headers, period_start = [genesis], time
    while len(headers) < length:
        height = len(headers)
        if height % 2016 == 0:
            bits = compact_bits(retarget(expand_bits(bits), period_start, time, LIMIT))
        time += 300 if 2016 <= height < 4032 else 600
        if height % 2016 == 0:
            period_start = time
        headers.append(mined(headers[-1].hash, root_at(height), time, bits))
    ends = [headers[(period + 1) * 2016 - 1] for period in range(checkpoints)]
    nexts = [headers[(period + 1) * 2016].bits for period in range(checkpoints)]
    table = CheckpointTable(tuple(end.hash for end in ends), tuple(nexts))
    network = Network("mainnet", LIMIT, True, genesis, table)
    return SyntheticChain(network, [header.raw for header in headers])


def without_checkpoints(network: Network) -> Network:
    return replace(network, checkpoints=CheckpointTable())


def expected_proofs() -> list[Any]:
    """One parameter per proof of EXPECTED.json, those of the reference client's examples where they are."""
    here = json.loads((DATA / "EXPECTED.json").read_text())["proofs"]
    parameters = [pytest.param(DATA, proof, id=proof["file"]) for proof in here]
    if not (SHARED / "client-examples").is_dir():
        skip = pytest.mark.skip(
            reason="the reference client's examples (LGPL) are not beside this repository"
        )
        return [*parameters, pytest.param(SHARED, {}, id="client-examples", marks=skip)]
    known = {proof["file"] for proof in here}
    there = json.loads((SHARED / "EXPECTED.json").read_text())["proofs"]
    return parameters + [
        pytest.param(SHARED, proof, id=proof["file"]) for proof in there if proof["file"] not in known
    ]
