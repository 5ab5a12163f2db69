"""What this machine knows that nobody else must: keys, the values of key variables, its own paths.

Gathered only to look whether a file that is about to be published holds any of it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from sealbench import store
from sealbench.config import load
from sealbench.crypto.signature import AuthorKey
from sealbench.endpoints.base import get_provider, provider_names
from sealbench.formats.battery import BatteryKey
from sealbench.formats.run import Run
from sealbench.publishing.bundle_scan import Forbidden
from sealbench.store import Workspace


def forbidden_here(workspace: Workspace, published: Collection[str]) -> Forbidden:
    """Everything that must not stand in what is published of these batteries.

    Raises
    ------
    FormatError : a key file does not parse, so it cannot be looked for.
    """
    return Forbidden(
        secrets=tuple(_keys(workspace, published)),
        texts=tuple(_variables(workspace)),
        paths=tuple(
            sorted({str(workspace.root.resolve()), str(workspace.root.absolute()), str(Path.home())})
        ),
    )


def _keys(workspace: Workspace, published: Collection[str]) -> Iterator[tuple[str, bytes]]:
    for path in (workspace.author_key, workspace.next_author_key):
        if path.exists():
            yield "the author's key", AuthorKey.from_openssh(store.read(path), str(path)).secret_bytes()
    for path in sorted(workspace.battery_key("x").parent.glob("*.key*")):
        key = BatteryKey.from_bytes(store.read(path), str(path))
        # A key set aside under the name of a published battery is still another key.
        if key.name not in published or path != workspace.battery_key(key.name):
            yield f"the key of battery {key.name}", key.secret_bytes()


def _variables(workspace: Workspace) -> Iterator[tuple[str, str]]:
    """The values of every variable that the configuration, a provider or a run names for a key."""
    settings = load(workspace.settings)
    names = {settings.core_password_env}
    names |= {get_provider(provider).default_api_key_env for provider in provider_names()}
    names |= {str(table["api_key_env"]) for table in settings.endpoints.values() if "api_key_env" in table}
    for path in sorted(workspace.root.glob("runs/*/run.json")):
        run = Run.from_bytes(store.read(path), workspace.relative(path))
        names |= {endpoint.api_key_env for endpoint in run.endpoints}
    for name in sorted(filter(None, names)):
        value = os.environ.get(name, "").strip()
        if value:
            yield f"the value of {name}", value
