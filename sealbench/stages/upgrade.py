"""Complete pending proofs, and fetch the block headers that anyone needs to check them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sealbench import store
from sealbench.anchoring import configured_sources, proof_path, read_headers, stampable_files
from sealbench.config import Settings
from sealbench.errors import UsageError
from sealbench.http import new_client
from sealbench.publication import refresh_files
from sealbench.store import Workspace
from sealbench.timestamps.calendars import AnswerCache, UpgradeResult, upgrade
from sealbench.timestamps.check import check_file
from sealbench.timestamps.header_store import HeaderStore
from sealbench.timestamps.headers import complete_headers, refuse_mismatches
from sealbench.timestamps.networks import NETWORKS
from sealbench.timestamps.proof import attestations, read_proof
from sealbench.timestamps.whitelist import DEFAULT_WHITELIST


@dataclass(frozen=True)
class FileUpgrade:
    """One file's proof after asking: whether it changed, whether it is complete, and in words."""

    path: Path
    changed: bool
    complete: bool
    sentence: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Upgraded:
    """All files' proofs, the number of headers held, and what sources said when they failed."""

    files: tuple[FileUpgrade, ...]
    headers: int
    notes: tuple[str, ...]


def upgrade_workspace(workspace: Workspace, settings: Settings) -> Upgraded:
    """Upgrade every proof of a workspace and store the headers in `commitments/headers.bin`."""
    with workspace.lock():
        files = [path for path in stampable_files(workspace) if proof_path(path).exists()]
        headers = read_headers(workspace, settings.network)
        result, known = asyncio.run(_upgrade(files, settings, headers))
        if known.to_bytes() != headers.to_bytes():
            store.replace(workspace.root / store.HEADERS, known.to_bytes())
        refresh_files(workspace)
    return result


def upgrade_files(files: Sequence[Path], settings: Settings) -> Upgraded:
    """Upgrade the proofs beside these files; headers are used, not kept.

    Raises
    ------
    UsageError : a file has no proof beside it.
    """
    for path in files:
        if not path.is_file() or not proof_path(path).exists():
            raise UsageError(
                f"{path}: no file with a proof {proof_path(path).name} beside it", hint="seal stamp"
            )
    result, _ = asyncio.run(_upgrade(files, settings, HeaderStore({}, network=settings.network)))
    return result


async def _upgrade(
    files: Sequence[Path], settings: Settings, headers: HeaderStore
) -> tuple[Upgraded, HeaderStore]:
    network = NETWORKS[settings.network]
    notes: list[str] = []
    cache = AnswerCache()
    async with (
        new_client() as client,
        configured_sources(client, settings) as sources,
    ):
        outcomes: list[UpgradeResult] = []
        heights: set[int] = set()
        for path in files:
            proof = proof_path(path)
            outcome = await upgrade(
                proof.read_bytes(),
                whitelist=(*DEFAULT_WHITELIST, *settings.calendars),
                client=client,
                cache=cache,
                refuse=refuse_mismatches(headers, sources, network),
            )
            if outcome.changed:
                store.replace(proof, outcome.proof)
            outcomes.append(outcome)
            found = attestations(read_proof(outcome.proof))
            heights.update(one.height for one in found if one.kind == "bitcoin" and one.height is not None)
        if heights:
            headers = await complete_headers(headers, heights, sources, network, note=notes.append)
    reports = tuple(
        _file_upgrade(path, outcome, headers, settings.network)
        for path, outcome in zip(files, outcomes, strict=True)
    )
    return Upgraded(reports, len(headers), tuple(notes)), headers


def _file_upgrade(path: Path, outcome: UpgradeResult, headers: HeaderStore, network: str) -> FileUpgrade:
    report = check_file(path.read_bytes(), outcome.proof, headers, NETWORKS[network])
    return FileUpgrade(
        path=path,
        changed=outcome.changed,
        complete=outcome.complete,
        sentence=report.sentence(NETWORKS[network]),
        notes=tuple(outcome.notes),
    )
