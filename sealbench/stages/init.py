"""Make a workspace: folders, configuration, the author's key, the registry's first line."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from sealbench import store
from sealbench.clock import Clock, system_clock
from sealbench.crypto.signature import AuthorKey
from sealbench.errors import UsageError
from sealbench.publishing.publication import publish
from sealbench.store import PUBLIC_FOLDERS, Workspace

SETTINGS_TEXT = """\
# A sealbench workspace. Every setting: docs/configuration.md
network = "{network}"

[timestamps]
{timestamps}
# [endpoints.sol]
# provider = "openai"
# model = "gpt-5.6-sol"
# api_key_env = "OPENAI_API_KEY"    # the variable's name, never the key
"""

IGNORE_TEXT = """\
# Secret keys, raw responses, attempts: never published before retirement.
.seal/
# Where Inspect AI writes its logs; those of a sealed battery hold its items.
logs/
"""


@dataclass(frozen=True)
class Initialised:
    """A new workspace and its author's key fingerprint."""

    workspace: Workspace
    fingerprint: str


def init(
    root: Path,
    *,
    network: str = "mainnet",
    calendars: tuple[str, ...] = (),
    explorers: tuple[str, ...] = (),
    clock: Clock = system_clock,
) -> Initialised:
    """Make a workspace in `root`, which may exist but must not hold one.

    Parameters
    ----------
    network : `mainnet`, or `regtest` for a workspace that proves nothing about time.
    calendars, explorers : URLs to write into the configuration instead of the defaults.

    Raises
    ------
    UsageError : there is a workspace already, or the folder cannot be written.
    """
    workspace = Workspace(root)
    if workspace.settings.exists():
        raise UsageError(f"{root} is a workspace already", hint=f"cd {root} && seal status")
    try:
        for folder in PUBLIC_FOLDERS:
            (root / folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{root}: cannot be made ({error.strerror})", hint="seal init OTHER_FOLDER"
        ) from error
    key = AuthorKey.generate()
    workspace.private.mkdir(mode=0o700, exist_ok=True)
    store.write_new(workspace.author_key, key.to_openssh(), mode=0o600)
    _ignore_private(root)
    store.write_new(root / store.ALLOWED_SIGNERS, (key.public.allowed_signer + "\n").encode())
    with publish(workspace, clock) as publication:
        # A random mark makes two registries of one key differ even when begun in the same second.
        detail = {"public_key": key.public.openssh, "network": network, "mark": os.urandom(16).hex()}
        publication.event("key", key.public.fingerprint, [], detail)
    # Last, so that a workspace that can be found is whole.
    store.write_new(workspace.settings, _settings(network, calendars, explorers).encode())
    return Initialised(workspace, key.public.fingerprint)


def _ignore_private(root: Path) -> None:
    path = root / ".gitignore"
    present = path.read_text(encoding="utf-8") if path.exists() else ""
    if ".seal/" not in present.splitlines():
        separator = "" if not present or present.endswith("\n") else "\n"
        store.replace(path, (present + separator + IGNORE_TEXT).encode())


def _settings(network: str, calendars: tuple[str, ...], explorers: tuple[str, ...]) -> str:
    lines = []
    if calendars:
        lines += [f"calendars = {_toml_list(calendars)}", "minimum_operators = 1"]
    if explorers:
        lines.append(f"explorers = {_toml_list(explorers)}")
    return SETTINGS_TEXT.format(network=network, timestamps="\n".join([*lines, ""]))


def _toml_list(values: tuple[str, ...]) -> str:
    return "[" + ", ".join(f'"{value}"' for value in values) + "]"
