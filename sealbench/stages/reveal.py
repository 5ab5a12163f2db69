"""Open some items of a sealed battery: each with its salt and its path to the committed root.

All wordings of an instance say the same thing, so they are opened together. An item that a sealed
derived battery shares stays closed: it would be opened there too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sealbench import store
from sealbench.clock import Clock, system_clock
from sealbench.errors import UsageError
from sealbench.formats.battery import Item
from sealbench.formats.reveal import Reveal
from sealbench.publishing.publication import publish, read_registry, refuse_damage
from sealbench.publishing.sealing import (
    OpenBattery,
    derived_batteries,
    open_battery,
    open_items,
    parent_of,
    select_indices,
)
from sealbench.store import Workspace


@dataclass(frozen=True)
class ToReveal:
    """What a reveal would open: the battery and the places of all wordings of the instances asked for."""

    battery: OpenBattery
    indices: tuple[int, ...]

    @property
    def items(self) -> tuple[Item, ...]:
        """The items that would be public."""
        return tuple(self.battery.items[index] for index in self.indices)


def select_reveal(workspace: Workspace, name: str, ids: Sequence[str]) -> ToReveal:
    """Find the items to open, with the other wordings of their instances; writes nothing.

    Raises
    ------
    UsageError : the battery is published or derived, an id is unknown, opened already, or shared with a
        derived battery that is still sealed.
    """
    battery = open_battery(workspace, name)
    _refuse_published(workspace, battery)
    by_id = {item.id: item for item in battery.items}
    unknown = [one for one in ids if one not in by_id]
    if unknown or not ids:
        raise UsageError(
            f"{name} holds no item {unknown[0]!r:.40}" if unknown else "no item named",
            hint=f"ids are 16 hex digits, as in a run's log: seal reveal {name} --item {battery.items[0].id}",
        )
    opened = {entry.item.id for reveal in read_reveals(workspace, name) for entry in reveal.entries}
    repeated = [one for one in ids if one in opened]
    if repeated:
        raise UsageError(f"item {repeated[0]} of {name} is revealed already", hint="seal verify")
    instances = {by_id[one].instance for one in ids}
    _refuse_shared(workspace, battery, instances)
    indices = (index for index, item in enumerate(battery.items) if item.instance in instances)
    return ToReveal(battery, tuple(indices))


def _refuse_published(workspace: Workspace, battery: OpenBattery) -> None:
    name = battery.commitment.name
    if read_registry(workspace).find("retire", name) is not None:
        raise UsageError(f"{name} is retired: all of it is public", hint=f"see batteries/{name}/battery.json")
    parent = parent_of(battery.commitment)
    if parent is not None:
        raise UsageError(
            f"the items of {name} are items of {parent}, which is sealed",
            hint=f"seal retire {parent} publishes both; --subset-of {parent} proves it and opens nothing",
        )


def _refuse_shared(workspace: Workspace, battery: OpenBattery, instances: set[str]) -> None:
    parent = battery.commitment.name
    for derived in derived_batteries(workspace, parent):
        indices = select_indices(battery.items, derived.parameters.families)
        shared = [battery.items[index] for index in indices if battery.items[index].instance in instances]
        if shared:
            raise UsageError(
                f"item {shared[0].id} is also an item of {derived.name}, which is sealed",
                hint=f"seal retire {parent} publishes both; choose an item that {derived.name} lacks",
            )


def read_reveals(workspace: Workspace, name: str) -> list[Reveal]:
    """Every reveal of a battery's items so far, oldest first."""
    form = re.compile(rf"{re.escape(name)}-([0-9]+)\.json")
    found = []
    for path in workspace.reveals.glob(f"{name}-*.json"):
        match = form.fullmatch(path.name)
        if match:
            found.append((int(match[1]), Reveal.from_bytes(store.read(path), workspace.relative(path))))
    return [reveal for _, reveal in sorted(found, key=lambda pair: pair[0])]


def reveal(workspace: Workspace, chosen: ToReveal, *, clock: Clock = system_clock) -> tuple[Reveal, Path]:
    """Write, sign and register `commitments/reveals/NAME-N.json`. There is no way back.

    Raises
    ------
    CheckFailed : a public file was changed since the last command.
    """
    battery = chosen.battery
    name = battery.commitment.name
    with publish(workspace, clock) as publication:
        refuse_damage(workspace)
        _refuse_published(workspace, battery)
        path = workspace.reveals / f"{name}-{len(read_reveals(workspace, name)) + 1}.json"
        document = Reveal(
            **publication.identity(),
            battery=name,
            commitment=publication.hash_of(workspace.commitment(name)),
            root=battery.commitment.root,
            items=len(battery.items),
            entries=open_items(battery, chosen.indices),
        )
        written = publication.write_signed(path, document)
        instances = len({item.instance for item in chosen.items})
        publication.event("reveal", name, [written], {"instances": instances, "items": len(chosen.indices)})
    return document, path
