"""Which classes a group has: few values as they are, numbers in bins, or none that can be tested."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sealbench.analysis.audit_table import NO_CLASS, ClassChoice, GroupTable, Ints

MOST_CLASSES = 10
_LISTED = 6


@dataclass(frozen=True)
class Classes:
    """Labels, per item the place of its label (or NO_CLASS), and why there are none where there are none."""

    labels: list[str]
    item_class: Ints
    reason: str


def classes_of(table: GroupTable, choice: ClassChoice) -> Classes:
    """The classes of a group."""
    labels, item_class = list(table.labels), table.item_class()
    if choice.bins is not None:
        return _binned(labels, item_class, choice)
    if not labels:
        return Classes([], item_class, f"no class: no row has a {choice.name}. {_advice(table, choice)}")
    if len(labels) > MOST_CLASSES:
        return Classes(
            [],
            np.full_like(item_class, NO_CLASS),
            f"no class: {choice.name} has {len(labels)} values. {_advice(table, choice)}",
        )
    order = sorted(range(len(labels)), key=lambda place: labels[place])
    renumbered = np.full(len(labels) + 1, NO_CLASS)
    for new, old in enumerate(order):
        renumbered[old] = new
    reason = "" if len(labels) > 1 else f"only one class: every {choice.name} is {labels[0]}"
    return Classes([labels[place] for place in order], renumbered[item_class], reason)


def _advice(table: GroupTable, choice: ClassChoice) -> str:
    fields = [name for name in table.possible_classes() if name != choice.field][:_LISTED]
    seen = f" (fields with few values here: {', '.join(fields)})" if fields else ""
    return (
        f"Choose one with --class FIELD{seen}, --bins 2 for numbers, --class-pattern, --labels, or "
        "--class-from OTHERLOG"
    )


def _binned(labels: list[str], item_class: Ints, choice: ClassChoice) -> Classes:
    """Numeric labels split at quantiles of the items, the bins named by their range."""
    values = np.full(len(labels) + 1, np.nan)
    for place, text in enumerate(labels):
        try:
            values[place] = float(text)
        except ValueError:
            continue
    numbers = values[item_class]
    known = ~np.isnan(numbers)
    if not np.any(known):
        nothing = np.full_like(item_class, NO_CLASS)
        return Classes([], nothing, f"no class: {choice.name} holds no numbers to split into bins")
    bins = choice.bins or 2
    edges = np.unique(np.quantile(numbers[known], [place / bins for place in range(1, bins)], method="lower"))
    binned = np.where(known, np.searchsorted(edges, numbers, side="left"), NO_CLASS)
    names: list[str] = []
    places = np.full_like(item_class, NO_CLASS)
    for bin_ in np.unique(binned[known]):
        own = numbers[known & (binned == bin_)]
        places[binned == bin_] = len(names)
        names.append(f"{choice.name} {own.min():g} to {own.max():g}")
    reason = "" if len(names) > 1 else f"only one class: every {choice.name} falls into one bin"
    return Classes(names, places, reason)
