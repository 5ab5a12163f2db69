"""The plan a person writes (`PLAN.toml`) before it is frozen into `preregistrations/PLAN.json`.

Floats of the TOML become decimal strings, because signed files hold none.
"""

from __future__ import annotations

import tomllib
from typing import Any, Literal

from pydantic import Field, ValidationError

from sealbench.errors import ConfigurationError
from sealbench.formats.base import Count, Decimal, Label, Name, Record, Str
from sealbench.formats.preregistration import (
    Bound,
    Direction,
    Margin,
    Measure,
    RevealPolicy,
    VoidCondition,
    Where,
)


class DraftHypothesis(Record):
    """A hypothesis as written; what is left out has the plan's own value."""

    id: Str
    measure: Measure
    where: Where = Field(default_factory=dict)
    cap: Count
    class1: Label
    class0: Label
    direction: Direction
    alpha: Decimal | None = None
    bound: Bound | None = None
    falsifies: tuple[Str, ...] = ()


class PlanDraft(Record):
    """A whole plan as written."""

    battery: Name
    endpoints: tuple[Str, ...] = Field(min_length=1)
    caps: tuple[Count, ...] = Field(min_length=1)
    repeats: Count = 1
    wordings: tuple[Label, ...] = ("plain",)
    stopping_rule: Str = "every planned call once; no look at results before all are done"
    exclusions: tuple[Str, ...] = ()
    hypotheses: tuple[DraftHypothesis, ...] = ()
    void_conditions: tuple[VoidCondition, ...] = ()
    alpha: Decimal = "0.05"
    correction: Literal["holm", "none"] = "holm"
    equivalence_margins: tuple[Margin, ...] = ()
    access: tuple[Str, ...] = Field(min_length=1)
    funding: Str
    reveal: RevealPolicy


def read_plan(text: str, name: str) -> PlanDraft:
    """Parse a plan; ConfigurationError names the file, the field and what is wrong with it."""
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # huge integers and deep nesting are no TOMLDecodeError
        raise ConfigurationError(
            f"{name}: {error}", hint="correct that line and run this command again"
        ) from error
    try:
        return PlanDraft.model_validate(_without_floats(document))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "plan"
        raise ConfigurationError(
            f"{name}: {where}: {first['msg']}",
            hint="`seal preregister BATTERY --plan PLAN --template two-class` writes a commented example",
        ) from error


def _without_floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_floats(item) for item in value]
    return repr(value) if isinstance(value, float) else value
