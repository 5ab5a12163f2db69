"""A regtest chain of our own: Bitcoin's real regtest genesis block, real sha256d proof of work, real roots.

Every block is one a Bitcoin node started with `-regtest` would accept: its coinbase carries the height
(BIP 34), pays the right subsidy, and may carry a commitment behind OP_RETURN, which is how a calendar
puts a Merkle root into Bitcoin. Regtest difficulty is two hashes a block, so a whole chain takes
milliseconds, and proves nothing about time.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from opentimestamps.core.notary import BitcoinBlockHeaderAttestation
from opentimestamps.core.op import OpAppend, OpPrepend, OpSHA256
from opentimestamps.core.timestamp import Timestamp

from sealbench.crypto.digest import sha256d
from sealbench.errors import FormatError, UsageError
from sealbench.timestamps.header_store import HeaderStore
from sealbench.timestamps.networks import REGTEST, Header

SCHEMA = "sealbench/regtest-chain/v1"
_BITS = (0x207FFFFF).to_bytes(4, "little")
_SUBSIDY = 50 * 100_000_000  # satoshi
_HALVING = 150  # blocks, on regtest
_ANYONE = b"\x51"  # OP_TRUE: the coins of this chain are nobody's


@dataclass(frozen=True)
class Block:
    """One block: its header and its transactions (raw, without witnesses; the first is the coinbase)."""

    header: Header
    transactions: tuple[bytes, ...]


class RegtestChain:
    """Blocks by height. Safe to use from several threads."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.RLock()
        self._blocks = [Block(REGTEST.genesis, ())]

    @property
    def tip(self) -> int:
        """Height of the newest block."""
        return len(self._blocks) - 1

    def block(self, height: int) -> Block:
        """The block at a height; UsageError past the tip."""
        if not 0 <= height <= self.tip:
            raise UsageError(f"the regtest chain has no block {height}; its tip is {self.tip}")
        return self._blocks[height]

    def header(self, height: int) -> bytes:
        """The raw header at a height (80 bytes)."""
        return self.block(height).header.raw

    def headers(self) -> HeaderStore:
        """All headers, as a store labelled regtest."""
        raw = {height: block.header.raw for height, block in enumerate(self._blocks)}
        return HeaderStore(raw, network=REGTEST.name)

    def height_of(self, block_hash: bytes) -> int | None:
        """The height of a block by its hash (internal order), None if it is not of this chain."""
        return next((h for h, block in enumerate(self._blocks) if block.header.hash == block_hash), None)

    def mine(
        self, count: int = 1, *, commitment: bytes = b"", transactions: Sequence[bytes] = ()
    ) -> list[int]:
        """Mine `count` blocks; the first carries the commitment (32 bytes) and the transactions.

        Returns their heights.
        """
        with self._lock:
            heights = []
            for index in range(count):
                height = self.tip + 1
                carried = commitment if index == 0 else b""
                further = tuple(transactions) if index == 0 else ()
                body = (coinbase(height, carried), *further)
                self._blocks.append(self._mined(body))
                heights.append(height)
            return heights

    def _mined(self, transactions: tuple[bytes, ...]) -> Block:
        parent = self._blocks[-1].header
        moment = max(int(self._clock()), parent.time + 1)
        root = merkle_root([sha256d(transaction) for transaction in transactions])
        start = (0x20000000).to_bytes(4, "little") + parent.hash + root + moment.to_bytes(4, "little") + _BITS
        for nonce in range(1 << 32):
            header = Header(start + nonce.to_bytes(4, "little"))
            if header.meets_own_target():
                return Block(header, transactions)
        raise UsageError("no nonce gives a block")  # 2^-(2^32): not before the sun goes out

    def attest(self, commitment: bytes, height: int) -> Timestamp:
        """A timestamp from `commitment` through the coinbase and its Merkle path to the block's root."""
        block = self.block(height)
        before, found, after = block.transactions[0].partition(commitment) if commitment else (b"", b"", b"")
        if not found:
            raise UsageError(f"block {height} does not carry this commitment")
        top = Timestamp(commitment)
        node = top.ops.add(OpPrepend(before)).ops.add(OpAppend(after))
        node = node.ops.add(OpSHA256()).ops.add(OpSHA256())
        for sibling in coinbase_path([sha256d(one) for one in block.transactions]):
            node = node.ops.add(OpAppend(sibling)).ops.add(OpSHA256()).ops.add(OpSHA256())
        node.attestations.add(BitcoinBlockHeaderAttestation(height))
        return top

    def save(self, path: Path) -> None:
        """Write the chain as JSON (headers and transactions in hex)."""
        blocks = [
            {"header": block.header.raw.hex(), "transactions": [one.hex() for one in block.transactions]}
            for block in self._blocks
        ]
        path.write_text(json.dumps({"schema": SCHEMA, "blocks": blocks}, indent=1) + "\n", "utf-8")

    @classmethod
    def load(cls, path: Path, *, clock: Callable[[], float] = time.time) -> RegtestChain:
        """Read a saved chain; FormatError unless every block links, has its work and its root."""
        try:
            entries = json.loads(path.read_text("utf-8"))["blocks"]
            blocks = [
                Block(
                    Header(bytes.fromhex(entry["header"])),
                    tuple(bytes.fromhex(one) for one in entry["transactions"]),
                )
                for entry in entries
            ]
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise FormatError(f"{path}: not a saved regtest chain", hint="delete it to start anew") from error
        chain = cls(clock=clock)
        chain._blocks = blocks
        roots = (merkle_root([sha256d(one) for one in block.transactions]) for block in blocks[1:])
        rooted = all(block.header.merkle_root == root for block, root in zip(blocks[1:], roots, strict=True))
        linked = bool(blocks) and blocks[0].header == REGTEST.genesis
        if not rooted or not linked or chain.headers().links(REGTEST).forward.tip != chain.tip:
            raise FormatError(f"{path}: the saved regtest chain is damaged", hint="delete it to start anew")
        return chain


def coinbase(height: int, commitment: bytes = b"") -> bytes:
    """The raw coinbase transaction of a block: height, subsidy, and the commitment behind OP_RETURN."""
    if commitment and len(commitment) != 32:
        raise UsageError(f"a commitment has 32 bytes, this one {len(commitment)}")
    script = _script_height(height) + b"\x00\x09sealbench"
    outputs = [(_SUBSIDY >> height // _HALVING, _ANYONE)]
    if commitment:
        outputs.append((0, b"\x6a\x20" + commitment))
    parts = [(1).to_bytes(4, "little"), b"\x01", bytes(32), b"\xff" * 4, bytes([len(script)]), script]
    parts += [b"\xff" * 4, bytes([len(outputs)])]
    for value, lock in outputs:
        parts += [value.to_bytes(8, "little"), bytes([len(lock)]), lock]
    return b"".join(parts) + bytes(4)


def _script_height(height: int) -> bytes:
    """A height as BIP 34 wants it: the shortest push of a script number."""
    if 1 <= height <= 16:
        return bytes([0x50 + height])
    number = height.to_bytes(height.bit_length() // 8 + 1, "little")  # the top bit is a sign
    return bytes([len(number)]) + number


def merkle_root(hashes: Sequence[bytes]) -> bytes:
    """Bitcoin's Merkle root over transaction hashes (internal order); an odd last one is doubled."""
    if not hashes:
        return bytes(32)
    level = list(hashes)
    while len(level) > 1:
        level = _next_level(level)
    return level[0]


def coinbase_path(hashes: Sequence[bytes]) -> list[bytes]:
    """The right-hand siblings from the first transaction up to the root."""
    path, level = [], list(hashes)
    while len(level) > 1:
        path.append(level[1])
        level = _next_level(level)
    return path


def _next_level(level: list[bytes]) -> list[bytes]:
    if len(level) % 2:
        level = [*level, level[-1]]
    return [sha256d(level[index] + level[index + 1]) for index in range(0, len(level), 2)]
