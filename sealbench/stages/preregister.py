"""Write a plan's template, or check a written plan and freeze it, bound to one commitment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

from sealbench import __version__, plan_templates, store
from sealbench.clock import Clock, system_clock
from sealbench.config import Settings
from sealbench.endpoint_choice import freeze_endpoint
from sealbench.errors import ConfigurationError, FormatError, UsageError
from sealbench.formats.base import format_instant
from sealbench.formats.battery import Item
from sealbench.formats.plan import DraftHypothesis, PlanDraft, read_plan
from sealbench.formats.preregistration import Endpoint, Hypothesis, Preregistration
from sealbench.publication import publish, refuse_damage
from sealbench.sealing import OpenBattery, open_battery
from sealbench.store import Workspace
from sealbench.tasks.answers import PARSER_NAME, PARSER_VERSION

DEFAULT_ENDPOINTS = ("reference/solver", "reference/reasoner", "reference/constant")
DEFAULT_CAPS = (300, 4000)
_REVEAL_AFTER = timedelta(days=180)


@dataclass(frozen=True)
class Preregistered:
    """A frozen plan and its file."""

    plan: Preregistration
    path: Path


def write_template(
    workspace: Workspace,
    battery: str,
    *,
    plan: str,
    template: str,
    folder: Path,
    endpoints: Sequence[str] = (),
    caps: Sequence[int] = (),
    clock: Clock = system_clock,
) -> Path:
    """Write `PLAN.toml` into `folder` for a person to read and change.

    Raises
    ------
    UsageError : no such template, or the file exists.
    """
    opened = open_battery(workspace, battery)
    _check_plan_name(workspace, plan)
    text = plan_templates.fill(
        template,
        battery=battery,
        plan=plan,
        items=opened.items,
        endpoints=endpoints or DEFAULT_ENDPOINTS,
        caps=sorted(set(caps or DEFAULT_CAPS)),
        wordings=opened.commitment.parameters.wordings,
        deadline=format_instant(clock() + _REVEAL_AFTER),
    )
    path = folder / f"{plan}.toml"
    store.write_new(path, text.encode())
    return path


def preregister(
    workspace: Workspace,
    battery: str,
    *,
    plan: str,
    source: Path,
    settings: Settings,
    clock: Clock = system_clock,
) -> Preregistered:
    """Check a written plan against its battery and freeze it into `preregistrations/PLAN.json`.

    Raises
    ------
    ConfigurationError : the plan does not fit its battery, or an endpoint is not configured.
    UsageError : the plan's name is taken.
    """
    opened = open_battery(workspace, battery)
    _check_plan_name(workspace, plan)
    try:
        text = source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{source}: cannot be read",
            hint=f"seal preregister {battery} --plan {plan} --template two-class",
        ) from error
    draft = read_plan(text, source.name)
    if draft.battery != battery:
        raise ConfigurationError(
            f"{source.name} is a plan for battery {draft.battery}, not {battery}",
            hint=f"seal preregister {draft.battery} --plan {plan} --from {source}",
        )
    endpoints = [freeze_endpoint(name, settings.endpoints) for name in draft.endpoints]
    _check_against_battery(draft, opened, source.name)
    with publish(workspace, clock) as publication:
        refuse_damage(workspace)
        _check_plan_name(workspace, plan)
        frozen = _freeze(publication.identity(), plan, draft, endpoints, workspace, opened, clock)
        path = workspace.plan(plan)
        files = [publication.write_signed(path, frozen)]
        publication.event("preregister", plan, files, {"battery": battery})
    return Preregistered(frozen, path)


def _check_plan_name(workspace: Workspace, plan: str) -> None:
    store.check_name(plan, "plan")
    if workspace.plan(plan).exists():
        raise UsageError(
            f"the plan {plan} is frozen already",
            hint=f"seal run {plan}, or choose another name such as --plan {plan}-2",
        )


def _freeze(
    identity: Mapping[str, Any],
    name: str,
    draft: PlanDraft,
    endpoints: Sequence[Endpoint],
    workspace: Workspace,
    opened: OpenBattery,
    clock: Clock,
) -> Preregistration:
    path = workspace.commitment(draft.battery)
    value = {
        **identity,
        "schema": "sealbench/preregistration/v1",
        "name": name,
        "created_at": format_instant(clock()),
        "tool_version": __version__,
        "battery": draft.battery,
        "commitment": {"path": workspace.relative(path), "sha256": opened.commitment.digest()},
        "amends": None,
        "endpoints": [endpoint.to_value() for endpoint in endpoints],
        "parser": {"name": PARSER_NAME, "version": PARSER_VERSION},
        **{
            key: item
            for key, item in draft.to_value().items()
            if key not in ("battery", "endpoints", "hypotheses")
        },
        "hypotheses": [_hypothesis(hypothesis, draft).to_value() for hypothesis in draft.hypotheses],
    }
    try:
        return Preregistration.from_value(value, name)
    except FormatError as error:
        raise ConfigurationError(error.message, hint="correct the plan's TOML and run this again") from error


def _hypothesis(draft: DraftHypothesis, plan: PlanDraft) -> Hypothesis:
    return Hypothesis.from_value(
        {**draft.to_value(), "alpha": draft.alpha or plan.alpha, "test": "exact_permutation"}, draft.id
    )


def _check_against_battery(draft: PlanDraft, opened: OpenBattery, source: str) -> None:
    """Everything a plan names must exist in its battery; a plan that cannot apply is refused now."""
    _require(
        all(cap > 0 for cap in draft.caps), f"{source}: a cap of 0 tokens asks for nothing", "caps = [300]"
    )
    _require(draft.repeats > 0, f"{source}: repeats must be at least 1", "repeats = 1")
    _require(
        len(set(draft.caps)) == len(draft.caps), f"{source}: a cap is listed twice", "list each cap once"
    )
    _require(
        len(set(draft.endpoints)) == len(draft.endpoints),
        f"{source}: an endpoint is listed twice",
        "list each endpoint once; use repeats to ask more often",
    )
    _require(
        not draft.exclusions,
        f"{source}: exclusions are not evaluated by this version, so a plan must not promise any",
        "exclusions = []",
    )
    _check_level(draft.alpha, source)
    offered = opened.commitment.parameters.wordings
    unknown = sorted(set(draft.wordings) - set(offered))
    _require(not unknown, f"{source}: the battery has no wording {unknown}", f"wordings = {list(offered)}")
    for hypothesis in draft.hypotheses:
        if hypothesis.alpha is not None:
            _check_level(hypothesis.alpha, f"{source}: {hypothesis.id}")
        _check_hypothesis(hypothesis, draft, opened.items, source)
    for condition in draft.void_conditions:
        _check_where(condition.where, draft, opened.items, f"{source}: {condition.id}")


def _check_level(alpha: str, where: str) -> None:
    _require(0 < Fraction(alpha) < 1, f"{where}: alpha must lie between 0 and 1", 'alpha = "0.05"')


def _check_hypothesis(
    hypothesis: DraftHypothesis, draft: PlanDraft, items: Sequence[Item], source: str
) -> None:
    where = f"{source}: {hypothesis.id}"
    _require(
        hypothesis.cap in draft.caps,
        f"{where}: cap {hypothesis.cap} is not among the plan's caps",
        f"use one of {list(draft.caps)}",
    )
    matching = _check_where(hypothesis.where, draft, items, where)
    classes = sorted({item.class_label for item in matching})
    for label in (hypothesis.class1, hypothesis.class0):
        _require(
            label in classes,
            f"{where}: no item of class {label} there",
            f"classes there: {', '.join(classes)}",
        )


def _check_where(
    filters: Mapping[str, str], draft: PlanDraft, items: Sequence[Item], where: str
) -> list[Item]:
    endpoint = filters.get("endpoint")
    _require(
        endpoint is None or endpoint in draft.endpoints,
        f"{where}: endpoint {endpoint} is not in the plan",
        f"use one of {', '.join(draft.endpoints)}",
    )
    fields = {key: value for key, value in filters.items() if key != "endpoint"}
    matching = [item for item in items if all(getattr(item, key) == value for key, value in fields.items())]
    _require(bool(matching), f"{where}: no item of the battery fits {fields}", "compare with `seal families`")
    return matching


def _require(condition: bool, message: str, hint: str) -> None:
    if not condition:
        raise ConfigurationError(message, hint=hint)
