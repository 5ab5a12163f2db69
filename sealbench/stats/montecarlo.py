"""A Monte Carlo permutation test on request; elsewhere it is the last tier, and always labelled."""

from __future__ import annotations

from fractions import Fraction

from sealbench.stats.engine import sampled_test
from sealbench.stats.instances import Responses, StrataArgument, read_instances
from sealbench.stats.linear import check_sides, weighted_difference
from sealbench.stats.pvalue import PValue
from sealbench.stats.results import DEGENERATE, TESTED, TestResult
from sealbench.stats.values import Number, to_count


def monte_carlo(
    class1: Responses = (),
    class0: Responses = (),
    *,
    alternative: str = "two-sided",
    strata: StrataArgument | None = None,
    draws: Number = 99_999,
    seed: str | None = None,
) -> TestResult:
    """The test of `mean_difference` by random arrangements: (b+1)/(m+1), with a 99% Clopper–Pearson interval.

    Draws come from SHAKE-256, so that the same seed (by default a digest of the data) gives the same result
    everywhere. Never 0, never unlabelled.

    References
    ----------
    B. Phipson, G. K. Smyth, Statistical Applications in Genetics and Molecular Biology 9 (2010) 39.

    Examples
    --------
    >>> monte_carlo([9, 10, 11, 12], [1, 2, 3, 4], alternative="greater", draws=999).method
    'Monte Carlo'
    """
    check_sides(alternative, "statistic")
    instances = read_instances(class1, class0, strata)
    p_value = sampled_test(instances.pairs, alternative, max(1, to_count(draws, "draws")), seed)
    status, reason = instances.status, instances.reason
    if status == TESTED and p_value is None:
        status, reason = DEGENERATE, "all scores are equal"
    difference = weighted_difference(instances.pairs)
    return TestResult(
        question="monte_carlo",
        p_value=p_value if p_value is not None and status == TESTED else PValue.exact(Fraction(1)),
        statistic=difference,
        alternative=alternative,
        two_sided="statistic",
        unit="instance",
        class1=instances.class1,
        class0=instances.class0,
        effect=difference,
        effect_name="difference of means",
        status=status,
        reason=reason,
        strata=len(instances.pairs),
        informative_strata=instances.informative,
        notes=instances.notes,
    )
