"""Commented plans for a person to read and change, filled in for the battery at hand.

Four templates: `two-class` (any family), `paper0` (primality against subset-sum, with its falsifier),
`reasoning` (endpoints as pairs, on and off) and `import` (own items, directions left open). What a
template needs its battery to hold is a recipe that `seal create --for` reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

from sealbench.errors import UsageError
from sealbench.plans.texts import (
    ABOUT_IMPORT,
    ABOUT_PAPER0,
    ABOUT_REASONING,
    FALSIFIES,
    HEAD,
    HYPOTHESIS,
    VOID,
)

TEMPLATES = ("two-class", "paper0", "reasoning", "import")


@dataclass(frozen=True)
class Recipe:
    """What a battery must be made of for a template: `given` is FAMILY.PARAMETER=VALUE."""

    families: tuple[str, ...]
    given: tuple[str, ...]
    wordings: tuple[str, ...]


_RECIPES = {
    "paper0": Recipe(
        ("primality", "subset_sum"), ("primality.composite=small_factor,semiprime",), ("plain", "inverted")
    ),
    "reasoning": Recipe(("primality", "subset_sum"), (), ("plain",)),
    "two-class": Recipe(("primality",), (), ("plain",)),
}


@dataclass(frozen=True)
class Contrast:
    """Two classes of a family; `searched` if the first needs the whole search and the second does not."""

    family: str
    class1: str
    class0: str
    searched: bool

    @property
    def direction(self) -> str:
        """Only where the search is known is a direction expected."""
        return "greater" if self.searched else "two-sided"


class Shaped(Protocol):
    """An item, or its shape: what a plan may speak of."""

    @property
    def family(self) -> str:
        """The task family."""

    @property
    def class_label(self) -> str:
        """The class whose censoring is compared."""

    @property
    def kind(self) -> str:
        """The sort of instance within its family."""

    @property
    def search(self) -> str:
        """exhaustive, witness or none."""


@dataclass(frozen=True)
class _Subject:
    """What a template is filled in for."""

    items: Sequence[Shaped]
    endpoints: Sequence[str]
    caps: Sequence[int]
    wordings: Sequence[str]


class _Draft:
    """The blocks written so far; hypotheses and void conditions are numbered in order."""

    def __init__(self) -> None:
        self.hypotheses: list[str] = []
        self.voids: list[str] = []

    def add(
        self,
        contrast: Contrast,
        measure: str,
        cap: int,
        where: dict[str, str],
        *,
        direction: str | None = None,
        comment: str = "",
        falsifies: Sequence[str] = (),
    ) -> str:
        """Write one hypothesis; its id."""
        name = f"H{len(self.hypotheses) + 1}"
        block = HYPOTHESIS.format(
            id=name,
            comment=f"\n# {comment}" if comment else "",
            measure=measure,
            where=_table({"family": contrast.family, **where}),
            cap=cap,
            class1=contrast.class1,
            class0=contrast.class0,
            direction=direction or contrast.direction,
        )
        self.hypotheses.append(block + (FALSIFIES.format(falsifies=_strings(falsifies)) if falsifies else ""))
        return name

    def void(self, comment: str, cap: int, where: dict[str, str], voids: Sequence[str]) -> None:
        """Write one void condition."""
        name = f"V{len(self.voids) + 1}"
        self.voids.append(
            VOID.format(id=name, comment=comment, where=_table(where), cap=cap, voids=_strings(voids))
        )


def recipe(template: str) -> Recipe:
    """What `seal create --for TEMPLATE` makes.

    Raises
    ------
    UsageError : no such template, or one whose items a person brings.
    """
    if template == "import":
        raise UsageError(
            "the template import is for your own items", hint="seal create --import items.csv --name NAME"
        )
    _check_template(template)
    return _RECIPES[template]


def contrasts(items: Sequence[Shaped]) -> list[Contrast]:
    """The contrasts of every family, in order of their names.

    A family with a searched and a witnessed class gives that one; any other each pair of its classes.
    """
    labels: dict[str, dict[str, str]] = {}
    classes: dict[str, set[str]] = {}
    for item in items:
        labels.setdefault(item.family, {}).setdefault(item.search, item.class_label)
        classes.setdefault(item.family, set()).add(item.class_label)
    found: list[Contrast] = []
    for family, searched in sorted(labels.items()):
        if {"exhaustive", "witness"} <= set(searched):
            found.append(Contrast(family, searched["exhaustive"], searched["witness"], True))
        else:
            found += [Contrast(family, *pair, False) for pair in combinations(sorted(classes[family]), 2)]
    return found


def fill(
    template: str,
    *,
    battery: str,
    plan: str,
    items: Sequence[Shaped],
    endpoints: Sequence[str],
    caps: Sequence[int],
    wordings: Sequence[str],
    deadline: str,
) -> str:
    """The text of `PLAN.toml`.

    Raises
    ------
    UsageError : no such template, or the battery or the endpoints are not what it needs.
    """
    _check_template(template)
    about, write = _WRITERS[template]
    draft = _Draft()
    write(draft, _Subject(items, endpoints, caps, wordings))
    head = HEAD.format(
        battery=battery,
        plan=plan,
        about=about.format(battery=battery),
        endpoints=_strings(endpoints),
        caps=list(caps),
        wordings=_strings(wordings),
        deadline=deadline,
    )
    return "".join([head, *draft.hypotheses, *draft.voids])


def _check_template(template: str) -> None:
    if template not in TEMPLATES:
        raise UsageError(f"no template {template}", hint=f"use one of {', '.join(TEMPLATES)}")


def _two_class(draft: _Draft, subject: _Subject) -> None:
    """Per family and endpoint: cut and lost at the smallest cap, cost at the largest."""
    for contrast in contrasts(subject.items):
        for endpoint in subject.endpoints:
            where = {"endpoint": endpoint}
            ids = [
                draft.add(contrast, measure, cap, where)
                for measure, cap in (
                    ("censored", min(subject.caps)),
                    ("lost", min(subject.caps)),
                    ("charged_tokens", max(subject.caps)),
                )
            ]
            draft.void(
                f"If not one response of {endpoint} was cut here, the battery was too easy to say anything "
                "about cuts.",
                min(subject.caps),
                {"family": contrast.family, **where},
                ids[:2],
            )


def _paper0(draft: _Draft, subject: _Subject) -> None:
    """Primality and its inverted control in every wording, then the falsifier."""
    found = {contrast.family: contrast for contrast in contrasts(subject.items)}
    kinds = {item.kind for item in subject.items if item.family == "primality"}
    if not {"small_factor", "semiprime"} <= kinds or "subset_sum" not in found:
        raise UsageError(
            "the template paper0 needs primality with small factors and semiprimes, and subset_sum",
            hint="seal create --for paper0 --name NAME --per-class 8, or --template two-class",
        )
    small, large = min(subject.caps), max(subject.caps)
    primality: list[str] = []
    control: list[str] = []
    for wording in subject.wordings:
        where = {"kind": "small_factor", "wording": wording}
        said = f"wording {wording}"
        primality += [
            draft.add(
                found["primality"], "lost", small, where, comment=f"Primes are lost more often, {said}."
            ),
            draft.add(
                found["primality"], "charged_tokens", large, where, comment=f"Primes cost more, {said}."
            ),
        ]
    for wording in subject.wordings:
        where, said = {"wording": wording}, f"wording {wording}"
        control.append(
            draft.add(
                found["subset_sum"],
                "lost",
                small,
                where,
                comment=f'Inversion control: "no" is lost more often, {said}.',
            )
        )
    draft.add(
        found["primality"],
        "charged_tokens",
        large,
        {"kind": "semiprime"},
        comment="The falsifier: primes cost more even than composites whose search is as long.",
        falsifies=primality,
    )
    draft.void(
        "If nothing was cut in subset-sum, it was too easy to be a control.",
        small,
        {"family": "subset_sum"},
        control,
    )


def _reasoning(draft: _Draft, subject: _Subject) -> None:
    """Per pair of endpoints: a direction with reasoning on, none without."""
    if len(subject.endpoints) % 2:
        raise UsageError(
            "the template reasoning takes endpoints in pairs, reasoning on and then off",
            hint="--endpoint model-on --endpoint model-off",
        )
    for contrast in contrasts(subject.items):
        for place, endpoint in enumerate(subject.endpoints):
            state = "off" if place % 2 else "on"
            direction = "two-sided" if place % 2 else contrast.direction
            where = {"endpoint": endpoint}
            comment = f"{endpoint}: reasoning {state}."
            for measure, cap in (("lost", min(subject.caps)), ("charged_tokens", max(subject.caps))):
                draft.add(contrast, measure, cap, where, direction=direction, comment=comment)


_WRITERS: dict[str, tuple[str, Callable[[_Draft, _Subject], None]]] = {
    "two-class": ("", _two_class),
    "paper0": (ABOUT_PAPER0, _paper0),
    "reasoning": (ABOUT_REASONING, _reasoning),
    "import": (ABOUT_IMPORT, _two_class),
}


def _table(filters: dict[str, str]) -> str:
    return "{ " + ", ".join(f'{key} = "{value}"' for key, value in filters.items()) + " }"


def _strings(values: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{value}"' for value in values) + "]"
