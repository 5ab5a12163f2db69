"""The other ways of `seal create`: a draft that waits for its block, its items, a derived battery."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sealbench.cli.console import Console
from sealbench.errors import NetworkError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sealbench.config import Settings
    from sealbench.publishing.committing import Created
    from sealbench.stages.draft import Drafted
    from sealbench.store import Workspace


def ingredients(
    template: str, families: Sequence[str], given: Sequence[str], wordings: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """`--for`: families, parameters and wordings that the template's plan needs; own ones are added."""
    from sealbench.plans.templates import recipe

    if families:
        raise UsageError("--for names the families itself", hint=f"seal create --for {template} --name NAME")
    needed = recipe(template)
    own = {entry.partition("=")[0] for entry in given}
    kept = tuple(entry for entry in needed.given if entry.partition("=")[0] not in own)
    asked = dict.fromkeys((*needed.wordings, *wordings))
    return needed.families, (*kept, *given), tuple(asked)


def announce(
    workspace: Workspace,
    settings: Settings,
    families: Sequence[str],
    *,
    name: str,
    per_class: int | None,
    given: Sequence[str],
    wordings: Sequence[str],
    allow_leaks: bool,
    height: str,
) -> Drafted:
    """`--beacon`: check the parameters as `seal create` does, and write the draft."""
    from sealbench.stages.create import complete_parameters, refuse_leaks
    from sealbench.stages.draft import create_draft

    if per_class is None or per_class < 1:
        raise UsageError(
            "at least 1 instance per class is needed", hint="--per-class 8; `seal plan` computes it"
        )
    parameters = complete_parameters(families, per_class, given, wordings)
    if not allow_leaks:
        refuse_leaks(parameters)
    return create_draft(workspace, settings, name=name, parameters=parameters, height=height)


def tell_draft(
    console: Console, workspace: Workspace, drafted: Drafted, stamped: bool | None, as_json: bool
) -> None:
    """What was announced, and what has to happen before its block."""
    draft = drafted.draft
    relative = workspace.relative(drafted.path)
    if as_json:
        console.json(
            {
                "schema": "sealbench/draft-result/v1",
                "name": draft.name,
                "height": draft.height,
                "newest": drafted.tip,
                "draft": {"path": relative, "sha256": draft.digest()},
                "stamped": stamped,
            }
        )
    else:
        blocks = draft.height - drafted.tip
        console.result(f"draft   {draft.name}: items follow from block {draft.height}, {blocks} blocks on")
        console.result(f"sha256  {draft.digest()}  {relative}")
        key = workspace.battery_key(draft.name)
        console.note(f"key     {key}: back it up; if it is lost, nobody can ever make this battery")
        console.note(
            "freeze its plans now: draft and plans must stand 6 blocks below that one, or it is void"
        )
    console.next_step(f"seal preregister {draft.name} --plan {draft.name}-plan --template two-class")


def draw(
    console: Console,
    workspace: Workspace,
    settings: Settings,
    name: str,
    supersedes: str | None,
) -> Created:
    """`--from-draft`: complete the proofs first, so that none is taken for late that is not, then draw."""
    from sealbench.stages.draft import bound_plans, create_from_draft, read_draft
    from sealbench.stages.upgrade import upgrade_workspace

    read_draft(workspace, name)
    if not bound_plans(workspace, name):
        console.note(f"no plan is bound to {name}: it can only be run as a pilot")
    try:
        upgrade_workspace(workspace, settings)
    except NetworkError as error:
        console.note(f"proofs not upgraded: {error.message}")
    return create_from_draft(workspace, settings, name=name, supersedes=supersedes)


def take_part(
    workspace: Workspace,
    families: Sequence[str],
    *,
    parent: str,
    name: str,
    per_class: int | None,
    given: Sequence[str],
    supersedes: str | None,
) -> Created:
    """`--derived-from`: a smaller battery of the parent's own items."""
    from sealbench.stages.derive import derive

    if given:
        raise UsageError("a derived battery has its parent's parameters", hint="leave -p out")
    if per_class is None:
        raise UsageError("how many instances per class of the parent's?", hint="--per-class 4")
    return derive(workspace, families, parent=parent, name=name, per_class=per_class, supersedes=supersedes)
