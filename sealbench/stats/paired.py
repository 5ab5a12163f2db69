"""Paired wordings of one instance: exact tests that flip the signs of differences.

Flipping a sign is exchanging two labels in a stratum of two, so these are linear tests with one stratum per
pair: |d| and 0, class 1 holding |d| where the difference is positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sealbench.stats.engine import linear_test
from sealbench.stats.linear import check_sides
from sealbench.stats.planner import DEFAULT_TIME_LIMIT
from sealbench.stats.pvalue import PValue
from sealbench.stats.results import DEGENERATE, NOT_ESTIMABLE, TESTED, ClassSize, TestResult
from sealbench.stats.scores import midranks_doubled
from sealbench.stats.values import Number, to_count, to_fractions


def sign_flip(
    differences: Sequence[object],
    *,
    alternative: str = "two-sided",
    two_sided: str = "statistic",
    mid_p: bool = False,
    time_limit: float | None = DEFAULT_TIME_LIMIT,
    seed: str | None = None,
) -> TestResult:
    """Exact sign-flip (Fisher's randomisation) test of paired differences.

    Null hypothesis: each instance's difference is as likely to be d as -d. Statistic: the mean difference.

    Parameters
    ----------
    differences : one per instance, first wording minus second.
    alternative : "greater" (first larger), "less" or "two-sided".

    Examples
    --------
    >>> sign_flip([1, 1, 1, 1, 1], alternative="greater").p
    Fraction(1, 32)
    """
    values = to_fractions(differences, "differences")
    return _flip("sign_flip", values, values, alternative, two_sided, mid_p, time_limit, seed)


def signed_rank(
    differences: Sequence[object],
    *,
    alternative: str = "two-sided",
    two_sided: str = "statistic",
    mid_p: bool = False,
    time_limit: float | None = DEFAULT_TIME_LIMIT,
    seed: str | None = None,
) -> TestResult:
    """Exact Wilcoxon signed-rank test, right with ties; zero differences are left out before ranking.

    Parameters as in `sign_flip`.

    References
    ----------
    F. Wilcoxon, Biometrics Bulletin 1 (1945) 80–83.

    Examples
    --------
    >>> signed_rank(["1.5", "-1.5", "2.0"], alternative="greater").p
    Fraction(3, 8)
    """
    values = to_fractions(differences, "differences")
    nonzero = [value for value in values if value]
    ranks = midranks_doubled([abs(value) for value in nonzero])
    signed = [rank if value > 0 else -rank for rank, value in zip(ranks, nonzero, strict=True)]
    return _flip("signed_rank", signed, values, alternative, two_sided, mid_p, time_limit, seed)


def mcnemar_exact(
    first_only: Number, second_only: Number, *, alternative: str = "two-sided", two_sided: str = "statistic"
) -> TestResult:
    """McNemar's exact test: discordant pairs only.

    Null hypothesis: a discordant pair is as likely to be one way as the other.

    Parameters
    ----------
    first_only, second_only : pairs cut in the first condition only, in the second only.

    References
    ----------
    Q. McNemar, Psychometrika 12 (1947) 153–157.

    Examples
    --------
    >>> mcnemar_exact(5, 0).p, mcnemar_exact(0, 0).p
    (Fraction(1, 16), Fraction(1, 1))
    """
    more, fewer = to_count(first_only, "first_only"), to_count(second_only, "second_only")
    values = [Fraction(1)] * more + [Fraction(-1)] * fewer
    return _flip("mcnemar_exact", values, values, alternative, two_sided, True, None, None)


def _flip(
    question: str,
    scores: Sequence[Fraction],
    values: Sequence[Fraction],
    alternative: str,
    two_sided: str,
    mid_p: bool,
    time_limit: float | None,
    seed: str | None,
) -> TestResult:
    check_sides(alternative, two_sided)
    pairs = [([max(score, Fraction(0))], [max(-score, Fraction(0))]) for score in scores if score]
    test = linear_test(
        pairs, alternative=alternative, two_sided=two_sided, mid_p=mid_p, time_limit=time_limit, seed=seed
    )
    status, reason = TESTED, ""
    if not pairs:
        status, reason = (DEGENERATE, "no pair differs") if values else (NOT_ESTIMABLE, "no pairs")
    mean = sum(values, Fraction(0)) / len(values) if values else None
    size = ClassSize(len(values), len(values))
    return TestResult(
        question=question,
        p_value=test.p_value if pairs else PValue.exact(Fraction(1)),
        statistic=sum(scores, Fraction(0)),
        alternative=alternative,
        two_sided=two_sided,
        unit="pair",
        class1=size,
        class0=size,
        effect=mean,
        effect_name="mean difference",
        status=status,
        reason=reason,
        mid_p=test.mid_p,
        strata=len(values),
        informative_strata=len(pairs),
    )
