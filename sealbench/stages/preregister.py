"""Write a plan's template, or check a written plan and freeze it, bound to one commitment.

In beacon mode a plan is bound to the battery's draft. What a plan may speak of (families, classes,
kinds, strata, wordings) follows from the public parameters, so no battery of computed items is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from sealbench import __version__, store
from sealbench.analysis.plan_checks import check_plan, check_reach, groups_of
from sealbench.analysis.reach import Group
from sealbench.anchoring import read_headers
from sealbench.clock import Clock, system_clock
from sealbench.config import Settings
from sealbench.errors import ConfigurationError, FormatError, UsageError
from sealbench.formats.base import FileHash, format_instant
from sealbench.formats.battery import Commitment, Item
from sealbench.formats.draft import Draft
from sealbench.formats.plan import DraftHypothesis, PlanDraft, read_plan
from sealbench.formats.preregistration import Endpoint, Hypothesis, Preregistration
from sealbench.plans import templates
from sealbench.publishing.publication import is_registered, publish, read_registry, refuse_damage
from sealbench.publishing.sealing import open_battery, read_commitment
from sealbench.running.endpoint_choice import freeze_endpoint
from sealbench.store import Workspace
from sealbench.tasks.answers import PARSER_NAME, PARSER_VERSION
from sealbench.tasks.battery import ItemShape, item_shapes
from sealbench.tasks.imported import FAMILY_NAME as IMPORTED

DEFAULT_ENDPOINTS = ("reference/solver", "reference/reasoner", "reference/constant")
DEFAULT_PAIR = ("reference/reasoner", "reference/solver")  # reasoning on, reasoning off
DEFAULT_CAPS = (300, 4000)
_BEACON_DEPTH = 6  # a plan must be proved this many blocks below its battery's beacon
_REVEAL_AFTER = timedelta(days=180)
Probe = Callable[[Sequence[Endpoint], Sequence[int]], Sequence[Endpoint]]


@dataclass(frozen=True)
class Preregistered:
    """A frozen plan and its file."""

    plan: Preregistration
    path: Path


@dataclass(frozen=True)
class _Planned:
    """The battery a plan is for: the file it is bound to, its wordings, and what its items look like."""

    bound: FileHash
    wordings: tuple[str, ...]
    shapes: tuple[Item | ItemShape, ...]
    groups: tuple[Group, ...]


def _planned(workspace: Workspace, battery: str, *, amending: bool = False) -> _Planned:
    """A sealed battery, or the draft of one, to which amendments stay bound when its items are drawn.

    Raises
    ------
    UsageError : the draft is void, or has its items already and takes no further plan.
    """
    store.check_name(battery, "battery")
    if workspace.draft(battery).exists():
        return _planned_draft(workspace, battery, amending=amending)
    commitment = read_commitment(workspace, battery)
    path = workspace.relative(workspace.commitment(battery))
    return _Planned(
        FileHash(path=path, sha256=commitment.digest()),
        commitment.parameters.wordings,
        shapes := _shapes(workspace, commitment),
        groups_of(shapes, commitment.parameters),
    )


def _planned_draft(workspace: Workspace, battery: str, *, amending: bool) -> _Planned:
    """The draft; a first plan must still be able to stand below the beacon, an amendment need not."""
    if read_registry(workspace).find("void", battery) is not None:
        raise UsageError(
            f"{battery} is void and its K is never used again",
            hint=f"seal create FAMILY --name {battery}-2 --per-class 8 --beacon",
        )
    if workspace.commitment(battery).exists() and not amending:
        raise UsageError(
            f"{battery} has its items already: a plan made now could not stand below its beacon",
            hint=f"seal run {battery} --exploratory --cap 300 --endpoint E, a new battery, or --amends PLAN",
        )
    path = workspace.draft(battery)
    draft = Draft.from_bytes(store.read(path), workspace.relative(path))
    network = read_registry(workspace).network
    newest = max(
        (first + count - 1 for first, count in read_headers(workspace, network).segments()), default=0
    )
    if newest > draft.height - _BEACON_DEPTH - 1 and not amending:
        raise UsageError(
            f"a plan frozen now cannot stand {_BEACON_DEPTH} blocks below block {draft.height}, the newest "
            f"being {newest}: it would void {battery}",
            hint=f"seal create FAMILY --name {battery}-2 --per-class 8 --beacon",
        )
    return _Planned(
        FileHash(path=workspace.relative(path), sha256=draft.digest()),
        draft.parameters.wordings,
        shapes := tuple(item_shapes(draft.parameters)),
        groups_of(shapes, draft.parameters),
    )


def _shapes(workspace: Workspace, commitment: Commitment) -> tuple[Item | ItemShape, ...]:
    """Imported items have no parameters to tell their classes, a derived battery may lack some strata."""
    families = [family.family for family in commitment.parameters.families]
    if IMPORTED in families or commitment.derived_from is not None:
        return open_battery(workspace, commitment.name).items
    return tuple(item_shapes(commitment.parameters))


def write_template(
    workspace: Workspace,
    battery: str,
    *,
    plan: str,
    template: str,
    folder: Path,
    endpoints: Sequence[str] = (),
    caps: Sequence[int] = (),
    amending: bool = False,
    clock: Clock = system_clock,
) -> Path:
    """Write `PLAN.toml` into `folder` for a person to read and change; `amending`: it will amend a plan.

    Raises
    ------
    UsageError : no such template, or the file exists.
    """
    planned = _planned(workspace, battery, amending=amending)
    _check_plan_name(workspace, plan)
    text = templates.fill(
        template,
        battery=battery,
        plan=plan,
        items=planned.shapes,
        endpoints=endpoints or DEFAULT_PAIR if template == "reasoning" else endpoints or DEFAULT_ENDPOINTS,
        caps=sorted(set(caps or DEFAULT_CAPS)),
        wordings=planned.wordings,
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
    probe: Probe | None = None,
    force: bool = False,
    amends: str | None = None,
    clock: Clock = system_clock,
) -> Preregistered:
    """Check a written plan against its battery and freeze it into `preregistrations/PLAN.json`.

    `probe` is given the endpoints and the plan's caps before anything is written, and returns the
    endpoints as accepted. `force` freezes a plan with tests that can never reach their alpha, and names
    these in it. `amends` names the frozen plan that this one amends.

    Raises
    ------
    ConfigurationError : the plan does not fit its battery, a test can never reach its alpha, or an
        endpoint is not configured.
    UsageError : the plan's name is taken.
    """
    planned = _planned(workspace, battery, amending=amends is not None)
    _check_plan_name(workspace, plan)
    amended = None if amends is None else _amended(workspace, amends, battery)
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
    check_plan(draft, planned.shapes, planned.wordings, source.name)
    underpowered = check_reach(draft, planned.groups, source.name, force=force)
    if probe is not None:
        endpoints = list(probe(endpoints, draft.caps))
    with publish(workspace, clock) as publication:
        refuse_damage(workspace)
        _check_plan_name(workspace, plan)
        frozen = _freeze(
            publication.identity(), plan, draft, endpoints, planned.bound, amended, underpowered, clock
        )
        path = workspace.plan(plan)
        files = [publication.write_signed(path, frozen)]
        publication.event("amend" if amended else "preregister", plan, files, {"battery": battery})
    return Preregistered(frozen, path)


def _amended(workspace: Workspace, name: str, battery: str) -> FileHash:
    """The frozen plan that an amendment names; UsageError if there is none for this battery."""
    store.check_name(name, "plan")
    path = workspace.plan(name)
    if not is_registered(workspace, path):
        raise UsageError(
            f"--amends {name}: no plan of that name is frozen", hint=f"ls {path.parent.name}, or leave it out"
        )
    plan = Preregistration.from_bytes(store.read(path), workspace.relative(path))
    if plan.battery != battery:
        raise UsageError(
            f"--amends {name}: that plan is for battery {plan.battery}",
            hint=f"seal preregister {plan.battery} …",
        )
    return FileHash(path=workspace.relative(path), sha256=plan.digest())


def _check_plan_name(workspace: Workspace, plan: str) -> None:
    store.check_name(plan, "plan")
    if is_registered(workspace, workspace.plan(plan)):
        raise UsageError(
            f"the plan {plan} is frozen already",
            hint=f"seal run {plan}, or choose another name such as --plan {plan}-2",
        )


def _freeze(
    identity: Mapping[str, Any],
    name: str,
    draft: PlanDraft,
    endpoints: Sequence[Endpoint],
    bound: FileHash,
    amended: FileHash | None,
    underpowered: Sequence[str],
    clock: Clock,
) -> Preregistration:
    value = {
        **identity,
        "schema": "sealbench/preregistration/v1",
        "name": name,
        "created_at": format_instant(clock()),
        "tool_version": __version__,
        "battery": draft.battery,
        "commitment": bound.to_value(),
        "amends": None if amended is None else amended.to_value(),
        "endpoints": [endpoint.to_value() for endpoint in endpoints],
        "parser": {"name": PARSER_NAME, "version": PARSER_VERSION},
        **{
            key: item
            for key, item in draft.to_value().items()
            if key not in ("battery", "endpoints", "hypotheses")
        },
        "hypotheses": [_hypothesis(hypothesis, draft).to_value() for hypothesis in draft.hypotheses],
        "underpowered": list(underpowered),
    }
    try:
        return Preregistration.from_value(value, name)
    except FormatError as error:
        raise ConfigurationError(error.message, hint="correct the plan's TOML and run this again") from error


def _hypothesis(draft: DraftHypothesis, plan: PlanDraft) -> Hypothesis:
    return Hypothesis.from_value(
        {**draft.to_value(), "alpha": draft.alpha or plan.alpha, "test": "exact_permutation"}, draft.id
    )
