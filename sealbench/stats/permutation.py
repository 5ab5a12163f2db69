"""Does one class cost more? Differences of means and of ranks, exact by permutation of instances."""

from __future__ import annotations

from sealbench.stats.instances import Responses, StrataArgument, read_instances
from sealbench.stats.linear import run_linear
from sealbench.stats.planner import DEFAULT_TIME_LIMIT
from sealbench.stats.results import TestResult
from sealbench.stats.scores import midranks_doubled


def mean_difference(
    class1: Responses = (),
    class0: Responses = (),
    *,
    alternative: str = "two-sided",
    two_sided: str = "statistic",
    strata: StrataArgument | None = None,
    mid_p: bool = False,
    time_limit: float | None = DEFAULT_TIME_LIMIT,
    seed: str | None = None,
) -> TestResult:
    """Exact permutation test of the difference in means.

    Null hypothesis: within each stratum, the instances' values do not depend on the class (the labels are
    exchangeable). Statistic: mean of class 1 minus mean of class 0.

    Parameters
    ----------
    class1, class0 : per instance a number, or the list of its usable responses (their mean is taken;
        instances with different numbers of responses are compared only among themselves).
    alternative : "greater" (class 1 larger), "less" or "two-sided".
    two_sided : "statistic" (at least as far from the permutation mean) or "double" (twice the smaller tail).
    strata : instead of the classes, a list of (class1, class0), one per stratum.
    mid_p : also give the one-sided mid-p value.
    time_limit : seconds of work allowed for an exact value, as a fixed number of additions; None for no
        limit. Beyond it the tier changes and `method` says so.
    seed : of the Monte Carlo tier; by default a digest of the data.

    Method: swap-distance dynamic programming, O(instances · swaps · deficit).

    References
    ----------
    E. J. G. Pitman, Supplement to the Journal of the Royal Statistical Society 4 (1937) 119–130.

    Examples
    --------
    >>> result = mean_difference([310, 320, 350], [200, 250, 300], alternative="greater")
    >>> result.p, result.effect
    (Fraction(1, 20), Fraction(230, 3))
    """
    return run_linear(
        "mean_difference",
        read_instances(class1, class0, strata),
        alternative=alternative,
        two_sided=two_sided,
        mid_p=mid_p,
        time_limit=time_limit,
        seed=seed,
        effect_name="difference of means",
    )


def rank_sum(
    class1: Responses = (),
    class0: Responses = (),
    *,
    alternative: str = "two-sided",
    two_sided: str = "statistic",
    strata: StrataArgument | None = None,
    mid_p: bool = False,
    time_limit: float | None = DEFAULT_TIME_LIMIT,
    seed: str | None = None,
) -> TestResult:
    """Exact Wilcoxon–Mann–Whitney test, right with ties.

    Null hypothesis and parameters as in `mean_difference`; the scores are mid-ranks within each stratum,
    doubled so that they are whole numbers. The statistic is the difference of mean doubled ranks.

    References
    ----------
    F. Wilcoxon, Biometrics Bulletin 1 (1945) 80–83; H. B. Mann, D. R. Whitney, Annals of Mathematical
    Statistics 18 (1947) 50–60.

    Examples
    --------
    >>> rank_sum([1, 2, 2, 3], [2, 3, 3, 4], alternative="less").p
    Fraction(1, 7)
    """
    return run_linear(
        "rank_sum",
        read_instances(class1, class0, strata),
        alternative=alternative,
        two_sided=two_sided,
        mid_p=mid_p,
        time_limit=time_limit,
        seed=seed,
        effect_name="difference of means",
        scorer=midranks_doubled,
    )
