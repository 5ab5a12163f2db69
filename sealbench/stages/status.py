"""What waits in a workspace: stamps, unfinished runs, unreported runs, reveals overdue."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sealbench import store
from sealbench.anchoring import check_anchor, proof_path, read_headers, stampable_files
from sealbench.clock import Clock, system_clock
from sealbench.formats.base import parse_instant
from sealbench.formats.preregistration import Preregistration
from sealbench.formats.registry import Registry
from sealbench.publication import read_registry
from sealbench.store import Workspace


@dataclass(frozen=True)
class Waiting:
    """One thing that waits: about what, in words, and the command that moves it."""

    subject: str
    state: str
    command: str


@dataclass(frozen=True)
class Status:
    """Everything that waits; `unanchored` says that a proof lacks its first Bitcoin attestation."""

    network: str
    batteries: tuple[str, ...]
    runs: tuple[str, ...]
    waiting: tuple[Waiting, ...]
    unanchored: bool


def status(workspace: Workspace, *, clock: Clock = system_clock) -> Status:
    """Look at a workspace without changing it or touching the network."""
    registry = read_registry(workspace)
    stamps = _stamps(workspace, registry.network)
    waiting = [
        *stamps,
        *_left_over(workspace, registry),
        *_batteries(registry),
        *_runs(registry),
        *_reveals(workspace, registry, clock),
    ]
    return Status(
        network=registry.network,
        batteries=tuple(line.subject for line in registry.events("create")),
        runs=tuple(line.subject for line in registry.events("run_start")),
        waiting=tuple(waiting),
        unanchored=bool(stamps),
    )


def _stamps(workspace: Workspace, network: str) -> list[Waiting]:
    headers = read_headers(workspace, network)
    found = []
    for path in stampable_files(workspace):
        relative = workspace.relative(path)
        if not proof_path(path).exists():
            found.append(Waiting(relative, "never stamped", "seal stamp"))
            continue
        report = check_anchor(path, headers, network)
        if report is not None and not report.graded:
            found.append(Waiting(relative, "promised, not in a block yet", "seal upgrade"))
    return found


def _left_over(workspace: Workspace, registry: Registry) -> list[Waiting]:
    """Files of a command that died before its registry line."""
    named = {file.path for line in registry.lines for file in line.files}
    found = []
    for folder in ("commitments", "preregistrations"):
        for path in sorted((workspace.root / folder).glob("*.json")):
            relative = workspace.relative(path)
            if relative not in named and relative != store.FILES:
                found.append(
                    Waiting(relative, "no event names it: left by an interrupted command", f"rm {relative}*")
                )
    return found


def _batteries(registry: Registry) -> list[Waiting]:
    run = {str(line.detail.get("battery")) for line in registry.events("run_start")}
    done = {line.subject for line in registry.events("retire")}
    return [
        Waiting(
            line.subject,
            "sealed, never run",
            f"seal preregister {line.subject} --plan PLAN --template two-class",
        )
        for line in registry.events("create")
        if line.subject not in run | done
    ]


def _runs(registry: Registry) -> list[Waiting]:
    found = []
    for line in registry.events("run_start"):
        plan = line.detail.get("plan")
        if not any(registry.find(event, line.subject) for event in ("run_end", "run_abort")):
            command = f"seal run {plan}" if plan else f"seal run {line.detail.get('battery')} --exploratory …"
            found.append(Waiting(line.subject, "unfinished", command))
        elif registry.find("report", line.subject) is None:
            found.append(Waiting(line.subject, "ended, never reported", f"seal report {line.subject}"))
    return found


def _reveals(workspace: Workspace, registry: Registry, clock: Clock) -> list[Waiting]:
    retired = {line.subject for line in registry.events("retire")}
    found = []
    for line in registry.events("preregister"):
        path = workspace.plan(line.subject)
        plan = Preregistration.from_bytes(store.read(path), workspace.relative(path))
        due = parse_instant(plan.reveal.deadline)
        if plan.battery in retired:
            continue
        if clock() > due:
            state = f"reveal overdue since {plan.reveal.deadline} (plan {plan.name})"
            found.append(Waiting(plan.battery, state, f"seal retire {plan.battery}"))
        elif due - clock() < timedelta(days=14):
            state = f"reveal due {plan.reveal.deadline} (plan {plan.name})"
            found.append(Waiting(plan.battery, state, f"seal retire {plan.battery}"))
    return found
