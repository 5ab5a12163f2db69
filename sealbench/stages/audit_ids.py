"""Response ids that an auditor with the author's account could fetch, each checked against the log."""

from __future__ import annotations

from dataclasses import dataclass

from sealbench.config import Settings
from sealbench.crypto.derivation import ResponseSalts, salted_hash
from sealbench.endpoints.base import get_provider
from sealbench.errors import CheckFailed
from sealbench.formats.run import Run
from sealbench.publishing.sealing import open_battery
from sealbench.running.journal import read_responses
from sealbench.running.ready_endpoints import thaw_endpoints
from sealbench.running.run_records import log_so_far
from sealbench.store import Workspace

# How a stored response is fetched by its id, after the base URL; None where the provider has no way, and
# only its own logs can confirm the id.
_FETCH: dict[str, str] = {
    "openai": "/chat/completions/{id}",
    "openai-responses": "/responses/{id}",
    "xai": "/responses/{id}",
    "openrouter": "/generation?id={id}",
}
_CONDITIONS: dict[str, str] = {
    "openai": "only if the call was made with store = true under extra",
    "openai-responses": "for 30 days, unless store = false",
    "openrouter": "as long as the account's activity is kept",
}


@dataclass(frozen=True)
class AuditId:
    """One response: its line in the log (from 1), where it came from, when, its id, how to fetch it.

    `fetch` is a URL for GET with the account's key, or None where the provider offers none.
    """

    line: int
    endpoint: str
    provider: str
    model: str | None
    at: str
    response_id: str
    fetch: str | None
    condition: str | None


@dataclass(frozen=True)
class AuditIds:
    """All ids of one run, and the number of lines whose response carried none."""

    run: Run
    ids: tuple[AuditId, ...]
    without: int


def audit_ids(workspace: Workspace, run: Run, settings: Settings) -> AuditIds:
    """List the ids of a run's private responses.

    Raises
    ------
    CheckFailed : an id is not the one whose salted hash stands in the log.
    MissingKey : K, from which the salts follow, is not here.
    """
    salts = ResponseSalts(open_battery(workspace, run.battery).secret, run.name)
    endpoints = thaw_endpoints(run.endpoints, settings)
    responses = workspace.private_run(run.name) / "responses.jsonl"
    found: list[AuditId] = []
    without = 0
    if not responses.exists():
        return AuditIds(run, (), 0)
    # The private file can be one response ahead of the log, where a process died between the two.
    for stored, line in zip(read_responses(responses), log_so_far(workspace, run), strict=False):
        identifier = stored.raw.response_id
        if identifier is None:
            without += 1
            continue
        if salted_hash(salts.salt(line.seq), identifier.encode()) != line.response_id_hash:
            raise CheckFailed(
                f"log line {line.seq + 1}: the stored response id is not the one that was logged",
                hint="restore the run's public and private folders from the same backup",
            )
        endpoint = endpoints[line.endpoint]
        path = _FETCH.get(endpoint.provider)
        base = endpoint.base_url or get_provider(endpoint.provider).default_base_url
        found.append(
            AuditId(
                line=line.seq + 1,
                endpoint=line.endpoint,
                provider=endpoint.provider,
                model=line.model,
                at=line.attempts[-1].at,
                response_id=identifier,
                fetch=f"{base}{path.format(id=identifier)}" if path and base else None,
                condition=_CONDITIONS.get(endpoint.provider),
            )
        )
    return AuditIds(run, tuple(found), without)
