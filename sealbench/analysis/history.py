"""What the registry says beside a run: amendments of its plan, and batteries rebuilt in its battery's place.

A report names them all, earlier and later ones, so that no verdict is read without the one that it
replaces or was replaced by.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from sealbench.formats.battery import Commitment
from sealbench.formats.preregistration import Preregistration
from sealbench.formats.registry import Registry, RegistryLine
from sealbench.formats.report_history import RelatedEvent
from sealbench.formats.run import Run


def related_events(
    registry: Registry,
    run: Run,
    plans: Mapping[str, Preregistration],
    commitments: Mapping[str, Commitment],
) -> tuple[RelatedEvent, ...]:
    """The events that concern the run's plan or battery, through any number of steps, oldest first.

    Parameters
    ----------
    plans, commitments : the documents of the workspace by name; what is missing there is left out.
    """
    started = registry.find("run_start", run.name)
    begun = started.seq if started is not None else registry.size
    amended = {line.seq: pair for line in registry.events("amend") if (pair := _amended(line, plans))}
    replaced = {line.seq: (line.subject, str(line.detail.get("by"))) for line in registry.events("supersede")}
    plan = set() if run.plan is None else {PurePosixPath(run.plan.path).stem}
    of_plan, of_battery = _connected(amended, plan), _connected(replaced, {run.battery})
    found = []
    for seq in sorted(of_plan | of_battery):
        earlier, later = amended[seq] if seq in of_plan else replaced[seq]
        commitment = None if seq in of_plan else commitments.get(later)
        found.append(
            RelatedEvent(
                event="amend" if seq in of_plan else "supersede",
                line=seq + 1,
                after_start=seq > begun,
                earlier=earlier,
                later=later,
                void=None if commitment is None else commitment.supersedes_void,
            )
        )
    return tuple(found)


def _amended(line: RegistryLine, plans: Mapping[str, Preregistration]) -> tuple[str, str] | None:
    plan = plans.get(line.subject)
    if plan is None or plan.amends is None:
        return None
    return PurePosixPath(plan.amends.path).stem, line.subject


def _connected(pairs: Mapping[int, tuple[str, str]], names: Iterable[str]) -> set[int]:
    """The pairs that hold one of the names, or a name that such a pair holds, and so on."""
    known, found = set(names), set[int]()
    while True:
        more = {seq for seq, pair in pairs.items() if seq not in found and known.intersection(pair)}
        if not more:
            return found
        found |= more
        known.update(name for seq in more for name in pairs[seq])
