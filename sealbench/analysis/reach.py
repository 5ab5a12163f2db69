"""Before a plan is frozen: which of its tests could never be significant, and how many items would do.

A test is out of reach if, with every registered test at the smallest p its design can have, its corrected
p still lies above its alpha. Holm's correction only grows with each p, so no data can do better.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sealbench.stats.multiplicity import holm
from sealbench.stats.planning import smallest_p

_MOST_PER_STRATUM = 500

Sizes = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Group:
    """Instances of one family, class, kind and stratum."""

    family: str
    class_label: str
    kind: str
    stratum: str
    instances: int


@dataclass(frozen=True)
class PlannedTest:
    """One registered test: the sizes (class 1, class 0) of its strata and what it must reach."""

    name: str
    alternative: str
    alpha: Fraction
    sizes: Sizes


@dataclass(frozen=True)
class OutOfReach:
    """Tests that can never reach their alpha.

    Attributes
    ----------
    reasons : one clause per test, with its smallest corrected p.
    per_stratum : the fewest instances per class and stratum with which all would; None if 500 do not.
    """

    reasons: tuple[str, ...]
    per_stratum: int | None


def strata_sizes(
    groups: Iterable[Group], where: Mapping[str, str], class1: str, class0: str
) -> list[tuple[int, int]]:
    """Instances of the two classes per stratum, among the groups that the filters keep."""
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for group in groups:
        fits = all(where.get(field, value) == value for field, value in _fields(group).items())
        if fits and group.class_label in (class1, class0):
            counts[group.family, group.stratum][group.class_label != class1] += group.instances
    return [(ones, zeros) for _, (ones, zeros) in sorted(counts.items())]


def _fields(group: Group) -> dict[str, str]:
    return {"family": group.family, "kind": group.kind, "stratum": group.stratum}


def out_of_reach(tests: Sequence[PlannedTest], correction: str) -> OutOfReach | None:
    """The tests that no data could make significant; None if there is none."""
    reached = _corrected(tests, correction, None)
    failing = [
        f"{test.name} (at best {reached[test.name]} after correction, alpha {float(test.alpha):g})"
        for test in tests
        if reached[test.name] > test.alpha
    ]
    if not failing:
        return None
    enough = next(
        (
            size
            for size in range(1, _MOST_PER_STRATUM + 1)
            if all(
                p <= test.alpha
                for test, p in zip(tests, _corrected(tests, correction, size).values(), strict=True)
            )
        ),
        None,
    )
    return OutOfReach(tuple(failing), enough)


def _corrected(tests: Sequence[PlannedTest], correction: str, size: int | None) -> dict[str, Fraction]:
    """Every test's smallest corrected p, with `size` instances per class and stratum instead of its own."""
    smallest = {
        test.name: smallest_p(
            strata=test.sizes if size is None else [(size, size)] * len(test.sizes),
            alternative=test.alternative,
        )
        for test in tests
    }
    return smallest if correction == "none" or not smallest else holm(smallest)
