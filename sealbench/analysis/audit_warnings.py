"""What else differs between the classes: run order, time, prompt length, parity of the number asked about.

A difference in cutting that goes with one of these may be its effect and not the class's.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sealbench.analysis.audit_classes import Classes
from sealbench.analysis.audit_table import GroupTable, Ints

_FEWEST = 8  # items of either class below which none of this can be seen
_CONFOUNDED = 0.9
_UNEVEN = 0.75
_PARITY_GAIN = 0.05


def warnings_of(table: GroupTable, classes: Classes, class_field: str) -> list[str]:
    """The warnings of one group, the gravest first."""
    item, item_class, labels = table.item(), classes.item_class, classes.labels
    found = []
    if table.conflicts:
        found.append(
            f"{table.conflicts} items stand in more than one class; each pair of item and class counts as an "
            "item of its own"
        )
    if len(table.files) > 1:
        found.append(
            f"its rows come from {len(table.files)} files: an item that stands in several counts once, with "
            "its repeats (if the files are copies of one run, audit one of them)"
        )
    _, first = np.unique(item, return_index=True)
    for place, name in enumerate(labels if len(labels) > 2 else labels[:1]):
        own = item_class == place
        rest = (item_class >= 0) & ~own
        if min(int(own.sum()), int(rest.sum())) < _FEWEST:
            continue
        other = labels[1 - place] if len(labels) == 2 else "the rest"
        found += _order(first, own, rest, name, other)
        found += _time(table.time()[first], own, rest, name, other)
        found += _length(table.length()[first], own, rest, name, other)
    found += _parity(table.parity()[first], item_class, labels, class_field)
    return found


def _order(first: Ints, own: NDArray[np.bool_], rest: NDArray[np.bool_], name: str, other: str) -> list[str]:
    share = _superiority(first[own].astype(float), first[rest].astype(float))
    if max(share, 1 - share) < _CONFOUNDED:
        return []
    one, two = (other, name) if share > 0.5 else (name, other)
    extent = "all" if share in (0.0, 1.0) else "almost all"
    return [
        (
            f"class and run order are confounded: {extent} {one} items stand before the {two} items "
            "in this log, so drift over the run cannot be told from a class effect"
        )
    ]


def _time(
    time: NDArray[np.float64], own: NDArray[np.bool_], rest: NDArray[np.bool_], name: str, other: str
) -> list[str]:
    known = ~np.isnan(time)
    if min(int((known & own).sum()), int((known & rest).sum())) < _FEWEST:
        return []
    share = _superiority(time[known & own], time[known & rest])
    if max(share, 1 - share) < _CONFOUNDED:
        return []
    one, two = (other, name) if share > 0.5 else (name, other)
    gap = abs(float(np.median(time[known & own])) - float(np.median(time[known & rest])))
    return [
        f"class and time are confounded: {one} items were run before {two} items (medians {_span(gap)} apart)"
    ]


def _length(
    length: NDArray[np.int32], own: NDArray[np.bool_], rest: NDArray[np.bool_], name: str, other: str
) -> list[str]:
    known = length >= 0
    if min(int((known & own).sum()), int((known & rest).sum())) < _FEWEST:
        return []
    share = _superiority(length[known & own].astype(float), length[known & rest].astype(float))
    if max(share, 1 - share) < _UNEVEN:
        return []
    longer, shorter = (name, other) if share > 0.5 else (other, name)
    part = round(100 * max(share, 1 - share))
    return [
        (
            f"class and prompt length go together: in {part}% of pairs the prompt of the {longer} item "
            f"is longer than that of the {shorter} item"
        )
    ]


def _parity(parity: NDArray[np.int8], item_class: Ints, labels: list[str], class_field: str) -> list[str]:
    known = (parity >= 0) & (item_class >= 0)
    if len(labels) != 2 or int(known.sum()) < 2 * _FEWEST or len(np.unique(parity[known])) < 2:
        return []
    odd = parity[known] == 1
    scores = [float(np.mean((item_class[known] == place) == odd)) for place in (0, 1)]
    place = int(np.argmax(scores))
    majority = max(float(np.mean(item_class[known] == own)) for own in (0, 1))
    if scores[place] < majority + _PARITY_GAIN:
        return []
    # A bare 0 or 1 tells nothing without its field.
    name = labels[place] if not labels[place].isdigit() else f"{class_field} = {labels[place]}"
    return [
        (
            f'"odd means {name}" scores {100 * scores[place]:.1f}% on these items: the parity of the number '
            "alone gives much of the class away"
        )
    ]


def _superiority(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """The share of pairs in which the first is larger, ties half."""
    ordered = np.sort(second)
    below = np.searchsorted(ordered, first, side="left").astype(float)
    upto = np.searchsorted(ordered, first, side="right").astype(float)
    return float(np.mean((below + upto) / 2)) / len(second)


def _span(gap: float) -> str:
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if gap >= 2 * size:
            return f"{gap / size:.0f} {unit}"
    return f"{gap:.0f} seconds"
