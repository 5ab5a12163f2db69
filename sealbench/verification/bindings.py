"""Step 8's second half: signed files belong to this registry and name each other by the right hashes."""

from __future__ import annotations

from collections.abc import Iterator

from sealbench.formats.base import FileHash
from sealbench.formats.battery import Commitment
from sealbench.formats.draft import Draft
from sealbench.formats.preregistration import Preregistration
from sealbench.formats.registry import Registry, RegistryLine
from sealbench.formats.report import Report
from sealbench.formats.run import WITHHELD, Run
from sealbench.publishing.bundle_archive import archive_sha256
from sealbench.publishing.sealing import parent_of
from sealbench.publishing.superseding import void_verdicts
from sealbench.verification.evidence import Evidence

Problem = tuple[str, str]  # path, what is wrong with it


def binding_problems(evidence: Evidence, registry: Registry) -> Iterator[Problem]:
    """Every way in which a signed file does not belong where it stands."""
    yield from _identity_problems(evidence, registry)
    yield from _commitment_problems(evidence)
    yield from _secret_problems(evidence)
    yield from _reveal_problems(evidence)
    yield from _plan_problems(evidence)
    yield from _run_problems(evidence)
    yield from _retire_problems(evidence)


def _identity_problems(evidence: Evidence, registry: Registry) -> Iterator[Problem]:
    """A signed file belongs to this registry, at the place in it that the file itself names."""
    for path, document in evidence.identities.items():
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
        parent = parent_of(commitment)
        replaced = "" if commitment.supersedes is None else commitment.supersedes.path
        for reason in (
            _reference_problem(evidence, commitment.supersedes, replaced),
            _reference_problem(evidence, commitment.derived_from, f"commitments/{parent}.json"),
            _reference_problem(evidence, commitment.draft, f"commitments/{name}.draft.json"),
            _draft_problem(evidence, name, commitment),
            _parent_problem(commitment, evidence.commitments.get(parent or "")),
            _void_problem(evidence, path, commitment),
        ):
            if reason:
                yield path, reason


def _void_problem(evidence: Evidence, path: str, commitment: Commitment) -> str:
    """A void verdict that a rebuilt battery answers is the one of the reports registered before it."""
    if commitment.supersedes_void is None:
        return ""
    if commitment.supersedes is None:
        return "answers a void verdict, and supersedes no battery"
    replaced = commitment.supersedes.path.rpartition("/")[2].removesuffix(".json")
    before = evidence.line_of(path) or 0
    reports = []
    for name in evidence.subjects("report"):
        own = f"runs/{name}/report.json"
        report = evidence.document(Report, own)
        registered = evidence.line_of(own)
        if report is not None and report.battery == replaced and registered is not None:
            reports += [report] if registered < before else []
    if commitment.supersedes_void != void_verdicts(reports):
        return f"says that it answers a void verdict that no earlier report on {replaced} gives"
    return ""


def _draft_problem(evidence: Evidence, name: str, commitment: Commitment) -> str:
    """A battery in beacon mode is the one its draft announced; one with a draft is in beacon mode."""
    draft = evidence.drafts.get(name)
    if draft is None:
        return ""  # a missing draft is a missing reference
    if commitment.beacon is None:
        return "was announced as a draft, and names no beacon"
    said = (commitment.parameters, commitment.secret_commitment, commitment.beacon.height)
    if said != (draft.parameters, draft.secret_commitment, draft.height):
        return "has other parameters, another K or another beacon's height than its draft"
    return ""


def _parent_problem(commitment: Commitment, parent: Commitment | None) -> str:
    """A derived battery has its parent's K, envelope and wordings, and some of its families."""
    if commitment.derived_from is None or parent is None:
        return ""
    if parent.derived_from is not None:
        return f"is derived from {parent.name}, which is derived itself"
    if commitment.secret_commitment != parent.secret_commitment or commitment.sealed != parent.sealed:
        return f"is derived from {parent.name}, and has another K or another envelope"
    held = [family.model_copy(update={"per_class": 0}) for family in parent.parameters.families]
    chosen = [family.model_copy(update={"per_class": 0}) for family in commitment.parameters.families]
    same_wordings = commitment.parameters.wordings == parent.parameters.wordings
    if not chosen or [family for family in held if family in chosen] != chosen or not same_wordings:
        return f"is derived from {parent.name}, and has other families, parameters or wordings"
    return ""


def _secret_problems(evidence: Evidence) -> Iterator[Problem]:
    """No K serves two batteries; a void draft's K counts as used. Derived batteries have none."""
    first: dict[str, str] = {}
    documents: list[tuple[str, str, Draft | Commitment]] = [
        *((name, f"commitments/{name}.draft.json", one) for name, one in evidence.drafts.items()),
        *((name, f"commitments/{name}.json", one) for name, one in evidence.commitments.items()),
    ]
    for name, path, document in documents:
        if isinstance(document, Commitment) and document.derived_from is not None:
            continue
        user = first.setdefault(document.secret_commitment, name)
        if user != name:
            yield path, f"uses the K of {user} a second time"


def _reveal_problems(evidence: Evidence) -> Iterator[Problem]:
    """Reveals are of the commitments that they name, and of their trees."""
    for path, reveal in evidence.reveals.items():
        yield from _tree_problems(
            evidence, path, reveal.battery, reveal.commitment, reveal.root, reveal.items
        )
    for path, subset in evidence.subsets.items():
        count = len(subset.leaves)
        yield from _tree_problems(evidence, path, subset.battery, subset.commitment, subset.root, count)
        named = (subset.parent, subset.parent_commitment, subset.parent_root, subset.parent_items)
        yield from _tree_problems(evidence, path, *named)
        commitment = evidence.commitments.get(subset.battery)
        if commitment is not None and commitment.derived_from != subset.parent_commitment:
            yield path, f"{subset.battery} is not derived from {subset.parent}"


def _tree_problems(
    evidence: Evidence, path: str, battery: str, named: FileHash, root: str, items: int
) -> Iterator[Problem]:
    reason = _reference_problem(evidence, named, f"commitments/{battery}.json")
    commitment = evidence.commitments.get(battery)
    if not reason and commitment is not None and (root, items) != (commitment.root, commitment.items):
        reason = f"names another root or number of items than commitments/{battery}.json"
    if reason:
        yield path, reason


def _committed(evidence: Evidence, battery: str) -> str:
    """What the plans of a battery bind to: its commitment, or in beacon mode its draft."""
    if battery in evidence.drafts:
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
            _amendment_problem(evidence, plan),
        ):
            if reason:
                yield path, reason


def _amendment_problem(evidence: Evidence, plan: Preregistration) -> str:
    """An amendment is one by file and event alike, of a plan for the same battery that was frozen before."""
    line = evidence.subjects("preregister", "amend").get(plan.name)
    if line is not None and (line.event == "amend") != (plan.amends is not None):
        says = "amends no plan" if plan.amends is None else f"amends {plan.amends.path}"
        return f"{says}, and registry line {line.seq + 1} has the event {line.event}"
    if plan.amends is None:
        return ""
    amended = evidence.document(Preregistration, plan.amends.path)
    if amended is not None and amended.battery != plan.battery:
        return f"amends {amended.name}, which is a plan for battery {amended.battery}"
    own = evidence.line_of(f"preregistrations/{plan.name}.json")
    earlier = evidence.line_of(plan.amends.path)
    if own is not None and (earlier is None or earlier >= own):
        return f"amends {plan.amends.path}, which was not frozen before it"
    return ""


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


def _retire_problems(evidence: Evidence) -> Iterator[Problem]:
    """What a retire event says of the folder: the archive that it gives, the responses left out of it."""
    if evidence.tree.bundle is not None:
        return
    for name, line in evidence.subjects("retire").items():
        said = line.detail.get("archive_sha256")
        folder = f"batteries/{name}"
        files = {
            path.removeprefix(f"{folder}/"): evidence.require(path) for path in evidence.tree.below(folder)
        }
        where = f"registry line {line.seq + 1}"
        if said is not None and archive_sha256(name, files) != said:
            yield folder, f"does not give the archive that {where} names"
        counts = {run: files.get(f"responses/{run}.jsonl", b"").count(WITHHELD) for run in _runs_of(line)}
        left_out = [{"run": run, "count": count} for run, count in sorted(counts.items()) if count]
        if left_out != line.detail.get("withheld", []):
            yield folder, f"withholds another number of responses than {where} says"


def _runs_of(line: RegistryLine) -> list[str]:
    runs = line.detail.get("runs")
    return [str(run) for run in runs] if isinstance(runs, list) else []


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
