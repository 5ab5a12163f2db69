"""The item-level tests of an audit: two classes, or each class against the rest.

Items, not responses, are exchanged between the classes. Which measure is tested depends on the group's
totals alone, never on how they fall on the classes, so the choice costs nothing.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sealbench.analysis.audit_cuts import Cuts, Flags
from sealbench.analysis.audit_result import Test
from sealbench.analysis.audit_table import Ints
from sealbench.stats.contingency import censoring_difference, fisher_exact
from sealbench.stats.large_tables import fisher_bounds
from sealbench.stats.planning import smallest_p
from sealbench.stats.pvalue import PValue

_MOST_REPEATED = 3000  # items asked several times whose mean scores are permuted
_MOST_EXACT = 20_000  # items of a 2×2 table as a fraction; beyond it between proved bounds
_MOST_LISTED = 400


def measure_of(cuts: Cuts) -> tuple[str, Flags, Flags]:
    """(measure, per row whether it happened, per row whether the log can tell)."""
    cut, lost = int(np.count_nonzero(cuts.cut)), int(np.count_nonzero(cuts.lost))
    if cut:
        return ("lost", cuts.lost, cuts.judged) if lost == cut else ("cut", cuts.cut, cuts.judged)
    if np.any(cuts.invisible):
        return "empty", cuts.invisible, cuts.text_known
    return "cut", cuts.cut, cuts.judged


def item_test(
    measure: str,
    happened: Flags,
    usable: Flags,
    item: Ints,
    item_class: Ints,
    labels: list[str],
    class1: str | None,
    alternative: str,
) -> Test | None:
    """The test of a group; None if fewer than two classes have a usable response."""
    rows = usable & (item_class[item] >= 0)
    size = len(item_class)
    asked = np.bincount(item[rows], minlength=size)
    hits = np.bincount(item[rows & happened], minlength=size)
    present = [place for place in range(len(labels)) if np.any((item_class == place) & (asked > 0))]
    if len(present) < 2:
        return None
    rates = {
        place: Fraction(int(hits[item_class == place].sum()), int(asked[item_class == place].sum()))
        for place in present
    }
    if class1 is not None:
        firsts = [labels.index(class1)] if class1 in labels else []
    elif len(present) == 2:
        firsts = [max(present, key=lambda place: (rates[place], labels[place]))]
    else:
        firsts = present
    tests = []
    for first in firsts:
        rest = [place for place in present if place != first]
        name = labels[rest[0]] if len(rest) == 1 else "the rest"
        tests.append(_two_sample(measure, hits, asked, item_class, first, (labels[first], name), alternative))
    best = min(tests, key=lambda test: test.p_item.value, default=None)
    return best if best is None or len(tests) == 1 else _times(best, len(tests))


def _two_sample(
    measure: str, hits: Ints, asked: Ints, item_class: Ints, first: int, names: tuple[str, str], side: str
) -> Test:
    used = (asked > 0) & (item_class >= 0)
    one, zero = used & (item_class == first), used & (item_class != first)
    notes: list[str] = []
    sizes = int(one.sum()), int(zero.sum())
    sums = [(int(hits[which].sum()), int(asked[which].sum())) for which in (one, zero)]
    response = None
    if int(asked.max(initial=0)) <= 1:
        p = table_p(sums[0], sums[1], side)
        smallest = _smallest_table(sums[0], sums[1], side)
    else:
        p = _repeated(hits, asked, one, zero, side, notes)
        smallest = _smallest_repeated(hits[used], asked[used], *sizes, side)
        response = table_p(sums[0], sums[1], side)
    return Test(
        measure,
        *names,
        side,
        p,
        response,
        1,
        smallest,
        (int((hits[one] > 0).sum()), sizes[0]),
        (int((hits[zero] > 0).sum()), sizes[1]),
        tuple(notes),
    )


def _repeated(hits: Ints, asked: Ints, one: Flags, zero: Flags, side: str, notes: list[str]) -> PValue:
    if int(one.sum() + zero.sum()) <= _MOST_REPEATED:
        samples = [
            [
                [1] * int(hit) + [0] * int(all_ - hit)
                for hit, all_ in zip(hits[which], asked[which], strict=True)
            ]
            for which in (one, zero)
        ]
        result = censoring_difference(samples[0], samples[1], alternative=side, level=None)
        notes.extend(result.notes)
        return result.p_value
    # Too many items for the distribution of means: those with the commonest number of repeats, cut at
    # least once or never, give an exact table. Equal numbers keep the items exchangeable.
    numbers, counts = np.unique(asked[one | zero], return_counts=True)
    repeats = int(numbers[int(np.argmax(counts))])
    kept = asked == repeats
    left = int((one | zero).sum() - ((one | zero) & kept).sum())
    notes.append(
        f"many items: tested is whether an item was hit at least once, among the items asked {repeats} times "
        f"({left} others left out)"
    )
    first, second = ((int((hits[w & kept] > 0).sum()), int((w & kept).sum())) for w in (one, zero))
    return table_p(first, second, side)


def table_p(one: tuple[int, int], zero: tuple[int, int], side: str) -> PValue:
    """Fisher's exact test of (cut, all) in two classes; beyond 20,000 items between two proved bounds."""
    if 0 in (one[1], zero[1]):
        return PValue.exact(Fraction(1))
    if one[1] + zero[1] <= _MOST_EXACT:
        return fisher_exact([list(one), list(zero)], alternative=side, level=None).p_value
    return fisher_bounds(*one, *zero, alternative=side)


def _smallest_table(one: tuple[int, int], zero: tuple[int, int], side: str) -> Fraction:
    """The smallest p of any table with these totals; beyond 400 items its upper bound."""
    size1, size0, cut = one[1], zero[1], one[0] + zero[0]
    extremes = [(x, size1, cut - x, size0) for x in {max(0, cut - size0), min(cut, size1)}]
    if size1 + size0 > _MOST_LISTED:
        return min(fisher_bounds(*counts, alternative=side).high for counts in extremes)
    return min(
        fisher_exact([[a, b], [c, d]], alternative=side, level=None).p_value.value for a, b, c, d in extremes
    )


def _smallest_repeated(hits: Ints, asked: Ints, size1: int, size0: int, side: str) -> Fraction:
    """The smallest p of any arrangement of these items; by a table where few differ from the rest."""
    few = min(int(np.count_nonzero(hits > 0)), int(np.count_nonzero(hits < asked)))
    if few <= min(size1, size0):
        return _smallest_table((few, size1), (0, size0), side)
    return smallest_p(size1, size0, alternative=side)


def _times(test: Test, number: int) -> Test:
    """The smallest of several one-against-rest tests, corrected by their number."""
    from dataclasses import replace

    p = test.p_item
    value, low, high = (min(Fraction(1), part * number) for part in (p.value, p.low, p.high))
    note = f"smallest of {number} tests of one class against the rest, multiplied by {number}"
    return replace(
        test,
        p_item=replace(p, value=value, low=low, high=high),
        times=number,
        smallest=min(Fraction(1), test.smallest * number),
        notes=(*test.notes, note),
    )
