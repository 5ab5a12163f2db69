"""One fixed question before anything is frozen: does the endpoint take these settings, does its cap bind?

A server that refuses a parameter is adapted to, once, and what was substituted is recorded: another
name for the cap, or a sampling setting left out. Nothing that changes the question itself (the system
prompt) is ever left out. The probe's prompt is in no battery.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from sealbench.clock import Clock, system_clock
from sealbench.endpoints.base import EndpointSettings, Parsed, get_provider
from sealbench.endpoints.engine import Attempt, Call, Outcome, Stopped, run_calls
from sealbench.endpoints.retries import refuses_key
from sealbench.errors import ConfigurationError, MissingKey, NetworkError

if TYPE_CHECKING:
    import httpx

PROBE_PROMPT = (
    "Write the whole numbers from 1 to 400, one a line, as digits, without leaving any out. "
    'Then end your reply with the line "Answer: Yes".'
)
_DROPPABLE = ("temperature", "top_p", "seed", "reasoning_effort", "thinking_budget")
_WIRE_NAMES = {
    "reasoning_effort": ("reasoning_effort", "reasoning.effort", "effort", "think"),
    "thinking_budget": ("thinking", "budget_tokens", "thinkingBudget", "reasoning.max_tokens"),
    "seed": ("seed", "random_seed"),
    "top_p": ("top_p", "topP"),
    "temperature": ("temperature",),
}
_CAP_NAMES = ("max_completion_tokens", "max_tokens")
_UNSUPPORTED = re.compile(
    r"unsupported|not supported|not support|unknown|unrecognized|unrecognised|not permitted|not allowed"
    r"|extra_forbidden|extra inputs|unexpected|deprecated",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"['\"`]([A-Za-z_][A-Za-z0-9_.]*)['\"`]|argument supplied: ([A-Za-z_.]+)")


@dataclass(frozen=True)
class Substitution:
    """One thing the server refused, and what is sent instead; `sent` None means left out."""

    field: str
    asked: str
    sent: str | None
    reason: str


@dataclass(frozen=True)
class CapObserved:
    """How the endpoint behaved at one cap.

    `ignored`: more charged tokens than cap + 1, so the cap does not bind there.
    """

    cap: int
    parsed: Parsed
    ignored: bool


@dataclass(frozen=True)
class Probe:
    """The endpoint as accepted, what was substituted to get there, what each cap did."""

    endpoint: EndpointSettings
    substitutions: tuple[Substitution, ...]
    caps: tuple[CapObserved, ...]


def substitute(
    settings: EndpointSettings, status: int | None, parsed: Parsed | None
) -> tuple[EndpointSettings, Substitution] | None:
    """What to send instead after a refusal; None if nothing harmless can be changed."""
    if status not in (400, 422) or parsed is None or not parsed.error:
        return None
    words = f"{parsed.stop or ''} {parsed.error}"
    if not _UNSUPPORTED.search(words):
        return None
    named = [first or second for first, second in _QUOTED.findall(parsed.error)]
    refused = named[0] if named else ""
    current = settings.cap_parameter or get_provider(settings.provider).default_cap_parameter
    if refused == current and current in _CAP_NAMES:
        other = _CAP_NAMES[1 - _CAP_NAMES.index(current)]
        return replace(settings, cap_parameter=other), Substitution(
            "cap_parameter", current, other, parsed.error
        )
    for name in _DROPPABLE:
        if settings.settings.get(name) is None or refused not in _WIRE_NAMES[name]:
            continue
        kept = {key: value for key, value in settings.settings.items() if key != name}
        changed = replace(settings, settings=MappingProxyType(kept))
        return changed, Substitution(name, str(settings.settings[name]), None, parsed.error)
    return None


async def probe(
    settings: EndpointSettings,
    caps: Iterable[int],
    *,
    environ: Mapping[str, str] | None = None,
    now: Clock = system_clock,
    transport: httpx.AsyncBaseTransport | None = None,
) -> Probe:
    """Ask the fixed question at each cap, adapting to refusals; an error with a hint if it cannot be used."""
    substitutions: list[Substitution] = []
    observed: list[CapObserved] = []
    for cap in sorted(set(caps)):
        while True:
            outcome, stopped = await _one(settings, cap, environ, now, transport)
            if stopped is None:
                break
            found = substitute(settings, stopped.status, stopped.parsed)
            if found is None or len(substitutions) > len(_DROPPABLE):
                raise _unusable(settings, cap, stopped)
            settings, substitution = found
            substitutions.append(substitution)
        if outcome is None or outcome.missing:
            error = outcome.parsed.error if outcome else "no answer"
            raise NetworkError(
                f"endpoint {settings.name} did not answer the probe: {error}", hint="try again in a while"
            )
        charged = outcome.parsed.charged_tokens
        observed.append(CapObserved(cap, outcome.parsed, charged is not None and charged > cap + 1))
    return Probe(settings, tuple(substitutions), tuple(observed))


async def _one(
    settings: EndpointSettings,
    cap: int,
    environ: Mapping[str, str] | None,
    now: Clock,
    transport: httpx.AsyncBaseTransport | None,
) -> tuple[Outcome | None, Stopped | None]:
    outcomes: list[Outcome] = []

    def before(_call: Call, _attempt: Attempt) -> None:
        """A probe keeps no journal: it is no part of a run."""

    summary = await run_calls(
        [Call("probe", settings.name, PROBE_PROMPT, cap)],
        {settings.name: settings},
        before_attempt=before,
        on_outcome=outcomes.append,
        environ=environ,
        now=now,
        transport=transport,
    )
    return (outcomes[0] if outcomes else None), (summary.stopped[0] if summary.stopped else None)


def _unusable(settings: EndpointSettings, cap: int, stopped: Stopped) -> Exception:
    message = f"endpoint {settings.name}: {stopped.reason}"
    if stopped.status is None:
        return NetworkError(message, hint=stopped.hint)
    if stopped.status == 401 or (stopped.parsed is not None and refuses_key(stopped.status, stopped.parsed)):
        return MissingKey(message, hint=stopped.hint)
    if stopped.cap is not None:
        return ConfigurationError(
            f"endpoint {settings.name} refuses a call at cap {cap}: {stopped.reason}",
            hint="take another cap, or change the settings of this endpoint in sealbench.toml",
        )
    return ConfigurationError(message, hint=stopped.hint)
