"""Where headers come from, and fetching what a proof needs to reach its best grade.

Sources are tried in the order given, offline ones first, each only for what is still missing. Nothing a
source sends is kept before it is checked: a run of headers must link to the checkpoint or the chain it
belongs to, a lone header must have the work and the target its height requires. So a source can
withhold, but not mislead; a sentence about each failure goes to `note`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sealbench.errors import FormatError, NetworkError, ProofFailed
from sealbench.timestamps.gathering import gather_all
from sealbench.timestamps.grades import grade_attestation, header_fault
from sealbench.timestamps.header_store import HeaderStore
from sealbench.timestamps.networks import MAX_HEIGHT, Header, Network
from sealbench.timestamps.targets import INTERVAL

FEW = 64  # headers in a row that are fetched even from a source that gives one at a time
PATIENCE = 3  # failed requests after which a source is left alone for this time
AT_ONCE = 32  # lone headers asked for side by side

Note = Callable[[str], None]


class HeaderSource(Protocol):
    """Gives headers by height. `bulk` says whether thousands in a row are reasonable to ask for.

    Each method raises NetworkError if the source fails; ProofFailed if its parts contradict each other.
    """

    name: str
    bulk: bool

    async def header(self, height: int) -> bytes:
        """The raw header at a height (80 bytes)."""

    async def headers(self, first: int, count: int) -> list[bytes]:
        """`count` raw headers from height `first` on."""

    async def tip(self) -> int:
        """The newest height it has."""


class FileSource:
    """Headers out of a store: the file beside the proofs, or one given with `--headers`."""

    bulk = True

    def __init__(self, store: HeaderStore, name: str = "header file") -> None:
        self.name = name
        self._store = store

    async def header(self, height: int) -> bytes:
        """The header at a height; NetworkError if the file does not hold it."""
        raw = self._store.get(height)
        if raw is None:
            raise NetworkError(f"{self.name}: no header of block {height}")
        return raw

    async def headers(self, first: int, count: int) -> list[bytes]:
        """`count` headers from `first` on; NetworkError if one is missing."""
        return [await self.header(height) for height in range(first, first + count)]

    async def tip(self) -> int:
        """The highest header in the file; NetworkError if it is empty."""
        segments = self._store.segments()
        if not segments:
            raise NetworkError(f"{self.name}: holds no headers")
        first, count = segments[-1]
        return first + count - 1


@dataclass(frozen=True)
class _Run:
    """Consecutive headers wanted: `first`…`last` inclusive; `open_end` if fewer will do near the tip."""

    first: int
    last: int
    open_end: bool


async def complete_headers(
    store: HeaderStore,
    heights: Iterable[int],
    sources: Sequence[HeaderSource],
    network: Network,
    *,
    note: Note | None = None,
    lone: bool = False,
) -> HeaderStore:
    """`store` with what each height needs for its best grade, as far as the sources have it.

    Parameters
    ----------
    heights : heights claimed by Bitcoin attestations.
    note : called with one sentence for each failure of a source.
    lone : only the header of each height itself, nothing that links it.

    Raises ProofFailed if explorers asked side by side disagree.
    """
    say = note or (lambda _: None)
    wanted = sorted({height for height in heights if 0 <= height <= MAX_HEIGHT})
    if not network.retargeting and not len(store):
        store = HeaderStore({0: network.genesis.raw}, network=network.name)
    if not len(store):
        store = HeaderStore(network=network.name)
    for source in sources:
        failures = 0
        for run in [] if lone else _runs(wanted, network, bulk=source.bulk):
            store, failed = await _fetch_run(store, run, source, network, say)
            failures += failed
            if failures == PATIENCE and not isinstance(source, FileSource):
                break
        else:
            store = await _fetch_lone(store, wanted, source, network, say)
    return store


def needed_headers(store: HeaderStore, heights: Iterable[int], networks: Iterable[Network]) -> HeaderStore:
    """Of a store's headers those on which the grades of these heights rest.

    `networks` are one network with several checkpoint tables, of which a later reader may have any.
    """
    wanted = sorted({height for height in heights if 0 <= height <= MAX_HEIGHT})
    runs = [run for network in networks for run in _runs(wanted, network, bulk=True)]
    single = {0, *wanted}  # a chain without checkpoints begins with its first block
    kept = {
        height: raw
        for height, raw in store.items()
        if height in single or any(run.first <= height <= run.last for run in runs)
    }
    return HeaderStore(kept, network=store.network)


def _runs(heights: Sequence[int], network: Network, *, bulk: bool) -> list[_Run]:
    """The runs of headers that link these heights: to their period's checkpoint, or on from the anchor."""
    runs: dict[int, _Run] = {}
    last = network.anchor[0] if len(network.checkpoints) else -1
    for height in heights:
        period = height // INTERVAL
        # The lowest height of a period covers the others, unless their run is too long to ask for.
        key = period if bulk else height
        if height <= last:
            runs.setdefault(key, _Run(height, (period + 1) * INTERVAL - 1, False))
    beyond = [height for height in heights if height > last]
    if beyond:
        end = min(beyond[-1] + network.burial, MAX_HEIGHT)
        runs[-1] = _Run(network.anchor[0] + 1, end, True)
    return list(runs.values())


async def _fetch_run(
    store: HeaderStore, run: _Run, source: HeaderSource, network: Network, say: Note
) -> tuple[HeaderStore, bool]:
    """The store with as much of the run as the source has, and whether the source failed."""
    first = _first_missing(store, run, network)
    if first > run.last:
        return store, False
    try:
        last = min(run.last, await source.tip()) if run.open_end else run.last
        if last - first >= FEW and network.retargeting and not source.bulk:
            return store, False
        # Part by part, each checked before the next is asked for: a source that names an absurd
        # height and sends rubbish without end is left after the first part.
        for start in range(first, last + 1, INTERVAL):
            end = min(start + INTERVAL - 1, last)
            store = await _fetch_part(store, start, end, run, source, network)
    except (NetworkError, FormatError, ProofFailed) as error:
        if isinstance(error, ProofFailed) and not isinstance(error, _NotTaken):
            raise
        say(error.message)
        return store, True
    return store, False


class _NotTaken(ProofFailed):
    """What a source sent does not link."""


async def _fetch_part(
    store: HeaderStore, first: int, last: int, run: _Run, source: HeaderSource, network: Network
) -> HeaderStore:
    fetched = await source.headers(first, last - first + 1)
    if len(fetched) != last - first + 1:
        raise _NotTaken(f"{source.name}: sent {len(fetched)} headers instead of {last - first + 1}")
    candidate = store.replaced(dict(enumerate(fetched, start=first)))
    fault = _run_fault(store, candidate, first, last, run, network)
    if fault:
        raise _NotTaken(f"{source.name}: not taken: {fault}")
    return candidate


def _first_missing(store: HeaderStore, run: _Run, network: Network) -> int:
    """Where fetching must start so that the whole run is linked; past `run.last` if it already is."""
    if not run.open_end:
        backward = store.links(network).backward(run.first)
        return run.last + 1 if backward is not None and backward.lowest <= run.first else run.first
    tip = store.links(network).forward.tip
    # The newest headers held may have been reorganised away since, so they are fetched again.
    return run.last + 1 if tip >= run.last else max(run.first, tip + 1 - network.burial)


def _run_fault(
    store: HeaderStore, candidate: HeaderStore, first: int, last: int, run: _Run, network: Network
) -> str:
    links = candidate.links(network)
    if run.open_end:
        forward = links.forward
        if forward.tip < last:
            return forward.broken or "the headers do not reach the chain"
        before = store.links(network).forward.total_work
        lighter = forward.total_work[-1:] < before[-1:]
        return "a chain with less work than the one at hand" if lighter else ""
    backward = links.backward(first)
    if backward is not None and backward.lowest <= first:
        return ""
    return (backward.broken if backward else "") or "the headers do not reach the checkpoint"


async def _fetch_lone(
    store: HeaderStore, heights: Sequence[int], source: HeaderSource, network: Network, say: Note
) -> HeaderStore:
    """The header of each height itself, all at once, each checked as far as a lone header can be."""

    async def one(height: int) -> tuple[int, bytes] | None:
        try:
            header = Header(await source.header(height))
        except (NetworkError, FormatError) as error:
            say(error.message)
            return None
        fault = header_fault(header, height, network)
        if fault:
            say(f"{source.name}: not taken for block {height}: {fault}")
            return None
        return height, header.raw

    missing = [height for height in heights if store.get(height) is None]
    found: dict[int, bytes] = {}
    for start in range(0, len(missing), AT_ONCE):
        pairs = [pair for pair in await gather_all(map(one, missing[start : start + AT_ONCE])) if pair]
        found.update(pairs)
        if not pairs and not isinstance(source, FileSource):
            break  # not one of many: it would only cost time
    return store.replaced(found) if found else store


def refuse_mismatches(
    store: HeaderStore, sources: Sequence[HeaderSource], network: Network
) -> Callable[[int, bytes], Awaitable[str]]:
    """For `calendars.upgrade(refuse=…)`: turns away a Bitcoin attestation whose header contradicts it.

    Each height is asked for once, however many files are upgraded side by side.
    """
    asked: dict[int, asyncio.Task[HeaderStore]] = {}

    async def refuse(height: int, message: bytes) -> str:
        if height not in asked:
            wanted = complete_headers(store, [height], sources, network, lone=True)
            asked[height] = asyncio.ensure_future(wanted)
        graded = grade_attestation(message, height, await asked[height], network)
        return graded.detail if graded.grade == "mismatch" else ""

    return refuse
