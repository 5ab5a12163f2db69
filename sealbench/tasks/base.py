"""What a task family is, and how one is found by its name.

A family draws instances (one problem each) from a `Stream` and renders each in one or more wordings.
Its output never changes within a version: the same slot, parameters and stream give the same bytes
on every Python and machine. Families are looked up among the built-ins and the entry points of group
`sealbench.families`; nothing of a family is imported before its name is asked for.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.metadata
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol, TypeAlias, Union

from sealbench.crypto.digest import join_parts, sha256_hex
from sealbench.crypto.stream import Stream
from sealbench.errors import ConfigurationError, UsageError

Json: TypeAlias = Union[bool, int, str, list["Json"], dict[str, "Json"], None]  # noqa: UP007 (recursive)
Search: TypeAlias = Literal["exhaustive", "witness", "none"]

ENTRY_POINT_GROUP = "sealbench.families"
BUILT_IN_FAMILIES = {
    "digit_sum_parity": "sealbench.tasks.digit_sum_parity:FAMILY",
    "primality": "sealbench.tasks.primality:FAMILY",
    "satisfiability": "sealbench.tasks.satisfiability:FAMILY",
    "subset_sum": "sealbench.tasks.subset_sum:FAMILY",
}


@dataclass(frozen=True)
class Slot:
    """What is to be drawn at one index of a battery."""

    class_label: str
    kind: str
    stratum: str


@dataclass(frozen=True)
class Instance:
    """One problem with its certified class.

    `params` is the problem itself and `certificate` shows its class; both are canonical JSON with
    integers beyond 2^53 - 1 as decimal strings. `kind` names the comparison an instance belongs to:
    a prime of kind `semiprime` is the matched partner of the semiprime composites.
    """

    class_label: str
    kind: str
    stratum: str
    search: Search
    params: dict[str, Json]
    certificate: dict[str, Json]


@dataclass(frozen=True)
class Rendered:
    """One instance in one wording: what a model reads, and what it should answer.

    `answer_type` is a type of `sealbench.tasks.answers`; it names the possible answers itself, so
    that a reply can be graded from the item alone.
    """

    prompt: str
    answer: str
    answer_type: str
    minimal_answer: str
    category: str


class TaskFamily(Protocol):
    """The whole contract between a task family and the rest; see docs/writing-a-family.md."""

    @property
    def name(self) -> str:
        """The family's name, of [a-z0-9_]+, as users write it."""

    @property
    def version(self) -> int:
        """Raised whenever the output of any draw changes; old versions stay."""

    @property
    def summary(self) -> str:
        """One line for `seal families`."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The class labels, of [a-z0-9_]+; the one that needs the whole search first."""

    @property
    def wordings(self) -> tuple[str, ...]:
        """The wordings that `render` knows; the default first."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the modules whose source decides the output."""

    def complete(self, given: Mapping[str, str]) -> dict[str, Json]:
        """All parameters, validated, with defaults filled in; ConfigurationError names a bad one."""

    def slots(self, parameters: Mapping[str, Json], per_class: int) -> list[Slot]:
        """`per_class` slots for every class, kind and stratum; UsageError if they cannot all differ."""

    def generate(self, slot: Slot, parameters: Mapping[str, Json], stream: Stream) -> Instance:
        """The next instance of this slot; a second call on the same stream draws another one."""

    def render(self, instance: Instance, wording: str, stream: Stream) -> Rendered:
        """The instance in one wording; the stream decides only what a wording leaves open."""

    def check(self, params: Mapping[str, Json], class_label: str, certificate: Mapping[str, Json]) -> None:
        """Return if the certificate shows the class by arithmetic alone, else raise CertificateFailed."""


def family_names() -> list[str]:
    """The names of all families that can be asked for, sorted."""
    return sorted({*BUILT_IN_FAMILIES, *_entry_points()})


@cache
def get_family(name: str) -> TaskFamily:
    """The family of this name, imported now; UsageError, with the closest name, if there is none."""
    if name in BUILT_IN_FAMILIES:
        # Built-ins come first: an installed plugin cannot change what `primality` means.
        module, _, attribute = BUILT_IN_FAMILIES[name].partition(":")
        family: TaskFamily = getattr(importlib.import_module(module), attribute)
        return family
    entry = _entry_points().get(name)
    if entry is None:
        raise _unknown_family(name)
    try:
        family = entry.load()
    except Exception as error:  # a stranger's module may fail in any way
        raise ConfigurationError(
            f"the task family '{name}' ({entry.value}) cannot be loaded: {type(error).__name__}: {error}",
            hint=f"repair or uninstall the package that provides '{name}'",
        ) from error
    if getattr(family, "name", None) != name:
        raise ConfigurationError(
            f"the entry point '{name}' ({entry.value}) does not hold a task family of that name",
            hint="name the entry point after the family's `name`",
        )
    return family


def source_sha256(family: TaskFamily) -> str:
    """SHA-256 (hex) over the bytes of the family's source files, in order, each length-prefixed."""
    return sha256_hex(join_parts(*(_source_bytes(module) for module in family.sources)))


def _source_bytes(module: str) -> bytes:
    spec = importlib.util.find_spec(module)
    loader = spec.loader if spec is not None else None
    if spec is None or spec.origin is None or not hasattr(loader, "get_data"):
        raise ConfigurationError(
            f"the source of the module '{module}' is not installed, so its hash cannot be taken",
            hint="install the package from its sources or its wheel, with its .py files",
        )
    data: bytes = loader.get_data(spec.origin)  # type: ignore[union-attr]
    return data


def _entry_points() -> dict[str, importlib.metadata.EntryPoint]:
    return {entry.name: entry for entry in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)}


def _unknown_family(name: str) -> UsageError:
    names = family_names()
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean '{close[0]}'?" if close else "see them all with: seal families"
    return UsageError(f"there is no task family '{name}'; there are: {', '.join(names)}", hint=hint)
