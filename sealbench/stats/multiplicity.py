"""Many tests: Holm over registered tests, Westfall–Young over joint permutations of the same instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, lcm, prod

from sealbench.stats.linear import check_sides
from sealbench.stats.pvalue import EXACT, MONTE_CARLO, PValue
from sealbench.stats.values import DataError, Number, to_fraction, to_fractions

MOST_ARRANGEMENTS = 3_000_000
DRAWS = 99_999
_MOST_RANKS = 200_000_000  # arrangements times tests held in memory, 4 bytes each


def holm(p_values: Mapping[str, Number | PValue]) -> dict[str, Fraction]:
    """Holm's step-down adjusted p-values, valid under any dependence.

    Parameters
    ----------
    p_values : id to p; of a PValue, the value verdicts use (`conservative`).

    References
    ----------
    S. Holm, Scandinavian Journal of Statistics 6 (1979) 65–70.

    Examples
    --------
    >>> holm({"a": Fraction(1, 70), "b": Fraction(1, 14), "c": Fraction(1, 14)})
    {'a': Fraction(3, 70), 'b': Fraction(1, 7), 'c': Fraction(1, 7)}
    """
    values = {name: _probability(name, p) for name, p in p_values.items()}
    adjusted, running = {}, Fraction(0)
    for index, name in enumerate(sorted(values, key=lambda name: values[name])):
        running = max(running, min(Fraction(1), values[name] * (len(values) - index)))
        adjusted[name] = running
    return {name: adjusted[name] for name in values}


def _probability(name: str, p: Number | PValue) -> Fraction:
    value = p.conservative if isinstance(p, PValue) else to_fraction(p, name)
    if not 0 <= value <= 1:
        raise DataError(f"{name}: {p} is not a p-value", hint="p-values lie between 0 and 1")
    return value


@dataclass(frozen=True)
class WestfallYoung:
    """Raw and adjusted p-values by test, all from the same joint arrangements.

    method : "exact" or "Monte Carlo"; arrangements : how many were compared.
    """

    raw: dict[str, Fraction]
    adjusted: dict[str, Fraction]
    single_step: dict[str, Fraction]
    method: str
    arrangements: int


Strata = Sequence[tuple[Sequence[object], Sequence[object]]]


def westfall_young(
    tests: Mapping[str, Strata],
    *,
    alternative: str = "two-sided",
    draws: int = DRAWS,
    seed: str | None = None,
) -> WestfallYoung:
    """Step-down minP adjustment over joint permutations: labels are drawn once for all tests.

    For tests on the same instances (several endpoints, caps or wordings). Null hypothesis: labels are
    exchangeable within strata, jointly for all tests. Statistic per test: class 1's sum of scores.

    Parameters
    ----------
    tests : id to strata, each (scores of class 1, scores of class 0); place i is the same instance in all.
    draws, seed : of Monte Carlo, used beyond 3 million arrangements.

    References
    ----------
    P. H. Westfall, S. S. Young, Resampling-Based Multiple Testing (1993), chapter 2.

    Examples
    --------
    >>> rows = {"a": [([1, 1, 1, 1], [0, 0, 0, 0])], "b": [([1, 1, 1, 0], [0, 0, 0, 0])]}
    >>> westfall_young(rows, alternative="greater").adjusted
    {'a': Fraction(1, 70), 'b': Fraction(1, 14)}
    """
    from sealbench.stats.joint import adjusted_counts, all_sums, drawn_sums

    check_sides(alternative, "statistic")
    scores, sizes = _integer_scores(tests)
    total = prod(comb(len(stratum[0]), size1) for stratum, size1 in zip(scores, sizes, strict=True))
    exact = total <= MOST_ARRANGEMENTS and total * len(tests) <= _MOST_RANKS
    sums = all_sums(scores, sizes, len(tests)) if exact else drawn_sums(scores, sizes, draws, seed)
    means = [
        sum(
            (
                Fraction(size1 * sum(row[index]), len(row[index]))
                for row, size1 in zip(scores, sizes, strict=True)
            ),
            Fraction(0),
        )
        for index in range(len(tests))
    ]
    observed = [
        sum(sum(stratum[index][:size1]) for stratum, size1 in zip(scores, sizes, strict=True))
        for index in range(len(tests))
    ]
    counts = adjusted_counts(sums, observed, means, alternative, add_observed=not exact)
    number = total if exact else draws + 1
    raw, adjusted, single = (
        {name: Fraction(count, number) for name, count in zip(tests, column, strict=True)}
        for column in (counts.raw, counts.adjusted, counts.single_step)
    )
    return WestfallYoung(raw, adjusted, single, EXACT if exact else MONTE_CARLO, number)


def _integer_scores(tests: Mapping[str, Strata]) -> tuple[list[list[list[int]]], list[int]]:
    """scores[stratum][test][instance] as integers, class 1 first; and class 1's size per stratum."""
    if not tests:
        raise DataError("no tests to adjust", hint="give at least one")
    shapes: set[tuple[tuple[int, int], ...]] = set()
    columns = []
    for name, strata in tests.items():
        read = [
            (to_fractions(one, f"{name}.class1"), to_fractions(zero, f"{name}.class0"))
            for one, zero in strata
        ]
        shapes.add(tuple((len(one), len(zero)) for one, zero in read))
        scale = lcm(*(value.denominator for pair in read for part in pair for value in part))
        columns.append([[int(value * scale) for value in (*one, *zero)] for one, zero in read])
    if len(shapes) != 1:
        raise DataError(
            "the tests do not have the same instances",
            hint="keep the instances usable in every test, or use holm",
        )
    sizes = [size1 for size1, _ in next(iter(shapes))]
    kept = [index for index in range(len(sizes)) if columns[0][index]]
    scores = [[column[index] for column in columns] for index in kept]
    return scores, [sizes[index] for index in kept]
