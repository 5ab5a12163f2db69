"""Does the cost follow the search or the answer word? The same instances asked in several wordings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sealbench.stats.effects import shift_interval
from sealbench.stats.instances import Instances, read_instances
from sealbench.stats.linear import run_linear
from sealbench.stats.paired import sign_flip
from sealbench.stats.permutation import mean_difference
from sealbench.stats.planner import DEFAULT_TIME_LIMIT
from sealbench.stats.pvalue import BRACKET, EXACT, FLOAT, MONTE_CARLO, PValue
from sealbench.stats.results import NOT_ESTIMABLE, NOT_TESTABLE, TESTED, ClassSize, Interval, TestResult
from sealbench.stats.scores import midranks_doubled
from sealbench.stats.values import DataError, Number, as_sequence, to_fraction, to_probability

Row = list[tuple[Fraction, bool]]  # per wording the cost and whether it finished
Strata = Sequence[tuple[Sequence[object], Sequence[object]]]
_WORST_FIRST = (MONTE_CARLO, BRACKET, FLOAT, EXACT)


@dataclass(frozen=True)
class InversionResult(TestResult):
    """The control's verdict with its parts.

    wordings : per wording the one-sided test that the exhaustive side costs more; p is the largest of theirs.
    Secondary, never verdicts, None if any cost was cut or there are not two wordings: `sums` (class effect
    on the sum of both costs), `differences` (on first minus second: the answer word's effect, with its
    interval `word_interval`), `ratios` (on ranks of first over second), `wording` (the wordings themselves).
    word_within_margin : whether the interval lies inside the preregistered margin; None without a margin or
    where not testable. Only True supports "the word does not matter".
    """

    wordings: tuple[TestResult, ...] = ()
    sums: TestResult | None = None
    differences: TestResult | None = None
    ratios: TestResult | None = None
    wording: TestResult | None = None
    word_interval: Interval | None = None
    word_within_margin: bool | None = None
    secondary_reason: str = ""


def inversion_control(
    exhaustive: Sequence[object] = (),
    witness: Sequence[object] = (),
    *,
    strata: Strata | None = None,
    margin: Number | None = None,
    level: Number = Fraction(19, 20),
    time_limit: float | None = DEFAULT_TIME_LIMIT,
) -> InversionResult:
    """In every wording the exhaustive side costs more.

    Null hypothesis: in at least one wording, labels are exchangeable or the exhaustive side costs less. This
    is an intersection-union test: p is the largest of the wordings' one-sided p-values, needing no further
    adjustment.

    Parameters
    ----------
    exhaustive, witness : per instance the costs in each wording, in one order; a cost is a number, or
        (tokens, finished).
    strata : instead of those, a list of (exhaustive, witness).
    margin : the preregistered largest effect of the answer word (tokens) that counts as none.

    Examples
    --------
    >>> search = [[900, 880], [950, 990], [1000, 940]]
    >>> result = inversion_control(search, [[400, 380], [350, 420], [500, 450]])
    >>> result.p, result.differences.p, result.wording.p
    (Fraction(1, 20), Fraction(4, 5), Fraction(13, 16))
    """
    confidence = to_probability(level, "level")
    given = [(exhaustive, witness)] if strata is None else strata
    rows = [(_rows(one, "exhaustive"), _rows(zero, "witness")) for one, zero in given]
    count = _wording_count(rows)
    tests = tuple(
        mean_difference(
            strata=[([row[index][0] for row in one], [row[index][0] for row in zero]) for one, zero in rows],
            alternative="greater",
            time_limit=time_limit,
        )
        for index in range(count)
    )
    sizes = [sum(len(pair[which]) for pair in rows) for which in (0, 1)]
    status, reason = _status(tests, count, sizes)
    cut = any(not finished for pair in rows for part in pair for row in part for _, finished in row)
    notes = ("some costs were cut: each mean is restricted to the cap",) if cut else ()
    p_value = _largest([test.p_value for test in tests]) if status == TESTED else PValue.exact(Fraction(1))
    why = "costs were cut" if cut else "not exactly two wordings" if count != 2 else ""
    second = _Secondary(rows, confidence, time_limit) if status == TESTED and not why else None
    word = second.word_interval() if second else None
    limit = None if margin is None else abs(to_fraction(margin, "margin"))
    return InversionResult(
        question="inversion_control",
        p_value=p_value,
        statistic=min((test.statistic for test in tests if test.statistic is not None), default=None),
        alternative="greater",
        two_sided="statistic",
        unit="instance",
        class1=ClassSize(sizes[0], sizes[0] * count),
        class0=ClassSize(sizes[1], sizes[1] * count),
        effect=min((test.effect for test in tests if test.effect is not None), default=None),
        effect_name="smallest difference of means over wordings",
        status=status,
        reason=reason,
        strata=len(rows),
        informative_strata=sum(1 for one, zero in rows if one and zero),
        notes=notes,
        wordings=tests,
        sums=second.sums() if second else None,
        differences=second.differences() if second else None,
        ratios=second.ratios() if second else None,
        wording=second.wording() if second else None,
        word_interval=word,
        word_within_margin=None if word is None or limit is None else word.inside(-limit, limit),
        secondary_reason=f"not testable: {why}" if why else "",
    )


def _rows(items: Sequence[object], name: str) -> list[Row]:
    rows = []
    for index, item in enumerate(as_sequence(items, name)):
        place = f"{name}[{index}]"
        row: Row = []
        for cost in as_sequence(item, place):
            if isinstance(cost, (tuple, list)):
                if len(cost) != 2:
                    raise DataError(
                        f"{place}: not a (tokens, finished) pair", hint="for example (300, False)"
                    )
                row.append((to_fraction(cost[0], place), bool(to_fraction(cost[1], place))))
            else:
                row.append((to_fraction(cost, place), True))
        rows.append(row)
    return rows


def _wording_count(rows: Sequence[tuple[list[Row], list[Row]]]) -> int:
    counts = {len(row) for pair in rows for part in pair for row in part}
    if len(counts) > 1:
        raise DataError(
            "instances have different numbers of wordings", hint="leave out instances that lack a wording"
        )
    return counts.pop() if counts else 0


def _status(tests: Sequence[TestResult], count: int, sizes: Sequence[int]) -> tuple[str, str]:
    if not all(sizes):
        return NOT_ESTIMABLE, "a class is empty"
    for test in tests:
        if test.status in (NOT_ESTIMABLE, NOT_TESTABLE):
            return test.status, test.reason
    if count < 2:
        return NOT_TESTABLE, "fewer than two wordings"
    return TESTED, ""


def _largest(p_values: Sequence[PValue]) -> PValue:
    """The largest p-value; its method is the least exact of all, as any of them might be the largest."""
    largest = max(p_values, key=lambda p: p.conservative)
    if all(p.is_exact for p in p_values):
        return largest
    method = next(name for name in _WORST_FIRST if any(p.method == name for p in p_values))
    low, high = max(p.low for p in p_values), max(p.high for p in p_values)
    return PValue(
        largest.value, method, min(low, largest.value), max(high, largest.value), largest.hits, largest.draws
    )


class _Secondary:
    """The secondary questions for two wordings, all costs known."""

    def __init__(
        self, rows: Sequence[tuple[list[Row], list[Row]]], level: Fraction, time_limit: float | None
    ) -> None:
        self.costs = [[[(row[0][0], row[1][0]) for row in part] for part in pair] for pair in rows]
        self.level = level
        self.time_limit = time_limit

    def sums(self) -> TestResult:
        """Class effect on the sum of both costs: the search side."""
        return mean_difference(
            strata=[([a + b for a, b in one], [a + b for a, b in zero]) for one, zero in self.costs],
            alternative="greater",
            time_limit=self.time_limit,
        )

    def _first_minus_second(self) -> list[tuple[list[Fraction], list[Fraction]]]:
        return [([a - b for a, b in one], [a - b for a, b in zero]) for one, zero in self.costs]

    def differences(self) -> TestResult:
        """Class effect on first minus second: the answer word."""
        return mean_difference(strata=self._first_minus_second(), time_limit=self.time_limit)

    def word_interval(self) -> Interval:
        """The answer word's effect: shift of first minus second between the classes."""
        return shift_interval(strata=self._first_minus_second(), level=self.level, time_limit=self.time_limit)

    def ratios(self) -> TestResult | None:
        """Class effect on ranks of first over second; None where a cost is 0."""
        if any(b == 0 for pair in self.costs for part in pair for _, b in part):
            return None
        instances: Instances = read_instances(
            (), (), [([a / b for a, b in one], [a / b for a, b in zero]) for one, zero in self.costs]
        )
        return run_linear(
            "rank_sum",
            instances,
            alternative="two-sided",
            two_sided="statistic",
            mid_p=False,
            time_limit=self.time_limit,
            seed=None,
            effect_name="difference of mean ratios",
            scorer=midranks_doubled,
        )

    def wording(self) -> TestResult:
        """The wordings' own effect over all instances."""
        flat = [a - b for pair in self.costs for part in pair for a, b in part]
        return sign_flip(flat, time_limit=self.time_limit)
