"""Before a plan is frozen: does all it speaks of exist in its battery, and can each of its tests succeed?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

from sealbench.analysis.reach import Group, PlannedTest, out_of_reach, strata_sizes
from sealbench.errors import ConfigurationError
from sealbench.formats.battery import Item, Parameters
from sealbench.formats.plan import DraftHypothesis, PlanDraft
from sealbench.tasks.base import get_family
from sealbench.tasks.battery import ItemShape

Shapes = Sequence[Item | ItemShape]


def groups_of(shapes: Shapes, parameters: Parameters) -> tuple[Group, ...]:
    """How many instances of each sort: counted among the items, else as the parameters say."""
    items = {shape.instance: shape for shape in shapes if isinstance(shape, Item)}
    sorts = (
        Counter((item.family, item.class_label, item.kind, item.stratum) for item in items.values())
        if items
        else Counter(
            (chosen.family, slot.class_label, slot.kind, slot.stratum)
            for chosen in parameters.families
            for slot in get_family(chosen.family).slots(chosen.parameters, chosen.per_class)
        )
    )
    return tuple(Group(*sort, instances=count) for sort, count in sorted(sorts.items()))


def check_plan(draft: PlanDraft, shapes: Shapes, wordings: Sequence[str], source: str) -> None:
    """Everything a plan names must exist in its battery; a plan that cannot apply is refused now.

    Parameters
    ----------
    shapes : the battery's items, or what they look like.
    wordings : those the battery was made in.
    source : the plan's file, for errors.

    Raises
    ------
    ConfigurationError : names the first thing that does not fit.
    """
    _require(
        all(cap > 0 for cap in draft.caps), f"{source}: a cap of 0 tokens asks for nothing", "caps = [300]"
    )
    _require(draft.repeats > 0, f"{source}: repeats must be at least 1", "repeats = 1")
    _require(
        len(set(draft.caps)) == len(draft.caps), f"{source}: a cap is listed twice", "list each cap once"
    )
    _require(
        len(set(draft.endpoints)) == len(draft.endpoints),
        f"{source}: an endpoint is listed twice",
        "list each endpoint once; use repeats to ask more often",
    )
    _require(
        not draft.exclusions,
        f"{source}: exclusions are not evaluated by this version, so a plan must not promise any",
        "exclusions = []",
    )
    _check_level(draft.alpha, source)
    unknown = sorted(set(draft.wordings) - set(wordings))
    _require(not unknown, f"{source}: the battery has no wording {unknown}", f"wordings = {list(wordings)}")
    for hypothesis in draft.hypotheses:
        if hypothesis.alpha is not None:
            _check_level(hypothesis.alpha, f"{source}: {hypothesis.id}")
        _check_hypothesis(hypothesis, draft, shapes, source)
    for condition in draft.void_conditions:
        _check_where(condition.where, draft, shapes, f"{source}: {condition.id}")


def check_reach(draft: PlanDraft, groups: Sequence[Group], source: str, *, force: bool) -> tuple[str, ...]:
    """The tests that can never be significant, if `force` freezes them all the same.

    Raises
    ------
    ConfigurationError : there is one and it was not forced; the hint says how many instances would do.
    """
    tests = [
        PlannedTest(
            f"{hypothesis.id} on {endpoint}",
            hypothesis.direction,
            Fraction(hypothesis.alpha or draft.alpha),
            strata_sizes(groups, hypothesis.where, hypothesis.class1, hypothesis.class0),
        )
        for hypothesis in draft.hypotheses
        for endpoint in (
            [hypothesis.where["endpoint"]] if "endpoint" in hypothesis.where else draft.endpoints
        )
    ]
    found = out_of_reach(tests, draft.correction)
    if found is None or force:
        return found.reasons if found is not None else ()
    more = f"; and {len(found.reasons) - 1} more" if len(found.reasons) > 1 else ""
    needed = (
        f"--per-class {found.per_stratum} (instances per class and stratum) would do, or fewer hypotheses"
        if found.per_stratum is not None
        else "raise alpha, or register fewer hypotheses"
    )
    raise ConfigurationError(
        f"{source}: a test can never reach its alpha: {found.reasons[0]}{more}",
        hint=f"{needed}; --force freezes it all the same and says so in the plan",
    )


def _check_level(alpha: str, where: str) -> None:
    _require(0 < Fraction(alpha) < 1, f"{where}: alpha must lie between 0 and 1", 'alpha = "0.05"')


def _check_hypothesis(hypothesis: DraftHypothesis, draft: PlanDraft, items: Shapes, source: str) -> None:
    where = f"{source}: {hypothesis.id}"
    _require(
        hypothesis.cap in draft.caps,
        f"{where}: cap {hypothesis.cap} is not among the plan's caps",
        f"use one of {list(draft.caps)}",
    )
    matching = _check_where(hypothesis.where, draft, items, where)
    classes = sorted({item.class_label for item in matching})
    for label in (hypothesis.class1, hypothesis.class0):
        _require(
            label in classes,
            f"{where}: no item of class {label} there",
            f"classes there: {', '.join(classes)}",
        )


def _check_where(
    filters: Mapping[str, str], draft: PlanDraft, items: Shapes, where: str
) -> list[Item | ItemShape]:
    endpoint = filters.get("endpoint")
    _require(
        endpoint is None or endpoint in draft.endpoints,
        f"{where}: endpoint {endpoint} is not in the plan",
        f"use one of {', '.join(draft.endpoints)}",
    )
    fields = {key: value for key, value in filters.items() if key != "endpoint"}
    matching = [item for item in items if all(getattr(item, key) == value for key, value in fields.items())]
    _require(bool(matching), f"{where}: no item of the battery fits {fields}", "compare with `seal families`")
    return matching


def _require(condition: bool, message: str, hint: str) -> None:
    if not condition:
        raise ConfigurationError(message, hint=hint)
