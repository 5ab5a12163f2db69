"""What the score would have been: cut answers counted wrong, dropped, or unknown (worst-case bounds)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from sealbench.stats.results import Interval
from sealbench.stats.values import DataError, Number, to_count, to_fraction

_WORST_CASE = "worst case (Manski)"


@dataclass(frozen=True)
class Outcomes:
    """How one class's responses ended: right, wrong, and unknown (cut without an answer, or missing)."""

    right: int
    wrong: int
    cut: int = 0
    missing: int = 0

    @property
    def unknown(self) -> int:
        """Responses whose correctness nobody knows."""
        return self.cut + self.missing


@dataclass(frozen=True)
class ClassScore:
    """One class's score under each policy; None where it is 0 of 0.

    cut_wrong : cut counted as wrong, missing left out; cut_dropped : answered only; bounds : every possible
    truth about what is cut or missing.
    """

    outcomes: Outcomes
    cut_wrong: Fraction | None
    cut_dropped: Fraction | None
    bounds: Interval | None


@dataclass(frozen=True)
class ScoreBounds:
    """Scores per class, overall and balanced.

    overall : all responses together. balanced_cut_wrong, balanced_cut_dropped, balanced : means over classes
    (None if a class has no such score). difference : bounds of first class minus second, for two classes.
    """

    classes: dict[str, ClassScore]
    overall: ClassScore
    balanced_cut_wrong: Fraction | None
    balanced_cut_dropped: Fraction | None
    balanced: Interval | None
    difference: Interval | None


def score_bounds(classes: Mapping[str, Outcomes | Mapping[str, Number]]) -> ScoreBounds:
    """Scores by class under each policy, with worst-case bounds that assume nothing.

    Parameters
    ----------
    classes : label to counts, as `Outcomes` or a mapping with right, wrong, cut (or empty) and missing.

    References
    ----------
    C. F. Manski, American Economic Review 80 (1990) 319–323.

    Examples
    --------
    >>> bounds = score_bounds({"prime": Outcomes(0, 0, 24), "composite": Outcomes(24, 0)})
    >>> bounds.overall.cut_dropped, bounds.overall.cut_wrong, bounds.overall.bounds.low
    (Fraction(1, 1), Fraction(1, 2), Fraction(1, 2))
    """
    if not classes:
        raise DataError("no classes", hint='give for example {"prime": Outcomes(20, 1, 3), …}')
    outcomes = {label: _read(label, counts) for label, counts in classes.items()}
    scores = {label: _score(counts) for label, counts in outcomes.items()}
    everything = Outcomes(
        sum(counts.right for counts in outcomes.values()),
        sum(counts.wrong for counts in outcomes.values()),
        sum(counts.cut for counts in outcomes.values()),
        sum(counts.missing for counts in outcomes.values()),
    )
    bounds = [score.bounds for score in scores.values()]
    lows = _mean([None if bound is None else bound.low for bound in bounds])
    highs = _mean([None if bound is None else bound.high for bound in bounds])
    return ScoreBounds(
        scores,
        _score(everything),
        _mean([score.cut_wrong for score in scores.values()]),
        _mean([score.cut_dropped for score in scores.values()]),
        None if lows is None else Interval(lows, highs, None, _WORST_CASE),
        _difference(bounds),
    )


def _read(label: str, counts: Outcomes | Mapping[str, Number]) -> Outcomes:
    if isinstance(counts, Outcomes):
        values: Mapping[str, Number] = {
            "right": counts.right,
            "wrong": counts.wrong,
            "cut": counts.cut,
            "missing": counts.missing,
        }
    else:
        values = counts
    unknown = set(values) - {"right", "wrong", "cut", "empty", "missing"}
    if unknown:
        raise DataError(
            f"{label}: unknown outcome {sorted(unknown)[0]!r}",
            hint="right, wrong, cut (or empty) and missing",
        )
    numbers = {key: to_count(value, f"{label}.{key}") for key, value in values.items()}
    cut = numbers.get("cut", 0) + numbers.get("empty", 0)
    return Outcomes(numbers.get("right", 0), numbers.get("wrong", 0), cut, numbers.get("missing", 0))


def _score(outcomes: Outcomes) -> ClassScore:
    answered = outcomes.right + outcomes.wrong
    asked = answered + outcomes.cut
    total = asked + outcomes.missing
    return ClassScore(
        outcomes,
        Fraction(outcomes.right, asked) if asked else None,
        Fraction(outcomes.right, answered) if answered else None,
        Interval(
            Fraction(outcomes.right, total),
            Fraction(outcomes.right + outcomes.unknown, total),
            None,
            _WORST_CASE,
        )
        if total
        else None,
    )


def _mean(values: list[Fraction | None]) -> Fraction | None:
    known = [value for value in values if value is not None]
    return sum(known, Fraction(0)) / len(known) if known and len(known) == len(values) else None


def _difference(bounds: list[Interval | None]) -> Interval | None:
    if len(bounds) != 2 or bounds[0] is None or bounds[1] is None:
        return None
    (low1, high1), (low0, high0) = ((bound.low, bound.high) for bound in bounds if bound is not None)
    if low1 is None or high1 is None or low0 is None or high0 is None:
        return None
    return Interval(low1 - high0, high1 - low0, None, _WORST_CASE)


@dataclass(frozen=True)
class RankIntervals:
    """Per model the best and worst rank it can have, and the pairs whose order is not settled."""

    ranks: dict[str, tuple[int, int]]
    reversible: tuple[tuple[str, str], ...]


def rank_intervals(bounds: Mapping[str, tuple[Number, Number] | Interval]) -> RankIntervals:
    """Which ranks are possible within the score bounds (rank 1 is the highest score).

    Parameters
    ----------
    bounds : model to (lowest, highest) possible score, each independent of the others.

    Examples
    --------
    >>> result = rank_intervals({"a": ("0.5", "0.9"), "b": ("0.6", "0.7"), "c": ("0.1", "0.2")})
    >>> result.ranks, result.reversible
    ({'a': (1, 2), 'b': (1, 2), 'c': (3, 3)}, (('a', 'b'),))
    """
    ends = {model: _ends(model, interval) for model, interval in bounds.items()}
    ranks = {}
    for model, (low, high) in ends.items():
        others = [interval for name, interval in ends.items() if name != model]
        best = 1 + sum(other_low > high for other_low, _ in others)
        worst = 1 + sum(other_high > low for _, other_high in others)
        ranks[model] = best, worst
    reversible = tuple(
        (first, second)
        for first, second in combinations(ends, 2)
        if ends[first][0] < ends[second][1] and ends[second][0] < ends[first][1]
    )
    return RankIntervals(ranks, reversible)


def _ends(model: str, interval: tuple[Number, Number] | Interval) -> tuple[Fraction, Fraction]:
    if isinstance(interval, Interval):
        if interval.low is None or interval.high is None:
            raise DataError(f"{model}: the score has no bounds", hint="leave models without data out")
        return interval.low, interval.high
    low, high = to_fraction(interval[0], model), to_fraction(interval[1], model)
    if low > high:
        raise DataError(f"{model}: the lowest score lies above the highest", hint="write (lowest, highest)")
    return low, high
