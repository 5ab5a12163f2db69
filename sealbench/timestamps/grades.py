"""How well a Bitcoin attestation is proved: one grade per attestation, and what a forger would pay.

Order of the checks, first failure wins: the Merkle root is the attested message; the header meets the
target it claims; that target is the one required at the height (or, past the table, one the retarget
rule can reach); no header beside it breaks the chain. Then the best grade its links allow. No input or
output; the headers come in a HeaderStore.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sealbench.errors import UsageError
from sealbench.timestamps.header_store import HeaderStore
from sealbench.timestamps.networks import Header, Network, display
from sealbench.timestamps.targets import INTERVAL, compact_bits, easiest_target, work

GRADES = (
    "mismatch",
    "pending",
    "needs header",
    "explorer",
    "proof-of-work",
    "chained",
    "checkpointed",
)
"""All grades, worst first."""

CLOCK_SLACK = timedelta(hours=2)
"""How far a block's time may lie from the real one."""

_MINER = 2e14  # hashes per second of one present-day machine, for the cost sentences only


@dataclass(frozen=True)
class Graded:
    """One Bitcoin attestation with its grade.

    `height` is the claimed one; only with `height_proved` is it proved. `time` is the header's (UTC),
    None without a header that fits. `detail` is the reason in one sentence, `forgery_cost` what
    a forger would have to pay, empty where nothing is proved.
    """

    grade: str
    height: int
    time: datetime | None = None
    block_hash: str = ""
    detail: str = ""
    forgery_cost: str = ""
    height_proved: bool = False


def at_least(grade: str, minimum: str) -> bool:
    """Whether a grade is `minimum` or better. UsageError for a word that is no grade."""
    for word in (grade, minimum):
        if word not in GRADES:
            raise UsageError(f"{word!r:.40} is not a grade", hint="one of: " + ", ".join(reversed(GRADES)))
    return GRADES.index(grade) >= GRADES.index(minimum)


def grade_attestation(
    message: bytes, height: int, headers: HeaderStore, network: Network, *, own: bool = False
) -> Graded:
    """Grade the claim "`message` is the Merkle root of block `height`" against the headers at hand.

    `own` says that the stamped file was made by this program, so it cannot be older than it.
    """
    raw = headers.get(height)
    if raw is None:
        return Graded("needs header", height, detail=f"no header of block {height} at hand")
    header = Header(raw)
    fault = header_fault(header, height, network) if header.merkle_root == message else _WRONG_ROOT
    if not fault and own and network.earliest_own and header.moment < network.earliest_own - CLOCK_SLACK:
        fault = f"the block is of {header.moment:%Y-%m-%d}, before any file of this kind can have been made"
    if fault:
        return Graded("mismatch", height, block_hash=display(header.hash), detail=f"block {height}: {fault}")
    return _grade_by_links(header, height, headers, network)


_WRONG_ROOT = "the header does not hold the attested Merkle root"


def header_fault(header: Header, height: int, network: Network) -> str:
    """Why this lone header cannot be block `height` of the network; empty if it can."""
    if not 0 < header.target <= network.pow_limit or compact_bits(header.target) != header.bits:
        return f"the header claims a target ({header.bits:08x}) that no block of {network.name} may have"
    if not header.meets_own_target():
        return "the header has too little proof of work"
    required = network.required_target(height)
    if required is not None:
        bits = compact_bits(required)
        right = header.bits == bits
        return "" if right else f"the header claims target {header.bits:08x}, required is {bits:08x}"
    newest = network.required_target(network.anchor[0] + 1) or network.pow_limit
    periods = height // INTERVAL - len(network.checkpoints)
    if header.target > easiest_target(newest, periods, network.pow_limit):
        return f"the header claims target {header.bits:08x}, easier than the retarget rule can reach by then"
    return ""


def _grade_by_links(header: Header, height: int, headers: HeaderStore, network: Network) -> Graded:
    backward = headers.links(network).backward(height)
    if backward is not None:
        end = (height // INTERVAL + 1) * INTERVAL - 1
        if height >= backward.lowest:
            cost = f"rewriting Bitcoin from block {height} to the checkpoint at {end}"
            return _found("checkpointed", header, height, f"linked to the checkpoint at {end}", cost, True)
        if backward.broken and _contiguous(headers, height, backward.lowest - 1):
            return _broken(header, height, backward.broken)
        return _lone(header, height, network, "not linked to a checkpoint: the height is as claimed")
    forward = headers.links(network).forward
    beyond = forward.tip - height
    if beyond >= network.burial:
        return _chained(header, height, network, forward.total_work)
    if forward.broken and _contiguous(headers, forward.tip + 1, height):
        return _broken(header, height, forward.broken)
    if beyond >= 0:
        detail = f"linked, but with {beyond} of {network.burial} blocks beyond it"
        return _lone(header, height, network, detail, linked=True)
    return _lone(header, height, network, "not linked to a checkpoint: the height is as claimed")


def _contiguous(headers: HeaderStore, first: int, last: int) -> bool:
    """Whether a false header (`first`, or the last one) and the graded one stand in one unbroken run."""
    low, high = min(first, last), max(first, last)
    return any(start <= low and high < start + count for start, count in headers.segments())


def _chained(header: Header, height: int, network: Network, total_work: tuple[int, ...]) -> Graded:
    start = network.anchor[0]
    last = height + network.burial
    if not network.proves_time:
        detail = f"linked from the first block of {network.name} to {network.burial} blocks beyond"
        return _found("chained", header, height, detail, _FREE.format(network.name), True)
    hashes = total_work[last - start - 1]
    detail = (
        f"linked from the checkpoint at {start} to {network.burial} blocks beyond, every target recomputed"
    )
    cost = f"about a block's work for each of {last - start} headers: {_effort(hashes)}"
    return _found("chained", header, height, detail, cost, True)


def _lone(header: Header, height: int, network: Network, detail: str, linked: bool = False) -> Graded:
    """A lone header that fits: proof of work if its target is known to be right, else an explorer's word."""
    effort = _effort(work(header.target))
    known = network.required_target(height) is not None or linked
    if not network.proves_time:
        return _found("proof-of-work", header, height, detail, _FREE.format(network.name), False)
    if known:
        cost = f"the work of one block at that height, once for any number of files: {effort}"
        return _found("proof-of-work", header, height, detail, cost, False)
    detail += "; past the checkpoint table, so whether its target is the right one is the explorer's word"
    return _found("explorer", header, height, detail, f"a lie by that explorer, and {effort}", False)


_FREE = "nothing: {} blocks are made in no time and prove nothing about time"


def _found(grade: str, header: Header, height: int, detail: str, cost: str, proved: bool) -> Graded:
    return Graded(grade, height, header.moment, display(header.hash), detail, cost, proved)


def _broken(header: Header, height: int, reason: str) -> Graded:
    detail = f"block {height}: the headers beside it are false, {reason}"
    return Graded("mismatch", height, block_hash=display(header.hash), detail=detail)


def _effort(hashes: int) -> str:
    """A number of hashes in words, with the time one machine of 200 TH/s needs."""
    seconds = hashes / _MINER
    for name, length in (("years", 31_557_600.0), ("days", 86_400.0), ("hours", 3_600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"{float(hashes):.1e} hashes, {seconds / length:,.0f} {name} on one machine of 200 TH/s"
    time = "under a second" if seconds < 1 else f"{seconds:.0f} seconds"
    return f"{float(hashes):.1e} hashes, {time} on one machine of 200 TH/s"
