"""Which public files a retired battery rests on: what its bundle's `record/` holds, and must hold.

Writer and verifier ask the same question of the same registry, so that neither can leave out what the
other expects. Source: docs/spec/retired.md.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sealbench.formats.registry import Registry
from sealbench.store import ALLOWED_SIGNERS, CHECKPOINTS, HEADERS, REGISTRY

RECORD = "record"
_CHECKPOINT = re.compile(rf"{re.escape(CHECKPOINTS)}/([0-9]{{1,16}})\.json")


@dataclass(frozen=True)
class BundleScope:
    """The files that belong to one battery, by their path alone.

    Attributes
    ----------
    name : the battery.
    parent : the battery that it is derived from, if any.
    plans, runs : those that the registry says are the battery's.
    related : other batteries whose commitments are named by this one's: parent, superseded ones.
    answered : runs of the superseded ones, whose void verdicts a rebuilt battery answers.
    checkpoints : sizes of those that the record holds; none unless `with_checkpoints` chose them.
    """

    name: str
    parent: str | None
    plans: frozenset[str]
    runs: frozenset[str]
    related: frozenset[str]
    answered: frozenset[str]
    checkpoints: frozenset[int] = frozenset()

    @classmethod
    def of(
        cls, registry: Registry, name: str, parent: str | None, related: frozenset[str] = frozenset()
    ) -> BundleScope:
        """Everything of battery `name` in a registry."""
        plans = {
            line.subject
            for event in ("preregister", "amend")
            for line in registry.events(event)
            if line.detail.get("battery") == name
        }
        started = {line.subject: line.detail.get("battery") for line in registry.events("run_start")}
        runs = frozenset(run for run, battery in started.items() if battery == name)
        answered = frozenset(run for run, battery in started.items() if battery in related - {parent})
        return cls(name, parent, frozenset(plans), runs, related, answered)

    def with_checkpoints(self, registry: Registry, paths: Iterable[str]) -> BundleScope:
        """The same with those checkpoints, of all public `paths`, that this battery's history rests on.

        That is the first one over each event that names one of its files or a key, and the newest. All of
        them in every bundle would make a repository grow with the square of its batteries.
        """
        found = [match for match in map(_CHECKPOINT.fullmatch, paths) if match]
        within = sorted(size for match in found if (size := int(match.group(1))) <= registry.size)
        chosen = set(within[-1:])
        for line in registry.lines:
            if line.event == "key" or any(self.holds(file.path) for file in line.files):
                chosen.update(within[bisect_right(within, line.seq) :][:1])
        return replace(self, checkpoints=frozenset(chosen))

    def holds(self, path: str) -> bool:
        """Whether a public file of the workspace belongs into this battery's `record/`."""
        base = path.removesuffix(".ots").removesuffix(".sig")
        if base in (REGISTRY, HEADERS, ALLOWED_SIGNERS):
            return base == path
        checkpoint = _CHECKPOINT.fullmatch(base)
        if checkpoint:
            return int(checkpoint.group(1)) in self.checkpoints
        if path.startswith("runs/") and path.endswith("/report.json"):
            return path.split("/")[1] in self.runs | self.answered
        return self.owns(path) or self._is_commitment(base, self.related)

    def owns(self, path: str) -> bool:
        """Whether a file is this battery's own, or of the parent that its items are part of."""
        base = path.removesuffix(".ots").removesuffix(".sig")
        own = frozenset({self.name, self.parent} - {None})
        parts = base.split("/")
        if parts[0] == "runs":
            return len(parts) > 2 and parts[1] in self.runs
        if parts[0] == "preregistrations":
            return base.removeprefix("preregistrations/").removesuffix(".json") in self.plans
        if parts[0] == "batteries":
            # A derived battery's envelope is its parent's.
            return base == f"batteries/{self.parent or self.name}.sealed.json"
        if parts[:2] == ["commitments", "reveals"]:
            return re.fullmatch(rf"{re.escape(self.name)}-([0-9]{{1,9}}|subset)\.json", parts[-1]) is not None
        return self._is_commitment(base, own)

    @staticmethod
    def _is_commitment(base: str, names: frozenset[str | None] | frozenset[str]) -> bool:
        stem = base.removeprefix("commitments/").removesuffix(".json").removesuffix(".draft")
        return base.startswith("commitments/") and base.endswith(".json") and stem in names
