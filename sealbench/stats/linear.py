"""From instances to a finished result: what every linear two-sample test has in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from sealbench.stats.engine import ALTERNATIVES, LINEAR_TWO_SIDED, linear_test
from sealbench.stats.instances import Instances
from sealbench.stats.pvalue import PValue
from sealbench.stats.results import DEGENERATE, TESTED, Interval, TestResult
from sealbench.stats.scores import Pair
from sealbench.stats.values import DataError, choose

Scorer = Callable[[Sequence[Fraction]], list[Fraction]]


def check_sides(alternative: str, two_sided: str, allowed: Sequence[str] = LINEAR_TWO_SIDED) -> None:
    """Refuse unknown directions, and two-sided by likelihood where that is no ordering of the statistic."""
    choose(alternative, ALTERNATIVES, "alternative")
    if two_sided == "likelihood" and "likelihood" not in allowed:
        raise DataError(
            "two-sided by likelihood is defined for 2×2 tables and their strata only",
            hint='use two_sided="statistic" (the default) or "double"',
        )
    choose(two_sided, allowed, "two_sided")


def run_linear(
    question: str,
    instances: Instances,
    *,
    alternative: str,
    two_sided: str,
    mid_p: bool,
    time_limit: float | None,
    seed: str | None,
    effect_name: str,
    scorer: Scorer | None = None,
    interval: Interval | None = None,
    same: str = "all scores are equal",
) -> TestResult:
    """Run the engine on instances and put the result together.

    Parameters
    ----------
    scorer : makes scores out of one stratum's values (ranks); None takes the values themselves.
    same : the reason shown when nothing differs.

    The statistic and effect are the difference of class means of the scores; over several strata, of the
    strata that hold both classes, each stratum's difference weighted by n1·n0/(n1+n0).
    """
    check_sides(alternative, two_sided)
    pairs = tuple(scored(pair, scorer) for pair in instances.pairs)
    status, reason = instances.status, instances.reason
    test = linear_test(
        pairs, alternative=alternative, two_sided=two_sided, mid_p=mid_p, time_limit=time_limit, seed=seed
    )
    if status == TESTED and not test.design.strata:
        status, reason = DEGENERATE, same
    return TestResult(
        question=question,
        p_value=test.p_value if status == TESTED else PValue.exact(Fraction(1)),
        statistic=weighted_difference(pairs),
        alternative=alternative,
        two_sided=two_sided,
        unit="instance",
        class1=instances.class1,
        class0=instances.class0,
        effect=weighted_difference(instances.pairs),
        effect_name=effect_name,
        interval=interval,
        status=status,
        reason=reason,
        mid_p=test.mid_p,
        strata=len(instances.pairs),
        informative_strata=instances.informative,
        notes=instances.notes,
    )


def scored(pair: Pair, scorer: Scorer | None) -> Pair:
    """Scores of one stratum, computed over both classes together."""
    if scorer is None:
        return pair
    one, zero = pair
    scores = scorer([*one, *zero])
    return scores[: len(one)], scores[len(one) :]


def weighted_difference(pairs: Sequence[Pair]) -> Fraction | None:
    """Mean of class 1 minus mean of class 0, over strata weighted by n1·n0/(n1+n0); None if not estimable.

    This is the sum of class 1's scores less its permutation mean, divided by a constant: the statistic that
    is permuted, on the scale of the data.
    """
    weights = difference = Fraction(0)
    for one, zero in pairs:
        if one and zero:
            weight = Fraction(len(one) * len(zero), len(one) + len(zero))
            weights += weight
            difference += weight * (sum(one, Fraction(0)) / len(one) - sum(zero, Fraction(0)) / len(zero))
    return difference / weights if weights else None
