"""Generate a battery, seal it, commit to it, register it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor

from sealbench.analysis.leaks import judge_parameters, own_baselines
from sealbench.clock import Clock, system_clock
from sealbench.crypto.derivation import new_secret
from sealbench.errors import UsageError
from sealbench.formats.battery import FamilyParameters, Parameters
from sealbench.publishing.committing import Created, check_battery_name, commit_battery
from sealbench.store import Workspace
from sealbench.tasks.base import TaskFamily, get_family, source_sha256
from sealbench.tasks.battery import build_items


def create(
    workspace: Workspace,
    families: Sequence[str],
    *,
    name: str,
    per_class: int,
    given: Sequence[str] = (),
    wordings: Sequence[str] = ("plain",),
    supersedes: str | None = None,
    allow_leaks: bool = False,
    on_instance: Callable[[], None] | None = None,
    executor: Executor | None = None,
    clock: Clock = system_clock,
) -> Created:
    """Draw a fresh K, make the items, write envelope and commitment, and register them.

    Parameters
    ----------
    families : names of task families, each once.
    per_class : instances per class and kind, at least 1.
    given : `FAMILY.PARAMETER=VALUE`, or `PARAMETER=VALUE` where there is one family.
    wordings : wordings in which every instance is asked.
    supersedes : a battery that this one replaces.
    allow_leaks : make the battery although a short cut without any search tells the classes apart.
    executor : draws the instances; its processes must be as private as this one.

    Raises
    ------
    UsageError : a name already used, an unknown family, wording or parameter, ranges too narrow, or
        parameters whose leak report fails.
    """
    check_battery_name(workspace, name)
    if per_class < 1:
        raise UsageError(
            f"--per-class {per_class}: at least 1 instance per class is needed", hint="--per-class 8"
        )
    parameters = complete_parameters(families, per_class, given, wordings)
    if not allow_leaks:
        refuse_leaks(parameters)
    secret = new_secret()
    items = build_items(secret, parameters, on_instance=on_instance, executor=executor)
    return commit_battery(
        workspace,
        name,
        secret,
        parameters,
        items,
        baselines=own_baselines(items),
        supersedes=supersedes,
        clock=clock,
    )


def complete_parameters(
    families: Sequence[str], per_class: int, given: Sequence[str], wordings: Sequence[str]
) -> Parameters:
    """The whole public parameters from what a person gave; every default filled in."""
    if not families:
        raise UsageError("no task family given", hint="seal families")
    if len(set(families)) != len(families):
        raise UsageError("a family is named twice", hint="name each family once")
    chosen = {name: get_family(name) for name in families}
    values = _split_given(chosen, given)
    _check_wordings(chosen, wordings)
    return Parameters(
        families=tuple(
            FamilyParameters(
                family=name,
                version=family.version,
                source_sha256=source_sha256(family),
                per_class=per_class,
                parameters=family.complete(values[name]),
            )
            for name, family in chosen.items()
        ),
        wordings=tuple(wordings),
    )


def refuse_leaks(parameters: Parameters) -> None:
    """UsageError if a throwaway draw with these parameters tells the classes apart without a search."""
    for chosen in parameters.families:
        leaks = judge_parameters(get_family(chosen.family), chosen.parameters).leaks
        if leaks:
            score = f"{float(leaks[0].score):.1%}"
            raise UsageError(
                f"{chosen.family}: {leaks[0].name!r} alone scores {score} with these parameters",
                hint=f"seal families --check {chosen.family} shows all; --allow-leaks makes it all the same",
            )


def _split_given(chosen: Mapping[str, TaskFamily], given: Sequence[str]) -> dict[str, dict[str, str]]:
    values: dict[str, dict[str, str]] = {name: {} for name in chosen}
    for entry in given:
        key, separator, value = entry.partition("=")
        family, dot, parameter = key.rpartition(".")
        if not dot and len(chosen) == 1:
            family = next(iter(chosen))
        if not separator or not parameter or family not in values:
            first = next(iter(chosen))
            raise UsageError(
                f"-p {entry}: not FAMILY.PARAMETER=VALUE of a family of this battery",
                hint=f"for example -p {first}.PARAMETER=VALUE; `seal families` lists the parameters",
            )
        values[family][parameter] = value
    return values


def _check_wordings(chosen: Mapping[str, TaskFamily], wordings: Sequence[str]) -> None:
    if len(set(wordings)) != len(wordings):
        raise UsageError("wordings must be given once each", hint="--wording plain")
    for name, family in chosen.items():
        unknown = [wording for wording in wordings if wording not in family.wordings]
        if unknown:
            raise UsageError(
                f"{name} has no wording {', '.join(unknown)}",
                hint=f"possible: {', '.join(family.wordings)}",
            )
