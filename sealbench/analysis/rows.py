"""From log lines to instances: which lines a question is about, and the score of every instance.

The unit is the instance. Its values are those of all its usable responses (wordings and repeats) at one
endpoint and cap; its stratum is what the battery fixed, plus which wordings it could be used in how often,
because instances with unequal usable repeats are not exchangeable.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from sealbench.formats.preregistration import Endpoint
from sealbench.formats.run import LogLine, Run
from sealbench.stats.results import TestResult

Stratum = tuple[str, ...]
# Attempts that were sent and never answered: time-out, dropped connection, run killed or stopped while
# waiting. Long thoughts wait longest, so each of these can favour a class. Not being able to connect cannot.
LOST_ATTEMPTS = frozenset({"timeout", "lost", "interrupted", "cancelled"})
TOKEN_MEASURES = frozenset({"charged_tokens", "reasoning_tokens"})
CUTTING_MEASURES = frozenset({"censored", "lost"})


@dataclass(frozen=True)
class InstanceScores:
    """One instance of a comparison: its class, its stratum, and one value per usable response."""

    instance: str
    class_label: str
    stratum: Stratum
    values: tuple[int, ...]

    @property
    def mean(self) -> Fraction:
        """The instance's score."""
        return Fraction(sum(self.values), len(self.values))


@dataclass(frozen=True)
class Selection:
    """The log lines one question is about, and what should be there; what is derived from them is kept.

    Attributes
    ----------
    lines : the lines in log order.
    instances : class label -> the instances asked about, answered or not.
    expected : class label -> the number of calls the run plans here.
    """

    lines: tuple[LogLine, ...]
    instances: Mapping[str, frozenset[str]]
    expected: Mapping[str, int]

    @property
    def labels(self) -> list[str]:
        """The classes with at least one instance, sorted."""
        return sorted(self.instances)

    def of_class(self, label: str) -> Sequence[LogLine]:
        """The lines of one class."""
        return self._by_class.get(label, ())

    @cached_property
    def _by_class(self) -> Mapping[str, Sequence[LogLine]]:
        found: dict[str, list[LogLine]] = defaultdict(list)
        for line in self.lines:
            found[line.class_label].append(line)
        return dict(found)


class Table:
    """A run's log, indexed once by endpoint and cap, so that every question reads only its own lines.

    `tested` holds the results of tests by what was tested, for whoever asks the same again.
    """

    def __init__(self, run: Run, lines: Sequence[LogLine]) -> None:
        self.run = run
        self.lines = tuple(lines)
        self.tested: dict[Hashable, TestResult] = {}
        self.items: dict[str, LogLine] = {}
        cells: dict[tuple[str, int, str, str], list[LogLine]] = defaultdict(list)
        for line in self.lines:
            self.items.setdefault(line.item, line)
            cells[(line.endpoint, line.cap, line.family, line.wording)].append(line)
        self._cells = dict(cells)
        self._selected: dict[tuple[tuple[tuple[str, str], ...], str, int], Selection] = {}

    @property
    def families(self) -> list[str]:
        """The families that have a line, sorted."""
        return sorted({line.family for line in self.items.values()})

    def wordings(self, family: str) -> list[str]:
        """The wordings one family was asked in, sorted."""
        return sorted({line.wording for line in self.items.values() if line.family == family})

    def classes(self, family: str) -> list[str]:
        """One family's classes, the more often cut one first, ties by name."""
        cut: Counter[str] = Counter()
        asked: Counter[str] = Counter()
        for (_, _, name, _), lines in self._cells.items():
            if name == family:
                asked.update(line.class_label for line in lines)
                cut.update(line.class_label for line in lines if line.censored)
        return sorted(asked, key=lambda label: (-cut[label] / asked[label], label))

    def select(self, where: Mapping[str, str], endpoint: str, cap: int) -> Selection:
        """The lines at one endpoint and cap that match the filters, and the calls planned there."""
        key = (tuple(sorted(where.items())), endpoint, cap)
        if key not in self._selected:
            self._selected[key] = self._select(where, endpoint, cap)
        return self._selected[key]

    def _select(self, where: Mapping[str, str], endpoint: str, cap: int) -> Selection:
        found = [
            line
            for (name, size, family, wording), lines in self._cells.items()
            if name == endpoint
            and size == cap
            and where.get("family", family) == family
            and where.get("wording", wording) == wording
            for line in lines
            if matches(line, where)
        ]
        found.sort(key=lambda line: line.seq)
        planned = self._is_planned(where, endpoint, cap)
        instances: dict[str, set[str]] = defaultdict(set)
        items: Counter[str] = Counter()
        for line in self.items.values():
            if matches(line, where):
                items[line.class_label] += 1
                instances[line.class_label].add(line.instance)
        expected = {label: count * self.run.repeats if planned else 0 for label, count in items.items()}
        frozen = {label: frozenset(names) for label, names in instances.items()}
        return Selection(tuple(found), frozen, expected)

    def _is_planned(self, where: Mapping[str, str], endpoint: str, cap: int) -> bool:
        names = {known.name for known in self.run.endpoints}
        return endpoint in names and cap in self.run.caps and where.get("endpoint", endpoint) == endpoint

    def absent_calls(self) -> int:
        """Calls the run plans and the log has no line for.

        The number written in run.json decides; a log of more lines than that has none absent.
        """
        return max(0, self.run.planned_calls - len({line.key for line in self.lines}))

    def unbinding_endpoints(self) -> frozenset[str]:
        """Endpoints where some response ran past its cap: what was cut there says nothing."""
        return frozenset(line.endpoint for line in self.lines if line.not_binding)


def matches(line: LogLine, where: Mapping[str, str]) -> bool:
    """Whether a line passes every filter but the endpoint's, which the caller chooses."""
    return (
        where.get("family", line.family) == line.family
        and where.get("wording", line.wording) == line.wording
        and where.get("kind", line.kind) == line.kind
        and where.get("stratum", line.stratum) == line.stratum
    )


def is_reference(endpoint: Endpoint) -> bool:
    """Whether this is a built-in reference endpoint, which is no model."""
    return endpoint.provider == "reference" or endpoint.name.startswith("reference/")


def value_of(line: LogLine, measure: str) -> int | None:
    """One response's value for one measure, or None where it has none.

    A missing response is neither cut nor uncut, neither right nor wrong. An ending the host did not
    name is no evidence of not having been cut; only a whole final answer shows that nothing was lost.
    """
    if measure == "error":
        return int(line.missing)
    if measure == "first_attempt_lost":
        return int(line.attempts[0].outcome in LOST_ATTEMPTS) if line.attempts else None
    if line.missing:
        return None
    if measure == "censored":
        return None if line.end == "unknown" else int(line.censored)
    if measure == "lost":
        if line.end == "unknown" and line.answer not in ("right", "wrong"):
            return None
        return int(line.lost)
    if measure == "accuracy":
        return None if line.answer == "ungraded" else int(line.answer == "right")
    return line.charged_tokens if measure == "charged_tokens" else line.reasoning_tokens


def instance_scores(lines: Iterable[LogLine], measure: str) -> list[InstanceScores]:
    """The instances with at least one usable response, sorted by name, each with all its values."""
    values: dict[str, list[int]] = defaultdict(list)
    used: dict[str, Counter[str]] = defaultdict(Counter)
    described: dict[str, LogLine] = {}
    for line in lines:
        value = value_of(line, measure)
        if value is not None:
            values[line.instance].append(value)
            used[line.instance][line.wording] += 1
            described.setdefault(line.instance, line)
    scores = []
    for instance in sorted(values):
        line = described[instance]
        pattern = ",".join(f"{wording}:{count}" for wording, count in sorted(used[instance].items()))
        stratum = (line.family, line.stratum, pattern)
        scores.append(InstanceScores(instance, line.class_label, stratum, tuple(values[instance])))
    return scores


def by_stratum(
    scores: Iterable[InstanceScores], class1: str, class0: str
) -> list[tuple[list[InstanceScores], list[InstanceScores]]]:
    """The strata in the order of their names, each as (instances of class1, instances of class0)."""
    strata: dict[Stratum, tuple[list[InstanceScores], list[InstanceScores]]] = {}
    for score in scores:
        if score.class_label in (class1, class0):
            pair = strata.setdefault(score.stratum, ([], []))
            pair[0 if score.class_label == class1 else 1].append(score)
    return [strata[name] for name in sorted(strata)]
