"""A battery from K and its public parameters: instances, wordings, order, ids.

Pure and repeatable: `seal create` makes a battery with it, `seal verify` makes it again from a
published K. Source: docs/spec/derivations.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import repeat

from sealbench.crypto.canonical import encode
from sealbench.crypto.derivation import (
    SECRET_SIZE,
    ItemKeys,
    battery_seed,
    instance_id,
    item_stream,
    shuffle_stream,
    wording_stream,
)
from sealbench.crypto.stream import Stream
from sealbench.errors import UsageError
from sealbench.formats.battery import FamilyParameters, Item, Parameters
from sealbench.tasks.base import Instance, Rendered, Search, Slot, TaskFamily, get_family

_MAX_REDRAWS = 1000
_PART = 64  # instances that an executor's process draws at a time


@dataclass(frozen=True)
class _Drawn:
    """An instance with its family and its index before the shuffle."""

    family: TaskFamily
    index: int
    instance: Instance


@dataclass(frozen=True)
class ItemShape:
    """What the public parameters alone tell of some of a battery's items: never a problem or an answer."""

    family: str
    class_label: str
    kind: str
    stratum: str
    search: Search
    wording: str


def item_shapes(parameters: Parameters) -> list[ItemShape]:
    """The different shapes of a battery's items, in order of their slots; needs no K.

    One throwaway instance for each sort of slot, drawn from a public seed, tells `search`.

    Raises
    ------
    UsageError : a family is not installed, or its ranges cannot hold that many different instances.
    """
    shapes: list[ItemShape] = []
    for chosen in parameters.families:
        family = get_family(chosen.family)
        slots = dict.fromkeys(family.slots(chosen.parameters, chosen.per_class))
        for index, slot in enumerate(slots):
            stream = item_stream(bytes(SECRET_SIZE), chosen.family, index)
            drawn = family.generate(slot, chosen.parameters, stream)
            shapes += [
                ItemShape(chosen.family, drawn.class_label, drawn.kind, drawn.stratum, drawn.search, wording)
                for wording in parameters.wordings
            ]
    return shapes


def build_items(
    secret: bytes,
    parameters: Parameters,
    *,
    beacon: bytes = b"",
    on_instance: Callable[[], None] | None = None,
    executor: Executor | None = None,
) -> list[Item]:
    """All items of a battery in their sealed order.

    Parameters
    ----------
    secret : K, 32 bytes.
    parameters : the public parameters; families must be installed in the version they name.
    beacon : the beacon's 32 bytes, empty outside beacon mode.
    on_instance : called after each drawn instance, for progress.
    executor : draws the instances, the same ones in the same order; its processes learn the battery's
        seed, from which every problem and answer follows, but never K.

    Raises
    ------
    UsageError : a family is not installed, or its ranges cannot hold that many different instances.
    """
    seed = battery_seed(secret, parameters.to_bytes(), beacon)
    drawn = [
        one for family in parameters.families for one in _draw_family(seed, family, on_instance, executor)
    ]
    asked = [(one, wording) for one in drawn for wording in parameters.wordings]
    shuffle_stream(seed).shuffle(asked)
    keys = ItemKeys(secret)
    return [
        _item(secret, seed, keys.item_id(index), one, wording) for index, (one, wording) in enumerate(asked)
    ]


def _draw_family(
    seed: bytes,
    chosen: FamilyParameters,
    on_instance: Callable[[], None] | None,
    executor: Executor | None,
) -> list[_Drawn]:
    family = get_family(chosen.family)
    slots = family.slots(chosen.parameters, chosen.per_class)
    firsts: Iterator[Instance | None] = repeat(None)
    if executor is not None:
        firsts = _first_draws(executor, seed, chosen, slots)
    drawn: list[_Drawn] = []
    seen: set[bytes] = set()
    for index, (slot, first) in enumerate(zip(slots, firsts, strict=False)):
        instance = first
        if instance is None or encode(instance.params) in seen:
            instance = _draw_new(family, slot, chosen, item_stream(seed, chosen.family, index), seen)
        seen.add(encode(instance.params))
        drawn.append(_Drawn(family, index, instance))
        if on_instance is not None:
            on_instance()
    return drawn


def _draw_new(
    family: TaskFamily, slot: Slot, chosen: FamilyParameters, stream: Stream, seen: set[bytes]
) -> Instance:
    """The first instance of a stream whose problem has not been drawn before."""
    for _ in range(_MAX_REDRAWS):
        instance = family.generate(slot, chosen.parameters, stream)
        if encode(instance.params) not in seen:
            return instance
    raise UsageError(
        f"{chosen.family}: no new {slot.class_label} ({slot.kind}) found in {_MAX_REDRAWS} draws",
        hint="widen the ranges with -p, or lower --per-class",
    )


def _first_draws(
    executor: Executor, seed: bytes, chosen: FamilyParameters, slots: Sequence[Slot]
) -> Iterator[Instance]:
    """The first instance of each slot's own stream, drawn by an executor, in order."""
    numbered = list(enumerate(slots))
    parts = [numbered[start : start + _PART] for start in range(0, len(numbered), _PART)]
    # Lists, not `repeat`: Dask's executor asks for lengths.
    for instances in executor.map(draw_part, parts, [seed] * len(parts), [chosen] * len(parts)):
        yield from instances


def draw_part(numbered: Sequence[tuple[int, Slot]], seed: bytes, chosen: FamilyParameters) -> list[Instance]:
    """What one process of an executor draws: the first instances of some slots."""
    family = get_family(chosen.family)
    return [
        family.generate(slot, chosen.parameters, item_stream(seed, chosen.family, index))
        for index, slot in numbered
    ]


def _item(secret: bytes, seed: bytes, item_id: str, one: _Drawn, wording: str) -> Item:
    family, instance = one.family, one.instance
    stream = wording_stream(seed, family.name, one.index, wording)
    rendered = family.render(instance, wording, stream)
    return make_item(
        item_id, instance_id(secret, family.name, one.index), family.name, wording, instance, rendered
    )


def make_item(
    item_id: str, instance: str, family: str, wording: str, content: Instance, rendered: Rendered
) -> Item:
    """One problem in one wording, under the ids that its key gives."""
    return Item(
        id=item_id,
        instance=instance,
        family=family,
        class_label=content.class_label,
        kind=content.kind,
        stratum=content.stratum,
        search=content.search,
        wording=wording,
        category=rendered.category,
        prompt=rendered.prompt,
        answer=rendered.answer,
        answer_type=rendered.answer_type,
        minimal_answer=rendered.minimal_answer,
        params=content.params,
        certificate=content.certificate,
    )
