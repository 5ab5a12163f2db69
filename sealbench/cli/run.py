"""`seal run`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from sealbench.cli.console import Console
from sealbench.cli.options import pass_console
from sealbench.cli.run_options import RunOptions, run_options
from sealbench.cli.stamping import stamp_now
from sealbench.cli.workers_option import dask_cluster
from sealbench.cli.workspace import open_workspace
from sealbench.errors import UsageError

if TYPE_CHECKING:
    from sealbench.config import Settings
    from sealbench.formats.preregistration import Endpoint, Preregistration
    from sealbench.formats.run import Run
    from sealbench.stages.start_run import OpenRun
    from sealbench.store import Workspace
    from sealbench.workers.dask_cluster import DaskCluster


@click.command("run")
@run_options
@pass_console
def command(console: Console, /, **given: Any) -> int:
    """\b
    seal run                                    the unfinished run here, or the only plan
    seal run primes-plan --cap 300              that part of it
    seal run primes-plan --dry-run --budget 5   what it would call and cost
    seal run primes --exploratory --cap 300 --endpoint openai/gpt-5.5
    seal run --dask tcp://127.0.0.1:8786        the calls made by the workers of a Dask cluster

    Make the calls that the plan asks for and the log does not hold yet. PLAN can also be the name of a
    run. Stop it whenever you like: the same command goes on where it was. Exit code 3 while calls are
    left, also when a budget is used up.
    """
    options = RunOptions(**given)
    options.check()
    workspace, settings = open_workspace(options.folder)
    if options.status:
        return _status(console, workspace, settings, options)
    if options.audit_ids:
        return _audit_ids(console, workspace, settings, options)
    if options.dry_run:
        return _dry_run(console, workspace, settings, options)
    with dask_cluster(console, options.dask) as cluster:
        return _run(console, workspace, settings, options, cluster)


def _run(
    console: Console,
    workspace: Workspace,
    settings: Settings,
    options: RunOptions,
    cluster: DaskCluster | None,
) -> int:
    opened = _open(console, workspace, settings, options, cluster)
    if opened.ended:
        console.note(f"the run {opened.run.name} has ended; nothing is left to call")
        console.next_step(f"seal report {opened.run.name}")
        return 0
    selection = options.selection
    selection.check(opened.run)
    if opened.fresh:
        console.note(f"run {opened.run.name}: {opened.run.planned_calls} calls planned")
        _stamp(console, workspace, settings, opened.run, options)
    elif options.plan != opened.run.name:
        console.note(f"going on with {opened.run.name}")
    if options.batch is not None:
        return _batch(console, workspace, settings, opened, options)
    return _execute(console, workspace, settings, opened, options, cluster)


def _open(
    console: Console,
    workspace: Workspace,
    settings: Settings,
    options: RunOptions,
    cluster: DaskCluster | None,
) -> OpenRun:
    """The run to work on, begun if need be; whatever can be refused is refused before it is begun."""
    from sealbench.formats.run import Run
    from sealbench.stages.start_run import find_work, resume_run, start_exploratory, start_run

    if options.exploratory:
        battery = options.plan or ""
        endpoints = _pilot_endpoints(console, settings, options)
        _check_ready(endpoints, options.caps, settings, options, cluster)
        return start_exploratory(
            workspace,
            battery,
            endpoints=endpoints,
            caps=options.caps,
            repeats=options.repeats,
            wordings=options.wordings,
        )
    work = find_work(workspace, options.plan)
    chosen = [one for one in work.endpoints if not options.endpoints or one.name in options.endpoints]
    names = [endpoint.name for endpoint in work.endpoints]
    options.selection.check_against(work.name, work.battery, names, work.caps, work.wordings)
    _check_ready(chosen, work.caps, settings, options, cluster)
    if isinstance(work, Run):
        return resume_run(workspace, work)
    plan: Preregistration = work

    def start() -> OpenRun:
        return start_run(workspace, plan.name, require=options.require, again=options.again)

    if not options.wait:
        return start()
    from sealbench.cli.run_waiting import start_when_confirmed

    return start_when_confirmed(
        console, workspace, settings, plan, start, hours=options.wait_hours, every=options.wait_every
    )


def _check_ready(
    endpoints: Sequence[Endpoint],
    caps: Sequence[int],
    settings: Settings,
    options: RunOptions,
    cluster: DaskCluster | None,
) -> None:
    """Keys must be there where the calls are made: here, on the workers, or, for a batch file, nowhere."""
    from sealbench.running.ready_endpoints import check_ready, key_variables

    here = options.batch is None and cluster is None
    check_ready(endpoints, caps, settings, budget=options.ceilings, keys=here)
    if cluster is not None:
        cluster.require(key_variables(endpoints))


def _pilot_endpoints(console: Console, settings: Settings, options: RunOptions) -> list[Endpoint]:
    from sealbench.running.endpoint_choice import freeze_endpoint

    frozen = [freeze_endpoint(name, settings.endpoints) for name in options.endpoints]
    if not options.probe or options.dry_run:
        return frozen
    if not frozen or not options.caps:
        raise UsageError("a probe needs an endpoint and a cap", hint="--endpoint E --cap 300")
    from sealbench.cli.run_tell import tell_probes
    from sealbench.stages.probe import probe_endpoints

    probed = probe_endpoints(frozen, options.caps, settings)
    tell_probes(console, probed)
    return [one.endpoint for one in probed]


def _execute(
    console: Console,
    workspace: Workspace,
    settings: Settings,
    opened: OpenRun,
    options: RunOptions,
    cluster: DaskCluster | None,
) -> int:
    from sealbench.cli.run_progress import RunProgress
    from sealbench.cli.run_tell import tell_result
    from sealbench.running.ready_endpoints import idle_places, thaw_endpoints
    from sealbench.stages.run import execute_run

    run = opened.run
    endpoints = thaw_endpoints(run.endpoints, settings, options.max_connections)
    if cluster is not None and (told := idle_places(endpoints, cluster.slots())):
        console.note(told)
    progress = RunProgress(console, endpoints) if console.shows_progress else None
    result = execute_run(
        workspace,
        run,
        opened.battery.items,
        opened.battery.secret,
        opened.planned(),
        settings=settings,
        selection=options.selection,
        max_connections=options.max_connections,
        budget=options.ceilings,
        on_begin=progress.begin if progress else None,
        on_line=progress.add if progress else None,
        pool=cluster.pool() if cluster is not None else None,
    )
    console.clear_progress()
    if result.ended:
        _stamp(console, workspace, settings, run, options)
    return tell_result(console, result, options.as_json)


def _batch(
    console: Console, workspace: Workspace, settings: Settings, opened: OpenRun, options: RunOptions
) -> int:
    from sealbench.cli.run_tell import tell_read, tell_written
    from sealbench.stages.run_batch import read_batches, write_batches

    run, battery = opened.run, opened.battery
    if options.batch == "write":
        written = write_batches(
            workspace,
            run,
            battery.items,
            opened.planned(),
            settings=settings,
            selection=options.selection,
        )
        return tell_written(console, run, written, options.as_json)
    read = read_batches(
        workspace,
        run,
        battery.items,
        battery.secret,
        opened.planned(),
        options.batch_files,
        settings=settings,
    )
    if read.ended:
        _stamp(console, workspace, settings, run, options)
    return tell_read(console, run, read, options.as_json)


def _stamp(console: Console, workspace: Workspace, settings: Settings, run: Run, options: RunOptions) -> None:
    """Stamp the run's start or end; a pilot needs none."""
    if not options.no_stamp and not run.exploratory:
        stamp_now(console, workspace, settings)


def _dry_run(console: Console, workspace: Workspace, settings: Settings, options: RunOptions) -> int:
    from sealbench.cli.run_tell import tell_dry_run
    from sealbench.stages.dry_run import Pilot, dry_run
    from sealbench.stages.start_run import find_work

    work: Any
    if options.exploratory:
        endpoints = tuple(_pilot_endpoints(console, settings, options))
        if not endpoints or not options.caps:
            raise UsageError("a pilot needs an endpoint and a cap", hint="--endpoint E --cap 300")
        work = Pilot(options.plan or "", endpoints, options.caps, options.repeats, options.wordings)
    else:
        work = find_work(workspace, options.plan)
    found = dry_run(
        workspace,
        work,
        settings,
        selection=options.selection,
        again=options.again,
        stamp=not options.no_stamp,
    )
    return tell_dry_run(console, found, options.as_json)


def _status(console: Console, workspace: Workspace, settings: Settings, options: RunOptions) -> int:
    from sealbench.cli.run_tell import tell_status
    from sealbench.running.run_records import find_run
    from sealbench.stages.run_status import run_status

    names = [] if options.plan is None else [find_run(workspace, options.plan).name]
    return tell_status(console, run_status(workspace, settings, names), options.as_json)


def _audit_ids(console: Console, workspace: Workspace, settings: Settings, options: RunOptions) -> int:
    from sealbench.cli.run_tell import tell_audit_ids
    from sealbench.running.run_records import find_run
    from sealbench.stages.audit_ids import audit_ids

    run = find_run(workspace, options.plan)
    return tell_audit_ids(console, audit_ids(workspace, run, settings), options.as_json)
