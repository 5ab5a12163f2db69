"""Configuration: `sealbench.toml`, the user's own file, and what holds when neither says anything.

Precedence: flag, `SEAL_*` variable, `sealbench.toml`, user configuration, default. Flags and
variables are the command line's business; this module merges the two files. Secrets stand in
neither: `api_key_env` names the variable that holds one.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sealbench.errors import ConfigurationError

# Source of the default calendars: docs/timestamps.md.
DEFAULT_CALENDARS = (
    "https://a.pool.opentimestamps.org",
    "https://b.pool.opentimestamps.org",
    "https://a.pool.eternitywall.com",
    "https://ots.btc.catallaxy.com",
)
DEFAULT_EXPLORERS = ("https://blockstream.info/api", "https://mempool.space/api")
NETWORKS = ("mainnet", "regtest")


@dataclass(frozen=True)
class Settings:
    """What a workspace is configured to do.

    Attributes
    ----------
    network : Bitcoin network of the workspace's timestamps; everything on regtest proves nothing.
    calendars : OpenTimestamps calendar URLs.
    minimum_operators : how many different operators must answer before a stamp counts.
    explorers : Esplora-style explorers that serve block headers.
    core_rpc, core_cookie : URL and cookie file of a Bitcoin Core node, if any.
    core_user, core_password_env : or its RPC user, and the variable that holds the password.
    electrum : Electrum servers as host:port, if any.
    max_connections : ceiling of simultaneous calls, for each endpoint that gives none of its own.
    endpoints : tables `[endpoints.NAME]` as written.
    """

    network: str = "mainnet"
    calendars: tuple[str, ...] = DEFAULT_CALENDARS
    minimum_operators: int = 2
    explorers: tuple[str, ...] = DEFAULT_EXPLORERS
    core_rpc: str | None = None
    core_cookie: str | None = None
    core_user: str = ""
    core_password_env: str | None = None
    electrum: tuple[str, ...] = ()
    max_connections: int = 16
    endpoints: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


_TABLES: dict[str, dict[str, type]] = {
    "": {"network": str},
    "timestamps": {
        "calendars": list,
        "minimum_operators": int,
        "explorers": list,
        "core_rpc": str,
        "core_cookie": str,
        "core_user": str,
        "core_password_env": str,
        "electrum": list,
    },
    "run": {"max_connections": int},
}


def user_configuration() -> Path:
    """The user's own file: `$XDG_CONFIG_HOME/sealbench/config.toml`."""
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "sealbench" / "config.toml"


def load(settings_file: Path | None) -> Settings:
    """Merge the user's file and a workspace's; ConfigurationError names the file and the key."""
    values: dict[str, Any] = {}
    for path in (user_configuration(), settings_file):
        if path is not None and path.is_file():
            found = _read(path)
            endpoints = {**values.get("endpoints", {}), **found.get("endpoints", {})}
            values = {**values, **found, "endpoints": endpoints}
    return Settings(**values)


def _read(path: Path) -> dict[str, Any]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:  # huge integers are no TOMLDecodeError
        raise ConfigurationError(
            f"{path}: {error}", hint="see docs/configuration.md for a whole example"
        ) from error
    values: dict[str, Any] = {}
    for key, value in document.items():
        if key == "endpoints":
            values["endpoints"] = _endpoints(path, value)
        elif key in _TABLES and isinstance(value, dict):
            for inner, setting in value.items():
                values[inner] = _checked(path, f"{key}.{inner}", setting, _TABLES[key].get(inner))
        else:
            values[key] = _checked(path, key, value, _TABLES[""].get(key))
    if values.get("network", "mainnet") not in NETWORKS:
        raise ConfigurationError(f"{path}: network must be one of {', '.join(NETWORKS)}")
    return values


def _checked(path: Path, key: str, value: object, wanted: type | None) -> object:
    if wanted is None:
        raise ConfigurationError(f"{path}: unknown setting {key}", hint="see docs/configuration.md")
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise ConfigurationError(f"{path}: {key} must be a {wanted.__name__}")
    if isinstance(value, list):
        if not all(isinstance(entry, str) for entry in value):
            raise ConfigurationError(f"{path}: {key} must be a list of strings")
        return tuple(value)
    if isinstance(value, int) and value < 1:
        raise ConfigurationError(f"{path}: {key} must be at least 1")
    return value


def _endpoints(path: Path, tables: object) -> dict[str, dict[str, Any]]:
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise ConfigurationError(f"{path}: endpoints must be tables [endpoints.NAME]")
    for name, table in tables.items():
        if "api_key" in table:
            raise ConfigurationError(
                f"{path}: endpoints.{name} holds a key",
                hint='write api_key_env = "THE_VARIABLE" instead, and put the key into that variable',
            )
    return tables
