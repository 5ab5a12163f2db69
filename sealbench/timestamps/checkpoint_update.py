"""A newer checkpoint table out of linked headers: what `seal headers update` takes over.

Only a chain that stands on the last checkpoint, with every retarget recomputed, extends the table, and
only by periods whose last block lies six or more blocks below the end of that chain.
"""

from __future__ import annotations

from sealbench.crypto.digest import sha256d
from sealbench.errors import NotYet, ProofFailed
from sealbench.timestamps.checkpoints import CheckpointTable
from sealbench.timestamps.header_store import HeaderStore
from sealbench.timestamps.headers import HeaderSource, complete_headers
from sealbench.timestamps.networks import Header, Network
from sealbench.timestamps.targets import INTERVAL, compact_bits, retarget


def extended_table(headers: HeaderStore, network: Network) -> CheckpointTable:
    """The network's table with every further period that `headers` prove; the same table if none."""
    table = network.checkpoints
    forward = headers.links(network).forward
    hashes, bits = list(table.hashes), list(table.bits)
    while (end := (len(hashes) + 1) * INTERVAL - 1) <= forward.tip - network.burial:
        first = headers.get(end - INTERVAL + 1)
        last = headers.get(end)
        if last is None or first is None:
            break
        times = Header(first).time, Header(last).time
        hashes.append(sha256d(last))
        bits.append(compact_bits(retarget(Header(last).target, *times, network.pow_limit)))
    return CheckpointTable(tuple(hashes), tuple(bits))


async def fetch_newer_table(network: Network, source: HeaderSource) -> CheckpointTable:
    """Fetch the headers after the last checkpoint from one source and extend the table by them.

    Raises NotYet if no further period is complete, ProofFailed if the headers do not follow.
    """
    start = network.checkpoints.last_height + 1
    tip = await source.tip()
    count = tip - start + 1
    if count < INTERVAL + network.burial:
        raise NotYet(
            f"no period of {INTERVAL} blocks is complete since block {start - 1}",
            hint=f"try again after block {start + INTERVAL + network.burial - 1}",
        )
    notes: list[str] = []
    empty = HeaderStore(network=network.name)
    headers = await complete_headers(empty, [tip - network.burial], [source], network, note=notes.append)
    newer = extended_table(headers, network)
    if newer == network.checkpoints:
        reasons = "; ".join(notes) or "it gives one header at a time"
        raise ProofFailed(
            f"{source.name}: no further period is linked to the last checkpoint ({reasons})",
            hint="take them from a node or an Electrum server",
        )
    return network.checkpoints.superseded_by(newer)
