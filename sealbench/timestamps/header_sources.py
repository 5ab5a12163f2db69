"""The header sources a configuration names: for a few heights, and for a newer checkpoint table."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx

from sealbench.config import DEFAULT_EXPLORERS, Settings
from sealbench.errors import ConfigurationError
from sealbench.timestamps.core_rpc import CoreNode
from sealbench.timestamps.electrum import ElectrumServer
from sealbench.timestamps.explorer import Explorer, Explorers
from sealbench.timestamps.explorer_pages import ExplorerPages
from sealbench.timestamps.headers import HeaderSource

KINDS = ("electrum", "core", "explorer")
"""Kinds of sources, the quickest for long runs first."""


def fitting(settings: Settings) -> Settings:
    """The settings without the public mainnet explorers, if they are for another network."""
    if settings.network == "mainnet" or settings.explorers != DEFAULT_EXPLORERS:
        return settings
    return replace(settings, explorers=())


@asynccontextmanager
async def header_sources(
    client: httpx.AsyncClient,
    *,
    explorers: Sequence[str] = (),
    core_rpc: str | None = None,
    core_cookie: str | None = None,
    core_user: str = "",
    core_password: str = "",
    electrum: Sequence[str] = (),
) -> AsyncIterator[list[HeaderSource]]:
    """Explorers (asked side by side), then a Bitcoin Core node, then Electrum servers (host:port).

    Raises ConfigurationError for an address that cannot be one. The node's connection ends with the
    context.
    """
    sources: list[HeaderSource] = []
    node = _node(core_rpc, core_cookie, core_user, core_password)
    if explorers:
        sources.append(Explorers([Explorer(url, client) for url in explorers]))
    if node:
        sources.append(node)
    sources += _electrum_servers(electrum)
    try:
        yield sources
    finally:
        if node:
            await node.aclose()


@asynccontextmanager
async def bulk_sources(
    client: httpx.AsyncClient,
    *,
    kinds: Sequence[str] = KINDS,
    explorers: Sequence[str] = (),
    core_rpc: str | None = None,
    core_cookie: str | None = None,
    core_user: str = "",
    core_password: str = "",
    electrum: Sequence[str] = (),
) -> AsyncIterator[list[HeaderSource]]:
    """Sources of thousands of headers in a row, of these kinds in this order; explorers give pages."""
    sources: list[HeaderSource] = []
    node = _node(core_rpc, core_cookie, core_user, core_password) if "core" in kinds else None
    for kind in kinds:
        if kind == "electrum":
            sources += _electrum_servers(electrum)
        elif kind == "core" and node:
            sources.append(node)
        elif kind == "explorer":
            sources += [ExplorerPages(Explorer(url, client)) for url in explorers]
    try:
        yield sources
    finally:
        if node:
            await node.aclose()


def _node(url: str | None, cookie: str | None, user: str, password: str) -> CoreNode | None:
    if not url:
        return None
    return CoreNode(url, cookie=Path(cookie) if cookie else None, user=user, password=password)


def _electrum_servers(addresses: Sequence[str]) -> list[ElectrumServer]:
    servers = []
    for address in addresses:
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit() or int(port) > 65535:
            raise ConfigurationError(f"electrum server {address!r} is not host:port", hint='"host:50002"')
        # Most of these servers sign their own certificates; every header is checked, so none is trusted.
        servers.append(ElectrumServer(host, int(port), check_certificate=False))
    return servers
