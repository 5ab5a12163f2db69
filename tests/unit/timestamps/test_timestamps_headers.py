"""Completing headers from several sources, lying ones included; newer checkpoint tables."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from timestamps_support import SyntheticChain, mined, root_at, without_checkpoints

from sealbench.errors import NetworkError, NotYet, ProofFailed
from sealbench.timestamps.bitcoin import (
    REGTEST,
    CheckpointTable,
    Header,
    HeaderStore,
    Network,
    grade_attestation,
)
from sealbench.timestamps.checkpoint_update import extended_table, fetch_newer_table
from sealbench.timestamps.gathering import gather_all
from sealbench.timestamps.headers import (
    FileSource,
    HeaderSource,
    complete_headers,
    needed_headers,
    refuse_mismatches,
)


class Scripted(FileSource):
    """A source with these headers, that records what it was asked."""

    def __init__(self, store: HeaderStore, *, bulk: bool = True, tip: int | None = None) -> None:
        super().__init__(store, "scripted")
        self.bulk = bulk
        self.asked: list[int] = []
        self._tip = tip

    async def header(self, height: int) -> bytes:
        self.asked.append(height)
        return await super().header(height)

    async def tip(self) -> int:
        return await super().tip() if self._tip is None else self._tip


def complete(
    store: HeaderStore, heights: list[int], sources: list[HeaderSource], network: Network
) -> tuple[HeaderStore, list[str]]:
    notes: list[str] = []
    return asyncio.run(complete_headers(store, heights, sources, network, note=notes.append)), notes


def test_what_is_here_is_not_asked_for(synthetic: SyntheticChain) -> None:
    source = Scripted(synthetic.store())
    store, notes = complete(synthetic.store(3000, 4031), [3000, 3500], [source], synthetic.network)
    assert (source.asked, notes) == ([], [])
    assert store == synthetic.store(3000, 4031)


def test_a_source_of_single_headers_is_not_asked_for_thousands(synthetic: SyntheticChain) -> None:
    source = Scripted(synthetic.store(), bulk=False)
    store, _ = complete(HeaderStore(), [2100, 4000, 5000], [source], synthetic.network)
    # 4000 is 32 headers from its checkpoint: that is little enough.
    assert store.segments() == [(2100, 1), (4000, 32), (5000, 1)]
    assert grade_attestation(synthetic.root(4000), 4000, store, synthetic.network).grade == "checkpointed"


def test_each_source_only_for_what_is_missing(synthetic: SyntheticChain) -> None:
    first = Scripted(synthetic.store(3000, 4031))
    second = Scripted(synthetic.store())
    store, notes = complete(HeaderStore(), [3000, 4100], [first, second], synthetic.network)
    assert min(second.asked) == 4032
    assert max(second.asked) == 4106
    assert store.segments() == [(3000, 1107)]
    assert notes  # the first could not give 4100


def test_a_chain_that_grew_is_fetched_from_near_its_end(synthetic: SyntheticChain) -> None:
    source = Scripted(synthetic.store())
    store, _ = complete(synthetic.store(4032, 4500), [4600], [source], synthetic.network)
    assert min(source.asked) == 4495
    assert grade_attestation(synthetic.root(4600), 4600, store, synthetic.network).grade == "chained"


def branch(chain: SyntheticChain, fork: int, length: int) -> dict[int, bytes]:
    """Another valid branch from block `fork` on."""
    parent, headers = Header(chain.headers[fork]), {}
    for height in range(fork + 1, fork + 1 + length):
        parent = mined(parent.hash, root_at(height), parent.time + 600, parent.bits, version=5)
        headers[height] = parent.raw
    return headers


def test_a_reorganised_tip_is_replaced_by_the_heavier_chain(synthetic: SyntheticChain) -> None:
    stale = synthetic.store(4032, 4500).replaced(branch(synthetic, 4500, 2))
    assert stale.links(synthetic.network).forward.tip == 4502
    store, notes = complete(stale, [4600], [Scripted(synthetic.store())], synthetic.network)
    assert notes == []
    assert store == synthetic.store(4032, 4606)


def test_a_lighter_chain_is_not_taken(synthetic: SyntheticChain) -> None:
    here = synthetic.store(4032, 4500)
    short = Scripted(synthetic.store(4032, 4497).replaced(branch(synthetic, 4497, 2)))
    store, notes = complete(here, [4499], [short], synthetic.network)
    assert store == here
    assert "less work" in notes[0]


def test_headers_that_do_not_link_are_not_taken(synthetic: SyntheticChain) -> None:
    lying = Scripted(synthetic.store(h3500=synthetic.headers[3501], h4100=synthetic.headers[4101]))
    store, notes = complete(HeaderStore(), [3000, 4098], [lying], synthetic.network)
    assert store.segments() == [(3000, 1), (4098, 1)]  # each alone has its work, and proves no height
    assert all("not taken" in note for note in notes)
    assert len(notes) == 2
    honest = Scripted(synthetic.store())
    store, notes = complete(HeaderStore(), [3000, 4098], [lying, honest], synthetic.network)
    assert len(notes) == 2
    assert store.segments() == [(3000, 1105)]


def test_false_lone_headers_at_hand_give_way_to_linked_ones(synthetic: SyntheticChain) -> None:
    held = HeaderStore({3000: synthetic.headers[3001]})
    store, _ = complete(held, [3000], [Scripted(synthetic.store())], synthetic.network)
    assert store.get(3000) == synthetic.headers[3000]


class Endless:
    """Claims an absurd height and sends rubbish as long as it is asked."""

    name, bulk = "endless", True

    def __init__(self) -> None:
        self.sent = 0

    async def header(self, height: int) -> bytes:
        return bytes(80)

    async def headers(self, first: int, count: int) -> list[bytes]:
        self.sent += count
        return [bytes(80)] * count

    async def tip(self) -> int:
        return 2**32


def test_endless_rubbish_ends_after_the_first_part(synthetic: SyntheticChain) -> None:
    for network in (synthetic.network, REGTEST):
        source = Endless()
        store, notes = complete(HeaderStore(network=network.name), [2**32 - 1], [source], network)
        assert source.sent <= 2016
        assert len(store) <= 1
        assert notes


def test_too_few_headers_are_not_taken(synthetic: SyntheticChain) -> None:
    class Short(Scripted):
        async def headers(self, first: int, count: int) -> list[bytes]:
            return (await super().headers(first, count))[:-1]

    _, notes = complete(HeaderStore(), [3000], [Short(synthetic.store())], synthetic.network)
    assert "instead of" in notes[0]


def test_near_the_tip_what_there_is_is_taken(synthetic: SyntheticChain) -> None:
    tip = len(synthetic.headers) - 1
    store, notes = complete(HeaderStore(), [tip - 2], [Scripted(synthetic.store())], synthetic.network)
    assert notes == []
    assert (
        grade_attestation(synthetic.root(tip - 2), tip - 2, store, synthetic.network).grade == "proof-of-work"
    )


def test_empty_file_and_absurd_heights(synthetic: SyntheticChain) -> None:
    store, notes = complete(HeaderStore(), [5, 2**40, -1], [FileSource(HeaderStore())], synthetic.network)
    assert len(store) == 0
    assert notes


def test_refuse_mismatches(synthetic: SyntheticChain) -> None:
    refuse = refuse_mismatches(HeaderStore(), [Scripted(synthetic.store(), bulk=False)], synthetic.network)
    assert asyncio.run(refuse(3000, synthetic.root(3000))) == ""
    assert "Merkle root" in asyncio.run(refuse(3000, bytes(32)))
    assert asyncio.run(refuse(10**6, bytes(32))) == ""  # nobody has it: nothing speaks against it


def test_a_dead_source_is_not_asked_for_ever(synthetic: SyntheticChain) -> None:
    class Dead:
        name = "dead"

        def __init__(self, bulk: bool) -> None:
            self.bulk = bulk
            self.calls = 0

        async def header(self, height: int) -> bytes:
            self.calls += 1
            raise NetworkError("no answer")

        async def headers(self, first: int, count: int) -> list[bytes]:
            return [await self.header(first)]

        async def tip(self) -> int:
            return 0

    every = list(range(0, 4032, 3))
    for bulk in (True, False):
        source = Dead(bulk)
        store, _ = complete(HeaderStore(), every, [source], synthetic.network)
        assert len(store) == 0
        assert source.calls <= 35


def test_gather_all_waits_for_everything() -> None:
    done = []

    async def slow() -> int:
        await asyncio.sleep(0.01)
        done.append(1)
        return 1

    async def failing() -> int:
        raise NetworkError("x")

    with pytest.raises(NetworkError):
        asyncio.run(gather_all([failing(), slow()]))
    assert done == [1]


def table_of(chain: SyntheticChain, periods: int) -> CheckpointTable:
    table = chain.network.checkpoints
    return CheckpointTable(table.hashes[:periods], table.bits[:periods])


def test_the_table_is_extended_by_linked_headers_only(synthetic: SyntheticChain) -> None:
    bare = without_checkpoints(synthetic.network)
    built = extended_table(synthetic.store(), bare)
    assert len(built) == 3
    assert table_of(synthetic, 2) == CheckpointTable(built.hashes[:2], built.bits[:2])
    assert Header(synthetic.headers[6048]).bits == built.bits[2]
    assert extended_table(synthetic.store(4032), synthetic.network) == built
    assert extended_table(synthetic.store(4032, 6052), synthetic.network) == synthetic.network.checkpoints
    assert extended_table(synthetic.store(4032, 6053), synthetic.network) == built
    broken = synthetic.store(4032, h5000=synthetic.headers[5001])
    assert extended_table(broken, synthetic.network) == synthetic.network.checkpoints


def test_fetching_a_newer_table(synthetic: SyntheticChain) -> None:
    def fetch(network: Network, source: HeaderSource) -> CheckpointTable:
        return asyncio.run(fetch_newer_table(network, source))

    older = replace(synthetic.network, checkpoints=table_of(synthetic, 1))
    newer = fetch(older, Scripted(synthetic.store()))
    assert len(newer) == 3
    assert table_of(synthetic, 2).superseded_by(newer) == newer
    with pytest.raises(NotYet):
        fetch(synthetic.network, Scripted(synthetic.store(0, 6000)))
    for source in (
        Scripted(synthetic.store(h5000=synthetic.headers[5001])),
        Scripted(synthetic.store(), bulk=False),
        Endless(),
    ):
        with pytest.raises(ProofFailed, match="no further period"):
            fetch(synthetic.network, source)


def _tables(network: Network) -> list[Network]:
    """The same network with all its checkpoints, with one, and with none."""
    first = CheckpointTable(network.checkpoints.hashes[:1], network.checkpoints.bits[:1])
    return [network, replace(network, checkpoints=first), without_checkpoints(network)]


@pytest.mark.parametrize("heights", [[100], [2500, 2600], [4031], [4032], [5000, 300], [6069], [6063], []])
def test_what_is_needed_gives_the_same_grades_under_every_table(
    synthetic: SyntheticChain, heights: list[int]
) -> None:
    whole = synthetic.store()
    tables = _tables(synthetic.network)
    for given in (tables, tables[:1], tables[:2], tables[1:2]):
        needed = needed_headers(whole, heights, given)
        for network in given:
            for height in heights:
                alone, full = (
                    grade_attestation(synthetic.root(height), height, store, network)
                    for store in (needed, whole)
                )
                assert alone == full
    assert needed_headers(needed, heights, tables[1:2]) == needed


def test_only_what_is_needed_is_kept(synthetic: SyntheticChain) -> None:
    two, one, _ = _tables(synthetic.network)
    whole = synthetic.store(1)
    assert needed_headers(whole, [2500, 2600], [two]).segments() == [(2500, 1532)]
    assert needed_headers(whole, [100, 2500], [two]).segments() == [(100, 1916), (2500, 1532)]
    assert needed_headers(whole, [5000], [two]).segments() == [(4032, 5000 + 6 - 4031)]
    assert needed_headers(whole, [2500], [one, two]).segments() == [(2016, 2016)]
    assert needed_headers(whole, [9_000_000, -1], [two]).segments() == [(4032, 6070 - 4032)]
    assert len(needed_headers(whole, [], [two])) == 0
    # What is not at hand cannot be kept, and what is there stays, linked or not.
    assert needed_headers(synthetic.store(2500, 2600), [2500], [two]).segments() == [(2500, 101)]
    assert needed_headers(HeaderStore(), [2500], [two]) == HeaderStore()
