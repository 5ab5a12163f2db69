"""Beacon mode: announce a battery before its block exists, and draw its items once the block is buried.

    create_draft ──► stamp, preregister ──► block H ──► block H+6 ──► create_from_draft

The draft binds K and the parameters; the seed takes block H's hash in. So nobody chose K after the
beacon, and nobody, the author included, could know an item before block H. Draft and plans must be
proved at least six blocks below H, else the battery is void and its K is never used again.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sealbench import __version__, store
from sealbench.analysis.leaks import own_baselines
from sealbench.anchoring import check_anchor, configured_sources, proof_path, read_headers
from sealbench.clock import Clock, system_clock
from sealbench.config import Settings
from sealbench.crypto.derivation import new_secret, secret_commitment
from sealbench.errors import CheckFailed, CouldNotCheck, NetworkError, NotYet, SealError, UsageError
from sealbench.formats.base import FileHash, format_instant
from sealbench.formats.battery import Block, Parameters
from sealbench.formats.draft import Draft
from sealbench.formats.preregistration import Preregistration
from sealbench.http import new_client
from sealbench.publishing.committing import Beacon, Created, check_battery_name, commit_battery, save_secret
from sealbench.publishing.publication import publish, read_registry, refresh_files, refuse_damage
from sealbench.publishing.sealing import read_secret
from sealbench.store import Workspace
from sealbench.tasks.base import get_family, source_sha256
from sealbench.tasks.battery import build_items
from sealbench.timestamps.grades import grade_attestation
from sealbench.timestamps.header_sources import fitting
from sealbench.timestamps.header_store import HeaderStore
from sealbench.timestamps.headers import complete_headers
from sealbench.timestamps.networks import NETWORKS, Header

DEPTH = 6  # blocks between the last proof and the beacon, and between the beacon and its use
LEAST_AHEAD = {"mainnet": 72, "regtest": DEPTH + 1}  # calendars have needed 48 blocks
MOST_AHEAD = 52_560  # a year of blocks: whoever types a digit too many waits for nothing
USUAL_AHEAD = "+144"
_BLOCK_MINUTES = 10


@dataclass(frozen=True)
class Drafted:
    """A new draft, its file, and the newest block when it was written."""

    draft: Draft
    path: Path
    tip: int


def create_draft(
    workspace: Workspace,
    settings: Settings,
    *,
    name: str,
    parameters: Parameters,
    height: str = USUAL_AHEAD,
    clock: Clock = system_clock,
) -> Drafted:
    """Draw a fresh K and bind it, with the parameters, to a block that does not exist yet.

    Parameters
    ----------
    height : the beacon's height, or `+N` for N blocks above the newest one.

    Raises
    ------
    UsageError : the name is taken, or the height is too near or no height.
    NetworkError : nobody says which block is the newest.
    """
    check_battery_name(workspace, name)
    tip = asyncio.run(_newest_height(workspace, settings))
    chosen = _choose_height(height, tip, settings.network)
    secret = new_secret()
    with publish(workspace, clock) as publication:
        refuse_damage(workspace)
        check_battery_name(workspace, name)
        save_secret(workspace, name, secret)
        draft = Draft(
            **publication.identity(),
            name=name,
            created_at=format_instant(publication.clock()),
            tool_version=__version__,
            parameters=parameters,
            secret_commitment=secret_commitment(secret).hex(),
            height=chosen,
        )
        path = workspace.draft(name)
        written = publication.write_signed(path, draft)
        publication.event("create", name, [written], {"draft": True, "height": chosen})
    return Drafted(draft, path, tip)


async def _newest_height(workspace: Workspace, settings: Settings) -> int:
    """The highest block that a source names or the workspace holds; a height too high only costs time."""
    held = read_headers(workspace, settings.network).segments()
    found = [first + count - 1 for first, count in held]
    reasons = []
    async with new_client() as client, configured_sources(client, fitting(settings)) as sources:
        answered = False
        for source in sources:
            try:
                found.append(await source.tip())
                answered = True
            except SealError as error:
                reasons.append(error.message)
    if not answered:
        said = "; ".join(reasons) or "no source of block headers is configured"
        raise NetworkError(
            f"nobody says which block is the newest: {said}",
            hint="set explorers, core_rpc or electrum under [timestamps] in sealbench.toml and try again",
        )
    return max(found)


def _choose_height(text: str, tip: int, network: str) -> int:
    if not re.fullmatch(r"\+?[0-9]{1,8}", text):
        raise UsageError(
            f"--beacon {text!r:.40}: not a block's height or +N",
            hint="name families first, then --beacon, --beacon +144 or --beacon 990000",
        )
    least = LEAST_AHEAD[network]
    height = tip + int(text[1:]) if text.startswith("+") else int(text)
    if height > tip + MOST_AHEAD:
        raise UsageError(
            f"--beacon {text}: block {height} is more than a year away", hint=f"--beacon {USUAL_AHEAD}"
        )
    if height < tip + least:
        raise UsageError(
            f"--beacon {text}: block {height} is not at least {least} blocks above the newest, {tip}; the "
            "proofs of draft and plan need that time",
            hint=f"--beacon +{max(least, 144)}",
        )
    return height


def create_from_draft(
    workspace: Workspace,
    settings: Settings,
    *,
    name: str,
    supersedes: str | None = None,
    on_instance: Callable[[], None] | None = None,
    clock: Clock = system_clock,
) -> Created:
    """Draw the items with the beacon, once block H+6 is known, and commit to them.

    Raises
    ------
    NotYet : block H+6 is not known, or a proof of draft or plan waits for its block.
    CheckFailed : draft or a plan was anchored too late, so the battery is void: the registry says so.
    UsageError : there is no such draft, or it is a battery or void already.
    """
    draft = read_draft(workspace, name)
    _refuse_done(workspace, name)
    bound = [workspace.draft(name), *bound_plans(workspace, name)]
    with workspace.lock():
        headers = _fetch_headers(workspace, settings, draft.height)
        refresh_files(workspace)
    beacon = buried_header(headers, draft.height, settings.network)
    late = [reason for path in bound if (reason := _too_late(path, headers, draft.height, settings.network))]
    if late:
        _void(workspace, name, late[0], clock)
    _check_families(draft.parameters)
    secret = read_secret(workspace, name)
    if secret_commitment(secret).hex() != draft.secret_commitment:
        raise CheckFailed(f"{name}: this key is not the one the draft binds", hint="seal key restore BACKUP")
    items = build_items(secret, draft.parameters, beacon=beacon.hash, on_instance=on_instance)
    block = Block(height=draft.height, hash=beacon.hash[::-1].hex())
    drafted = FileHash(path=workspace.relative(workspace.draft(name)), sha256=draft.digest())
    return commit_battery(
        workspace,
        name,
        secret,
        draft.parameters,
        items,
        baselines=own_baselines(items),
        supersedes=supersedes,
        clock=clock,
        beacon=Beacon(drafted, block),
    )


def read_draft(workspace: Workspace, name: str) -> Draft:
    """The draft of this name; UsageError if there is none."""
    store.check_name(name, "battery")
    path = workspace.draft(name)
    if not path.exists():
        raise UsageError(
            f"there is no draft {name}", hint=f"seal create FAMILY --name {name} --per-class 8 --beacon"
        )
    return Draft.from_bytes(store.read(path), workspace.relative(path))


def _refuse_done(workspace: Workspace, name: str) -> None:
    registry = read_registry(workspace)
    if registry.find("void", name) is not None:
        raise UsageError(
            f"{name} is void and its K is never used again",
            hint=f"seal create FAMILY --name {name}-2 --per-class 8 --beacon",
        )
    created = registry.find("create", name)
    if created is not None and created.detail.get("draft") is not True:
        raise UsageError(f"{name} has its items already", hint=f"seal run, or seal retire {name}")


def bound_plans(workspace: Workspace, name: str) -> list[Path]:
    """The files of the plans that are bound to this draft, amendments left out."""
    found = []
    for path in sorted((workspace.root / "preregistrations").glob("*.json")):
        plan = Preregistration.from_bytes(store.read(path), workspace.relative(path))
        if plan.battery == name and plan.amends is None:
            found.append(path)
    return found


def _fetch_headers(workspace: Workspace, settings: Settings, height: int) -> HeaderStore:
    """The workspace's headers with what block `height` needs, as far as the sources have it; stored."""
    held = read_headers(workspace, settings.network)
    found = asyncio.run(_complete(settings, held, height))
    if found.to_bytes() != held.to_bytes():
        store.replace(workspace.root / store.HEADERS, found.to_bytes())
    return found


async def _complete(settings: Settings, held: HeaderStore, height: int) -> HeaderStore:
    async with new_client() as client, configured_sources(client, fitting(settings)) as sources:
        return await complete_headers(held, [height], sources, NETWORKS[settings.network])


def buried_header(headers: HeaderStore, height: int, network: str) -> Header:
    """The linked header at `height` with six blocks beyond it, or under a checkpoint.

    Raises
    ------
    NotYet : it is not known yet; says how long it will take.
    """
    raw = headers.get(height)
    rules = NETWORKS[network]
    if raw is not None and grade_attestation(Header(raw).merkle_root, height, headers, rules).height_proved:
        return Header(raw)
    tip = headers.links(rules).forward.tip
    missing = height + DEPTH - tip
    raise NotYet(
        f"the items are drawn once block {height + DEPTH} is known; the newest linked here is {tip}, so in "
        f"{missing} blocks, about {_duration(missing * _BLOCK_MINUTES)}",
        hint="repeat this command then; it fetches the headers",
    )


def _duration(minutes: int) -> str:
    return f"{minutes} minutes" if minutes < 120 else f"{minutes / 60:.0f} hours"


def _too_late(path: Path, headers: HeaderStore, height: int, network: str) -> str:
    """Why this file voids the battery; empty if it is proved at least six blocks below the beacon.

    Raises
    ------
    NotYet : its proof may still turn out to be early enough.
    CouldNotCheck : headers that would place it are not at hand.
    """
    report = check_anchor(path, headers, network)
    if report is None:
        return f"{path.name} was never stamped"
    if not report.commits or report.mismatches:
        raise CheckFailed(f"{proof_path(path).name} is wrong: {report.sentence(NETWORKS[network])}")
    earliest = report.earliest_proved_height
    if earliest is not None:
        late = earliest > height - DEPTH
        return f"{path.name} is proved in block {earliest}, not {DEPTH} below {height}" if late else ""
    if report.graded:
        raise CouldNotCheck(f"{path.name}: headers are missing to place its proof", hint="seal upgrade")
    raise NotYet(
        f"{path.name} is promised to a block, and its proof does not name one yet", hint="seal upgrade"
    )


def _void(workspace: Workspace, name: str, reason: str, clock: Clock) -> None:
    """Register that the battery is void, and say so."""
    with publish(workspace, clock) as publication:
        publication.event("void", name, [], {"reason": reason})
    raise CheckFailed(
        f"the battery {name} is void: {reason}; the registry says so, and its K is never used again",
        hint=f"seal create FAMILY --name {name}-2 --per-class 8 --beacon, then stamp and preregister at once",
    )


def _check_families(parameters: Parameters) -> None:
    """CouldNotCheck if the draft's families are not installed as they were drafted."""
    for family in parameters.families:
        installed = get_family(family.family)
        if (installed.version, source_sha256(installed)) != (family.version, family.source_sha256):
            raise CouldNotCheck(
                f"{family.family} is installed in another version or source than the draft names, and would "
                "draw other items than the draft promises",
                hint=f"install the version of seal that wrote the draft ({__version__} is installed)",
            )
