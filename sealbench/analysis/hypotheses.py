"""What became of every registered hypothesis, on every endpoint it speaks of.

The order of the verdicts is the protocol's: void, not testable, falsified, supported, not supported. The
p-values are corrected over all registered tests together (one per hypothesis and endpoint), those that
turned out untestable included; the opposite directions are a family of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sealbench.analysis.comparison import Tested, compare
from sealbench.analysis.quantities import p_number
from sealbench.analysis.question import Question
from sealbench.analysis.rows import Table, is_reference
from sealbench.formats.preregistration import Hypothesis, Preregistration, VoidCondition
from sealbench.formats.report import Comparison, HypothesisVerdict, Verdict, VoidStatus
from sealbench.stats.multiplicity import holm
from sealbench.stats.pvalue import PValue

Key = tuple[str, str]  # hypothesis, endpoint


@dataclass(frozen=True)
class Registered:
    """The registered part of a report: its tests, verdicts and void conditions."""

    tests: tuple[Comparison, ...]
    verdicts: tuple[HypothesisVerdict, ...]
    void_conditions: tuple[VoidStatus, ...]


@dataclass(frozen=True)
class _Judged:
    """One hypothesis on one endpoint: the test, its corrected p-values, and its own numbers' verdict."""

    hypothesis: Hypothesis
    tested: Tested
    adjusted: Fraction | None
    opposite: Fraction | None
    margin: str | None

    @property
    def alpha(self) -> Fraction:
        return Fraction(self.hypothesis.alpha)

    @property
    def not_testable(self) -> str:
        """Why nothing can be concluded; empty where something can."""
        smallest = self.tested.smallest
        if self.tested.blocked:
            return self.tested.blocked
        if smallest is not None and smallest > self.alpha:
            reach = PValue.exact(smallest).text()
            return f"the smallest p this design can reach is {reach}, above alpha {self.hypothesis.alpha}"
        return ""

    @property
    def bound_met(self) -> bool:
        bound, effect = self.hypothesis.bound, self.tested.effect
        if bound is None:
            return True
        if effect is None:
            return False
        least = abs(Fraction(bound.at_least))
        signed = {"greater": effect, "less": -effect, "two-sided": abs(effect)}
        return signed[self.hypothesis.direction] >= least

    @property
    def margin_text(self) -> str:
        """What the interval says about the registered margin; only one that lies inside shows anything."""
        if self.margin is None:
            return ""
        interval, limit = self.tested.interval, abs(Fraction(self.margin))
        if interval is None:
            return f"; no interval to compare with the registered margin {self.margin}"
        if interval.inside(-limit, limit):
            return f"; the 95% interval lies inside the registered margin {self.margin}"
        return f"; the 95% interval reaches beyond the registered margin {self.margin}"

    @property
    def supported(self) -> bool:
        """By its own numbers alone."""
        return self.adjusted is not None and self.adjusted <= self.alpha and self.bound_met

    @property
    def reversed(self) -> bool:
        """The opposite direction is significant."""
        return self.opposite is not None and self.opposite <= self.alpha


def judge(table: Table, plan: Preregistration, *, time_limit: int) -> Registered:
    """Test every hypothesis of the plan on every endpoint of the plan it speaks of."""
    known = {hypothesis.id: hypothesis for hypothesis in plan.hypotheses}
    tested = {
        (hypothesis.id, endpoint): compare(table, _question(hypothesis, endpoint), time_limit=time_limit)
        for hypothesis in plan.hypotheses
        for endpoint in _endpoints(hypothesis, plan)
    }
    adjusted = _correct({key: test.p for key, test in tested.items()}, plan.correction)
    reversed_ = _correct({key: test.opposite for key, test in tested.items()}, plan.correction)
    margins = {margin.hypothesis: margin.margin for margin in plan.equivalence_margins}
    judged = {
        key: _Judged(known[key[0]], test, adjusted.get(key), reversed_.get(key), margins.get(key[0]))
        for key, test in tested.items()
    }
    voids = tuple(_void_status(table, plan, condition) for condition in plan.void_conditions)
    verdicts = _Verdicts(plan, judged, voids).all()
    tests = tuple(
        test.comparison.model_copy(
            update={
                "hypothesis": key[0],
                "p_adjusted": _corrected(test.p, adjusted.get(key)),
                "verdict": verdict.verdict,
            }
        )
        for (key, test), verdict in zip(tested.items(), verdicts, strict=True)
    )
    return Registered(tests, verdicts, voids)


def _endpoints(hypothesis: Hypothesis, plan: Preregistration) -> list[str]:
    """The endpoint its filter names, in the plan or not, else all of the plan's."""
    named = hypothesis.where.get("endpoint")
    return [named] if named is not None else [endpoint.name for endpoint in plan.endpoints]


def _question(hypothesis: Hypothesis, endpoint: str) -> Question:
    return Question(
        measure=hypothesis.measure,
        where={key: value for key, value in hypothesis.where.items() if key != "endpoint"},
        endpoint=endpoint,
        cap=hypothesis.cap,
        class1=hypothesis.class1,
        class0=hypothesis.class0,
        alternative=hypothesis.direction,
    )


def _correct(values: Mapping[Key, PValue | None], correction: str) -> dict[Key, Fraction]:
    """Corrected p-values of the tests that have one; the others count in the family as p = 1."""
    known = {key: value.conservative for key, value in values.items() if value is not None}
    if correction == "none" or not known:
        return known
    keys = list(values)
    adjusted = holm({str(place): known.get(key, Fraction(1)) for place, key in enumerate(keys)})
    return {key: adjusted[str(place)] for place, key in enumerate(keys) if key in known}


def _corrected(p: PValue | None, adjusted: Fraction | None) -> object:
    return None if p is None or adjusted is None else p_number(adjusted_p(p, adjusted))


def adjusted_p(p: PValue, adjusted: Fraction) -> PValue:
    """A corrected p-value, which is as exact as the one it comes from."""
    if p.is_exact:
        return PValue.exact(adjusted)
    error = p.error * adjusted / p.conservative if p.conservative else p.error
    return PValue(adjusted, p.method, max(Fraction(0), adjusted - error), min(Fraction(1), adjusted + error))


def _void_status(table: Table, plan: Preregistration, condition: VoidCondition) -> VoidStatus:
    """Whether nothing was cut where the condition looks.

    Reference endpoints count only where the plan has no other, and endpoints whose cap does not bind
    never do: neither says anything about how hard the battery is for a model.
    """
    models = [endpoint.name for endpoint in plan.endpoints if not is_reference(endpoint)]
    names = models or [endpoint.name for endpoint in plan.endpoints]
    if "endpoint" in condition.where:
        names = [condition.where["endpoint"]]
    unbinding = table.unbinding_endpoints()
    lines = [
        line
        for name in names
        if name not in unbinding
        for line in table.select(condition.where, name, condition.cap).lines
        if not line.missing
    ]
    cut = sum(line.censored for line in lines)
    place = (
        ", ".join(f"{key} {value}" for key, value in sorted(condition.where.items())) or "the whole battery"
    )
    if not lines:
        holds, detail = None, f"no response in {place} at cap {condition.cap} to judge it by"
    elif cut:
        holds, detail = (
            False,
            f"{cut} of {len(lines)} responses were censored in {place} at cap {condition.cap}",
        )
    else:
        holds, detail = (
            True,
            f"none of {len(lines)} responses was censored in {place} at cap {condition.cap}: too easy",
        )
    return VoidStatus(
        id=condition.id, holds=holds, responses=len(lines), censored=cut, detail=detail, voids=condition.voids
    )


class _Verdicts:
    """The verdicts in the protocol's order, resolved along `falsifies`.

    A hypothesis refutes another if its own final verdict is supported. Where two refute each other, in
    a circle of any length, each counts by its own numbers, so that the order of the plan decides nothing.
    """

    def __init__(
        self, plan: Preregistration, judged: Mapping[Key, _Judged], voids: Sequence[VoidStatus]
    ) -> None:
        self._judged = judged
        self._falsifies = {hypothesis.id: hypothesis.falsifies for hypothesis in plan.hypotheses}
        self._named = {hypothesis.id: hypothesis.where.get("endpoint") for hypothesis in plan.hypotheses}
        self._decided: dict[Key, tuple[Verdict, str]] = {}
        self._void = {name: status for status in reversed(voids) if status.holds for name in status.voids}

    def all(self) -> tuple[HypothesisVerdict, ...]:
        """One verdict per hypothesis and endpoint, in the plan's order."""
        return tuple(self._verdict(key) for key in self._judged)

    def _verdict(self, key: Key) -> HypothesisVerdict:
        verdict, reason = self._decide(key)
        return HypothesisVerdict(hypothesis=key[0], endpoint=key[1], verdict=verdict, reason=reason)

    def _decide(self, key: Key) -> tuple[Verdict, str]:
        if key not in self._decided:
            self._decided[key] = self._first_that_holds(key)
        return self._decided[key]

    def _first_that_holds(self, key: Key) -> tuple[Verdict, str]:
        name = key[0]
        judged = self._judged[key]
        if name in self._void:
            return "void", f"{self._void[name].id}: {self._void[name].detail}"
        if judged.not_testable:
            return "not_testable", judged.not_testable
        for other, endpoint in self._refuters(key):
            return "falsified", f"{other}, which would refute it, is supported on {endpoint}"
        if judged.reversed:
            p = PValue.exact(judged.opposite or Fraction(1)).text()
            return "falsified", f"the opposite direction is significant (corrected p {p})"
        if judged.supported:
            return "supported", self._numbers(judged)
        return "not_supported", self._numbers(judged)

    def _refuters(self, key: Key) -> list[Key]:
        """Supported hypotheses that list this one, on the same endpoint.

        Two hypotheses that each name an endpoint of their own are compared across these.
        """
        name, endpoint = key
        found = []
        for other, targets in self._falsifies.items():
            rival = (other, endpoint)
            if self._named[name] and self._named[other]:
                rival = (other, self._named[other] or endpoint)
            if name not in targets or other == name or rival not in self._judged:
                continue
            if self._reaches(name, other):
                supported = self._own_supported(rival)
            else:
                supported = self._decide(rival)[0] == "supported"
            if supported:
                found.append(rival)
        return found

    def _own_supported(self, key: Key) -> bool:
        judged = self._judged[key]
        return key[0] not in self._void and not judged.not_testable and judged.supported

    def _reaches(self, start: str, end: str) -> bool:
        """Whether `start` refutes `end`, directly or through others."""
        seen, waiting = set(), [start]
        while waiting:
            for target in self._falsifies[waiting.pop()]:
                if target == end:
                    return True
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return False

    @staticmethod
    def _numbers(judged: _Judged) -> str:
        hypothesis, adjusted = judged.hypothesis, judged.adjusted
        p = PValue.exact(adjusted).text() if adjusted is not None else "none"
        comparison = "at or below" if adjusted is not None and adjusted <= judged.alpha else "above"
        text = f"corrected p {p}, {comparison} alpha {hypothesis.alpha}"
        if hypothesis.bound is not None and not judged.bound_met:
            text += f"; the effect misses its registered bound {hypothesis.bound.at_least}"
        text += judged.margin_text
        if judged.tested.reason:
            text += f"; {judged.tested.reason}"
        return text
