"""Compute a run's report from its log and plan, write it beside the log, register it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sealbench import store
from sealbench.analysis.evaluate import evaluate
from sealbench.anchoring import check_anchor, read_headers
from sealbench.clock import Clock, system_clock
from sealbench.crypto.digest import sha256_hex
from sealbench.errors import CheckFailed, NotYet
from sealbench.formats.base import format_instant
from sealbench.formats.preregistration import Preregistration
from sealbench.formats.report import Anchor, Report
from sealbench.formats.run import LogLine, Run, read_log
from sealbench.publishing.publication import is_registered, publish, read_registry, refuse_damage, settle
from sealbench.publishing.sealing import read_commitment
from sealbench.render.markdown import render_markdown
from sealbench.store import Workspace
from sealbench.timestamps.check import ProofReport


@dataclass(frozen=True)
class Reported:
    """A report with the rows it was computed from, and whether it was written just now."""

    report: Report
    run: Run
    lines: tuple[LogLine, ...]
    folder: Path
    fresh: bool


def report(workspace: Workspace, name: str | None, *, clock: Clock = system_clock) -> Reported:
    """The report of one ended run (by default of the latest).

    Raises
    ------
    NotYet : no run has ended, or this one has not.
    CheckFailed : the log was changed after the run ended.
    """
    run, lines = _read_run(workspace, name)
    plan = _read_plan(workspace, run)
    folder = workspace.run(run.name)
    existing = folder / "report.json"
    anchors: Sequence[Anchor]
    if is_registered(workspace, existing):
        # A written report is never changed: its anchors are those of the day it was written.
        known = Report.from_bytes(store.read(existing), workspace.relative(existing))
        anchors = known.anchors
    else:
        anchors = _anchors(workspace, run)
    baselines = read_commitment(workspace, run.battery).baselines
    found = evaluate(run, lines, plan, anchors=anchors, baselines=baselines)
    if is_registered(workspace, existing):
        if found.to_bytes() != store.read(existing):
            raise CheckFailed(
                f"{workspace.relative(existing)} does not follow from its log and plan", hint="seal verify"
            )
        settle(workspace, clock)
        return Reported(found, run, lines, folder, fresh=False)
    _publish(workspace, run, found, lines, clock)
    return Reported(found, run, lines, folder, fresh=True)


def _publish(workspace: Workspace, run: Run, found: Report, lines: Sequence[LogLine], clock: Clock) -> None:
    folder = workspace.run(run.name)
    with publish(workspace, clock) as publication:
        refuse_damage(workspace)
        files = [
            publication.write(folder / "report.json", found.to_bytes()),
            publication.write(folder / "report.md", render_markdown(found).encode()),
        ]
        publication.event("report", run.name, files, {"log_sha256": found.log_sha256})


def _read_run(workspace: Workspace, name: str | None) -> tuple[Run, tuple[LogLine, ...]]:
    registry = read_registry(workspace)
    ended = {line.subject: line for line in registry.events("run_end")}
    if name is None:
        if not ended:
            raise NotYet("no run has ended here", hint="seal run, then seal report")
        name = list(ended)[-1]
    store.check_name(name, "run")
    path = workspace.run(name) / "run.json"
    if not path.exists():
        known = ", ".join(ended) or "none"
        raise NotYet(f"there is no run {name} (ended runs: {known})", hint="seal status")
    run = Run.from_bytes(store.read(path), workspace.relative(path))
    if name not in ended:
        target = run.plan and Path(run.plan.path).stem
        raise NotYet(f"the run {name} is unfinished", hint=f"seal run {target or run.battery}")
    log = workspace.run(name) / "log.jsonl"
    data = store.read(log)
    relative = workspace.relative(log)
    lines = tuple(read_log(data, run.digest(), relative))
    listed = {file.path: file.sha256 for file in ended[name].files}
    if listed.get(relative) != sha256_hex(data):
        raise CheckFailed(f"{relative} was changed after the run ended", hint="seal verify")
    return run, lines


def _read_plan(workspace: Workspace, run: Run) -> Preregistration | None:
    if run.plan is None:
        return None
    path = workspace.root / run.plan.path
    return Preregistration.from_bytes(store.read(path), run.plan.path)


def _anchors(workspace: Workspace, run: Run) -> list[Anchor]:
    """Where commitment, plan and the run's start stood in time when the report was written."""
    network = read_registry(workspace).network
    headers = read_headers(workspace, network)
    paths = [workspace.root / run.commitment.path]
    if run.plan is not None:
        paths.append(workspace.root / run.plan.path)
    return [_anchor(workspace, path, check_anchor(path, headers, network), network) for path in paths]


def _anchor(workspace: Workspace, path: Path, proof: ProofReport | None, network: str) -> Anchor:
    best = proof.best("proof-of-work") if proof is not None and proof.commits else None
    return Anchor(
        path=workspace.relative(path),
        sha256=sha256_hex(path.read_bytes()),
        status="anchored" if best else "pending" if proof else "none",
        grade=best.grade if best else "pending" if proof else "none",
        network=network,
        height=best.height if best else None,
        time=format_instant(best.time) if best and best.time else None,
    )
