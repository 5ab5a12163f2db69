"""Every difference between the plan and the run, computed: nothing here rests on anybody's word.

Each registered setting is compared, in the order of the plan's fields. What a person wrote in prose
(stopping rule, exclusions, access, funding) cannot be compared by a program; no run applies an exclusion.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from sealbench.analysis.rows import Table
from sealbench.crypto import canonical
from sealbench.formats.preregistration import Endpoint, Parser, Preregistration
from sealbench.formats.report import Deviation
from sealbench.formats.run import LogLine

_ENDPOINT_FIELDS = tuple(name for name in Endpoint.model_fields if name != "name")


def deviations(table: Table, plan: Preregistration) -> tuple[Deviation, ...]:
    """All differences between a plan and what run.json and the log say was done.

    Settings come first (plan against run.json), then what the log shows against the plan: calls outside
    it, models reported, cap parameters sent, calls asked twice, calls missing.
    """
    return (*_settings(table, plan), *_log(table, plan))


def _settings(table: Table, plan: Preregistration) -> Iterator[Deviation]:
    run = table.run
    if plan.battery != run.battery:
        yield _differs("battery", plan.battery, run.battery)
    if plan.commitment != run.commitment:
        yield _differs("commitment", plan.commitment.sha256, run.commitment.sha256)
    yield from _endpoints(plan.endpoints, run.endpoints)
    yield from _sets("caps", map(str, plan.caps), map(str, run.caps))
    if plan.repeats != run.repeats:
        yield _differs("repeats", plan.repeats, run.repeats)
    yield from _sets("wordings", plan.wordings, run.wordings)
    for field in Parser.model_fields:
        planned, observed = getattr(plan.parser, field), getattr(run.parser, field)
        if planned != observed:
            yield _differs(f"parser.{field}", planned, observed)


def _endpoints(planned: Sequence[Endpoint], observed: Sequence[Endpoint]) -> Iterator[Deviation]:
    seen = {endpoint.name: endpoint for endpoint in observed}
    for endpoint in planned:
        other = seen.get(endpoint.name)
        if other is None:
            yield _differs("endpoints", endpoint.name, "not in this run")
            continue
        for field in _ENDPOINT_FIELDS:
            first, second = getattr(endpoint, field), getattr(other, field)
            if first != second:
                yield _differs(f"endpoints.{field}", _text(first), _text(second), endpoint.name)
    known = {endpoint.name for endpoint in planned}
    for endpoint in observed:
        if endpoint.name not in known:
            yield _differs("endpoints", "not in the plan", endpoint.name)


def _sets(field: str, planned: Iterable[str], observed: Iterable[str]) -> Iterator[Deviation]:
    first, second = tuple(planned), tuple(observed)
    for value in first:
        if value not in second:
            yield _differs(field, value, "not in this run")
    for value in second:
        if value not in first:
            yield _differs(field, "not in the plan", value)


def _log(table: Table, plan: Preregistration) -> Iterator[Deviation]:
    yield from _outside(table, plan)
    yield from _models(table.lines, plan)
    yield from _cap_parameters(table.lines, plan)
    keys = Counter(line.key for line in table.lines)
    repeated = sum(count - 1 for count in keys.values())
    if repeated:
        yield _differs(
            "calls", "each call once", f"{repeated} asked again", "the log holds a planned call twice"
        )
    absent = table.absent_calls()
    if absent:
        planned = table.run.planned_calls
        yield _differs(
            "calls", f"{planned} calls", f"{planned - absent} in the log", f"{absent} have no line"
        )
    missing = sum(line.missing for line in table.lines)
    if missing:
        yield _differs(
            "responses",
            f"{len(table.lines)} responses",
            f"{missing} missing",
            "no response after all attempts",
        )


def _outside(table: Table, plan: Preregistration) -> Iterator[Deviation]:
    """Calls in the log that the plan does not hold, by the field that shows it."""
    names = {endpoint.name for endpoint in plan.endpoints}
    strays: dict[tuple[str, str], int] = defaultdict(int)
    for line in table.lines:
        if line.endpoint not in names:
            strays[("endpoints", line.endpoint)] += 1
        if line.cap not in plan.caps:
            strays[("caps", str(line.cap))] += 1
        if line.wording not in plan.wordings:
            strays[("wordings", line.wording)] += 1
    asked: dict[tuple[str, str, int], set[int]] = defaultdict(set)
    for line in table.lines:
        asked[line.key[:3]].add(line.repeat)
    surplus = sum(max(0, len(repeats) - plan.repeats) for repeats in asked.values())
    if surplus:
        strays[("repeats", f"more than {plan.repeats} repeats")] = surplus
    for (field, value), count in sorted(strays.items()):
        yield _differs(f"log.{field}", "not in the plan", value, f"{count} calls in the log")


def _models(lines: Sequence[LogLine], plan: Preregistration) -> Iterator[Deviation]:
    """Model names that an endpoint reported and that are not the name asked for."""
    asked = {endpoint.name: endpoint.model for endpoint in plan.endpoints}
    reported = Counter((line.endpoint, line.model) for line in lines if line.model is not None)
    for (endpoint, model), count in sorted(reported.items()):
        if endpoint in asked and model != asked[endpoint]:
            yield _differs("model_reported", asked[endpoint], str(model), f"{endpoint}: {count} responses")


def _cap_parameters(lines: Sequence[LogLine], plan: Preregistration) -> Iterator[Deviation]:
    planned = {endpoint.name: endpoint.cap_parameter for endpoint in plan.endpoints}
    sent = Counter((line.endpoint, line.cap_parameter) for line in lines)
    for (endpoint, parameter), count in sorted(sent.items()):
        if endpoint in planned and parameter != planned[endpoint]:
            yield _differs("log.cap_parameter", planned[endpoint], parameter, f"{endpoint}: {count} calls")


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return "none" if value is None else canonical.encode(value).decode()


def _differs(field: str, planned: object, observed: object, detail: str = "") -> Deviation:
    return Deviation(field=field, planned=str(planned), observed=str(observed), detail=detail)
