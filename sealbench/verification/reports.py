"""Steps 11 and 12: the report's every byte, and every deviation from the plan, computed again."""

from __future__ import annotations

from functools import partial

from sealbench.crypto.digest import sha256_hex
from sealbench.errors import CertificateFailed, CheckFailed, SealError
from sealbench.formats.preregistration import Preregistration
from sealbench.formats.report import Anchor, Report
from sealbench.formats.report_history import RelatedEvent
from sealbench.formats.run import Run, read_log
from sealbench.verification.evidence import Evidence
from sealbench.verification.runs import log_of
from sealbench.verification.steps import Results, StepResult, fail, not_checked, not_due, ok

REPORT = 11
DEVIATIONS = 12
_ENDS = ("run_end", "run_abort")
MAX_TIME_LIMIT = 120  # seconds of work per test that a report may ask a verifier for


def check_reports(evidence: Evidence) -> Results:
    """Step 11: one result per finished run."""
    yield from evidence.memo.each(partial(_check_report, evidence), evidence.run_events(*_ENDS))


def _check_report(evidence: Evidence, name: str) -> StepResult:
    path = f"runs/{name}/report.json"
    if path not in evidence.tree:
        return not_due(REPORT, path, "this run is not reported")
    report_bytes = evidence.tree.get(path)
    report = evidence.document(Report, path)
    if report is None or report_bytes is None:
        return not_checked(REPORT, path, "does not parse (see step 1)")
    inputs = _inputs(evidence, name)
    if isinstance(inputs, str):
        return not_checked(REPORT, path, inputs)
    try:
        gap = evidence.memo.costly(recompute_report, *inputs, report_bytes)
        _check_outside(evidence, report)
    except SealError as error:
        return fail(REPORT, path, error.message)
    if gap:
        return not_checked(REPORT, path, gap)
    return ok(REPORT, path, f"recomputed from {report.log_lines} log lines, byte for byte")


def _inputs(evidence: Evidence, name: str) -> tuple[bytes, bytes, bytes | None] | str:
    """Bytes of run.json, log and plan, or why they cannot be used."""
    run = evidence.runs.get(name)
    run_bytes, log_bytes = (
        evidence.tree.get(f"runs/{name}/run.json"),
        evidence.tree.get(f"runs/{name}/log.jsonl"),
    )
    if run is None or run_bytes is None or log_bytes is None:
        return "run.json or the log is missing or unreadable"
    try:
        log_of(evidence, name)
    except SealError:
        return "the log is damaged (see step 10)"
    if run.plan is None:
        return run_bytes, log_bytes, None
    plan = evidence.document(Preregistration, run.plan.path)
    plan_bytes = evidence.tree.get(run.plan.path)
    if plan is None or plan_bytes is None:
        return f"the plan {run.plan.path} is missing or unreadable"
    if evidence.digest(run.plan.path) != run.plan.sha256:
        return f"{run.plan.path} is not the plan that run.json names (see step 8)"
    return run_bytes, log_bytes, plan_bytes


def recompute_report(
    run_bytes: bytes, log_bytes: bytes, plan_bytes: bytes | None, report_bytes: bytes
) -> str:
    """Evaluate the run again; CheckFailed names the first field in which the report differs.

    Anchors, baselines and history are taken from the report; `_check_outside` compares these with their
    sources.
    Returns why it could not be compared here, or "".
    """
    from sealbench.analysis.evaluate import ANALYSIS_VERSION, evaluate

    report, run = Report.from_bytes(report_bytes), Run.from_bytes(run_bytes)
    if report.analysis_version != ANALYSIS_VERSION:
        return f"made by analysis version {report.analysis_version}; installed is {ANALYSIS_VERSION}"
    if report.time_limit > MAX_TIME_LIMIT:
        return f"asks for {report.time_limit} s of work per test; at most {MAX_TIME_LIMIT} s are spent"
    plan = None if plan_bytes is None else Preregistration.from_bytes(plan_bytes)
    again = evaluate(
        run,
        tuple(read_log(log_bytes, run.digest())),
        plan,
        anchors=report.anchors,
        baselines=report.baselines,
        history=report.history,
        time_limit=report.time_limit,
        log_sha256=sha256_hex(log_bytes),
    )
    if again.to_bytes() == report_bytes:
        return ""
    said, found = report.to_value(), again.to_value()
    names = [name for name in found if said.get(name) != found[name]]
    raise CheckFailed(f"differs from what the log gives in: {', '.join(names)}")


def _check_outside(evidence: Evidence, report: Report) -> None:
    """What a report takes from elsewhere: baselines from the commitment, anchors from the proofs, history
    from the registry up to the line that names the report.
    """
    commitment = evidence.commitments.get(report.battery)
    if commitment is not None and report.baselines != commitment.baselines:
        raise CheckFailed("its baselines are not the commitment's")
    for anchor in report.anchors:
        _check_anchor(evidence, anchor)
    _check_history(evidence, report)


def _check_history(evidence: Evidence, report: Report) -> None:
    from sealbench.analysis.history import related_events

    run, registry = evidence.runs.get(report.run), evidence.registry
    named = None if registry is None else registry.find("report", report.run)
    if run is None or named is None or registry is None:
        return  # step 8 says what is missing
    related = related_events(registry, run, evidence.plans, evidence.commitments)
    before = [_as_seen(evidence, event) for event in related if event.line <= named.seq]
    if [_as_seen(evidence, event) for event in report.history] != before:
        raise CheckFailed("its amendments and rebuilt batteries are not those of the registry before it")


def _check_anchor(evidence: Evidence, anchor: Anchor) -> None:
    if evidence.digest(anchor.path) != anchor.sha256:
        raise CertificateFailed(f"its anchor names {anchor.path} with another hash than the file has")
    if anchor.network != evidence.labelled_network:
        raise CertificateFailed(f"its anchor of {anchor.path} is of {anchor.network}")
    if anchor.status != "anchored" or evidence.labelled_network != evidence.policy.network:
        return  # a promise may have been kept since; heights of another network are step 4's business
    shown = evidence.proof(anchor.path)
    if shown is not None and anchor.height not in {one.height for one in shown.graded}:
        raise CertificateFailed(f"says that {anchor.path}.ots leads to block {anchor.height}; it does not")


def _as_seen(evidence: Evidence, event: RelatedEvent) -> RelatedEvent:
    """An event without its void verdict where the rebuilt battery's commitment is not here (in a bundle)."""
    if event.event == "amend" or event.later in evidence.commitments:
        return event
    return event.model_copy(update={"void": None})


def check_deviations(evidence: Evidence) -> Results:
    """Step 12: one result per finished run that followed a plan."""
    yield from evidence.memo.each(partial(_check_deviations, evidence), evidence.run_events(*_ENDS))


def _check_deviations(evidence: Evidence, name: str) -> StepResult:
    path = f"runs/{name}/run.json"
    inputs = _inputs(evidence, name)
    if isinstance(inputs, str):
        return not_checked(DEVIATIONS, path, inputs)
    run_bytes, log_bytes, plan_bytes = inputs
    if plan_bytes is None:
        return not_due(DEVIATIONS, path, "EXPLORATORY: there is no plan to deviate from")
    found = evidence.memo.costly(recompute_deviations, run_bytes, log_bytes, plan_bytes)
    listed = "; ".join(f"{field}: {planned} -> {observed}"[:120] for field, planned, observed, _ in found[:5])
    detail = f"{len(found)} deviations from the plan" + (f": {listed}" if found else "")
    report_path = f"runs/{name}/report.json"
    report = evidence.document(Report, report_path)
    if report is not None:
        said = [(one.field, one.planned, one.observed, one.detail) for one in report.deviations]
        if said != found:
            return fail(DEVIATIONS, report_path, f"lists other deviations than there are: {detail}")
    return ok(DEVIATIONS, path, detail)


def recompute_deviations(
    run_bytes: bytes, log_bytes: bytes, plan_bytes: bytes
) -> list[tuple[str, str, str, str]]:
    """(field, planned, observed, detail) of every difference between plan and run."""
    from sealbench.analysis.deviations import deviations
    from sealbench.analysis.rows import Table

    run = Run.from_bytes(run_bytes)
    table = Table(run, tuple(read_log(log_bytes, run.digest())))
    found = deviations(table, Preregistration.from_bytes(plan_bytes))
    return [(one.field, one.planned, one.observed, one.detail) for one in found]
