"""Compute a run's report from its log and plan, write it beside the log, register it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sealbench import store
from sealbench.analysis.evaluate import ANALYSIS_VERSION, evaluate
from sealbench.analysis.history import related_events
from sealbench.anchoring import check_anchor, read_headers
from sealbench.clock import Clock, system_clock
from sealbench.crypto.digest import sha256_hex
from sealbench.errors import CheckFailed, NotYet
from sealbench.formats.base import format_instant
from sealbench.formats.preregistration import Preregistration
from sealbench.formats.report import Anchor, Report
from sealbench.formats.report_history import RelatedEvent
from sealbench.formats.run import LogLine, Run, read_log
from sealbench.publishing.publication import is_registered, publish, read_registry, refuse_damage, settle
from sealbench.publishing.sealing import read_commitment
from sealbench.render.markdown import render_markdown
from sealbench.store import Workspace
from sealbench.timestamps.check import ProofReport


@dataclass(frozen=True)
class Reported:
    """A report with the rows it was computed from, and whether it was written just now.

    `shown` is the report with what the registry has said since: later amendments and rebuilt batteries.
    `compared` is False where another version of the analysis wrote it, so that it was not computed again.
    """

    report: Report
    shown: Report
    run: Run
    lines: tuple[LogLine, ...]
    folder: Path
    fresh: bool
    compared: bool = True


def report(workspace: Workspace, name: str | None, *, clock: Clock = system_clock) -> Reported:
    """The report of one ended run (by default of the latest).

    A report that stands is computed again and compared, unless another version of the analysis wrote it.

    Raises
    ------
    NotYet : no run has ended, or this one has not.
    CheckFailed : the log was changed after the run ended, or the report does not follow from it.
    """
    run, lines, log_sha256 = _read_run(workspace, name)
    existing = workspace.run(run.name) / "report.json"
    if is_registered(workspace, existing):
        found = Report.from_bytes(store.read(existing), workspace.relative(existing))
        compared = found.analysis_version == ANALYSIS_VERSION
        if compared:
            _compare(workspace, run, lines, found, log_sha256)
        settle(workspace, clock)
        return replace(_reported(workspace, run, lines, found, fresh=False), compared=compared)
    found = evaluate(
        run,
        lines,
        _read_plan(workspace, run),
        anchors=_anchors(workspace, run),
        baselines=read_commitment(workspace, run.battery).baselines,
        log_sha256=log_sha256,
    )
    with publish(workspace, clock) as publication:
        refuse_damage(workspace)
        found = found.model_copy(update={"history": _history(workspace, run)})
        folder = workspace.run(run.name)
        files = [
            publication.write(folder / "report.json", found.to_bytes()),
            publication.write(folder / "report.md", render_markdown(found).encode()),
        ]
        publication.event("report", run.name, files, {"log_sha256": found.log_sha256})
    return _reported(workspace, run, lines, found, fresh=True)


def _reported(
    workspace: Workspace, run: Run, lines: tuple[LogLine, ...], found: Report, *, fresh: bool
) -> Reported:
    shown = found.model_copy(update={"history": _history(workspace, run)})
    return Reported(found, shown, run, lines, workspace.run(run.name), fresh)


def _compare(
    workspace: Workspace, run: Run, lines: Sequence[LogLine], found: Report, log_sha256: str
) -> None:
    """CheckFailed unless a written report follows from its log and plan.

    It is never changed: anchors and history stay those of the day it was written.
    """
    again = evaluate(
        run,
        lines,
        _read_plan(workspace, run),
        anchors=found.anchors,
        baselines=read_commitment(workspace, run.battery).baselines,
        history=found.history,
        time_limit=found.time_limit,
        log_sha256=log_sha256,
    )
    if again.to_bytes() != found.to_bytes():
        path = workspace.relative(workspace.run(run.name) / "report.json")
        raise CheckFailed(f"{path} does not follow from its log and plan", hint="seal verify")


def _history(workspace: Workspace, run: Run) -> tuple[RelatedEvent, ...]:
    """Amendments and rebuilt batteries that the registry names, up to now."""
    registry = read_registry(workspace)
    plans, commitments = {}, {}
    for line in registry.events("amend"):
        path = workspace.plan(line.subject)
        plans[line.subject] = Preregistration.from_bytes(store.read(path), workspace.relative(path))
    for line in registry.events("supersede"):
        later = str(line.detail.get("by"))
        commitments[later] = read_commitment(workspace, later)
    return related_events(registry, run, plans, commitments)


def _read_run(workspace: Workspace, name: str | None) -> tuple[Run, tuple[LogLine, ...], str]:
    """run.json, the log's lines, and the SHA-256 of its bytes."""
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
    digest = sha256_hex(data)
    if listed.get(relative) != digest:
        raise CheckFailed(f"{relative} was changed after the run ended", hint="seal verify")
    return run, lines, digest


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
