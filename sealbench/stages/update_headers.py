"""Take a newer checkpoint table out of linked headers, and keep it for this user."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sealbench.config import Settings
from sealbench.errors import ConfigurationError, NetworkError, NotYet, SealError, UsageError
from sealbench.http import new_client
from sealbench.timestamps.checkpoint_file import writable_table_path, write_user_table
from sealbench.timestamps.checkpoint_update import fetch_newer_table
from sealbench.timestamps.checkpoints import CheckpointTable
from sealbench.timestamps.header_sources import KINDS, bulk_sources
from sealbench.timestamps.networks import NETWORKS

_SETTING = {"explorer": "explorers", "core": "core_rpc", "electrum": "electrum"}


@dataclass(frozen=True)
class UpdatedHeaders:
    """The table afterwards.

    `before`, `after`: last checkpointed height; equal if nothing newer is complete. `source` gave the
    headers, empty if none did. `notes`: a sentence for each source that failed.
    """

    path: Path
    source: str
    before: int
    after: int
    notes: tuple[str, ...]


def update_headers(
    settings: Settings, *, kind: str | None = None, note: Callable[[str], None] | None = None
) -> UpdatedHeaders:
    """Extend the checkpoint table from the configured sources, or from those of one kind.

    Every header is linked to the last checkpoint, with its work and each retarget recomputed, before
    anything is kept. `note` is told which source is asked.

    Raises
    ------
    UsageError : the configuration is for regtest, which has no table.
    ConfigurationError : no source of that kind is configured.
    CouldNotCheck : the user's data folder cannot be written, or no source answers.
    """
    if settings.network != "mainnet":
        raise UsageError(
            f"{settings.network} has no checkpoint table", hint="seal headers update, outside this workspace"
        )
    kinds = (kind,) if kind else KINDS
    if not any(getattr(settings, _SETTING[one]) for one in kinds):
        wanted = " or ".join(_SETTING[one] for one in kinds)
        raise ConfigurationError(
            f"no source of headers: {wanted} is not configured",
            hint=f"set {wanted} under [timestamps] in sealbench.toml (docs/configuration.md)",
        )
    path = writable_table_path()
    before = NETWORKS["mainnet"].checkpoints
    notes: list[str] = []
    table, source = asyncio.run(_newer(settings, kinds, notes, note or (lambda _: None)))
    if table is not None:
        write_user_table(path, table)
    after = before if table is None else table
    return UpdatedHeaders(path, source, before.last_height, after.last_height, tuple(notes))


async def _newer(
    settings: Settings, kinds: tuple[str, ...], notes: list[str], say: Callable[[str], None]
) -> tuple[CheckpointTable | None, str]:
    """The first newer table a source gives, and its name; None if no further period is complete."""
    complete = False
    async with (
        new_client() as client,
        bulk_sources(
            client,
            kinds=kinds,
            explorers=settings.explorers,
            core_rpc=settings.core_rpc,
            core_cookie=settings.core_cookie,
            core_user=settings.core_user,
            core_password=os.environ.get(settings.core_password_env or "", ""),
            electrum=settings.electrum,
        ) as sources,
    ):
        for source in sources:
            say(f"asking {source.name}")
            try:
                return await fetch_newer_table(NETWORKS["mainnet"], source), source.name
            except NotYet as error:
                complete = True
                notes.append(f"{source.name}: {error.message}")
            except SealError as error:
                notes.append(error.message)
    if complete:
        return None, ""
    raise NetworkError("no source gave further headers: " + "; ".join(notes), hint=_hint(settings, kinds))


def _hint(settings: Settings, kinds: tuple[str, ...]) -> str:
    others = [one for one in KINDS if one not in kinds and getattr(settings, _SETTING[one])]
    if others:
        return f"seal headers update --from {others[0]}"
    return "try again in a minute, or configure an Electrum server or a node (docs/configuration.md)"
