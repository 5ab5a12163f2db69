"""`seal run --wait`: look every few minutes whether commitment and plan are in a block by now."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sealbench.cli.console import Console
from sealbench.errors import CheckFailed, NetworkError, NotYet

if TYPE_CHECKING:
    from sealbench.config import Settings
    from sealbench.formats.preregistration import Preregistration
    from sealbench.stages.start_run import OpenRun
    from sealbench.store import Workspace


def start_when_confirmed(
    console: Console,
    workspace: Workspace,
    settings: Settings,
    plan: Preregistration,
    start: Callable[[], OpenRun],
    *,
    hours: float,
    every: float,
) -> OpenRun:
    """What `start` returns, as soon as it no longer says that something is not confirmed.

    Raises
    ------
    NotYet : still not confirmed after `hours`, or never stamped, which no waiting changes.
    CheckFailed : a proof of commitment or plan is wrong.
    """
    from sealbench.anchoring import proof_path

    needed = [workspace.commitment(plan.battery), workspace.plan(plan.name)]
    until = time.monotonic() + hours * 3600
    said = ""
    while True:
        try:
            return start()
        except NotYet as error:
            if any(not proof_path(path).exists() for path in needed):
                raise
            if time.monotonic() > until:
                raise NotYet(
                    f"{error.message}; gave up after waiting {hours:g} h",
                    hint=f"seal run {plan.name} --wait, to wait longer",
                ) from error
            if error.message != said:
                console.note(f"waiting: {error.message}; looking again every {every:g} s (Ctrl-C stops)")
                said = error.message
        if not _upgraded(console, workspace, settings, needed):
            time.sleep(min(every, max(0.0, until - time.monotonic()) + 0.01))


def _upgraded(console: Console, workspace: Workspace, settings: Settings, needed: list[Path]) -> bool:
    """Ask the calendars once; whether a proof that is needed was completed just now."""
    from sealbench.stages.upgrade import upgrade_workspace

    try:
        done = upgrade_workspace(workspace, settings)
    except (NetworkError, NotYet) as error:  # NotYet: another command holds the workspace just now
        console.note(f"not looked: {error.message}")
        return False
    files = [one for one in done.files if one.path in needed]
    for one in files:
        if one.false:
            raise CheckFailed(f"{one.path.name}: {one.sentence}", hint=f"seal verify {one.path}")
    return any(one.changed and one.complete for one in files)
