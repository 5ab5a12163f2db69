"""The table of Bitcoin checkpoints: last block of every 2016-block period, and the target that follows.

Shipped packed (`checkpoints_mainnet.bin`, origin and licence in `checkpoints_mainnet.md`); a newer
table is built from linked headers or read from Electrum's JSON, and is taken only if it agrees with
the one it replaces. Packed form: magic, 4 bytes count, then per period 32 bytes of block hash in
internal order and 4 bytes of compact target, integers big-endian.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sealbench.errors import FormatError, ProofFailed
from sealbench.timestamps.targets import INTERVAL, compact_bits, expand_bits

MAGIC = b"SEALCKP\x01"
_RECORD = 36


@dataclass(frozen=True)
class CheckpointTable:
    """Per period of 2016 blocks: hash of its last block (internal order), compact target of the next."""

    hashes: tuple[bytes, ...] = ()
    bits: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def last_height(self) -> int:
        """Height of the newest checkpointed block; -1 for an empty table."""
        return len(self.hashes) * INTERVAL - 1

    def required_target(self, height: int, limit: int) -> int | None:
        """The target in force at a height, None past the table; `limit` holds in the first period."""
        period = height // INTERVAL
        if period == 0:
            return limit
        return expand_bits(self.bits[period - 1]) if period <= len(self.bits) else None

    def to_bytes(self) -> bytes:
        """The packed form."""
        records = (
            block + bits.to_bytes(4, "big") for block, bits in zip(self.hashes, self.bits, strict=True)
        )
        return MAGIC + len(self.hashes).to_bytes(4, "big") + b"".join(records)

    @classmethod
    def from_bytes(cls, data: bytes) -> CheckpointTable:
        """Read the packed form strictly; FormatError otherwise."""
        count = int.from_bytes(data[8:12], "big")
        if data[:8] != MAGIC or len(data) != 12 + count * _RECORD:
            raise FormatError(
                "not a packed checkpoint table", hint="take it again with `seal headers update`"
            )
        records = [data[at : at + _RECORD] for at in range(12, len(data), _RECORD)]
        bits = tuple(int.from_bytes(record[32:], "big") for record in records)
        if any(value == 0 or compact_bits(expand_bits(value)) != value for value in bits):
            raise FormatError("a target of the checkpoint table is not in compact form")
        return cls(tuple(record[:32] for record in records), bits)

    @classmethod
    def from_electrum_json(cls, data: bytes) -> CheckpointTable:
        """Read Electrum's `checkpoints.json`: pairs of block hash (display order) and target."""
        try:
            pairs = [(bytes.fromhex(block)[::-1], int(target)) for block, target in json.loads(data)]
        except (ValueError, TypeError, RecursionError) as error:
            raise FormatError("not Electrum's checkpoint table: expected a list of [hash, target]") from error
        bits = tuple(compact_bits(target) if 0 < target < 1 << 256 else 0 for _, target in pairs)
        if any(
            len(block) != 32 or target == 0 or expand_bits(value) != target
            for (block, target), value in zip(pairs, bits, strict=True)
        ):
            raise FormatError("Electrum's checkpoint table holds a hash or target that no block has")
        return cls(tuple(block for block, _ in pairs), bits)

    def superseded_by(self, newer: CheckpointTable) -> CheckpointTable:
        """`newer` if it repeats every checkpoint of this one, else ProofFailed naming the difference."""
        for period, (block, bits) in enumerate(zip(self.hashes, self.bits, strict=True)):
            if period >= len(newer):
                raise ProofFailed(
                    f"the new checkpoint table ends at block {newer.last_height}, before this one's"
                )
            if (newer.hashes[period], newer.bits[period]) != (block, bits):
                height = (period + 1) * INTERVAL - 1
                raise ProofFailed(
                    f"two checkpoints disagree at block {height}: {block[::-1].hex()} here, "
                    f"{newer.hashes[period][::-1].hex()} there",
                    hint="do not use that source; compare both hashes with a third",
                )
        return newer


@cache
def shipped_checkpoints() -> CheckpointTable:
    """The mainnet table that comes with this package."""
    data = files("sealbench.timestamps").joinpath("checkpoints_mainnet.bin").read_bytes()
    return CheckpointTable.from_bytes(data)
