"""A part of a workspace, and what it rests on: which results are about it, and which are not.

All steps are always taken over the whole workspace: a run is only as good as the registry, keys, plan
and battery behind it. Judged are then the results about those; the others are counted as elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sealbench.errors import UsageError
from sealbench.formats.registry import PublicFiles
from sealbench.publishing.sealing import parent_of
from sealbench.store import ALLOWED_SIGNERS, CHECKPOINTS, FILES, HEADERS, REGISTRY
from sealbench.verification.evidence import Evidence
from sealbench.verification.roles import battery_of, role_of, run_of
from sealbench.verification.steps import StepResult, not_due, ok

PartKind = Literal["battery", "commitment", "plan", "run"]
# What every part rests on.
SHARED = frozenset({REGISTRY, FILES, HEADERS, ALLOWED_SIGNERS, CHECKPOINTS})
_EVENTS = ("create", "void", "preregister", "amend", "run_start", "run_end", "run_abort", "report", "retire")


class Part(NamedTuple):
    """A battery (with what is published of it), a commitment alone, a plan, or a run."""

    kind: PartKind
    name: str


@dataclass(frozen=True)
class Scope:
    """The parts asked for and everything they rest on.

    Attributes
    ----------
    parts : as asked for.
    rests_on : the further parts that these need.
    paths : every path of all of them, missing files included.
    checkpoints : paths of the checkpoints that first cover an event about one of them.
    """

    parts: tuple[Part, ...]
    rests_on: tuple[Part, ...]
    paths: frozenset[str]
    checkpoints: frozenset[str]

    @property
    def words(self) -> str:
        """The parts and what they rest on, as it is printed."""
        asked = ", ".join(f"{part.kind} {part.name}" for part in self.parts)
        needed = [f"{part.kind} {part.name}" for part in self.rests_on]
        return f"{asked}; rests on {', '.join([*needed, 'registry and keys'])}"

    @property
    def batteries(self) -> list[str]:
        """Names of the batteries among all parts."""
        found = [
            part.name for part in (*self.parts, *self.rests_on) if part.kind in ("battery", "commitment")
        ]
        return list(dict.fromkeys(found))

    def holds(self, path: str) -> bool:
        """Whether a path, or the file that a signature or proof is about, belongs to it."""
        return path in self.paths or _about(path) in self.paths

    def judges(self, result: StepResult) -> bool:
        """Whether a result is about it. Any false checkpoint counts: the registry is everyone's."""
        subject = _about(result.subject)
        if not subject or subject in SHARED or subject in self.checkpoints or self.holds(subject):
            return True
        return role_of(subject).kind == "checkpoint" and result.status == "fail"


def _about(path: str) -> str:
    """The file that a signature or proof belongs to; any other path itself."""
    role = role_of(path)
    return role.name if role.kind in ("signature", "proof") else path


def part_of(path: str) -> Part | None:
    """The part that a public path belongs to; None for the registry, checkpoints, headers and the like."""
    role, run, battery = role_of(path), run_of(path), battery_of(path)
    if role.kind in ("signature", "proof"):
        return part_of(role.name)
    if role.kind in ("commitment", "draft"):
        return Part("commitment", role.name)
    if role.kind == "plan":
        return Part("plan", role.name)
    if run is not None:
        return Part("run", run)
    if battery is not None:
        return Part("battery", battery)
    return Part("battery", role.name) if role.kind in ("sealed", "reveal", "subset") else None


def scope_of(evidence: Evidence, parts: Sequence[Part]) -> Scope:
    """Follow the parts to everything they rest on; UsageError if the tree holds no such part."""
    known = _known_paths(evidence)
    for part in parts:
        if not any(_owns(part, path) for path in known):
            held = sorted({f"{one.kind} {one.name}" for path in known if (one := part_of(path)) is not None})
            there = f"it holds {', '.join(held[:8])}" if held else "it holds none at all"
            raise UsageError(f"there is no {part.kind} {part.name} in this workspace", hint=there)
    found: dict[Part, None] = dict.fromkeys(parts)
    waiting = list(found)
    while waiting:
        for needed in _needs(evidence, waiting.pop()):
            if needed not in found:
                found[needed] = None
                waiting.append(needed)
    paths = {path for part in found for path in known if _owns(part, path)}
    asked = set(parts)
    runs = {part.name for part in found if part.kind == "run"}
    if runs and not any(part.kind == "battery" for part in asked):
        # A run rests on its battery, not on the responses of other runs of it.
        paths = {path for path in paths if _run_of_responses(path) in (None, *runs)}
    rest = tuple(part for part in found if part not in asked and not _implied(part, found))
    return Scope(tuple(parts), rest, frozenset(paths), frozenset(_covering(evidence, set(found))))


def _implied(part: Part, found: dict[Part, None]) -> bool:
    return part.kind == "commitment" and Part("battery", part.name) in found


def _known_paths(evidence: Evidence) -> set[str]:
    """What is there, and what the registry or the list of files says should be."""
    listed = evidence.document(PublicFiles, FILES)
    named = {file.path for file in listed.files} if listed else set()
    return {*evidence.tree.paths(), *evidence.bound_files, *named}


def _owns(part: Part, path: str) -> bool:
    """Whether a path is the part's own: a battery has its commitment, and a commitment its ciphertext."""
    owner = part_of(path)
    if part.kind == "commitment" and path == f"batteries/{part.name}.sealed.json":
        return True
    return owner == part or (part.kind == "battery" and owner == Part("commitment", part.name))


def _run_of_responses(path: str) -> str | None:
    if role_of(path).kind != "responses":
        return None
    return path.rsplit("/", 1)[1].removesuffix(".jsonl")


def _needs(evidence: Evidence, part: Part) -> Iterator[Part]:
    """The parts that one rests on directly, by the registry first, which no part can change alone."""
    if part.kind == "commitment":
        commitment = evidence.commitments.get(part.name)
        parent = None if commitment is None else parent_of(commitment)
        if parent is not None:
            yield Part("commitment", parent)
    elif part.kind == "battery":
        yield Part("commitment", part.name)
        commitment = evidence.commitments.get(part.name)
        parent = None if commitment is None else parent_of(commitment)
        if parent is not None:
            yield Part("battery", parent)
    elif part.kind == "plan":
        line = evidence.subjects("preregister", "amend").get(part.name)
        plan = evidence.plans.get(part.name)
        if line is not None:
            yield Part("commitment", str(line.detail.get("battery")))
        amended = part_of(plan.amends.path) if plan is not None and plan.amends is not None else None
        if amended is not None:
            yield amended
    else:
        line = evidence.subjects("run_start").get(part.name)
        if line is not None:
            yield Part("battery", str(line.detail.get("battery")))
            if line.detail.get("plan") is not None:
                yield Part("plan", str(line.detail["plan"]))


def _covering(evidence: Evidence, parts: set[Part]) -> Iterator[str]:
    """For each event about the parts, the first checkpoint that covers it."""
    for line in evidence.registry.lines if evidence.registry else ():
        about = line.event in _EVENTS and any(part_of(file.path) in parts for file in line.files)
        sizes = [size for size in evidence.checkpoints if size > line.seq] if about else []
        if sizes:
            yield f"{CHECKPOINTS}/{min(sizes)}.json"


def restricted(
    evidence: Evidence, scope: Scope, results: Sequence[StepResult]
) -> tuple[list[StepResult], list[StepResult]]:
    """The results that judge the scope, at least one per step, and those that do not."""
    judged, elsewhere = [], []
    for step in dict.fromkeys(result.step for result in results):
        found = [result for result in results if result.step == step]
        kept = [result for result in found if scope.judges(result)]
        elsewhere += [result for result in found if result not in kept]
        judged += _completed(evidence, scope, step, kept) or [not_due(step, "", "nothing of this part")]
    return judged, elsewhere


def _completed(evidence: Evidence, scope: Scope, step: int, kept: list[StepResult]) -> list[StepResult]:
    """Steps that give one OK for all files say it for this part's files, whatever there is elsewhere."""
    if step == 1 and not kept:
        count = sum(path in evidence.tree for path in scope.paths)
        return [ok(1, FILES, f"{count} files of it parse, equal their own re-encoding, and are as listed")]
    if step == 3:
        wrong = [result for result in kept if result.status not in ("ok", "not_due")]
        held = scope.paths | scope.checkpoints
        count = sum(role_of(proof).name in held for proof in evidence.paths("proof")) - len(wrong)
        told = f"{count} of its proofs commit to exactly their files' bytes, by SHA-256 alone"
        return [*wrong, *([ok(3, "", told)] if count > 0 else [])]
    if step == 8 and not kept and evidence.registry is not None:
        size, count = evidence.registry.size, len(evidence.checkpoints)
        told = f"{size} events in an unbroken chain, {count} checkpoints agree; its files are as registered"
        return [ok(8, REGISTRY, told)]
    return kept
