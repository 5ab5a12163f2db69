"""Begin a run, or find the one to go on with: prerequisites, run.json, registry events."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from sealbench import __version__
from sealbench.anchoring import read_headers, require_confirmed, require_stamped
from sealbench.clock import Clock, system_clock
from sealbench.errors import CheckFailed, NotYet, UsageError
from sealbench.formats.base import format_instant
from sealbench.formats.battery import Block, Commitment, Item
from sealbench.formats.preregistration import Endpoint, Parser, Preregistration
from sealbench.formats.run import Require, Run
from sealbench.publishing.publication import publish, read_registry, refuse_damage, settle
from sealbench.publishing.sealing import OpenBattery, open_battery
from sealbench.running.journal import CallKey
from sealbench.running.run_records import (
    has_ended,
    latest_run,
    planned_calls,
    read_run,
    resume_command,
    unfinished_runs,
)
from sealbench.store import Workspace, check_name, read
from sealbench.tasks.answers import PARSER_NAME, PARSER_VERSION
from sealbench.timestamps.networks import Header, display


@dataclass(frozen=True)
class OpenRun:
    """A run that can be worked on: its document, its battery, whether it was begun just now."""

    run: Run
    battery: OpenBattery
    fresh: bool
    ended: bool

    def planned(self) -> list[CallKey]:
        """Every planned call in its drawn order."""
        return planned_calls(self.run, self.battery.items)


def find_work(workspace: Workspace, name: str | None) -> Run | Preregistration:
    """What `seal run [NAME]` works on: a run that was begun, or a plan to begin one of.

    Without a name: the only unfinished run, else the only plan.

    Raises
    ------
    NotYet : there is none, or several; the hint shows the way on.
    """
    if name is None:
        unfinished = unfinished_runs(workspace)
        if len(unfinished) == 1:
            return unfinished[0]
        if unfinished:
            names = ", ".join(run.name for run in unfinished)
            raise NotYet(f"several runs are unfinished: {names}", hint=resume_command(unfinished[-1]))
        return find_plan(workspace, None)
    check_name(name, "plan")
    if not workspace.plan(name).exists() and workspace.run(name).is_dir():
        return read_run(workspace, name)
    plan = find_plan(workspace, name)
    latest = latest_run(workspace, plan.name)
    return latest[0] if latest is not None and not latest[1] else plan


def resume_run(workspace: Workspace, run: Run) -> OpenRun:
    """Go on with a run that was begun; CheckFailed if its battery is not the one it was begun with."""
    battery = open_battery(workspace, run.battery)
    if battery.commitment.digest() != run.commitment.sha256:
        raise CheckFailed(f"the run {run.name} is bound to another commitment", hint="seal verify")
    ended = has_ended(read_registry(workspace), run.name)
    if not ended:
        refuse_retired(workspace, run.battery)
    return OpenRun(run, battery, fresh=False, ended=ended)


def find_plan(workspace: Workspace, name: str | None) -> Preregistration:
    """The plan of this name, or the only one there is.

    Raises
    ------
    NotYet : there is none, or several and no name; the hint shows both ways on.
    """
    if name is None:
        names = sorted(path.stem for path in (workspace.root / "preregistrations").glob("*.json"))
        if not names:
            raise NotYet("no plan is preregistered here", hint=_ways_on("BATTERY", "PLAN"))
        if len(names) > 1:
            raise NotYet(
                f"{len(names)} plans are preregistered here: {', '.join(names)}", hint=f"seal run {names[0]}"
            )
        name = names[0]
    check_name(name, "plan")
    path = workspace.plan(name)
    if path.exists():
        return Preregistration.from_bytes(read(path), workspace.relative(path))
    if workspace.commitment(name).exists():
        raise NotYet(f"{name} is a battery without a plan", hint=_ways_on(name, f"{name}-plan"))
    raise NotYet(f"no plan {name} is preregistered here", hint=_ways_on("BATTERY", name))


def _ways_on(battery: str, plan: str) -> str:
    """Both ways to a run: a registered one, and a pilot."""
    return (
        f"seal preregister {battery} --plan {plan} --template two-class, or, as a pilot, "
        f"seal run {battery} --exploratory --cap 300 --endpoint reference/solver"
    )


def start_run(
    workspace: Workspace,
    plan_name: str | None,
    *,
    require: Require = "confirmed",
    again: bool = False,
    clock: Clock = system_clock,
) -> OpenRun:
    """Go on with the plan's unfinished run, or begin one.

    Parameters
    ----------
    require : `confirmed` wants commitment and plan in a block, `stamped` a calendar's promise,
        `registered` their events in the registry alone (docs/adr/0010-registered-runs.md).
    again : begin a further run of a plan whose runs have all ended.

    Raises
    ------
    NotYet : no plan, or not confirmed.
    CheckFailed : plan and commitment do not belong together, or a public file was changed.
    """
    plan = find_plan(workspace, plan_name)
    battery = open_battery(workspace, plan.battery)
    if not _is_bound(plan, battery.commitment):
        raise CheckFailed(f"the plan {plan.name} is bound to another commitment", hint="seal verify")
    refuse_retired(workspace, plan.battery)
    existing = latest_run(workspace, plan.name)
    if existing is not None and not (again and existing[1]):
        if existing[1]:
            settle(workspace, clock)
        return OpenRun(existing[0], battery, fresh=False, ended=existing[1])
    _check_required(workspace, plan, require)
    number = existing[0].number + 1 if existing else 1
    run = _begin(
        workspace,
        name=f"{plan.name}-{number}",
        number=number,
        plan=plan,
        battery=battery,
        require=require,
        endpoints=plan.endpoints,
        caps=plan.caps,
        repeats=plan.repeats,
        wordings=plan.wordings,
        clock=clock,
    )
    return OpenRun(run, battery, fresh=True, ended=False)


def _check_required(workspace: Workspace, plan: Preregistration, require: Require) -> None:
    """NotYet unless commitment and plan have what a run of this kind asks of them."""
    registry = read_registry(workspace)
    if not any(registry.find(event, plan.name) for event in ("preregister", "amend")):
        raise NotYet(f"no event of the registry names the plan {plan.name}", hint="seal verify")
    if require == "registered":
        return
    network = registry.network
    headers = read_headers(workspace, network)
    needed = [workspace.commitment(plan.battery), workspace.plan(plan.name)]
    if require == "confirmed":
        require_confirmed(needed, headers, network, otherwise=f"seal run {plan.name} --require stamped")
    else:
        require_stamped(needed, headers, network, otherwise=f"seal run {plan.name} --require registered")


def _is_bound(plan: Preregistration, commitment: Commitment) -> bool:
    """Whether a plan is for this battery: for its commitment, or in beacon mode for its draft."""
    if commitment.draft is not None:
        return plan.commitment == commitment.draft
    return plan.commitment.sha256 == commitment.digest()


def start_exploratory(
    workspace: Workspace,
    battery_name: str,
    *,
    endpoints: Sequence[Endpoint],
    caps: Sequence[int],
    repeats: int = 1,
    wordings: Sequence[str] = (),
    clock: Clock = system_clock,
) -> OpenRun:
    """Begin a pilot, or go on with an unfinished one of the same shape: no plan, no stamp.

    Everything it produces is headed EXPLORATORY, and it can never become a registered run.
    """
    check_name(battery_name, "battery")
    battery = open_battery(workspace, battery_name)
    refuse_retired(workspace, battery_name)
    offered = battery.commitment.parameters.wordings
    chosen = tuple(wordings) or offered
    if unknown := sorted(set(chosen) - set(offered)):
        raise UsageError(
            f"{battery_name} has no wording {', '.join(unknown)}", hint=f"--wording {offered[0]}"
        )
    if not endpoints or not caps or min(caps) < 1 or repeats < 1:
        raise UsageError(
            "a pilot needs an endpoint, a cap of at least 1 token and at least 1 repeat",
            hint=f"seal run {battery_name} --exploratory --cap 300 --endpoint reference/solver",
        )
    existing = latest_run(workspace, f"{battery_name}-exploratory")
    if existing is not None and not existing[1]:
        run = existing[0]
        if (run.endpoints, run.caps, run.repeats, run.wordings) == (
            tuple(endpoints),
            tuple(caps),
            repeats,
            chosen,
        ):
            return OpenRun(run, battery, fresh=False, ended=False)
    number = existing[0].number + 1 if existing else 1
    run = _begin(
        workspace,
        name=f"{battery_name}-exploratory-{number}",
        number=number,
        plan=None,
        battery=battery,
        require="nothing",
        endpoints=endpoints,
        caps=caps,
        repeats=repeats,
        wordings=chosen,
        clock=clock,
    )
    return OpenRun(run, battery, fresh=True, ended=False)


def refuse_retired(workspace: Workspace, battery: str) -> None:
    """UsageError if the battery is published: whoever answers could have read it."""
    if read_registry(workspace).find("retire", battery) is not None:
        raise UsageError(
            f"{battery} is retired and its answers are public, so no run can claim it was sealed",
            hint=f"seal create FAMILY --name {battery}-2 --per-class 8",
        )


def _begin(
    workspace: Workspace,
    *,
    name: str,
    number: int,
    plan: Preregistration | None,
    battery: OpenBattery,
    require: Require,
    endpoints: Sequence[Endpoint],
    caps: Sequence[int],
    repeats: int,
    wordings: Sequence[str],
    clock: Clock,
) -> Run:
    commitment = battery.commitment
    items: list[Item] = [item for item in battery.items if item.wording in wordings]
    with publish(workspace, clock) as publication:
        refuse_damage(workspace)
        # A run.json that no event names is what a process left that died just before its first event.
        shutil.rmtree(workspace.run(name), ignore_errors=True)
        run = Run(
            **publication.identity(),
            name=name,
            number=number,
            exploratory=plan is None,
            battery=commitment.name,
            commitment=publication.hash_of(workspace.commitment(commitment.name)),
            plan=publication.hash_of(workspace.plan(plan.name)) if plan else None,
            require=require,
            tool_version=__version__,
            started_at=format_instant(clock()),
            block=_recent_block(workspace, read_registry(workspace).network),
            endpoints=tuple(endpoints),
            caps=tuple(caps),
            repeats=repeats,
            wordings=tuple(wordings),
            parser=plan.parser if plan else Parser(name=PARSER_NAME, version=PARSER_VERSION),
            planned_calls=len(items) * len(endpoints) * len(caps) * repeats,
        )
        written = publication.write_signed(workspace.run(name) / "run.json", run)
        detail = {
            "battery": commitment.name,
            "plan": plan.name if plan else None,
            "exploratory": plan is None,
        }
        publication.event("run_start", name, [written], detail)
        names = sorted(endpoint.name for endpoint in endpoints)
        publication.event("expose", commitment.name, [], {"endpoints": names, "run": name})
    return run


def _recent_block(workspace: Workspace, network: str) -> Block | None:
    """The newest block the workspace knows: the log is younger than it."""
    headers = read_headers(workspace, network)
    if not headers.segments():
        return None
    first, count = max(headers.segments())
    height = first + count - 1
    raw = headers.get(height)
    return Block(height=height, hash=display(Header(raw).hash)) if raw else None
