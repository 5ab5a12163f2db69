"""Is the separation of the classes complete, and which caps would delete one class whole?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, prod

from sealbench.stats.instances import Responses, StrataArgument, read_instances
from sealbench.stats.pvalue import PValue
from sealbench.stats.results import DEGENERATE, TESTED, Interval, TestResult
from sealbench.stats.scores import Pair
from sealbench.stats.values import choose


@dataclass(frozen=True)
class SeparationResult(TestResult):
    """A test result with both kinds of separation.

    strict : every instance of the one class lies above every one of the other; weak : none lies below.
    p_strict, p_weak : the share of arrangements separated that way (0 if ties forbid strict separation).
    wipe_out : [largest cheap cost, smallest expensive cost): every cap in it cuts one class whole and the
        other not at all; None where the classes overlap. `wiped` names the class that would be deleted.
    """

    strict: bool = False
    weak: bool = False
    p_strict: Fraction = Fraction(0)
    p_weak: Fraction = Fraction(1)
    wipe_out: Interval | None = None
    wiped: str = ""


def separation(
    class1: Responses = (),
    class0: Responses = (),
    *,
    alternative: str = "two-sided",
    strata: StrataArgument | None = None,
) -> SeparationResult:
    """Complete separation of two classes of costs, with its exact p-value and the wipe-out interval.

    Null hypothesis: labels are exchangeable within strata. `.p` belongs to the strongest separation seen:
    strict, else weak, else 1 ("not separated"). A cap c cuts an instance that costs more than c.

    Parameters
    ----------
    class1, class0 : costs per instance (or lists of repeats, whose mean is taken).
    alternative : "greater" (class 1 above), "less", or "two-sided" (either way; both counted).
    strata : as in `mean_difference`; separation is judged over all strata together.

    Examples
    --------
    >>> result = separation([310, 320, 350], [200, 250, 300], alternative="greater")
    >>> result.p, result.wipe_out.low, result.wipe_out.high
    (Fraction(1, 20), Fraction(300, 1), Fraction(310, 1))
    """
    choose(alternative, ("greater", "less", "two-sided"), "alternative")
    instances = read_instances(class1, class0, strata)
    directions = [way for way in ("greater", "less") if alternative in (way, "two-sided")]
    tested = instances.status == TESTED
    strict_way = weak_way = ""
    p_strict = p_weak = Fraction(0)
    for way in directions if tested else ():
        pairs = instances.pairs if way == "greater" else [(zero, one) for one, zero in instances.pairs]
        strict_share, weak_share = _shares(pairs)
        p_strict, p_weak = p_strict + strict_share, p_weak + weak_share
        high, low = min(_all(pairs, 0)), max(_all(pairs, 1))
        strict_way = strict_way or (way if high > low else "")
        weak_way = weak_way or (way if high >= low else "")
    p_weak = min(Fraction(1), p_weak) if tested else Fraction(1)
    p = p_strict if strict_way else p_weak if weak_way else Fraction(1)
    overlap = tested and not weak_way
    return SeparationResult(
        question="separation",
        p_value=PValue.exact(p),
        statistic=_gap(instances.pairs, strict_way or weak_way) if tested else None,
        alternative=alternative,
        two_sided="statistic",
        unit="instance",
        class1=instances.class1,
        class0=instances.class0,
        status=DEGENERATE if overlap else instances.status,
        reason="the classes overlap: not separated" if overlap else instances.reason,
        strata=len(instances.pairs),
        informative_strata=instances.informative,
        notes=instances.notes,
        strict=bool(strict_way),
        weak=bool(weak_way),
        p_strict=p_strict,
        p_weak=p_weak,
        wipe_out=_wipe_out(instances.pairs, strict_way),
        wiped={"greater": "class1", "less": "class0"}.get(strict_way, ""),
    )


def _all(pairs: Sequence[Pair], which: int) -> list[Fraction]:
    return [value for pair in pairs for value in pair[which]]


def _shares(pairs: Sequence[Pair]) -> tuple[Fraction, Fraction]:
    """The shares of arrangements with the first class strictly, and weakly, above the second.

    Overall the second class must hold the n0 lowest values; ties at the boundary leave a choice.
    """
    lower_size = sum(len(zero) for _, zero in pairs)
    ordered = sorted(value for one, zero in pairs for value in (*one, *zero))
    boundary, beyond = ordered[lower_size - 1], ordered[lower_size]
    choices = []
    for one, zero in pairs:
        values = [*one, *zero]
        ties = sum(value == boundary for value in values)
        needed = len(zero) - sum(value < boundary for value in values)
        choices.append(comb(ties, needed) if needed >= 0 else 0)
    total = prod(comb(len(one) + len(zero), len(one)) for one, zero in pairs)
    weak = Fraction(prod(choices), total)
    return (weak if boundary < beyond else Fraction(0)), weak


def _gap(pairs: Sequence[Pair], way: str) -> Fraction | None:
    """Smallest expensive cost minus largest cheap cost; None where the classes overlap."""
    if not way:
        return None
    above, below = (0, 1) if way == "greater" else (1, 0)
    return min(_all(pairs, above)) - max(_all(pairs, below))


def _wipe_out(pairs: Sequence[Pair], way: str) -> Interval | None:
    if not way:
        return None
    above, below = (0, 1) if way == "greater" else (1, 0)
    return Interval(max(_all(pairs, below)), min(_all(pairs, above)), None, "closed below, open above")
