"""Other caps: what smaller ones would have cut, class by class, and which one would be safe."""

from __future__ import annotations

import numpy as np

from sealbench.analysis.audit_classes import Classes
from sealbench.analysis.audit_cuts import Cuts, Flags
from sealbench.analysis.audit_result import CapPoint, Costs, Curve, SafeCap
from sealbench.analysis.audit_table import GroupTable, Ints
from sealbench.analysis.audit_tests import item_test
from sealbench.stats.caps import max_over_caps
from sealbench.stats.planning import safe_cap
from sealbench.stats.pvalue import PValue

_ROUND = [digit * 10**power for power in range(1, 7) for digit in (1, 2, 3, 5)]
_MOST_POINTS = 12
_MOST_ITEMS = 2000  # of a test over all caps, which takes the product of both class sizes
_MOST_COSTS = 500  # per class, evenly spaced, for the tolerance bound
_MOST_DRAWN = 400  # token counts per class that a figure shows
_FEWEST = 4  # responses of either class that a cap must spare and cut to be worth a line


def curve(table: GroupTable, cuts: Cuts, chosen: Classes, class1: str | None, side: str) -> Curve | None:
    """Round caps below the real one; None without token counts or without two classes."""
    tokens, item, item_class, labels = table.tokens(), table.item(), chosen.item_class, chosen.labels
    usable = (tokens >= 0) & ~cuts.missing & (item_class[item] >= 0)
    if not np.any(usable):
        return None
    caps = _caps(tokens[usable], cuts.cap)
    classes = {name: item_class[item] == place for place, name in enumerate(labels)}
    points = []
    worst: tuple[float, int] | None = None
    names = ("", "")
    for cap in caps:
        above = usable & (tokens > cap)
        test = item_test("cut", above, usable, item, item_class, labels, class1, side)
        if test is None:
            return None
        points.append(
            CapPoint(
                cap,
                {name: int(np.count_nonzero(above & own)) for name, own in classes.items()},
                {
                    name: int(np.count_nonzero(usable & (tokens == cap) & own))
                    for name, own in classes.items()
                },
                test.p_item,
            )
        )
        rank = float(test.p_item.value)
        if worst is None or rank < worst[0]:
            worst, names = (rank, cap), (test.class1, test.class0)
    if not points or worst is None:
        return None
    p_any = _any_cap(tokens, usable, item, item_class, labels)
    return Curve(tuple(points), p_any, *names, worst[1])


def _caps(tokens: Ints, cap: int | None) -> list[int]:
    limit = int(tokens.max()) if cap is None else min(cap, int(tokens.max()))
    caps = []
    for value in _ROUND:
        above = int(np.count_nonzero(tokens > value))
        if value < limit and above >= _FEWEST and len(tokens) - above >= _FEWEST:
            caps.append(value)
    return caps[:_MOST_POINTS]


def _any_cap(tokens: Ints, usable: Flags, item: Ints, item_class: Ints, labels: list[str]) -> PValue | None:
    """The familywise p over every possible cap, for two classes asked once each."""
    if len(labels) != 2 or len(item_class) > _MOST_ITEMS or np.bincount(item[usable]).max(initial=0) > 1:
        return None
    costs = [[int(value) for value in tokens[usable & (item_class[item] == place)]] for place in (0, 1)]
    return max_over_caps(costs[0], costs[1]).p_value if all(costs) else None


def safe(table: GroupTable, cuts: Cuts, classes: Classes) -> SafeCap:
    """The smallest cap that spares 95% of each class with 95% confidence, from one response an item."""
    tokens, item, item_class = table.tokens(), table.item(), classes.item_class
    usable = (tokens >= 0) & ~cuts.missing & ~cuts.other
    if not np.any(usable):
        return SafeCap(None, {}, "the log holds no token counts")
    _, first = np.unique(np.where(usable, item, -1), return_index=True)
    chosen = first[usable[first]]
    costs = {}
    for place, name in enumerate(classes.labels):
        rows = chosen[item_class[item[chosen]] == place]
        if len(rows) > _MOST_COSTS:
            rows = rows[np.linspace(0, len(rows) - 1, _MOST_COSTS).astype(int)]
        if len(rows):
            costs[name] = [(int(tokens[row]), int(not cuts.cut[row])) for row in rows]
    if not costs:
        return SafeCap(None, {}, classes.reason or "no class has a token count")
    found = safe_cap(costs)
    by_class = {name: None if cap is None else int(cap) for name, cap in found.by_class.items()}
    return SafeCap(None if found.cap is None else int(found.cap), by_class, found.reason)


def costs_of(table: GroupTable, cuts: Cuts, classes: Classes) -> dict[str, Costs]:
    """Per class its sorted token counts, thinned evenly where there are many; no entry without any."""
    tokens, kind = table.tokens(), classes.item_class[table.item()]
    found = {}
    for place, name in enumerate(classes.labels):
        rows = np.flatnonzero((tokens >= 0) & ~cuts.missing & (kind == place))
        if not len(rows):
            continue
        rows = rows[np.lexsort((cuts.cut[rows], tokens[rows]))]
        shown = rows
        if len(rows) > _MOST_DRAWN:
            shown = rows[np.linspace(0, len(rows) - 1, _MOST_DRAWN).round().astype(int)]
        found[name] = Costs(
            tuple(int(value) for value in tokens[shown]),
            tuple(bool(value) for value in cuts.cut[shown]),
            len(rows),
        )
    return found
