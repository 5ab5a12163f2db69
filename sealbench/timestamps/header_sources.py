"""The header sources a configuration names, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from sealbench.errors import ConfigurationError
from sealbench.timestamps.core_rpc import CoreNode
from sealbench.timestamps.electrum import ElectrumServer
from sealbench.timestamps.explorer import Explorer, Explorers
from sealbench.timestamps.headers import HeaderSource


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
    cookie = Path(core_cookie) if core_cookie else None
    node = CoreNode(core_rpc, cookie=cookie, user=core_user, password=core_password) if core_rpc else None
    if explorers:
        sources.append(Explorers([Explorer(url, client) for url in explorers]))
    if node:
        sources.append(node)
    for address in electrum:
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit():
            raise ConfigurationError(f"electrum server {address!r} is not host:port", hint='"host:50002"')
        # Most of these servers sign their own certificates; every header is checked, so none is trusted.
        sources.append(ElectrumServer(host, int(port), check_certificate=False))
    try:
        yield sources
    finally:
        if node:
            await node.aclose()
