"""What waits in a workspace: stamps, drafts, unfinished and unreported runs, reveals overdue."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sealbench import store
from sealbench.anchoring import check_anchor, proof_path, read_headers, stampable_files
from sealbench.clock import Clock, system_clock
from sealbench.formats.base import parse_instant
from sealbench.formats.draft import Draft
from sealbench.formats.preregistration import Preregistration
from sealbench.formats.registry import Registry, RegistryLine
from sealbench.publishing.publication import read_registry
from sealbench.publishing.sealing import parent_of, read_commitment
from sealbench.store import Workspace
from sealbench.timestamps.networks import NETWORKS

_BURIAL = 6  # blocks beyond a beacon before it is used


@dataclass(frozen=True)
class Waiting:
    """One thing that waits: about what, in words, and the command that moves it."""

    subject: str
    state: str
    command: str


@dataclass(frozen=True)
class Status:
    """What there is and what waits; `unanchored` says that a proof lacks its first Bitcoin attestation.

    `keys` are the key events in words, oldest first.
    `notes` are sentences of what stands and needs nothing: derived, superseding and void batteries.
    """

    network: str
    batteries: tuple[str, ...]
    runs: tuple[str, ...]
    keys: tuple[str, ...]
    waiting: tuple[Waiting, ...]
    unanchored: bool
    notes: tuple[str, ...] = ()


def status(workspace: Workspace, *, clock: Clock = system_clock) -> Status:
    """Look at a workspace without changing it or touching the network."""
    registry = read_registry(workspace)
    stamps = _stamps(workspace, registry.network)
    waiting = [
        *stamps,
        *_left_over(workspace, registry),
        *_drafts(workspace, registry),
        *_batteries(registry),
        *_runs(registry),
        *_reveals(workspace, registry, clock),
    ]
    return Status(
        network=registry.network,
        batteries=tuple(line.subject for line in _sealed(registry)),
        runs=tuple(line.subject for line in registry.events("run_start")),
        keys=_keys(registry),
        waiting=tuple(waiting),
        unanchored=bool(stamps),
        notes=tuple(_notes(workspace, registry)),
    )


def _sealed(registry: Registry) -> list[RegistryLine]:
    """The events that made a battery; a draft is none yet."""
    return [line for line in registry.events("create") if line.detail.get("draft") is not True]


def _keys(registry: Registry) -> tuple[str, ...]:
    told = []
    for line in registry.events("key"):
        where = f"registry line {line.seq + 1}"
        if "public_key" in line.detail:
            told.append(f"{line.subject} came in at {where}")
        if "revoked" in line.detail:
            told.append(f"{line.detail['revoked']} was revoked at {where}")
    return tuple(told)


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
    for folder in ("commitments", store.REVEALS, "preregistrations"):
        for path in sorted((workspace.root / folder).glob("*.json")):
            relative = workspace.relative(path)
            if relative not in named and relative != store.FILES:
                found.append(
                    Waiting(relative, "no event names it: left by an interrupted command", f"rm {relative}*")
                )
    return found


def _drafts(workspace: Workspace, registry: Registry) -> list[Waiting]:
    """Announced batteries without items: their block is to come, or nobody drew them (an aborted draw)."""
    settled = {line.subject for line in (*_sealed(registry), *registry.events("void"))}
    headers = read_headers(workspace, registry.network)
    found = []
    for line in registry.events("create"):
        path = workspace.draft(line.subject)
        if line.subject in settled or not path.exists():
            continue
        height = Draft.from_bytes(store.read(path), workspace.relative(path)).height
        tip = headers.links(NETWORKS[registry.network]).forward.tip
        state = f"draft, waits for block {height + _BURIAL} (newest here: {tip})"
        if tip >= height + _BURIAL:
            state = f"draft, its block {height} is known and nobody drew its items: an aborted draw so far"
        found.append(Waiting(line.subject, state, f"seal create --from-draft {line.subject}"))
    return found


def _notes(workspace: Workspace, registry: Registry) -> list[str]:
    notes = []
    for line in registry.events("void"):
        notes.append(f"{line.subject}: void, {line.detail.get('reason', 'no reason given')}")
    for line in _sealed(registry):
        if not workspace.commitment(line.subject).exists():
            continue
        commitment = read_commitment(workspace, line.subject)
        parent = parent_of(commitment)
        if parent is not None:
            notes.append(f"{line.subject}: {commitment.items} items derived from {parent}; retires with it")
    for line in registry.events("supersede"):
        notes.append(f"{line.subject}: superseded by {line.detail.get('by')}")
    for line in registry.events("reveal"):
        if "items" in line.detail:
            notes.append(f"{line.subject}: {line.detail['items']} items revealed")
        else:
            notes.append(f"{line.subject}: shown to be part of {line.detail.get('subset_of')}")
    return notes


def _batteries(registry: Registry) -> list[Waiting]:
    run = {str(line.detail.get("battery")) for line in registry.events("run_start")}
    done = {line.subject for line in registry.events("retire")}
    return [
        Waiting(
            line.subject,
            "sealed, never run",
            f"seal preregister {line.subject} --plan PLAN --template two-class",
        )
        for line in _sealed(registry)
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
    retired = {line.subject for event in ("retire", "void") for line in registry.events(event)}
    found = []
    for line in (*registry.events("preregister"), *registry.events("amend")):
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
