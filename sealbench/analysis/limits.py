"""What a report's results rest on, and what they do not prove: said in every report.

Source: the README, "What this does not prove", and docs/threat-model.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from sealbench.analysis.rows import Table, is_reference
from sealbench.formats.report import Anchor, Scope, ScopeEndpoint

ALWAYS = (
    (
        "Labels are not randomised: a small p says that instances are not exchangeable between the classes "
        "within their strata. It proves no mechanism."
    ),
    (
        "The results hold for the endpoints, settings and families listed under scope, and for nothing else. "
        "Token counts of different providers are never compared."
    ),
    (
        "Calls made before the log was begun and runs that were thrown away leave no trace here unless they "
        "are in the registry; a second identity or an unpublished registry cannot be ruled out."
    ),
    (
        "A log line can be invented before it is stamped. Providers sign nothing; an independent rerun of "
        "revealed items is the check."
    ),
    "The provider sees the items on the first call.",
    "Block times are right to about two hours, no finer.",
    "Nothing forces the battery's author to publish the key.",
)
_EXPLORATORY = (
    "EXPLORATORY: no plan was registered, so no test here was chosen before the data. It can never be turned "
    "into a registered run."
)
_REFERENCE = (
    "Reference endpoints are programs that come with this tool. They are no model and say nothing about one."
)
_REGTEST = "Anchors on a regtest chain prove nothing about time."
_UNANCHORED = {
    "stamped": (
        "The run was begun on the calendars' promise alone (--require stamped): no block shows that its plan "
        "is older than the run."
    ),
    "registered": (
        "The run was begun unstamped (--require registered): that its plan is older than the run is the "
        "author's word, kept in the registry's order and in nothing else."
    ),
}
_ORDER = (
    "Stamps order the files, not the calls: that the calls came after the plan is proved in beacon mode only "
    "(verification step 9 says which)."
)


def not_proved(table: Table, anchors: Sequence[Anchor]) -> tuple[str, ...]:
    """The limits that apply to this run, most particular first."""
    limits: list[str] = []
    if table.run.exploratory:
        limits.append(_EXPLORATORY)
    if any(is_reference(endpoint) for endpoint in table.run.endpoints):
        limits.append(_REFERENCE)
    if any(anchor.network == "regtest" for anchor in anchors):
        limits.append(_REGTEST)
    if table.run.require in _UNANCHORED:
        limits.append(_UNANCHORED[table.run.require])
    limits.append(_ORDER)
    return (*limits, *ALWAYS)


def scope(table: Table) -> Scope:
    """The providers, endpoints, families, wordings and caps of the run."""
    run = table.run
    reported: dict[str, set[str]] = defaultdict(set)
    for line in table.lines:
        if line.model is not None:
            reported[line.endpoint].add(line.model)
    endpoints = tuple(
        ScopeEndpoint(
            name=endpoint.name,
            provider=endpoint.provider,
            model=endpoint.model,
            reported=tuple(sorted(reported[endpoint.name])),
            reference=is_reference(endpoint),
        )
        for endpoint in run.endpoints
    )
    models = [endpoint for endpoint in endpoints if not endpoint.reference]
    return Scope(
        providers=tuple(sorted({endpoint.provider for endpoint in endpoints})),
        endpoints=endpoints,
        families=tuple(table.families),
        wordings=tuple(sorted({line.wording for line in table.items.values()})),
        caps=run.caps,
        statement=_statement(models, len(endpoints) - len(models), table.families),
    )


def _statement(models: Sequence[ScopeEndpoint], references: int, families: Sequence[str]) -> str:
    providers = sorted({endpoint.provider for endpoint in models})
    kinds = f"{_number(len(families), 'task family', 'task families')} ({', '.join(families) or 'none'})"
    if not models:
        programs = _number(references, "reference endpoint", "reference endpoints")
        return f"True only for {programs}, no model, on {kinds}."
    text = f"True only for {_number(len(models), 'endpoint', 'endpoints')} of "
    text += (
        f"one company ({providers[0]})"
        if len(providers) == 1
        else f"{len(providers)} providers ({', '.join(providers)})"
    )
    if references:
        text += f", and {_number(references, 'reference endpoint', 'reference endpoints')}"
    return f"{text}, on {kinds}."


def _number(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"
