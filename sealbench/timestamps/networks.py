"""Block headers, and the rules of the networks whose headers are accepted: mainnet and regtest.

A header is 80 bytes: version 4, previous hash 32, Merkle root 32, time 4, bits 4, nonce 4, integers
little-endian. Hashes are kept in internal byte order; `display` turns one round for people.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property

from sealbench.crypto.digest import sha256d
from sealbench.errors import FormatError
from sealbench.timestamps.checkpoint_file import newest_checkpoints
from sealbench.timestamps.checkpoints import CheckpointTable, shipped_checkpoints
from sealbench.timestamps.targets import expand_bits

HEADER_SIZE = 80
MAX_HEIGHT = 2**32 - 1


def display(block_hash: bytes) -> str:
    """A hash as explorers print it: byte order reversed, 64 hex digits."""
    return block_hash[::-1].hex()


@dataclass(frozen=True)
class Header:
    """One block header. `raw` is exactly 80 bytes, else FormatError."""

    raw: bytes

    def __post_init__(self) -> None:
        if len(self.raw) != HEADER_SIZE:
            raise FormatError(f"a block header has 80 bytes, this one {len(self.raw)}")

    @cached_property
    def hash(self) -> bytes:
        """sha256d of the header, internal order."""
        return sha256d(self.raw)

    @property
    def previous(self) -> bytes:
        """Hash of the block before, internal order."""
        return self.raw[4:36]

    @property
    def merkle_root(self) -> bytes:
        """The root over the block's transactions, internal order: what a Bitcoin attestation attests."""
        return self.raw[36:68]

    @property
    def time(self) -> int:
        """The miner's clock, Unix seconds; real headers are within two hours."""
        return int.from_bytes(self.raw[68:72], "little")

    @property
    def bits(self) -> int:
        """The target the header itself claims, compact."""
        return int.from_bytes(self.raw[72:76], "little")

    @property
    def target(self) -> int:
        """The target the header itself claims."""
        return expand_bits(self.bits)

    def meets_own_target(self) -> bool:
        """Whether the hash is as small as the header itself claims; not whether that is enough."""
        return int.from_bytes(self.hash, "little") <= self.target

    @property
    def moment(self) -> datetime:
        """`time` as an aware UTC datetime."""
        return datetime.fromtimestamp(self.time, UTC)


@dataclass(frozen=True, eq=False)
class Network:
    """The rules one network's headers are checked against.

    `checkpoints` may be empty (regtest); `earliest_own` is the date before which none of this
    program's own files can be anchored, None where dates mean nothing.
    """

    name: str
    pow_limit: int
    retargeting: bool
    genesis: Header
    checkpoints: CheckpointTable = field(default_factory=CheckpointTable)
    earliest_own: datetime | None = None
    burial: int = 6  # further blocks wanted on top of a block that no checkpoint covers

    @property
    def proves_time(self) -> bool:
        """False for regtest, whose blocks anyone makes in no time."""
        return self.retargeting

    def required_target(self, height: int) -> int | None:
        """The target in force at a height; None where only linked headers can tell."""
        if not self.retargeting:
            return self.pow_limit
        return self.checkpoints.required_target(height, self.pow_limit)

    @property
    def anchor(self) -> tuple[int, bytes]:
        """Where forward chains start: height and hash of the last checkpoint, or of the genesis block."""
        if len(self.checkpoints):
            return self.checkpoints.last_height, self.checkpoints.hashes[-1]
        return 0, self.genesis.hash


def _genesis(time: int, bits: int, nonce: int) -> Header:
    # The same coinbase, hence the same Merkle root, opens every Bitcoin network.
    root = bytes.fromhex("3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a")
    numbers = b"".join(value.to_bytes(4, "little") for value in (time, bits, nonce))
    return Header((1).to_bytes(4, "little") + bytes(32) + root + numbers)


MAINNET = Network(  # with the shipped table; NETWORKS["mainnet"] has the newest one
    name="mainnet",
    pow_limit=0xFFFF << 208,
    retargeting=True,
    genesis=_genesis(1231006505, 0x1D00FFFF, 2083236893),
    checkpoints=shipped_checkpoints(),
    earliest_own=datetime(2026, 11, 30, tzinfo=UTC),
)
REGTEST = Network(
    name="regtest",
    pow_limit=expand_bits(0x207FFFFF),
    retargeting=False,
    genesis=_genesis(1296688602, 0x207FFFFF, 2),
)


class _Networks(Mapping[str, Network]):
    """The networks by name; mainnet with the newest checkpoint table of this machine.

    The object for a name stays the same until that table changes, so what is computed for it is kept.
    """

    def __init__(self) -> None:
        self._mainnet = MAINNET

    def __getitem__(self, name: str) -> Network:
        if name != MAINNET.name:
            return {REGTEST.name: REGTEST}[name]
        table = newest_checkpoints()
        if table is not self._mainnet.checkpoints:
            self._mainnet = replace(MAINNET, checkpoints=table)
        return self._mainnet

    def __contains__(self, name: object) -> bool:
        return name in tuple(self)

    def __iter__(self) -> Iterator[str]:
        return iter((MAINNET.name, REGTEST.name))

    def __len__(self) -> int:
        return 2


NETWORKS: Mapping[str, Network] = _Networks()
