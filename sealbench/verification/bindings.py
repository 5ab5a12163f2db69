"""Step 8's second half: signed files belong to this registry and name each other by the right hashes."""

from __future__ import annotations

from collections.abc import Iterator

from sealbench.formats.base import FileHash, Identity
from sealbench.formats.preregistration import Preregistration
from sealbench.formats.registry import Registry
from sealbench.formats.run import Run
from sealbench.verification.evidence import Evidence

Problem = tuple[str, str]  # path, what is wrong with it


def binding_problems(evidence: Evidence, registry: Registry) -> Iterator[Problem]:
    """Every way in which a signed file does not belong where it stands."""
    yield from _identity_problems(evidence, registry)
    yield from _commitment_problems(evidence)
    yield from _plan_problems(evidence)
    yield from _run_problems(evidence)


def _identity_problems(evidence: Evidence, registry: Registry) -> Iterator[Problem]:
    """A signed file belongs to this registry, at the place in it that the file itself names."""
    documents: list[tuple[str, Identity]] = [
        *((f"commitments/{name}.json", one) for name, one in evidence.commitments.items()),
        *((f"preregistrations/{name}.json", one) for name, one in evidence.plans.items()),
        *((f"runs/{name}/run.json", one) for name, one in evidence.runs.items()),
    ]
    for path, document in documents:
        line = evidence.line_of(path)
        if document.registry != registry.first:
            yield path, "belongs to another registry: it was copied here"
        elif line is not None and not 1 <= document.registry_size <= line:
            yield path, f"says the registry had {document.registry_size} lines; line {line + 1} names it"
        elif line is not None and registry.hashes[document.registry_size - 1] != document.registry_head:
            yield path, f"was written beside another history: line {document.registry_size} was not its last"


def _reference_problem(evidence: Evidence, named: FileHash | None, expected: str) -> str:
    """Why a reference does not lead to the expected file; empty if it does, or if there is none."""
    if named is None:
        return ""
    if named.path != expected:
        return f"names {named.path} where {expected} belongs"
    digest = evidence.digest(named.path)
    if digest is None:
        return f"names {named.path}, which is missing"
    return "" if digest == named.sha256 else f"is bound to another {named.path}: SHA-256 {named.sha256}"


def _commitment_problems(evidence: Evidence) -> Iterator[Problem]:
    for name, commitment in evidence.commitments.items():
        path = f"commitments/{name}.json"
        for named in (commitment.supersedes, commitment.derived_from):
            reason = _reference_problem(evidence, named, named.path if named else "")
            if reason:
                yield path, reason
        reason = _reference_problem(evidence, commitment.draft, f"commitments/{name}.draft.json")
        if reason:
            yield path, reason


def _committed(evidence: Evidence, battery: str) -> str:
    """What plans and runs of a battery bind to: its commitment, or its draft in beacon mode for plans."""
    commitment = evidence.commitments.get(battery)
    if commitment is not None and commitment.mode == "beacon":
        return f"commitments/{battery}.draft.json"
    return f"commitments/{battery}.json"


def _plan_problems(evidence: Evidence) -> Iterator[Problem]:
    for name, plan in evidence.plans.items():
        path = f"preregistrations/{name}.json"
        amended = plan.amends.path if plan.amends else ""
        for reason in (
            _reference_problem(evidence, plan.commitment, _committed(evidence, plan.battery)),
            _reference_problem(evidence, plan.amends, amended),
            _event_problem(evidence, ("preregister", "amend"), name, {"battery": plan.battery}),
        ):
            if reason:
                yield path, reason


def _run_problems(evidence: Evidence) -> Iterator[Problem]:
    for name, run in evidence.runs.items():
        path = f"runs/{name}/run.json"
        plan = None if run.plan is None else evidence.document(Preregistration, run.plan.path)
        plan_path = "" if plan is None else f"preregistrations/{plan.name}.json"
        detail = {
            "battery": run.battery,
            "exploratory": run.exploratory,
            "plan": None if plan is None else plan.name,
        }
        for reason in (
            _reference_problem(evidence, run.commitment, f"commitments/{run.battery}.json"),
            _reference_problem(evidence, run.plan, plan_path),
            _event_problem(evidence, ("run_start",), name, detail),
            _shape_problem(run, plan),
        ):
            if reason:
                yield path, reason


def _shape_problem(run: Run, plan: Preregistration | None) -> str:
    """A registered run has a plan for its battery; a pilot has none, and asks for nothing."""
    if run.exploratory != (run.plan is None) or run.exploratory != (run.require == "nothing"):
        return "is neither a run of a plan nor an exploratory one"
    if plan is not None and plan.battery != run.battery:
        return f"follows a plan for battery {plan.battery}"
    return ""


def _event_problem(
    evidence: Evidence, events: tuple[str, ...], subject: str, expected: dict[str, object]
) -> str:
    """Why the event that made a file says something else than the file; empty if it does not."""
    line = evidence.subjects(*events).get(subject)
    if line is None:
        return ""  # a file without its event is reported as such
    for name, value in expected.items():
        if line.detail.get(name) != value:
            return f"says {name} {value}, registry line {line.seq + 1} says {line.detail.get(name)!s:.70}"
    return ""
