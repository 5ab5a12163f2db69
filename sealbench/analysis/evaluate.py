"""From a run's log and its plan to the report: pure, so that a verifier gets the same bytes.

Everything in the report follows from run.json, the log and the plan, except `anchors`, `baselines` and
`history`, which come from proofs, commitment and registry and are compared with them in step 11.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from sealbench.analysis.checks import checks
from sealbench.analysis.deviations import deviations
from sealbench.analysis.endpoint_summary import endpoint_summaries
from sealbench.analysis.hypotheses import Registered, judge
from sealbench.analysis.inversion import inversions
from sealbench.analysis.limits import not_proved, scope
from sealbench.analysis.rows import Table, value_of
from sealbench.analysis.standard import class_pairs, costs_and_scores, standard_tests
from sealbench.errors import CheckFailed, UsageError
from sealbench.formats.battery import Baseline
from sealbench.formats.preregistration import Preregistration
from sealbench.formats.report import Anchor, Report, Totals
from sealbench.formats.report_history import RelatedEvent
from sealbench.formats.run import LogLine, Run

# Names the function from run.json, log, plan, anchors, baselines, history and time limit to report.json.
# Raised in the commit that changes any byte for any input, a word of a sentence included; never for what
# changes none. A verifier of another version says NOT CHECKED: it cannot compare. tests/vectors/report
# holds the bytes of this version.
ANALYSIS_VERSION = 2
DEFAULT_TIME_LIMIT = 2  # seconds of an ordinary core, as a fixed amount of work, for each test
_DEFAULT_ALPHA = "0.05"


def evaluate(
    run: Run,
    lines: Sequence[LogLine],
    plan: Preregistration | None,
    *,
    anchors: Sequence[Anchor] = (),
    baselines: Sequence[Baseline] = (),
    history: Sequence[RelatedEvent] = (),
    time_limit: int = DEFAULT_TIME_LIMIT,
    log_sha256: str | None = None,
) -> Report:
    """The report of one run.

    Parameters
    ----------
    run, lines : run.json and its log, already read and checked.
    plan : the plan that run.json names; None exactly for an exploratory run.
    anchors : where the run's files are anchored, as the proofs' check found it.
    baselines : what short cuts without a search score, from the commitment.
    history : amendments and rebuilt batteries, from the registry (`related_events`).
    time_limit : seconds of work per test for an exact p-value (whole; kept in the report).
    log_sha256 : of log.jsonl's bytes, where the caller has read them; else the lines are encoded again.

    Raises
    ------
    UsageError : the run names a plan and none was given.
    CheckFailed : the plan given is not the one that the run names.
    """
    _check_plan(run, plan)
    table = Table(run, lines)
    alpha = plan.alpha if plan is not None else _DEFAULT_ALPHA
    registered = judge(table, plan, time_limit=time_limit) if plan is not None else Registered((), (), ())
    standard = standard_tests(table, plan, Fraction(alpha), time_limit=time_limit)
    costs, scores = costs_and_scores(table)
    pairs = {family: class_pairs(table, family, plan) for family in table.families}
    return Report(
        analysis_version=ANALYSIS_VERSION,
        time_limit=time_limit,
        run=run.name,
        run_sha256=run.digest(),
        log_sha256=log_sha256 or _log_sha256(lines),
        log_lines=len(lines),
        battery=run.battery,
        plan=plan.name if plan is not None else None,
        plan_sha256=run.plan.sha256 if run.plan is not None else None,
        amends=plan.amends.sha256 if plan is not None and plan.amends is not None else None,
        exploratory=run.exploratory,
        alpha=alpha,
        correction=plan.correction if plan is not None else "holm",
        totals=_totals(table),
        tests=registered.tests + standard,
        verdicts=registered.verdicts,
        void_conditions=registered.void_conditions,
        costs=costs,
        scores=scores,
        inversions=inversions(table, time_limit=time_limit),
        checks=checks(table, pairs, time_limit=time_limit),
        baselines=tuple(baselines),
        deviations=deviations(table, plan) if plan is not None else (),
        anchors=tuple(anchors),
        scope=scope(table),
        notes=(*_amendment(run, plan, anchors), *_notes(table)),
        not_proved=not_proved(table, anchors),
        endpoints=endpoint_summaries(table),
        history=tuple(history),
    )


def _check_plan(run: Run, plan: Preregistration | None) -> None:
    if run.plan is None:
        if plan is not None:
            raise UsageError(
                f"run {run.name} is exploratory: no plan can be applied to it afterwards",
                hint="report it without a plan, or `seal run` the plan and report that run",
            )
        return
    if plan is None:
        raise UsageError(
            f"run {run.name} belongs to the plan {run.plan.path}, which was not given",
            hint=f"put {run.plan.path} back: the report's verdicts need it",
        )
    if plan.digest() != run.plan.sha256:
        raise CheckFailed(
            f"the plan given for run {run.name} is not the one its run.json names ({run.plan.path})",
            hint=f"`sha256sum {run.plan.path}` must print {run.plan.sha256}",
        )


def _log_sha256(lines: Sequence[LogLine]) -> str:
    """SHA-256 of log.jsonl: each line's canonical bytes and a line feed."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.to_bytes() + b"\n")
    return digest.hexdigest()


def _totals(table: Table) -> Totals:
    missing = sum(line.missing for line in table.lines)
    return Totals(
        planned=table.run.planned_calls,
        lines=len(table.lines),
        responses=len(table.lines) - missing,
        missing=missing,
        absent=table.absent_calls(),
        instances=len({line.instance for line in table.lines}),
    )


def _amendment(run: Run, plan: Preregistration | None, anchors: Sequence[Anchor]) -> tuple[str, ...]:
    """An amendment counts only for a run whose block lies at or above the amendment's stamp."""
    if plan is None or plan.amends is None or run.plan is None:
        return ()
    name = plan.amends.path.rpartition("/")[2].removesuffix(".json")
    heights = [a.height for a in anchors if a.path == run.plan.path and a.height is not None]
    block = run.block.height if run.block is not None else None
    if heights and block is not None and heights[0] <= block:
        return (
            f"Plan {plan.name} amends {name}; it counts: stamped in block {heights[0]}, run from {block} on.",
            *_beside_a_beacon(plan),
        )
    stamped = f"its stamp is in block {heights[0]}" if heights else "its stamp is in no block"
    began = f"the run began at block {block}" if block is not None else "the run names no block"
    return (
        f"POST HOC: plan {plan.name} amends {name}, but {stamped} and {began}. Its verdicts do not count.",
    )


def _beside_a_beacon(plan: Preregistration) -> tuple[str, ...]:
    """A beacon orders the calls after what stands below it, which an amendment need not do."""
    if not plan.commitment.path.endswith(".draft.json"):
        return ()
    return (
        (
            f"The beacon orders calls after the plan it found; amendment {plan.name} may be younger than the "
            "items. Verification step 9 says where it stands."
        ),
    )


def _notes(table: Table) -> tuple[str, ...]:
    """What a reader must know about this run before any number of it."""
    lines = table.lines
    if not lines:
        return ("The log is empty: there is nothing to report yet.",)
    notes = []
    if absent := table.absent_calls():
        notes.append(
            f"The run is not finished: {absent} of {table.run.planned_calls} planned calls have no line."
        )
    present = [line for line in lines if not line.missing]
    if not present:
        notes.append("Every call ended in an error: there is no response.")
    elif all(line.charged_tokens is None for line in present):
        notes.append("No response reports its usage: nothing can be said about costs.")
    if present and all(line.censored for line in present):
        notes.append("Every response was cut: costs are known from below only.")
    for family in table.families:
        classes = table.classes(family)
        if len(classes) == 1:
            notes.append(f"Family {family} has only the class {classes[0]}: nothing can be compared.")
    notes.extend(
        f"{name}: a response ran past its cap, so the cap does not bind and censoring tests mean nothing."
        for name in sorted(table.unbinding_endpoints())
    )
    planned = {endpoint.name for endpoint in table.run.endpoints}
    strays = Counter(
        line.endpoint for line in lines if line.endpoint not in planned or line.cap not in table.run.caps
    )
    notes.extend(
        f"{name}: {count} calls lie outside run.json and are in no test."
        for name, count in sorted(strays.items())
    )
    lost = sum(bool(value_of(line, "first_attempt_lost")) for line in lines)
    if lost:
        notes.append(
            f"{lost} first attempts were sent and never answered (timed out, dropped, or run stopped); "
            "this is tested by class below."
        )
    return tuple(notes)
