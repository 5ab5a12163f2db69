"""Complete pending proofs, and fetch the block headers that anyone needs to check them.

Each file is reported on its own: a proof that does not parse, a calendar that lies, a folder that cannot
be written costs that file or that calendar and nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sealbench import store
from sealbench.anchoring import configured_sources, proof_path, read_headers, stampable_files
from sealbench.config import Settings
from sealbench.errors import ProofFailed, SealError, UsageError
from sealbench.http import new_client
from sealbench.publishing.publication import refresh_files
from sealbench.store import Workspace
from sealbench.timestamps.calendars import AnswerCache, UpgradeResult, upgrade
from sealbench.timestamps.check import check_file
from sealbench.timestamps.header_sources import fitting
from sealbench.timestamps.header_store import HeaderStore
from sealbench.timestamps.headers import complete_headers, refuse_mismatches
from sealbench.timestamps.networks import NETWORKS, Network
from sealbench.timestamps.proof import attestations, read_proof
from sealbench.timestamps.whitelist import DEFAULT_WHITELIST

if TYPE_CHECKING:
    import httpx

    from sealbench.timestamps.headers import HeaderSource

AT_ONCE = 16  # files asked for side by side


@dataclass(frozen=True)
class FileUpgrade:
    """One file's proof after asking.

    `changed`: the proof was completed by something. `complete`: it holds a Bitcoin attestation.
    `sentence` says how it stands, `notes` what each calendar said that gave nothing new. `fault` is the
    exit code of what went wrong: 1 it is false or unreadable, 2 it cannot be written, 0 nothing.
    """

    path: Path
    changed: bool
    complete: bool
    sentence: str
    notes: tuple[str, ...]
    fault: int = 0

    @property
    def false(self) -> bool:
        """Whether the proof is wrong, so that no waiting will help."""
        return self.fault == 1


@dataclass(frozen=True)
class Upgraded:
    """All files' proofs, the number of headers held, and what sources said when they failed.

    `disagreement` shows both headers where two sources differ; empty where they do not.
    """

    files: tuple[FileUpgrade, ...]
    headers: int
    notes: tuple[str, ...]
    disagreement: str = ""


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
    """Upgrade the proofs beside these files; headers are used, not kept. A `.ots` stands for its file.

    Raises
    ------
    UsageError : a file has no proof beside it.
    """
    named = [
        path.with_suffix("") if path.suffix == ".ots" and not proof_path(path).exists() else path
        for path in files
    ]
    for path in named:
        if not path.is_file() or not proof_path(path).exists():
            raise UsageError(
                f"{path}: no file with a proof {proof_path(path).name} beside it", hint=f"seal stamp {path}"
            )
    headers = HeaderStore({}, network=settings.network)
    result, _ = asyncio.run(_upgrade(list(dict.fromkeys(named)), settings, headers))
    return result


async def _upgrade(
    files: Sequence[Path], settings: Settings, headers: HeaderStore
) -> tuple[Upgraded, HeaderStore]:
    network = NETWORKS[settings.network]
    notes: list[str] = []
    disagreement = ""
    async with (
        new_client() as client,
        configured_sources(client, fitting(settings)) as sources,
    ):
        asking = _Asking(client, (*DEFAULT_WHITELIST, *settings.calendars), headers, sources, network)
        outcomes = await asyncio.gather(*map(asking.one, files))
        heights = {
            one.height
            for outcome in outcomes
            if isinstance(outcome, UpgradeResult)
            for one in attestations(read_proof(outcome.proof))
            if one.kind == "bitcoin" and one.height is not None
        }
        try:
            if heights:
                headers = await complete_headers(headers, heights, sources, network, note=notes.append)
        except ProofFailed as error:
            disagreement = error.message
    reports = tuple(
        _file_upgrade(path, outcome, headers, network) for path, outcome in zip(files, outcomes, strict=True)
    )
    return Upgraded(reports, len(headers), tuple(notes), disagreement), headers


class _Asking:
    """Upgrades proofs side by side; each promise and each header is asked for once."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        whitelist: tuple[str, ...],
        headers: HeaderStore,
        sources: Sequence[HeaderSource],
        network: Network,
    ) -> None:
        self._client = client
        self._whitelist = whitelist
        self._cache = AnswerCache()
        self._refuse = refuse_mismatches(headers, sources, network)
        self._gate = asyncio.Semaphore(AT_ONCE)

    async def one(self, path: Path) -> UpgradeResult | SealError:
        """The proof beside a file, upgraded and written; or why that failed."""
        proof = proof_path(path)
        async with self._gate:
            try:
                outcome = await upgrade(
                    store.read(proof),
                    whitelist=self._whitelist,
                    client=self._client,
                    cache=self._cache,
                    refuse=self._refuse,
                )
                if outcome.changed:
                    store.replace(proof, outcome.proof)
            except SealError as error:
                return error
            except OSError as error:
                return UsageError(f"{proof}: cannot be written ({error.strerror})")
            return outcome


def _file_upgrade(
    path: Path, outcome: UpgradeResult | SealError, headers: HeaderStore, network: Network
) -> FileUpgrade:
    if isinstance(outcome, SealError):
        return FileUpgrade(path, False, False, outcome.message, (), outcome.exit_code)
    try:
        report = check_file(store.read(path), outcome.proof, headers, network)
    except SealError as error:
        return FileUpgrade(path, outcome.changed, outcome.complete, error.message, (), error.exit_code)
    return FileUpgrade(
        path=path,
        changed=outcome.changed,
        complete=outcome.complete,
        sentence=report.sentence(network),
        notes=tuple(outcome.notes),
        fault=1 if report.status() in {"wrong file", "mismatch"} else 0,
    )
