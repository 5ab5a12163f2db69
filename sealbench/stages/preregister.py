"""Write a plan's template, or check a written plan and freeze it, bound to one commitment.

In beacon mode a plan is bound to the battery's draft. What a plan may speak of (families, classes,
kinds, strata, wordings) follows from the public parameters, so no battery of computed items is opened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

from sealbench import __version__, store
from sealbench.analysis.reach import Group, PlannedTest, out_of_reach, strata_sizes
from sealbench.anchoring import read_headers
from sealbench.clock import Clock, system_clock
from sealbench.config import Settings
from sealbench.errors import ConfigurationError, FormatError, UsageError
from sealbench.formats.base import FileHash, format_instant
from sealbench.formats.battery import Commitment, Item, Parameters
from sealbench.formats.draft import Draft
from sealbench.formats.plan import DraftHypothesis, PlanDraft, read_plan
from sealbench.formats.preregistration import Endpoint, Hypothesis, Preregistration
from sealbench.plans import templates
from sealbench.publishing.publication import is_registered, publish, read_registry, refuse_damage
from sealbench.publishing.sealing import open_battery, read_commitment
from sealbench.running.endpoint_choice import freeze_endpoint
from sealbench.store import Workspace
from sealbench.tasks.answers import PARSER_NAME, PARSER_VERSION
from sealbench.tasks.base import get_family
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


def _planned(workspace: Workspace, battery: str) -> _Planned:
    """A sealed battery, or the draft of one.

    Raises
    ------
    UsageError : the draft is void, or has its items already and takes no further plan.
    """
    store.check_name(battery, "battery")
    if workspace.draft(battery).exists():
        return _planned_draft(workspace, battery)
    commitment = read_commitment(workspace, battery)
    path = workspace.relative(workspace.commitment(battery))
    return _Planned(
        FileHash(path=path, sha256=commitment.digest()),
        commitment.parameters.wordings,
        shapes := _shapes(workspace, commitment),
        _groups(shapes, commitment.parameters),
    )


def _planned_draft(workspace: Workspace, battery: str) -> _Planned:
    if read_registry(workspace).find("void", battery) is not None:
        raise UsageError(
            f"{battery} is void and its K is never used again",
            hint=f"seal create FAMILY --name {battery}-2 --per-class 8 --beacon",
        )
    if workspace.commitment(battery).exists():
        raise UsageError(
            f"{battery} has its items already: a plan made now could not stand below its beacon",
            hint=f"seal run {battery} --exploratory --cap 300 --endpoint E, or a new battery",
        )
    path = workspace.draft(battery)
    draft = Draft.from_bytes(store.read(path), workspace.relative(path))
    network = read_registry(workspace).network
    newest = max(
        (first + count - 1 for first, count in read_headers(workspace, network).segments()), default=0
    )
    if newest > draft.height - _BEACON_DEPTH - 1:
        raise UsageError(
            f"a plan frozen now cannot stand {_BEACON_DEPTH} blocks below block {draft.height}, the newest "
            f"being {newest}: it would void {battery}",
            hint=f"seal create FAMILY --name {battery}-2 --per-class 8 --beacon",
        )
    return _Planned(
        FileHash(path=workspace.relative(path), sha256=draft.digest()),
        draft.parameters.wordings,
        shapes := tuple(item_shapes(draft.parameters)),
        _groups(shapes, draft.parameters),
    )


def _shapes(workspace: Workspace, commitment: Commitment) -> tuple[Item | ItemShape, ...]:
    """Imported items have no parameters to tell their classes, a derived battery may lack some strata."""
    families = [family.family for family in commitment.parameters.families]
    if IMPORTED in families or commitment.derived_from is not None:
        return open_battery(workspace, commitment.name).items
    return tuple(item_shapes(commitment.parameters))


def _groups(shapes: Sequence[Item | ItemShape], parameters: Parameters) -> tuple[Group, ...]:
    """How many instances of each sort: counted among the items, else as the parameters say."""
    items = {shape.instance: shape for shape in shapes if isinstance(shape, Item)}
    sorts = (
        Counter((item.family, item.class_label, item.kind, item.stratum) for item in items.values())
        if items
        else Counter(
            (chosen.family, slot.class_label, slot.kind, slot.stratum)
            for chosen in parameters.families
            for slot in get_family(chosen.family).slots(chosen.parameters, chosen.per_class)
        )
    )
    return tuple(Group(*sort, instances=count) for sort, count in sorted(sorts.items()))


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
    planned = _planned(workspace, battery)
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
    planned = _planned(workspace, battery)
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
    _check_against_battery(draft, planned, source.name)
    underpowered = _out_of_reach(draft, planned, source.name, force=force)
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


def _check_against_battery(draft: PlanDraft, planned: _Planned, source: str) -> None:
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
    offered = planned.wordings
    unknown = sorted(set(draft.wordings) - set(offered))
    _require(not unknown, f"{source}: the battery has no wording {unknown}", f"wordings = {list(offered)}")
    for hypothesis in draft.hypotheses:
        if hypothesis.alpha is not None:
            _check_level(hypothesis.alpha, f"{source}: {hypothesis.id}")
        _check_hypothesis(hypothesis, draft, planned.shapes, source)
    for condition in draft.void_conditions:
        _check_where(condition.where, draft, planned.shapes, f"{source}: {condition.id}")


def _out_of_reach(draft: PlanDraft, planned: _Planned, source: str, *, force: bool) -> tuple[str, ...]:
    """What can never be significant, if that was forced; ConfigurationError if not."""
    tests = [
        PlannedTest(
            f"{hypothesis.id} on {endpoint}",
            hypothesis.direction,
            Fraction(hypothesis.alpha or draft.alpha),
            strata_sizes(planned.groups, hypothesis.where, hypothesis.class1, hypothesis.class0),
        )
        for hypothesis in draft.hypotheses
        for endpoint in (
            [hypothesis.where["endpoint"]] if "endpoint" in hypothesis.where else draft.endpoints
        )
    ]
    found = out_of_reach(tests, draft.correction)
    if found is None or force:
        return found.reasons if found is not None else ()
    more = f"; and {len(found.reasons) - 1} more" if len(found.reasons) > 1 else ""
    needed = (
        f"--per-class {found.per_stratum} (instances per class and stratum) would do, or fewer hypotheses"
        if found.per_stratum is not None
        else "raise alpha, or register fewer hypotheses"
    )
    raise ConfigurationError(
        f"{source}: a test can never reach its alpha: {found.reasons[0]}{more}",
        hint=f"{needed}; --force freezes it all the same and says so in the plan",
    )


def _check_level(alpha: str, where: str) -> None:
    _require(0 < Fraction(alpha) < 1, f"{where}: alpha must lie between 0 and 1", 'alpha = "0.05"')


def _check_hypothesis(
    hypothesis: DraftHypothesis, draft: PlanDraft, items: Sequence[Item | ItemShape], source: str
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
    filters: Mapping[str, str], draft: PlanDraft, items: Sequence[Item | ItemShape], where: str
) -> list[Item | ItemShape]:
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
