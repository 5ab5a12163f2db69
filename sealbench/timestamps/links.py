"""What a set of headers proves about heights: links back from checkpoints, chains forward from the last.

A header holds no height. A height is proved only where its header links, hash by hash, to a
checkpoint after it, or stands on an unbroken chain from the last checkpoint (regtest: from the
genesis block) in which every target was recomputed. Pure functions over headers in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from sealbench.crypto.digest import sha256d
from sealbench.timestamps.networks import Network
from sealbench.timestamps.targets import INTERVAL, compact_bits, retarget, work


class HeadersByHeight(Protocol):
    """Anything that gives the raw header at a height, or None."""

    def get(self, height: int) -> bytes | None: ...


@dataclass(frozen=True)
class ForwardChain:
    """The chain from the anchor: blocks `first`…`tip` are linked with valid work and targets.

    `total_work[i]` is the number of hashes for blocks first…first + i. `broken` says why the header
    at tip + 1 does not follow; empty if there is none.
    """

    first: int
    tip: int
    total_work: tuple[int, ...]
    broken: str


@dataclass(frozen=True)
class BackwardLink:
    """Headers of one period linked to its checkpoint: all from `lowest` to the period's end.

    `lowest` is past the end if not even the last header is here. `broken` says why the header below
    `lowest` does not lead to the checkpoint; empty if there is none.
    """

    lowest: int
    broken: str


class Links:
    """What one store of headers proves under one network's rules. Each part is computed when asked for."""

    def __init__(self, headers: HeadersByHeight, network: Network) -> None:
        self._get: Callable[[int], bytes | None] = headers.get
        self._network = network
        self._backward: dict[int, BackwardLink] = {}

    def backward(self, height: int) -> BackwardLink | None:
        """The links of this height's period to its checkpoint; None past the table."""
        period = height // INTERVAL
        if period >= len(self._network.checkpoints):
            return None
        if period not in self._backward:
            self._backward[period] = self._link_back(period)
        return self._backward[period]

    def _link_back(self, period: int) -> BackwardLink:
        wanted = self._network.checkpoints.hashes[period]
        height = (period + 1) * INTERVAL - 1
        while height >= period * INTERVAL:
            raw = self._get(height)
            if raw is None:
                break
            if sha256d(raw) != wanted:
                return BackwardLink(height + 1, f"the header at {height} does not lead to the checkpoint")
            wanted = raw[4:36]
            height -= 1
        return BackwardLink(height + 1, "")

    @cached_property
    def forward(self) -> ForwardChain:
        """The chain from the last checkpoint on, or from the genesis block where there are none."""
        network = self._network
        anchor, previous = network.anchor
        if not len(network.checkpoints):  # the genesis block is a block of the chain, not one before it
            raw = self._get(anchor)
            if raw is not None and raw != network.genesis.raw:
                return ForwardChain(
                    anchor, anchor - 1, (), "the header at 0 is not the network's first block"
                )
        return self._follow(anchor + 1, previous)

    def _follow(self, first: int, previous: bytes) -> ForwardChain:
        network = self._network
        target = network.required_target(first) or network.pow_limit
        total, height, sums, times = 0, first, list[int](), dict[int, int]()
        if not len(network.checkpoints):
            times[0] = network.genesis.time
        while (raw := self._get(height)) is not None:
            time = int.from_bytes(raw[68:72], "little")
            if network.retargeting and height % INTERVAL == 0 and height > first:
                target = retarget(target, times[height - INTERVAL], times[height - 1], network.pow_limit)
            fault = _fault(raw, previous, target)
            if fault:
                return ForwardChain(first, height - 1, tuple(sums), f"the header at {height} {fault}")
            times[height] = time
            previous = sha256d(raw)
            total += work(target)
            sums.append(total)
            height += 1
        return ForwardChain(first, height - 1, tuple(sums), "")


def _fault(raw: bytes, previous: bytes, target: int) -> str:
    """Why a header may not follow the block `previous` at `target`; empty if it may."""
    if raw[4:36] != previous:
        return "does not link to the one before it"
    if (bits := int.from_bytes(raw[72:76], "little")) != compact_bits(target):
        return f"claims target {bits:08x} where {compact_bits(target):08x} is required"
    if int.from_bytes(sha256d(raw), "little") > target:
        return "has too little proof of work"
    return ""
