"""How the files of a workspace stand in time: their proofs against the headers at hand."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from sealbench import store
from sealbench.config import Settings
from sealbench.errors import FormatError, NotYet
from sealbench.formats.battery import Commitment
from sealbench.formats.run import Run
from sealbench.store import Workspace
from sealbench.timestamps.check import ProofReport, check_file
from sealbench.timestamps.header_store import HeaderStore
from sealbench.timestamps.headers import needed_headers
from sealbench.timestamps.networks import MAINNET, NETWORKS
from sealbench.timestamps.proof import attestations, read_proof

if TYPE_CHECKING:
    import httpx

    from sealbench.timestamps.headers import HeaderSource


def proof_path(path: Path) -> Path:
    """Where a file's OpenTimestamps proof lies: beside it."""
    return path.with_name(path.name + ".ots")


def read_headers(workspace: Workspace, network: str) -> HeaderStore:
    """The block headers the workspace carries; empty if it has none yet."""
    path = workspace.root / store.HEADERS
    if not path.exists():
        return HeaderStore({}, network=network)
    return HeaderStore.from_bytes(path.read_bytes())


def needed_by(files: Mapping[str, bytes], network: str) -> HeaderStore:
    """Of the block headers among public files those that the other files' places in time rest on.

    FormatError if the headers or a document do not parse.
    """
    tables = [NETWORKS[network], *([MAINNET] if network == MAINNET.name else [])]
    heights = {height for path, data in files.items() for height in _heights(path, data)}
    return needed_headers(HeaderStore.from_bytes(files[store.HEADERS]), heights, tables)


def _heights(path: str, data: bytes) -> Iterator[int]:
    """The blocks that a public file names: a proof's attestations, a run's block, a battery's beacon."""
    if path.endswith(".ots"):
        with contextlib.suppress(FormatError):  # step 1 of the verification says so
            found = attestations(read_proof(data))
            yield from (one.height for one in found if one.kind == "bitcoin" and one.height is not None)
    elif path.startswith("runs/") and path.endswith("/run.json"):
        block = Run.from_bytes(data, path).block
        yield from [] if block is None else [block.height]
    elif path.startswith("commitments/") and path.count("/") == 1 and path.endswith(".json"):
        beacon = None if path.endswith(".draft.json") else Commitment.from_bytes(data, path).beacon
        yield from [] if beacon is None else [beacon.height]


def check_anchor(path: Path, headers: HeaderStore, network: str) -> ProofReport | None:
    """What the proof beside a file of ours shows; None if there is no proof.

    Raises
    ------
    FormatError : the proof does not parse.
    """
    proof = proof_path(path)
    if not proof.exists():
        return None
    return check_file(path.read_bytes(), proof.read_bytes(), headers, NETWORKS[network], own=True)


def configured_sources(
    client: httpx.AsyncClient, settings: Settings
) -> AbstractAsyncContextManager[list[HeaderSource]]:
    """The header sources that the configuration names, in their order."""
    from sealbench.timestamps.header_sources import header_sources

    password = os.environ.get(settings.core_password_env or "", "")
    return header_sources(
        client,
        explorers=settings.explorers,
        core_rpc=settings.core_rpc,
        core_cookie=settings.core_cookie,
        core_user=settings.core_user,
        core_password=password,
        electrum=settings.electrum,
    )


def stampable_files(workspace: Workspace) -> list[Path]:
    """Every public file that should carry a proof: commitments and drafts, plans, checkpoints."""
    found = [
        path
        for folder in ("commitments", "preregistrations", store.CHECKPOINTS)
        for path in (workspace.root / folder).glob("*.json")
        if workspace.relative(path) != store.FILES
    ]
    return sorted(found)


def require_confirmed(paths: list[Path], headers: HeaderStore, network: str, *, otherwise: str) -> None:
    """NotYet unless every file is anchored in a block at grade `explorer` or better.

    `otherwise` is the command that goes on without confirmation.
    """
    for path in paths:
        report = check_anchor(path, headers, network)
        if report is None:
            raise NotYet(f"{path.name} has never been stamped", hint=f"seal stamp, or {otherwise}")
        if not report.commits or report.mismatches or report.best("explorer") is None:
            state = report.sentence(NETWORKS[network], "explorer")
            raise NotYet(
                f"{path.name} is not confirmed in Bitcoin ({state})",
                hint=f"seal upgrade (an hour or three after stamping), or {otherwise}",
            )


def require_stamped(paths: list[Path], headers: HeaderStore, network: str, *, otherwise: str) -> None:
    """NotYet unless every file has at least a calendar's promise.

    `otherwise` is the command that goes on where no calendar can be reached.
    """
    for path in paths:
        report = check_anchor(path, headers, network)
        if report is None or not report.commits or report.mismatches:
            raise NotYet(
                f"{path.name} has no valid stamp", hint=f"seal stamp, or, without a network, {otherwise}"
            )
