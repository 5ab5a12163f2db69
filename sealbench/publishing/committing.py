"""Write a battery's envelope and commitment and register it: the same for generated and imported items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sealbench import __version__, store
from sealbench.clock import Clock
from sealbench.crypto import merkle
from sealbench.crypto.derivation import secret_commitment
from sealbench.errors import UsageError
from sealbench.formats.base import FileHash, format_instant
from sealbench.formats.battery import (
    Baseline,
    Battery,
    BatteryKey,
    Block,
    Commitment,
    Item,
    Parameters,
    item_bytes,
)
from sealbench.publishing.publication import Publication, publish, read_registry, refuse_damage
from sealbench.publishing.sealing import leaf_hashes, read_commitment, seal_battery
from sealbench.publishing.superseding import void_verdict_of
from sealbench.store import Workspace

# Names that would collide with other files and folders of `commitments/`.
_RESERVED = ("registry", "files", "headers", "checkpoints", "reveals")


@dataclass(frozen=True)
class Created:
    """A new sealed battery: its commitment and where the files are."""

    commitment: Commitment
    path: Path
    files: tuple[Path, ...]


@dataclass(frozen=True)
class Beacon:
    """Where a battery in beacon mode comes from: its draft, and the block whose hash is the beacon."""

    draft: FileHash
    block: Block


def check_battery_name(workspace: Workspace, name: str) -> None:
    """UsageError if this name cannot name a battery, or names one already."""
    store.check_name(name, "battery")
    if name in _RESERVED:
        raise UsageError(f"{name} is the name of another file", hint=f"--name {name}-battery")
    # Files that no event names were left by a process that died: the name is free, `publish` clears them.
    if read_registry(workspace).find("create", name) is not None:
        raise UsageError(
            f"the battery name {name} is already used in this workspace",
            hint=f"choose another name, for example --name {name}-2",
        )


def commit_battery(
    workspace: Workspace,
    name: str,
    secret: bytes,
    parameters: Parameters,
    items: Sequence[Item],
    *,
    baselines: tuple[Baseline, ...],
    supersedes: str | None,
    clock: Clock,
    beacon: Beacon | None = None,
) -> Created:
    """Save K, write envelope and commitment, and register the battery, under the workspace's lock.

    With a `beacon` the name is the draft's and its K was saved with it.

    Raises
    ------
    UsageError : the name was taken meanwhile.
    CheckFailed : a public file was changed since the last command.
    FormatError : there is no battery `supersedes`.
    """
    with publish(workspace, clock) as publication:
        refuse_damage(workspace)
        replaced = hash_of_battery(publication, supersedes)
        if beacon is None:
            check_battery_name(workspace, name)
            save_secret(workspace, name, secret)
        plain = Battery(name=name, items=tuple(items)).to_bytes()
        sealed = seal_battery(secret, name, plain, parameters)
        sealed_hash = publication.write(workspace.sealed(name), sealed.to_bytes())
        commitment = Commitment(
            **publication.identity(),
            name=name,
            created_at=format_instant(publication.clock()),
            tool_version=__version__,
            mode="sealed" if beacon is None else "beacon",
            draft=None if beacon is None else beacon.draft,
            beacon=None if beacon is None else beacon.block,
            parameters=parameters,
            secret_commitment=secret_commitment(secret).hex(),
            items=len(items),
            instances=len({item.instance for item in items}),
            root=merkle.root(leaf_hashes(secret, item_bytes(plain))).hex(),
            sealed=sealed_hash,
            baselines=baselines,
            supersedes=replaced,
            supersedes_void=void_verdict_of(workspace, supersedes),
            derived_from=None,
        )
        path = workspace.commitment(name)
        committed = publication.write_signed(path, commitment)
        publication.event("create", name, [committed, sealed_hash], {})
        if supersedes is not None:
            publication.event("supersede", supersedes, [committed], {"by": name})
        return Created(commitment, path, (path, workspace.sealed(name), workspace.battery_key(name)))


def save_secret(workspace: Workspace, name: str, secret: bytes) -> None:
    """Save K before anything that depends on it: a crash leaves a key alone, never a battery."""
    key = BatteryKey(name=name, secret=secret.hex())
    store.set_aside(workspace.battery_key(name))
    store.write_new(workspace.battery_key(name), key.to_bytes(), mode=0o600)


def hash_of_battery(publication: Publication, name: str | None) -> FileHash | None:
    """The hash of another battery's commitment; FormatError if there is none of this name."""
    if name is None:
        return None
    read_commitment(publication.workspace, name)
    return publication.hash_of(publication.workspace.commitment(name))
