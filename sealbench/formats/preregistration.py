"""`preregistrations/PLAN.json`: a plan frozen before the first call, bound to one commitment.

Source: docs/spec/preregistration.md. A hypothesis is data: the report evaluates it, nobody words it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from sealbench.formats.base import (
    Bool,
    Count,
    Decimal,
    FileHash,
    Identity,
    Instant,
    JsonObject,
    Label,
    Name,
    Record,
    Str,
)

Measure = Literal["censored", "lost", "charged_tokens", "reasoning_tokens", "accuracy", "error"]
Direction = Literal["greater", "less", "two-sided"]
WHERE_FIELDS = ("family", "kind", "stratum", "wording", "endpoint")


def _known_filter(where: dict[str, str]) -> dict[str, str]:
    unknown = sorted(set(where) - set(WHERE_FIELDS))
    if unknown:
        raise ValueError(f"filters on {', '.join(unknown)}; possible: {', '.join(WHERE_FIELDS)}")
    return where


Where = Annotated[dict[str, Str], AfterValidator(_known_filter)]


class Endpoint(Record):
    """One endpoint as it will be called; `settings` as the probe accepted them."""

    name: Str
    provider: Str
    model: Str
    base_url: Str | None
    api_key_env: Str | None
    cap_parameter: Str
    settings: JsonObject
    probed: Bool


class Bound(Record):
    """A least effect: the difference of class means (class1 minus class0) must reach it."""

    at_least: Decimal


class Hypothesis(Record):
    """One registered comparison of two classes at one cap.

    `direction` "greater" says that class1 is larger, or more often censored, than class0.
    """

    id: Str
    measure: Measure
    where: Where
    cap: Count
    class1: Label
    class0: Label
    direction: Direction
    test: Literal["exact_permutation"]
    alpha: Decimal
    bound: Bound | None
    falsifies: tuple[Str, ...]


class VoidCondition(Record):
    """If nothing was cut in `where` at `cap`, the battery is too easy there: `voids` are void."""

    id: Str
    condition: Literal["nothing_censored"]
    where: Where
    cap: Count
    voids: tuple[Str, ...]


class Parser(Record):
    """The answer parser's name and version."""

    name: Str
    version: Count


class RevealPolicy(Record):
    """When K will be published."""

    condition: Str
    deadline: Instant


class Margin(Record):
    """The largest difference that would count as none for one hypothesis."""

    hypothesis: Str
    margin: Decimal


class Preregistration(Identity):
    """A frozen plan; `underpowered` names the tests that can never reach their alpha, if it was forced."""

    schema_: Literal["sealbench/preregistration/v1"] = Field("sealbench/preregistration/v1", alias="schema")
    name: Name
    created_at: Instant
    tool_version: Str
    battery: Name
    commitment: FileHash
    amends: FileHash | None
    endpoints: tuple[Endpoint, ...]
    caps: tuple[Count, ...]
    repeats: Count
    wordings: tuple[Label, ...]
    parser: Parser
    stopping_rule: Str
    exclusions: tuple[Str, ...]
    hypotheses: tuple[Hypothesis, ...]
    void_conditions: tuple[VoidCondition, ...]
    alpha: Decimal
    correction: Literal["holm", "none"]
    equivalence_margins: tuple[Margin, ...]
    access: tuple[Str, ...]
    funding: Str
    reveal: RevealPolicy
    underpowered: tuple[Str, ...] = ()

    def to_value(self) -> dict[str, Any]:
        """`underpowered` stands in the file only where a plan was frozen with `--force`."""
        value = super().to_value()
        if not self.underpowered:
            del value["underpowered"]
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Preregistration:
        ids = [hypothesis.id for hypothesis in self.hypotheses]
        if len(set(ids)) != len(ids):
            raise ValueError("two hypotheses have the same id")
        for hypothesis in self.hypotheses:
            _require(hypothesis.cap in self.caps, f"{hypothesis.id}: cap {hypothesis.cap} is not in caps")
            _require(hypothesis.class1 != hypothesis.class0, f"{hypothesis.id}: compares a class with itself")
            for other in hypothesis.falsifies:
                _require(other in ids, f"{hypothesis.id}: falsifies {other}, which does not exist")
        for condition in self.void_conditions:
            for other in condition.voids:
                _require(other in ids, f"{condition.id}: voids {other}, which does not exist")
        _require(all(cap > 0 for cap in self.caps), "a cap must be at least 1")
        _require(self.repeats > 0, "repeats must be at least 1")
        return self


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)
