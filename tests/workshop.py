"""Builds workspaces for tests out of the real stages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sealbench.config import Settings, load
from sealbench.stages.create import create
from sealbench.stages.init import init
from sealbench.stages.preregister import preregister, write_template
from sealbench.stages.stamp import stamp
from sealbench.stages.upgrade import upgrade_workspace
from sealbench.store import Workspace
from sealbench.testing.calendar import CalendarServer

PLAN = """\
battery = "primes"
endpoints = {endpoints}
caps = {caps}
repeats = {repeats}
access = ["the author"]
funding = "none"

[reveal]
condition = "when reported"
deadline = "2030-01-01T00:00:00Z"

[[hypotheses]]
id = "H1"
measure = "censored"
where = {{ family = "primality", endpoint = "{first}" }}
cap = {cap}
class1 = "prime"
class0 = "composite"
direction = "greater"
"""


def sealed(root: Path, *, per_class: int = 2) -> tuple[Workspace, Settings]:
    """A regtest workspace with one sealed battery `primes`, nothing stamped."""
    workspace = init(root, network="regtest", calendars=("http://127.0.0.1:1",)).workspace
    create(workspace, ["primality"], name="primes", per_class=per_class)
    return workspace, load(workspace.settings)


def planned(
    root: Path,
    *,
    per_class: int = 2,
    endpoints: Sequence[str] = ("reference/solver",),
    caps: Sequence[int] = (300,),
    repeats: int = 1,
) -> tuple[Workspace, Settings]:
    """The same with a plan `plan`, both confirmed in a regtest block."""
    with CalendarServer() as calendar:
        workspace = init(
            root, network="regtest", calendars=(calendar.url,), explorers=(calendar.url,)
        ).workspace
        settings = load(workspace.settings)
        create(workspace, ["primality"], name="primes", per_class=per_class)
        source = root / "plan.toml"
        source.write_text(
            PLAN.format(
                endpoints="[" + ", ".join(f'"{name}"' for name in endpoints) + "]",
                caps=list(caps),
                repeats=repeats,
                first=endpoints[0],
                cap=caps[0],
            )
        )
        preregister(workspace, "primes", plan="plan", source=source, settings=settings, force=True)
        confirm(workspace, settings, calendar)
    return workspace, settings


def planned_from_template(
    workspace: Workspace, settings: Settings, name: str, endpoints: Sequence[str], caps: Sequence[int]
) -> None:
    """Freeze `NAME-plan`, the two-class template for a battery."""
    plan = f"{name}-plan"
    source = write_template(
        workspace,
        name,
        plan=plan,
        template="two-class",
        folder=workspace.root,
        endpoints=endpoints,
        caps=caps,
    )
    preregister(workspace, name, plan=plan, source=source, settings=settings, force=True)


def confirm(workspace: Workspace, settings: Settings, calendar: CalendarServer) -> None:
    """Stamp what has no proof, mine a block over it, and complete the proofs."""
    stamp(workspace, settings)
    calendar.mine()
    upgrade_workspace(workspace, settings)
