"""`seal run`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console, workspace_option
from sealbench.cli.stamping import stamp_now
from sealbench.cli.workspace import open_workspace
from sealbench.errors import UsageError

if TYPE_CHECKING:
    from sealbench.config import Settings
    from sealbench.stages.run import Progress, RunResult
    from sealbench.stages.start_run import OpenRun
    from sealbench.store import Workspace


@click.command("run")
@click.argument("plan", required=False)
@click.option("--cap", "caps", multiple=True, type=int, help="Do only this cap of the plan.")
@click.option("--endpoint", "endpoints", multiple=True, help="Do only this endpoint of the plan.")
@click.option("--wording", "wordings", multiple=True, help="Do only this wording of the plan.")
@click.option("--repeats", type=int, default=1, show_default=True, help="For a pilot: repeats.")
@click.option("--exploratory", is_flag=True, help="A pilot: PLAN is a battery; no plan, no stamp.")
@click.option(
    "--require",
    type=click.Choice(["confirmed", "stamped"]),
    default="confirmed",
    show_default=True,
    help="What commitment and plan must have: a block, or a calendar's promise.",
)
@click.option("--again", is_flag=True, help="Begin a further run of a plan that was run already.")
@click.option("--max-connections", type=click.IntRange(1), default=None, help="Calls at the same time.")
@click.option("--dry-run", is_flag=True, help="Say what would be called and written; touch no network.")
@click.option("--no-stamp", is_flag=True, help="Do not stamp the run's start and end.")
@workspace_option
@json_option
@pass_console
def command(
    console: Console,
    plan: str | None,
    caps: tuple[int, ...],
    endpoints: tuple[str, ...],
    wordings: tuple[str, ...],
    repeats: int,
    exploratory: bool,
    require: str,
    again: bool,
    max_connections: int | None,
    dry_run: bool,
    no_stamp: bool,
    folder: Path | None,
    as_json: bool,
) -> int:
    """\b
    seal run                                    the only plan here, or its unfinished rest
    seal run primes-plan --cap 300              that part of it
    seal run primes --exploratory --cap 300 --endpoint openai/gpt-5.5

    Make the calls that the plan asks for and the log does not hold yet. Stop it whenever you like:
    the same command goes on where it was. Exit code 3 while calls are left.
    """
    if any(cap < 1 for cap in caps):
        raise UsageError("a cap of 0 tokens asks for nothing", hint="--cap 300")
    workspace, settings = open_workspace(folder)
    if dry_run:
        return _dry_run(console, workspace, plan, as_json)
    opened = _open(workspace, settings, plan, exploratory, require, again, caps, endpoints, repeats, wordings)
    if opened.ended:
        console.note(f"the run {opened.run.name} has ended; nothing is left to call")
        console.next_step(f"seal report {opened.run.name}")
        return 0
    return _execute(
        console, workspace, settings, opened, caps, endpoints, wordings, max_connections, no_stamp, as_json
    )


def _open(
    workspace: Workspace,
    settings: Settings,
    plan: str | None,
    exploratory: bool,
    require: str,
    again: bool,
    caps: tuple[int, ...],
    endpoints: tuple[str, ...],
    repeats: int,
    wordings: tuple[str, ...],
) -> OpenRun:
    from sealbench.endpoint_choice import freeze_endpoint
    from sealbench.stages.start_run import start_exploratory, start_run

    if exploratory:
        if plan is None:
            raise UsageError("a pilot needs a battery", hint="seal run BATTERY --exploratory --cap 300 …")
        return start_exploratory(
            workspace,
            plan,
            endpoints=[freeze_endpoint(name, settings.endpoints) for name in endpoints],
            caps=caps,
            repeats=repeats,
            wordings=wordings,
        )
    return start_run(workspace, plan, require="stamped" if require == "stamped" else "confirmed", again=again)


def _execute(
    console: Console,
    workspace: Workspace,
    settings: Settings,
    opened: OpenRun,
    caps: tuple[int, ...],
    endpoints: tuple[str, ...],
    wordings: tuple[str, ...],
    max_connections: int | None,
    no_stamp: bool,
    as_json: bool,
) -> int:
    from sealbench.stages.run import Selection, execute_run

    run = opened.run
    selection = Selection() if run.exploratory else Selection(endpoints, caps, wordings)
    selection.check(run)
    if opened.fresh:
        console.note(f"run {run.name}: {run.planned_calls} calls planned")
        if not no_stamp and not run.exploratory:
            stamp_now(console, workspace, settings)
    result = execute_run(
        workspace,
        run,
        opened.battery.items,
        opened.battery.secret,
        opened.planned(),
        settings=settings,
        selection=selection,
        max_connections=max_connections,
        on_progress=_progress(console),
    )
    console.clear_progress()
    if result.ended and not no_stamp and not run.exploratory:
        stamp_now(console, workspace, settings)
    return _tell(console, result, as_json)


def _progress(console: Console) -> Callable[[Progress], None]:
    ends: Counter[str] = Counter()

    def show(progress: Progress) -> None:
        ends["cut" if progress.line.censored else progress.line.end] += 1
        told = ", ".join(f"{count} {end}" for end, count in sorted(ends.items()))
        console.progress(f"{progress.done}/{progress.selected} calls: {told}")

    return show


def _tell(console: Console, result: RunResult, as_json: bool) -> int:
    run = result.run
    if as_json:
        console.json(
            {
                "schema": "sealbench/run-result/v1",
                "run": run.name,
                "exploratory": run.exploratory,
                "done_now": result.done_now,
                "done": result.done,
                "planned": run.planned_calls,
                "ended": result.ended,
            }
        )
    else:
        heading = "EXPLORATORY run" if run.exploratory else "run"
        console.result(f"{heading} {run.name}: {result.done} of {run.planned_calls} calls in the log")
    for stopped in result.summary.stopped:
        console.error(f"endpoint {stopped.endpoint} was stopped: {stopped.reason}", stopped.hint)
    if result.ended:
        console.next_step(f"seal report {run.name}")
        return 0
    again = f"seal run {Path(run.plan.path).stem}" if run.plan else "the same command again"
    console.next_step(f"{again} ({result.left} calls are left)")
    return 3


def _dry_run(console: Console, workspace: Workspace, plan: str | None, as_json: bool) -> int:
    from sealbench.sealing import open_battery
    from sealbench.stages.start_run import find_plan

    found = find_plan(workspace, plan)
    battery = open_battery(workspace, found.battery)
    items = [item for item in battery.items if item.wording in found.wordings]
    calls = len(items) * len(found.endpoints) * len(found.caps) * found.repeats
    tokens = len(items) * len(found.endpoints) * found.repeats * sum(found.caps)
    if as_json:
        console.json(
            {
                "schema": "sealbench/dry-run/v1",
                "plan": found.name,
                "calls": calls,
                "token_ceiling": tokens,
                "endpoints": [endpoint.name for endpoint in found.endpoints],
            }
        )
    else:
        names = ", ".join(endpoint.name for endpoint in found.endpoints)
        console.result(f"plan {found.name}: {calls} calls ({len(items)} items; {names})")
        console.result(f"at most {tokens} answer tokens, prompts apart")
        console.result(f"writes runs/{found.name}-N/, commitments/registry.jsonl and a checkpoint")
    return 0
