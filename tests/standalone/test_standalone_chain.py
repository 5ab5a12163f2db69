"""Grades of block headers against the package's, on a toy chain with Bitcoin's retarget rule."""

from __future__ import annotations

import random

import pytest
from timestamps_support import SyntheticChain, make_chain, unmined

from sealbench.standalone import verify
from sealbench.timestamps.grades import grade_attestation
from sealbench.timestamps.header_store import HeaderStore
from sealbench.timestamps.headers import Header
from sealbench.timestamps.networks import NETWORKS

HEIGHTS = (0, 1, 2015, 2016, 3000, 4031, 4032, 4100, 6047, 6048, 6060, 6063, 6069)


@pytest.fixture(scope="module")
def toy() -> SyntheticChain:
    return make_chain()


@pytest.fixture(autouse=True)
def toy_network(toy: SyntheticChain, monkeypatch: pytest.MonkeyPatch) -> None:
    """verify.py with the toy chain's checkpoints and limit in the place of Bitcoin's."""
    table = toy.network.checkpoints
    checkpoints = list(zip(table.hashes, table.bits, strict=True))
    monkeypatch.setattr(verify, "mainnet_checkpoints", lambda: checkpoints)
    limit = verify.compact(toy.network.pow_limit)
    monkeypatch.setitem(verify.GENESIS, "mainnet", (0, limit, 0))


def headers_of(toy: SyntheticChain, rng: random.Random) -> dict[int, bytes]:
    """Some stretches of the chain, sometimes with false headers in them."""
    found: dict[int, bytes] = {}
    for _ in range(rng.randint(1, 3)):
        first = rng.choice([0, 2016, 4032, rng.randrange(6060), rng.choice(HEIGHTS)])
        last = min(first + rng.choice([0, 3, 7, 300, 2016, 6069]), 6069)
        found.update({height: toy.headers[height] for height in range(first, last + 1)})
    for _ in range(rng.choice([0, 0, 1, 2])):
        height = rng.choice([*found, *(one for one in HEIGHTS if one in found)])
        other = rng.randrange(6070)
        flipped = bytearray(found[height])
        flipped[rng.randrange(80)] ^= 1 << rng.randrange(8)
        found[height] = rng.choice([bytes(flipped), toy.headers[other], unmined(Header(found[height]))])
    return found


def test_grades_are_those_of_the_package(toy: SyntheticChain) -> None:
    rng, seen = random.Random(20261130), set()
    for _ in range(60):
        headers = headers_of(toy, rng)
        store, chain = HeaderStore(headers), verify.Chain("mainnet", headers)
        for height in {*HEIGHTS, *rng.sample(sorted(headers), min(10, len(headers)))}:
            raw = headers.get(height)
            root = Header(raw).merkle_root if raw else bytes(32)
            package, own = grade_attestation(root, height, store, toy.network), chain.grade(height)
            assert (own.grade, own.proved) == (package.grade, package.height_proved), (height, package)
            seen.add(own.grade)
    assert seen == {"checkpointed", "chained", "proof-of-work", "explorer", "mismatch", "needs header"}


def test_another_merkle_root_is_a_mismatch(toy: SyntheticChain) -> None:
    chain = verify.Chain("mainnet", dict(enumerate(toy.headers)))
    assert chain.grade(3000).grade == "checkpointed"
    assert "attested Merkle root" in chain.grade(3000, bytes(32)).detail


def test_a_block_older_than_the_first_file_of_this_kind_is_a_mismatch(toy: SyntheticChain) -> None:
    chain = verify.Chain("mainnet", dict(enumerate(toy.headers)))
    assert chain.grade(3000, toy.root(3000)).grade == "mismatch"
    assert "older" in chain.grade(3000, toy.root(3000)).detail


def test_targets_of_bitcoin_s_periods_are_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    chain, network, rng = verify.Chain("mainnet", {}), NETWORKS["mainnet"], random.Random(4)
    assert len(chain.checkpoints) == len(network.checkpoints)
    for height in [0, 2015, 2016, *(rng.randrange(2016 * len(chain.checkpoints) + 4032) for _ in range(200))]:
        required, package = chain.required(height), network.required_target(height)
        assert (required and verify.expand(required)) == package
