"""Is censoring related to the class? Exact tests on counts of cut instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from sealbench.stats.hypergeometric import OddsRatio, Table, convolved, odds_ratio_of, read_table
from sealbench.stats.instances import Instances, Responses, StrataArgument, read_instances
from sealbench.stats.intervals import clopper_pearson
from sealbench.stats.linear import check_sides, run_linear
from sealbench.stats.planner import DEFAULT_TIME_LIMIT
from sealbench.stats.pvalue import PValue
from sealbench.stats.results import DEGENERATE, NOT_ESTIMABLE, TESTED, ClassSize, Interval, TestResult
from sealbench.stats.rows_by_columns import freeman_halton
from sealbench.stats.unconditional import barnard_exact
from sealbench.stats.values import Number, as_sequence, to_probability

__all__ = [
    "barnard_exact",
    "censoring_difference",
    "fisher_exact",
    "freeman_halton",
    "odds_ratio",
    "stratified_exact",
]
_LISTED = 2000  # possible tables up to which the distribution is simply listed
TABLE_TWO_SIDED = ("statistic", "double", "likelihood")


@dataclass(frozen=True)
class FisherResult(TestResult):
    """A test result with the conditional odds ratio (None if not asked for)."""

    odds_ratio: OddsRatio | None = None


def censoring_difference(
    class1: Responses = (),
    class0: Responses = (),
    *,
    alternative: str = "two-sided",
    two_sided: str = "statistic",
    strata: StrataArgument | None = None,
    level: Number | None = Fraction(19, 20),
    mid_p: bool = False,
    time_limit: float | None = DEFAULT_TIME_LIMIT,
    seed: str | None = None,
) -> TestResult:
    """Exact permutation test of the difference in cut fractions, instances exchanged.

    Null hypothesis: within each stratum, how often an instance is cut does not depend on its class.
    Statistic: mean over class 1's instances of the fraction of its usable responses that were cut, minus
    the same for class 0. With one response each this is Fisher's exact test.

    Parameters
    ----------
    class1, class0 : per instance the list of its usable responses, 1 cut and 0 not (or a single 0/1).
        Instances with different numbers of usable responses are compared only among themselves; an
        instance with none is counted as unusable.
    strata : instead of the classes, a list of (class1, class0), one per stratum.
    level : of the interval for the difference of cut fractions; None leaves it out. It joins two
        Clopper–Pearson intervals of half the error each (of instances wholly and partly cut), so it is
        conservative and holds for instances drawn independently within each class.
    alternative, two_sided, mid_p, time_limit, seed : as in `mean_difference`.

    Examples
    --------
    Eight instances asked three times, all cut, against eight never cut:

    >>> result = censoring_difference([[1, 1, 1]] * 8, [[0, 0, 0]] * 8, alternative="greater")
    >>> result.p, result.class1.responses
    (Fraction(1, 12870), 24)
    """
    instances = read_instances(class1, class0, strata, binary=True)
    return run_linear(
        "censoring_difference",
        instances,
        alternative=alternative,
        two_sided=two_sided,
        mid_p=mid_p,
        time_limit=time_limit,
        seed=seed,
        effect_name="difference of cut fractions",
        interval=None if level is None else _fraction_interval(instances, to_probability(level, "level")),
        same="every instance was cut equally often",
    )


def _fraction_interval(instances: Instances, level: Fraction) -> Interval:
    """[low1 - high0, high1 - low0] from intervals of half the error each.

    The mean cut fraction lies between the rate of instances cut every time and of those cut at all.
    """
    each = 1 - (1 - level) / 2
    ends = []
    for which in (0, 1):
        scores = instances.scores(which)
        low = clopper_pearson(sum(score == 1 for score in scores), len(scores), level=each).low
        high = clopper_pearson(sum(score > 0 for score in scores), len(scores), level=each).high
        ends.append((low or Fraction(0), Fraction(1) if high is None else high))
    (low1, high1), (low0, high0) = ends
    return Interval(low1 - high0, high1 - low0, level, "Clopper–Pearson per class, half the error each")


def fisher_exact(
    table: object,
    *,
    alternative: str = "two-sided",
    two_sided: str = "statistic",
    level: Number | None = Fraction(19, 20),
) -> FisherResult:
    """Fisher's exact test of a 2×2 table, in integers at any size.

    Null hypothesis: the same chance of being cut in both classes; both margins fixed. The unit is whatever
    the table counts: rows that count repeated responses of one instance give a p-value that is too small.

    Parameters
    ----------
    table : [[cut1, n1], [cut0, n0]].
    two_sided : "statistic" (as far from the mean, the default), "double", or "likelihood" (tables no likelier
        than the observed one, compared as integers).
    level : of the conditional odds ratio's exact interval; None leaves the odds ratio out, as do tables
        with more than 2,000 possible values (ask `odds_ratio`).

    References
    ----------
    R. A. Fisher, The Design of Experiments (1935), section 11.

    Examples
    --------
    >>> result = fisher_exact([[3, 4], [1, 8]], alternative="greater")
    >>> result.p, result.mid_p
    (Fraction(1, 15), Fraction(17, 495))
    """
    check_sides(alternative, two_sided, TABLE_TWO_SIDED)
    one = read_table(table)
    small = one.highest - one.lowest <= _LISTED
    if not small and not (alternative == "two-sided" and two_sided == "likelihood"):
        p, mid = _large_table(one, alternative, two_sided)
    else:
        p, mid = _tail_values(one.lowest, list(one.weights()), one.cut1, one.mean, alternative, two_sided)
    status, reason = _table_status([one])
    rates = _rate(one.cut1, one.size1), _rate(one.cut0, one.size0)
    difference = rates[0] - rates[1] if rates[0] is not None and rates[1] is not None else None
    return FisherResult(
        question="fisher_exact",
        p_value=PValue.exact(p),
        statistic=Fraction(one.cut1),
        alternative=alternative,
        two_sided=two_sided,
        unit="row of the table",
        class1=ClassSize(one.size1, one.size1),
        class0=ClassSize(one.size0, one.size0),
        effect=difference,
        effect_name="difference of cut fractions",
        status=status,
        reason=reason,
        mid_p=mid,
        odds_ratio=odds_ratio_of(one, to_probability(level, "level"))
        if level is not None and small
        else None,
    )


def odds_ratio(table: object, *, level: Number = Fraction(19, 20)) -> OddsRatio:
    """The conditional maximum-likelihood odds ratio of [[cut1, n1], [cut0, n0]] with its exact interval.

    >>> round(float(odds_ratio([[7, 8], [1, 8]]).estimate), 6)
    31.586424
    """
    return odds_ratio_of(read_table(table), to_probability(level, "level"))


def stratified_exact(
    tables: Sequence[object], *, alternative: str = "two-sided", two_sided: str = "statistic"
) -> TestResult:
    """Exact Cochran–Mantel–Haenszel test: the summed cut count of class 1 over independent strata.

    Null hypothesis: in every stratum the same chance of being cut in both classes. The strata must hold
    different instances; endpoints asked the same instances are not strata.

    Parameters
    ----------
    tables : a list of [[cut1, n1], [cut0, n0]].
    two_sided : "statistic", "double" or "likelihood".

    Examples
    --------
    >>> stratified_exact([[[4, 4], [1, 4]], [[3, 4], [0, 4]], [[2, 4], [2, 4]]], alternative="greater").p
    Fraction(61, 2744)
    """
    check_sides(alternative, two_sided, TABLE_TWO_SIDED)
    strata = [
        read_table(table, f"tables[{index}]") for index, table in enumerate(as_sequence(tables, "tables"))
    ]
    lowest, weights = convolved(strata)
    observed = sum(table.cut1 for table in strata)
    mean = sum((table.mean for table in strata), Fraction(0))
    p, mid = _tail_values(lowest, weights, observed, mean, alternative, two_sided)
    status, reason = _table_status(strata)
    size1, size0 = sum(table.size1 for table in strata), sum(table.size0 for table in strata)
    informative = [table for table in strata if table.lowest < table.highest]
    return TestResult(
        question="stratified_exact",
        p_value=PValue.exact(p),
        statistic=Fraction(observed),
        alternative=alternative,
        two_sided=two_sided,
        unit="row of the table",
        class1=ClassSize(size1, size1),
        class0=ClassSize(size0, size0),
        effect=_common_odds_ratio(strata),
        effect_name="Mantel–Haenszel odds ratio",
        status=status,
        reason=reason,
        mid_p=mid,
        strata=len(strata),
        informative_strata=len(informative),
    )


def _large_table(table: Table, alternative: str, two_sided: str) -> tuple[Fraction, Fraction]:
    """The p-value and mid-p value from a few tail sums, without listing the distribution."""
    total, observed, mean = table.arrangements, table.cut1, table.mean

    def at_least(value: int) -> int:
        if value > mean:
            return table.upper_count(value)
        return total - _mirrored(table).upper_count(table.size1 - value + 1)

    greater, beyond = at_least(observed), at_least(observed + 1)
    less, point = total - beyond, greater - beyond
    if alternative != "two-sided":
        tail = greater if alternative == "greater" else less
        return Fraction(tail, total), Fraction(2 * tail - point, 2 * total)
    if two_sided == "double":
        tail = min(greater, less)
        return min(Fraction(1), Fraction(2 * tail, total)), Fraction(min(total, 2 * tail - point), total)
    distance = abs(observed - mean)
    if distance == 0:
        return Fraction(1), Fraction(2 * total - point, 2 * total)
    upper, lower = ceil(mean + distance), floor(mean - distance)
    tail = at_least(upper) + total - at_least(lower + 1)
    inner = at_least(floor(mean + distance) + 1) + total - at_least(ceil(mean - distance))
    return Fraction(tail, total), Fraction(tail + inner, 2 * total)


def _mirrored(table: Table) -> Table:
    """The table of what was not cut: its upper tail is this one's lower tail."""
    return Table(table.size1 - table.cut1, table.size1, table.size0 - table.cut0, table.size0)


def _rate(cut: int, size: int) -> Fraction | None:
    return Fraction(cut, size) if size else None


def _common_odds_ratio(tables: Sequence[Table]) -> Fraction | None:
    """Mantel and Haenszel's estimate; None where it is infinite or not defined."""
    above = below = Fraction(0)
    for table in tables:
        size = table.size1 + table.size0
        if size:
            above += Fraction(table.cut1 * (table.size0 - table.cut0), size)
            below += Fraction(table.cut0 * (table.size1 - table.cut1), size)
    return above / below if below else None


def _table_status(tables: Sequence[Table]) -> tuple[str, str]:
    if not sum(table.size1 for table in tables) or not sum(table.size0 for table in tables):
        return NOT_ESTIMABLE, "a class is empty"
    if any(table.lowest < table.highest for table in tables):
        return TESTED, ""
    if not any(table.cut for table in tables):
        return DEGENERATE, "nothing was cut"
    if all(table.cut == table.size1 + table.size0 for table in tables):
        return DEGENERATE, "everything was cut"
    return DEGENERATE, "no stratum holds both classes and both outcomes"


def _tail_values(
    lowest: int, weights: list[int], observed: int, mean: Fraction, alternative: str, two_sided: str
) -> tuple[Fraction, Fraction]:
    """The p-value and mid-p value of a distribution given by integer weights."""
    index, total = observed - lowest, sum(weights)
    greater, less, point = sum(weights[index:]), sum(weights[: index + 1]), weights[index]
    if alternative != "two-sided":
        tail = greater if alternative == "greater" else less
        return Fraction(tail, total), Fraction(2 * tail - point, 2 * total)
    if two_sided == "double":
        tail = min(greater, less)
        return min(Fraction(1), Fraction(2 * tail, total)), Fraction(min(total, 2 * tail - point), total)
    if two_sided == "likelihood":
        tail = sum(weight for weight in weights if weight <= point)
        equal = sum(weight for weight in weights if weight == point)
    else:
        distance = abs(observed - mean)
        distances = [abs(lowest + place - mean) for place in range(len(weights))]
        tail = sum(weight for weight, far in zip(weights, distances, strict=True) if far >= distance)
        equal = sum(weight for weight, far in zip(weights, distances, strict=True) if far == distance)
    return Fraction(tail, total), Fraction(2 * tail - equal, 2 * total)
