"""Makes a complete regtest workspace with the real stages, over loopback HTTP, in a second or two.

Two batteries: `primes` is planned, run, reported and retired; `pairs` is planned, run and reported, and
stays sealed. A pilot on `pairs` and a battery that is never run stand beside them.
"""

from __future__ import annotations

from pathlib import Path

from sealbench.config import Settings, load
from sealbench.running.endpoint_choice import freeze_endpoint
from sealbench.stages.create import create
from sealbench.stages.init import init
from sealbench.stages.report import report
from sealbench.stages.retire import retire
from sealbench.stages.run import execute_run
from sealbench.stages.start_run import OpenRun, start_exploratory, start_run
from sealbench.store import Workspace
from sealbench.testing.calendar import CalendarServer
from tests.workshop import confirm, planned_from_template

ENDPOINTS = ("reference/solver", "reference/constant")


def build_workspace(root: Path, *, per_class: int = 3, caps: tuple[int, ...] = (300, 4000)) -> Workspace:
    """A workspace in which every kind of public file occurs and everything verifies."""
    with CalendarServer() as calendar:
        made = init(root, network="regtest", calendars=(calendar.url,), explorers=(calendar.url,))
        workspace = made.workspace
        settings = load(workspace.settings)
        for name, family in (("primes", "primality"), ("pairs", "subset_sum"), ("spare", "primality")):
            create(workspace, [family], name=name, per_class=per_class)
        for name in ("primes", "pairs"):
            planned_from_template(workspace, settings, name, ENDPOINTS, caps)
        confirm(workspace, settings, calendar)
        for name in ("primes", "pairs"):
            opened = start_run(workspace, f"{name}-plan")
            confirm(workspace, settings, calendar)
            _execute(workspace, settings, opened)
            report(workspace, opened.run.name)
        pilot = [freeze_endpoint("reference/solver", settings.endpoints)]
        _execute(workspace, settings, start_exploratory(workspace, "pairs", endpoints=pilot, caps=[300]))
        confirm(workspace, settings, calendar)  # a bundle keeps its proofs as they are when it is made
        retire(workspace, "primes")
        confirm(workspace, settings, calendar)
    return workspace


def _execute(workspace: Workspace, settings: Settings, opened: OpenRun) -> None:
    items, secret = opened.battery.items, opened.battery.secret
    execute_run(workspace, opened.run, items, secret, opened.planned(), settings=settings)
