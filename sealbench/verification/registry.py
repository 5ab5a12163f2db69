"""Step 8: the registry's chain, its checkpoints, its events, and the files that these bind."""

from __future__ import annotations

from collections.abc import Iterator

from sealbench.formats.registry import Registry, RegistryLine
from sealbench.publishing.sealing import parent_of
from sealbench.store import CHECKPOINTS, REGISTRY
from sealbench.verification.bindings import binding_problems
from sealbench.verification.evidence import Evidence
from sealbench.verification.roles import Kind, battery_of, role_of, run_of
from sealbench.verification.steps import Results, StepResult, fail, not_checked, ok, pending

STEP = 8
Problem = tuple[str, str]  # path, what is wrong with it
# Files of these roles exist only because an event made them.
_REGISTERED: frozenset[Kind] = frozenset(
    {
        *(
            "commitment",
            "draft",
            "reveal",
            "subset",
            "sealed",
            "battery",
            "key",
            "responses",
            "sums",
            "items",
        ),
        *("plan", "run", "log", "report"),
    }
)


def check_registry(evidence: Evidence) -> Results:
    """Chain first; without it nothing else here has a meaning."""
    registry = evidence.registry
    if registry is None:
        yield fail(STEP, REGISTRY, evidence.registry_error.removeprefix(f"{REGISTRY} "))
        return
    problems = [
        *_checkpoint_problems(evidence, registry),
        *_since_problems(evidence, registry),
        *_event_problems(registry),
        *binding_problems(evidence, registry),
        *_bound_problems(evidence),
        *_unbound_problems(evidence),
    ]
    for path, reason in problems:
        yield fail(STEP, path, reason)
    covered = max((size for size in evidence.checkpoints if size <= registry.size), default=0)
    if covered < registry.size:
        count = registry.size - covered
        yield pending(STEP, REGISTRY, f"its last {count} lines are not covered by a signed checkpoint yet")
    elif not problems:
        yield _whole(evidence, registry)
    since = evidence.policy.since
    if evidence.tree.bundle is not None and since is not None and since.size > registry.size:
        told = f"a bundle's registry ends at its retirement, with line {registry.size}; your checkpoint saw"
        yield not_checked(STEP, REGISTRY, f"{told} {since.size} lines: check the whole repository with it")


def _whole(evidence: Evidence, registry: Registry) -> StepResult:
    """The OK line, with what a registry makes visible: what was never run and never reported."""
    started = {str(line.detail.get("battery")) for line in registry.events("run_start")}
    made = {line.subject for line in registry.events("create") if not _is_draft(line)}
    drafts = {line.subject for line in registry.events("create") if _is_draft(line)}
    void = set(evidence.subjects("void"))
    never_run = sorted(made - started)
    undrawn = sorted(drafts - made - void)
    unreported = sorted(set(evidence.subjects("run_start")) - set(evidence.subjects("report")))
    aborted = sorted(evidence.subjects("run_abort"))
    notes = [
        ("never run", never_run),
        ("not reported", unreported),
        ("aborted", aborted),
        ("drafts without items", undrawn),
        ("void", sorted(void)),
        (
            "superseded",
            [f"{line.subject} by {line.detail.get('by')}" for line in registry.events("supersede")],
        ),
        ("derived", sorted(_derivations(evidence))),
    ]
    seen = "".join(f"; {label}: {', '.join(names)}" for label, names in notes if names)
    loose = [path for path in evidence.tree.paths() if _is_loose(evidence, path)]
    if loose:
        seen += f"; bound by no event, only listed: {', '.join(loose)}"
    count = len(evidence.checkpoints)
    return ok(STEP, REGISTRY, f"{registry.size} events in an unbroken chain, {count} checkpoints agree{seen}")


def _derivations(evidence: Evidence) -> Iterator[str]:
    for name, commitment in evidence.commitments.items():
        parent = parent_of(commitment)
        if parent is not None:
            yield f"{name} from {parent}"


def _is_draft(line: RegistryLine) -> bool:
    """Whether a `create` event announces a battery whose items are still to be drawn."""
    return line.event == "create" and line.detail.get("draft") is True


def _is_loose(evidence: Evidence, path: str) -> bool:
    return role_of(path).kind == "other" and path not in evidence.bound_files


def _checkpoint_problems(evidence: Evidence, registry: Registry) -> Iterator[Problem]:
    for size, checkpoint in evidence.checkpoints.items():
        path = f"{CHECKPOINTS}/{size}.json"
        if checkpoint.registry != registry.first:
            yield path, "is a checkpoint of another registry"
        elif not 1 <= size <= registry.size:
            yield REGISTRY, f"has {registry.size} lines, checkpoint {path} saw {size}: its tail was cut off"
        elif registry.hashes[size - 1] != checkpoint.head:
            yield REGISTRY, f"line {size} or one before it is not what checkpoint {path} saw: rewritten"


def _since_problems(evidence: Evidence, registry: Registry) -> Iterator[Problem]:
    """A checkpoint that the verifier kept: cutting the registry back does not fool its holder."""
    since = evidence.policy.since
    if since is None:
        return
    if since.registry != registry.first:
        yield REGISTRY, "is not the registry that your checkpoint is of"
    elif since.size > registry.size and evidence.tree.bundle is None:
        yield REGISTRY, f"has {registry.size} lines, your checkpoint saw {since.size}: its tail was cut off"
    elif since.size < 1 or (since.size <= registry.size and registry.hashes[since.size - 1] != since.head):
        yield REGISTRY, f"line {since.size} or one before it is not what your checkpoint saw: rewritten"


def _event_problems(registry: Registry) -> Iterator[Problem]:
    """Events in an impossible order, or without the files they are about."""
    seen: dict[str, set[str]] = {}
    for line in registry.lines:
        reason = _event_fault(line, seen)
        if reason:
            yield REGISTRY, f"line {line.seq + 1} ({line.event} {line.subject:.70}) {reason}"
        seen.setdefault(_event_of(line), set()).add(line.subject)


def _event_of(line: RegistryLine) -> str:
    """The event, with the making of a draft told from that of a battery."""
    return "draft" if _is_draft(line) else line.event


# What an event comes after, and the files it must name.
_AFTER: dict[str, tuple[str, ...]] = {
    "run_end": ("run_start",),
    "run_abort": ("run_start",),
    "report": ("run_end", "run_abort"),
    "retire": ("create",),
    "void": ("draft",),
    "reveal": ("create",),
}
_ONCE = {
    "create": ("create", "void"),
    "draft": ("draft", "create"),
    "void": ("create", "void"),
    "preregister": ("preregister", "amend"),
    "amend": ("preregister", "amend"),
    "run_start": ("run_start",),
    "run_end": ("run_end", "run_abort"),
    "run_abort": ("run_end", "run_abort"),
    "retire": ("retire",),
}
_FILES: dict[str, tuple[str, ...]] = {
    "create": ("commitments/{}.json", "batteries/{}.sealed.json"),
    "derive": ("commitments/{}.json",),
    "draft": ("commitments/{}.draft.json",),
    "preregister": ("preregistrations/{}.json",),
    "amend": ("preregistrations/{}.json",),
    "run_start": ("runs/{}/run.json",),
    "run_end": ("runs/{}/run.json", "runs/{}/log.jsonl"),
    "report": ("runs/{}/report.json",),
    "retire": ("batteries/{}/battery.json", "batteries/{}/key.json"),
}


def _event_fault(line: RegistryLine, seen: dict[str, set[str]]) -> str:
    def happened(events: tuple[str, ...], subject: str) -> bool:
        return any(subject in seen.get(event, ()) for event in events)

    event = _event_of(line)
    if event in _ONCE and happened(_ONCE[event], line.subject):
        before = next(one for one in _ONCE[event] if happened((one,), line.subject))
        return "stands there a second time" if before in (event, "create") else f"comes after its {before}"
    if event in _AFTER and not happened(_AFTER[event], line.subject):
        return f"comes before any {' or '.join(_AFTER[event])} of it"
    named = {file.path for file in line.files}
    form = "derive" if event == "create" and "derived_from" in line.detail else event
    lacking = [path for one in _FILES.get(form, ()) if (path := one.format(line.subject)) not in named]
    if lacking:
        return f"does not name {', '.join(lacking)}"
    if line.event in ("preregister", "amend", "run_start"):
        return _reference_fault(line, seen)
    return ""


def _reference_fault(line: RegistryLine, seen: dict[str, set[str]]) -> str:
    """A plan needs its battery before it, a run its battery and plan; a retired battery is not run."""
    battery, plan = line.detail.get("battery"), line.detail.get("plan")
    if not isinstance(battery, str) or not isinstance(plan, str | None):
        return "names a battery or plan that is no text"
    announced = seen.get("draft", set()) if line.event != "run_start" else set()
    if battery not in seen.get("create", set()) | announced:
        return f"is for battery {battery!s:.70}, which was not created before it"
    if plan is not None and plan not in seen.get("preregister", set()) | seen.get("amend", set()):
        return f"follows plan {plan!s:.70}, which was not preregistered before it"
    registered = line.event == "run_start" and line.detail.get("exploratory") is not True
    if registered and battery in seen.get("retire", ()):
        return f"runs battery {battery!s:.70}, which was retired before it"
    return ""


def _bound_problems(evidence: Evidence) -> Iterator[Problem]:
    """Every file that an event names is there, with the hash that the event says."""
    for path, (expected, line) in evidence.bound_files.items():
        digest = evidence.digest(path)
        if digest is None:
            # A bundle's own files are step 1's business, those of other batteries are not in it.
            if evidence.tree.bundle is None:
                yield path, f"is missing: registry line {line} names it"
        elif digest != expected:
            yield path, f"is not the file of registry line {line}: its SHA-256 is {digest}, not {expected}"
    for event in evidence.registry.lines if evidence.registry else ():
        for file in event.files:
            if event.event != "report" and evidence.bound_files[file.path][0] != file.sha256:
                yield REGISTRY, f"line {event.seq + 1} gives {file.path} another hash than another line"


def _unbound_problems(evidence: Evidence) -> Iterator[Problem]:
    """Files that only an event can have made, and that no event names."""
    finished = evidence.subjects("run_end", "run_abort")
    started = evidence.subjects("run_start")
    for path in evidence.tree.paths():
        if path in evidence.bound_files:
            continue
        if battery_of(path) is not None and battery_of(path) == evidence.tree.bundle:
            continue  # published by an event that is later than the bundle's registry
        run = run_of(path)
        if run is not None and run in started and run not in finished:
            continue
        if role_of(path).kind in _REGISTERED or battery_of(path) is not None:
            yield path, "is named by no registry line: it does not belong to this workspace"
