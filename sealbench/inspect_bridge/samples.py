"""A battery's items as plain samples, and the registry's record that a harness has shown them to a model.

Nothing here needs Inspect AI.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sealbench.clock import Clock, system_clock
from sealbench.errors import UsageError
from sealbench.formats.preregistration import Parser
from sealbench.formats.sealed_sample import METADATA_KEY, SealedSample
from sealbench.publishing.publication import publish, read_registry, refuse_damage
from sealbench.publishing.sealing import OpenBattery, open_battery, open_items
from sealbench.store import Workspace, check_name
from sealbench.tasks.answers import PARSER_NAME, PARSER_VERSION

# Fields that Inspect's own tables can group by; the check reads none of them.
_SHOWN = ("family", "class_label", "kind", "stratum", "search", "wording", "category", "instance")


@dataclass(frozen=True)
class PlainSample:
    """One item as a harness takes it: its id, the prompt, the right answer, and what the log shall carry."""

    id: str
    prompt: str
    answer: str
    metadata: dict[str, Any]


@dataclass(frozen=True)
class Samples:
    """A battery ready for a harness. A published one is no longer sealed, and showing it is no exposure."""

    workspace: Workspace
    battery: OpenBattery
    published: bool
    samples: tuple[PlainSample, ...]

    @property
    def metadata(self) -> dict[str, Any]:
        """What the log's header shall say."""
        commitment = self.battery.commitment
        return {
            METADATA_KEY: {
                "battery": commitment.name,
                "commitment": commitment.digest(),
                "root": commitment.root,
                "items": commitment.items,
                "retired": self.published,
            }
        }

    def register_exposure(self, model: str, *, clock: Clock = system_clock) -> None:
        """Write into the registry that this model is shown sealed items; nothing for a published battery.

        Raises
        ------
        CheckFailed : a public file was changed since the last command.
        """
        if self.published:
            return
        with publish(self.workspace, clock) as publication:
            refuse_damage(self.workspace)
            detail = {"endpoints": [f"inspect:{model}"], "run": None}
            publication.event("expose", self.battery.commitment.name, [], detail)


def samples_of(folder: Path, name: str, wording: str | None = None) -> Samples:
    """The items of a battery, opened with the author's key or, once it is retired, with the published one.

    Parameters
    ----------
    folder : the workspace, or a folder in it.
    wording : this wording only; all of them by default.

    Raises
    ------
    UsageError : no workspace there, no such wording.
    MissingKey : a sealed battery of somebody else.
    """
    check_name(name, "battery")
    workspace = Workspace.find(folder)
    published = workspace.registry.exists() and read_registry(workspace).find("retire", name) is not None
    battery = open_battery(workspace, name, published=published)
    offered = battery.commitment.parameters.wordings
    if wording is not None and wording not in offered:
        raise UsageError(f"{name} has no wording {wording}", hint=f"-T wording={offered[0]}")
    places = [place for place, item in enumerate(battery.items) if wording is None or item.wording == wording]
    return Samples(workspace, battery, published, tuple(_plain(battery, places)))


def _plain(battery: OpenBattery, places: Sequence[int]) -> list[PlainSample]:
    digest = battery.commitment.digest()
    found = []
    for opened in open_items(battery, places):
        item = opened.item
        sealed = SealedSample(
            battery=battery.commitment.name,
            commitment=digest,
            parser=Parser(name=PARSER_NAME, version=PARSER_VERSION),
            opened=opened,
        )
        shown = {name: getattr(item, name) for name in _SHOWN}
        found.append(
            PlainSample(item.id, item.prompt, item.answer, {**shown, METADATA_KEY: sealed.to_value()})
        )
    return found
