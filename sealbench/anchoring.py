"""How the files of a workspace stand in time: their proofs against the headers at hand."""

from __future__ import annotations

from pathlib import Path

from sealbench import store
from sealbench.errors import NotYet
from sealbench.store import Workspace
from sealbench.timestamps.check import ProofReport, check_file
from sealbench.timestamps.header_store import HeaderStore
from sealbench.timestamps.networks import NETWORKS


def proof_path(path: Path) -> Path:
    """Where a file's OpenTimestamps proof lies: beside it."""
    return path.with_name(path.name + ".ots")


def read_headers(workspace: Workspace, network: str) -> HeaderStore:
    """The block headers the workspace carries; empty if it has none yet."""
    path = workspace.root / store.HEADERS
    if not path.exists():
        return HeaderStore({}, network=network)
    return HeaderStore.from_bytes(path.read_bytes())


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


def require_stamped(paths: list[Path], headers: HeaderStore, network: str) -> None:
    """NotYet unless every file has at least a calendar's promise."""
    for path in paths:
        report = check_anchor(path, headers, network)
        if report is None or not report.commits or report.mismatches:
            raise NotYet(f"{path.name} has no valid stamp", hint="seal stamp")
