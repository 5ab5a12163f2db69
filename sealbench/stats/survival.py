"""Costs known only as "more than the cap": cost curves and tests that use the cut ones rightly.

A cost is type-I censored at its cap. Never run these on answers, which are missing because of their cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sealbench.stats.engine import linear_test
from sealbench.stats.linear import check_sides, weighted_difference
from sealbench.stats.planner import DEFAULT_TIME_LIMIT
from sealbench.stats.pvalue import PValue
from sealbench.stats.results import DEGENERATE, NOT_ESTIMABLE, NOT_TESTABLE, TESTED, ClassSize, TestResult
from sealbench.stats.scores import Pair
from sealbench.stats.values import DataError, Number, as_sequence, to_fraction

Cost = tuple[Fraction, bool]  # tokens, and whether the response finished
CostArgument = Sequence[object]
CostStrata = Sequence[tuple[CostArgument, CostArgument]]


@dataclass(frozen=True)
class CostStep:
    """One step of a cost curve: at `tokens`, `finished` of `at_risk` finish; `surviving` cost more."""

    tokens: Fraction
    at_risk: int
    finished: int
    surviving: Fraction


@dataclass(frozen=True)
class CostCurve:
    """Kaplan–Meier estimate of the share of costs above each number of tokens.

    median : the smallest cost that fewer than half exceed; None if not reached, then it is "> largest".
    """

    steps: tuple[CostStep, ...]
    instances: int
    cut: int
    largest: Fraction | None
    median: Fraction | None

    @property
    def median_text(self) -> str:
        """The median, or "> largest observed" where it was not reached."""
        if self.instances == 0:
            return "not estimable"
        return f"> {self.largest}" if self.median is None else str(self.median)


@dataclass(frozen=True)
class RestrictedMean:
    """The mean cost with everything beyond `limit` counted as `limit`, and its Greenwood variance."""

    value: Fraction
    variance: Fraction
    limit: Fraction


def read_costs(data: object, where: str) -> list[Cost]:
    """(tokens, finished) pairs, finished as 1/0 or true/false."""
    costs = []
    for index, item in enumerate(as_sequence(data, where)):
        place = f"{where}[{index}]"
        pair = as_sequence(item, place)
        if len(pair) != 2:
            raise DataError(
                f"{place}: not a (tokens, finished) pair", hint="for example (300, False) for a cut one"
            )
        tokens, finished = to_fraction(pair[0], place), to_fraction(pair[1], place)
        if tokens < 0 or finished not in (0, 1):
            raise DataError(
                f"{place}: tokens are at least 0 and finished is 0 or 1", hint="check the columns' order"
            )
        costs.append((tokens, finished == 1))
    return costs


def kaplan_meier(data: CostArgument) -> CostCurve:
    """The cost curve of (tokens, finished) pairs, exact.

    A cost cut at c counts as more than c. Independent instances are assumed.

    References
    ----------
    E. L. Kaplan, P. Meier, Journal of the American Statistical Association 53 (1958) 457–481.

    Examples
    --------
    >>> curve = kaplan_meier([(300, 0), (250, 1), (120, 1), (300, 0)])
    >>> [(int(step.tokens), step.surviving) for step in curve.steps], curve.median_text
    ([(120, Fraction(3, 4)), (250, Fraction(1, 2))], '> 300')
    """
    costs = read_costs(data, "data")
    steps, surviving, median = [], Fraction(1), None
    at_cost, finished_at = Counter(t for t, _ in costs), Counter(t for t, done in costs if done)
    passed = 0  # costs below the one at hand
    for tokens in sorted(at_cost):
        at_risk, finished = len(costs) - passed, finished_at[tokens]
        passed += at_cost[tokens]
        if not finished:
            continue
        surviving *= Fraction(at_risk - finished, at_risk)
        steps.append(CostStep(tokens, at_risk, finished, surviving))
        if median is None and surviving < Fraction(1, 2):
            median = tokens
    largest = max((tokens for tokens, _ in costs), default=None)
    return CostCurve(tuple(steps), len(costs), sum(not done for _, done in costs), largest, median)


def restricted_mean(data: CostArgument, limit: Number) -> RestrictedMean:
    """The area under the cost curve up to `limit` tokens, with the variance of that estimate.

    With one common cap as limit this is the mean of the costs with the cut ones counted at the cap. The
    limit may not lie beyond the largest cost if that one was cut: the curve is unknown there.

    Examples
    --------
    >>> restricted_mean([(300, 0), (300, 0), (250, 1), (280, 1), (120, 1), (300, 0)], 300).value
    Fraction(775, 3)
    """
    end = to_fraction(limit, "limit")
    curve = kaplan_meier(data)
    if curve.largest is None:
        raise DataError("no costs at all", hint="give at least one (tokens, finished) pair")
    known = curve.steps[-1].surviving == 0 if curve.steps else False
    if end > curve.largest and not known:
        raise DataError(
            f"beyond {curve.largest} tokens the costs are unknown", hint=f"use limit={curve.largest}"
        )
    steps = [step for step in curve.steps if step.tokens < end]
    starts = [Fraction(0), *(step.tokens for step in steps)]
    stops = [*(step.tokens for step in steps), end]
    heights = [Fraction(1), *(step.surviving for step in steps)]
    areas = [height * (stop - start) for start, stop, height in zip(starts, stops, heights, strict=True)]
    variance = Fraction(0)
    for index, step in enumerate(steps, start=1):
        rest = sum(areas[index:], Fraction(0))
        if rest:
            variance += rest * rest * Fraction(step.finished, step.at_risk * (step.at_risk - step.finished))
    return RestrictedMean(sum(areas, Fraction(0)), variance, end)


def logrank_scores(costs: Sequence[Cost]) -> list[Fraction]:
    """Nelson–Aalen hazard up to the cost, less 1 if it finished: large means long."""
    cumulative: dict[Fraction, Fraction] = {}
    hazard = Fraction(0)
    for tokens in sorted({tokens for tokens, _ in costs}):
        finished = sum(done and cost == tokens for cost, done in costs)
        hazard += Fraction(finished, sum(cost >= tokens for cost, _ in costs))
        cumulative[tokens] = hazard
    return [cumulative[tokens] - int(done) for tokens, done in costs]


def gehan_scores(costs: Sequence[Cost]) -> list[Fraction]:
    """Surely shorter costs less surely longer ones, for each cost."""
    scores = []
    for mine in costs:
        shorter = sum(_surely_shorter(other, mine) for other in costs)
        longer = sum(_surely_shorter(mine, other) for other in costs)
        scores.append(Fraction(shorter - longer))
    return scores


def _surely_shorter(first: Cost, second: Cost) -> bool:
    return first[1] and (first[0] < second[0] or (first[0] == second[0] and not second[1]))


def permutation_logrank(
    class1: CostArgument = (),
    class0: CostArgument = (),
    *,
    alternative: str = "two-sided",
    two_sided: str = "statistic",
    strata: CostStrata | None = None,
    time_limit: float | None = DEFAULT_TIME_LIMIT,
    seed: str | None = None,
) -> TestResult:
    """Exact permutation log-rank test of (tokens, finished) pairs, instances exchanged.

    Null hypothesis: within each stratum the cost does not depend on the class. Statistic: difference of mean
    log-rank scores (Nelson–Aalen hazard less 1 if finished). If caps differ among items, make each cap a
    stratum. Many different costs give a certified bracket instead of one number.

    References
    ----------
    N. Mantel, Cancer Chemotherapy Reports 50 (1966) 163–170.

    Examples
    --------
    >>> long, short = [(300, 0), (300, 0), (280, 1)], [(90, 1), (120, 1), (200, 1)]
    >>> permutation_logrank(long, short, alternative="greater").p
    Fraction(1, 20)
    """
    return _censored_test(
        "permutation_logrank",
        logrank_scores,
        class1,
        class0,
        alternative,
        two_sided,
        strata,
        time_limit,
        seed,
    )


def gehan(
    class1: CostArgument = (),
    class0: CostArgument = (),
    *,
    alternative: str = "two-sided",
    two_sided: str = "statistic",
    strata: CostStrata | None = None,
    time_limit: float | None = DEFAULT_TIME_LIMIT,
    seed: str | None = None,
) -> TestResult:
    """Exact Gehan–Wilcoxon test of (tokens, finished) pairs; parameters as in `permutation_logrank`.

    With one common cap this is the rank-sum test with the cut costs tied on top.

    References
    ----------
    E. A. Gehan, Biometrika 52 (1965) 203–223.

    Examples
    --------
    >>> gehan([(300, 0), (300, 0), (280, 1)], [(90, 1), (120, 1), (200, 1)], alternative="greater").p
    Fraction(1, 20)
    """
    return _censored_test(
        "gehan", gehan_scores, class1, class0, alternative, two_sided, strata, time_limit, seed
    )


def _censored_test(
    question: str,
    scorer: Callable[[Sequence[Cost]], list[Fraction]],
    class1: CostArgument,
    class0: CostArgument,
    alternative: str,
    two_sided: str,
    strata: CostStrata | None,
    time_limit: float | None,
    seed: str | None,
) -> TestResult:
    check_sides(alternative, two_sided)
    given = [(class1, class0)] if strata is None else strata
    costs = [(read_costs(one, "class1"), read_costs(zero, "class0")) for one, zero in given]
    pairs: list[Pair] = []
    for one, zero in costs:
        scores = scorer([*one, *zero])
        pairs.append((scores[: len(one)], scores[len(one) :]))
    sizes = [sum(len(pair[which]) for pair in costs) for which in (0, 1)]
    test = linear_test(pairs, alternative=alternative, two_sided=two_sided, time_limit=time_limit, seed=seed)
    status, reason = TESTED, ""
    if not all(sizes):
        status, reason = NOT_ESTIMABLE, "a class is empty"
    elif not any(one and zero for one, zero in pairs):
        status, reason = NOT_TESTABLE, "no stratum holds instances of both classes"
    elif not test.design.strata:
        status, reason = DEGENERATE, "no cost is known to be longer than another"
    return TestResult(
        question=question,
        p_value=test.p_value if status == TESTED else PValue.exact(Fraction(1)),
        statistic=weighted_difference(pairs),
        alternative=alternative,
        two_sided=two_sided,
        unit="instance",
        class1=ClassSize(sizes[0], sizes[0]),
        class0=ClassSize(sizes[1], sizes[1]),
        status=status,
        reason=reason,
        strata=len(pairs),
        informative_strata=sum(1 for one, zero in pairs if one and zero),
    )
