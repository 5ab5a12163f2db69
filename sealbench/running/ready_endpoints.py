"""From the endpoints that a plan froze to endpoints that can be called now, and what must hold first."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sealbench.config import Settings
from sealbench.endpoints.base import (
    EndpointSettings,
    check_settings,
    get_provider,
    read_api_key,
    resolve,
)
from sealbench.endpoints.budget import Budget
from sealbench.errors import UsageError
from sealbench.formats.preregistration import Endpoint


def thaw_endpoint(
    endpoint: Endpoint, settings: Settings, max_connections: int | None = None
) -> EndpointSettings:
    """What the plan froze, with today's price and limits of the same configured name, if there is one.

    `max_connections`: calls at a time as the command line says; without it the endpoint's own number
    counts, and where it has none that of `[run]`.
    """
    record: dict[str, Any] = endpoint.to_value()
    table = settings.endpoints.get(endpoint.name)
    if table is None:
        found = EndpointSettings.from_record(record)
    else:
        today = resolve(endpoint.name, settings.endpoints)
        found = EndpointSettings.from_record(record, price=today.price, limits=today.limits)
    if max_connections is None:
        own = table is not None and "max_connections" in table
        max_connections = found.limits.max_connections if own else settings.max_connections
    return replace(found, limits=replace(found.limits, max_connections=max_connections))


def thaw_endpoints(
    frozen: Sequence[Endpoint], settings: Settings, max_connections: int | None = None
) -> dict[str, EndpointSettings]:
    """All of them, by name."""
    return {endpoint.name: thaw_endpoint(endpoint, settings, max_connections) for endpoint in frozen}


def check_ready(
    frozen: Sequence[Endpoint],
    caps: Sequence[int],
    settings: Settings,
    *,
    budget: Budget | None = None,
    keys: bool = True,
    environ: Mapping[str, str] | None = None,
) -> None:
    """Everything that can be found wrong without the network, before a run is begun.

    `keys`: whether the keys must be there; a dry run needs none.

    Raises
    ------
    MissingKey : the variable that should hold a key is not set.
    ConfigurationError, UsageError : a setting or a cap that cannot be sent; a budget without a price.
    """
    for endpoint in thaw_endpoints(frozen, settings).values():
        check_settings(endpoint, caps)
        if keys:
            read_api_key(endpoint, required=get_provider(endpoint.provider).needs_key, environ=environ)
        if budget is not None and budget.usd is not None and not _has_price(endpoint):
            raise UsageError(
                f"endpoint {endpoint.name} has no price, so a budget in USD cannot be kept",
                hint="give price = { input = …, output = … } (USD per million tokens) under "
                "[endpoints.NAME] in sealbench.toml, or bound the run with --max-tokens",
            )


def idle_places(endpoints: Mapping[str, EndpointSettings], places: int) -> str:
    """What to say where workers have places for more calls than these endpoints may get; else nothing."""
    most = sum(endpoint.limits.max_connections for endpoint in endpoints.values())
    if not endpoints or most >= places:
        return ""
    each = -(-places // len(endpoints))
    return f"the workers can make {places} calls at a time, this run makes {most}: --max-connections {each}"


def key_variables(frozen: Sequence[Endpoint]) -> list[str]:
    """The environment variables that whoever calls these endpoints must have set, sorted."""
    return sorted(
        {
            endpoint.api_key_env
            for endpoint in frozen
            if endpoint.api_key_env is not None and get_provider(endpoint.provider).needs_key
        }
    )


def _has_price(endpoint: EndpointSettings) -> bool:
    return endpoint.price is not None or endpoint.provider == "reference"


@contextlib.contextmanager
def running_endpoints(
    frozen: Sequence[Endpoint], settings: Settings, max_connections: int | None = None
) -> Iterator[dict[str, EndpointSettings]]:
    """The endpoints by name; the built-in server runs within the block while any of them is its own."""
    found = thaw_endpoints(frozen, settings, max_connections)
    if not any(_is_built_in(endpoint) for endpoint in found.values()):
        yield found
        return
    from sealbench.testing.server import ReferenceServer

    with ReferenceServer() as server:
        yield {
            name: replace(endpoint, base_url=server.url) if _is_built_in(endpoint) else endpoint
            for name, endpoint in found.items()
        }


def _is_built_in(endpoint: EndpointSettings) -> bool:
    return endpoint.provider == "reference" and endpoint.base_url is None
