"""From responses to instances: one score per instance, strata as given, unequal usable repeats apart.

Repeats and wordings of one instance are not independent, so an instance counts once, with the mean of its
usable responses. Instances with different numbers of usable responses are not exchangeable (their means
scatter differently), so the number of usable responses is always a further stratum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sealbench.stats.results import NOT_ESTIMABLE, NOT_TESTABLE, TESTED, ClassSize
from sealbench.stats.scores import Pair
from sealbench.stats.values import DataError, as_sequence, to_fraction

Responses = Sequence[object]
StrataArgument = Sequence[tuple[Responses, Responses]]


@dataclass(frozen=True)
class Instance:
    """One instance's mean score and the number of usable responses behind it."""

    score: Fraction
    responses: int


@dataclass(frozen=True)
class Instances:
    """Both classes of a test, in strata.

    pairs : per stratum (given stratum × usable responses) the scores of class 1 and of class 0.
    status, reason : "tested", or why no test is possible.
    """

    pairs: tuple[Pair, ...]
    class1: ClassSize
    class0: ClassSize
    status: str
    reason: str
    notes: tuple[str, ...]

    @property
    def informative(self) -> int:
        """How many strata hold both classes."""
        return sum(1 for one, zero in self.pairs if one and zero)

    def scores(self, which: int) -> list[Fraction]:
        """All scores of class 1 (which=0) or class 0 (which=1)."""
        return [score for pair in self.pairs for score in pair[which]]


def read_instances(
    class1: Responses, class0: Responses, strata: StrataArgument | None, *, binary: bool = False
) -> Instances:
    """Read the two-sample arguments all tests share.

    Parameters
    ----------
    class1, class0 : one entry per instance: a number, or the list of its usable responses.
    strata : instead of those, a list of (class1, class0), one per stratum.
    binary : responses are 0 or 1 (not cut, cut).

    Raises DataError for text, NaN or infinities, and for arguments of another shape.
    """
    groups: dict[tuple[int, int], tuple[list[Fraction], list[Fraction]]] = {}
    instances, responses, unusable = [0, 0], [0, 0], [0, 0]
    for index, pair in enumerate(strata_of(class1, class0, strata)):
        for which, values in enumerate(pair):
            name = f"class{1 - which}" if strata is None else f"strata[{index}].class{1 - which}"
            for place, value in enumerate(as_sequence(values, name)):
                instance = read_instance(value, f"{name}[{place}]", binary=binary)
                if instance is None:
                    unusable[which] += 1
                    continue
                instances[which] += 1
                responses[which] += instance.responses
                group = groups.setdefault((index, instance.responses), ([], []))
                group[which].append(instance.score)
    sizes = [ClassSize(*counts) for counts in zip(instances, responses, unusable, strict=True)]
    pairs = tuple(groups[key] for key in sorted(groups))
    status, reason = _status(pairs, sizes)
    return Instances(pairs, sizes[0], sizes[1], status, reason, _notes(pairs, sizes, groups))


def strata_of(class1: Responses, class0: Responses, strata: StrataArgument | None) -> StrataArgument:
    """The strata, or the two classes as the only one."""
    if strata is None:
        return [(class1, class0)]
    if len(class1) or len(class0):
        raise DataError("both classes and strata were given", hint="pass strata=[(class1, class0), …] alone")
    result = []
    for index, pair in enumerate(as_sequence(strata, "strata")):
        two = as_sequence(pair, f"strata[{index}]")
        if len(two) != 2:
            raise DataError(
                f"strata[{index}] holds {len(two)} parts", hint="each stratum is a pair (class1, class0)"
            )
        result.append(
            (as_sequence(two[0], f"strata[{index}].class1"), as_sequence(two[1], f"strata[{index}].class0"))
        )
    return result


def read_instance(value: object, where: str, *, binary: bool = False) -> Instance | None:
    """One instance's mean and number of usable responses; None if it has none."""
    if isinstance(value, tuple) and set(map(type, value)) == {int} and (not binary or set(value) <= {0, 1}):
        return Instance(Fraction(sum(value), len(value)), len(value))  # a log's counts: quickly, at once
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        numbers = [to_fraction(item, f"{where}[{index}]") for index, item in enumerate(value)]
    else:
        numbers = [to_fraction(value, where)]
    if binary and any(number not in (0, 1) for number in numbers):
        raise DataError(
            f"{where}: a response is cut (1) or not cut (0)", hint="give 0 or 1 for each response"
        )
    if not numbers:
        return None
    return Instance(sum(numbers, Fraction(0)) / len(numbers), len(numbers))


def _status(pairs: Sequence[Pair], sizes: Sequence[ClassSize]) -> tuple[str, str]:
    if not sizes[0].instances or not sizes[1].instances:
        empty = [f"class{1 - which}" for which in (0, 1) if not sizes[which].instances]
        return NOT_ESTIMABLE, f"no usable instance in {' and '.join(empty)}"
    if not any(one and zero for one, zero in pairs):
        return NOT_TESTABLE, "no stratum holds instances of both classes"
    return TESTED, ""


def _notes(
    pairs: Sequence[Pair],
    sizes: Sequence[ClassSize],
    groups: dict[tuple[int, int], tuple[list[Fraction], list[Fraction]]],
) -> tuple[str, ...]:
    notes = []
    given, numbers = {key[0] for key in groups}, {key[1] for key in groups}
    if len(numbers) > 1 and len(groups) > len(given):
        notes.append("unequal numbers of usable responses: compared only among instances with equally many")
    lonely = sum(len(one) + len(zero) for one, zero in pairs if not (one and zero))
    if lonely and any(one and zero for one, zero in pairs):
        notes.append(f"{lonely} instances lie in strata without the other class and take no part in the test")
    missing = sizes[0].unusable + sizes[1].unusable
    if missing:
        notes.append(f"{missing} instances without any usable response")
    return tuple(notes)
