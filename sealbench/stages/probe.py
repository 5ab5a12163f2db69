"""Ask each endpoint one fixed question before anything is frozen, and freeze what it accepted."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sealbench.config import Settings
from sealbench.endpoints.base import EndpointSettings
from sealbench.endpoints.probe import CapObserved, Probe, Substitution, probe
from sealbench.formats.preregistration import Endpoint
from sealbench.running.ready_endpoints import check_ready, running_endpoints

# A probe is no data: it gives up sooner than a run.
PROBE_ATTEMPTS = 3


@dataclass(frozen=True)
class Probed:
    """One endpoint as accepted (`probed` is true), what was substituted, and what each cap did."""

    endpoint: Endpoint
    substitutions: tuple[Substitution, ...]
    caps: tuple[CapObserved, ...]

    @property
    def ignored_caps(self) -> tuple[int, ...]:
        """Caps at which more tokens came than the cap and one: they do not bind there."""
        return tuple(one.cap for one in self.caps if one.ignored)


def probe_endpoints(
    frozen: Sequence[Endpoint],
    caps: Sequence[int],
    settings: Settings,
    *,
    environ: Mapping[str, str] | None = None,
) -> list[Probed]:
    """Probe all endpoints side by side, each at every cap; nothing is written.

    Raises
    ------
    MissingKey, NetworkError, ConfigurationError : an endpoint cannot be used, and what to try.
    """
    check_ready(frozen, caps, settings, environ=environ)
    with running_endpoints(frozen, settings) as endpoints:
        found = asyncio.run(_all(list(endpoints.values()), caps, environ))
    return [_frozen(asked, done) for asked, done in zip(frozen, found, strict=True)]


async def _all(
    endpoints: Sequence[EndpointSettings], caps: Sequence[int], environ: Mapping[str, str] | None
) -> list[Probe]:
    async def one(endpoint: EndpointSettings) -> Probe:
        limits = endpoint.limits
        fewer = replace(limits, max_attempts=min(limits.max_attempts, PROBE_ATTEMPTS))
        return await probe(replace(endpoint, limits=fewer), caps, environ=environ)

    tasks = [asyncio.ensure_future(one(endpoint)) for endpoint in endpoints]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _frozen(asked: Endpoint, done: Probe) -> Probed:
    record = done.endpoint.to_record()
    accepted = {
        **asked.to_value(),
        "cap_parameter": record["cap_parameter"] or asked.cap_parameter,
        "settings": record["settings"],
        "probed": True,
    }
    return Probed(Endpoint.from_value(accepted, asked.name), done.substitutions, done.caps)
