"""`seal preregister`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console, workspace_option
from sealbench.cli.stamping import stamp_now
from sealbench.cli.workspace import open_workspace
from sealbench.errors import UsageError
from sealbench.store import Workspace

if TYPE_CHECKING:
    from sealbench.formats.preregistration import Endpoint
    from sealbench.stages.probe import Probed


@click.command("preregister")
@click.argument("battery")
@click.option("--plan", required=True, help="Name of the plan.")
@click.option(
    "--template",
    default=None,
    metavar="two-class|paper0|reasoning|import",
    help="Write PLAN.toml from this template and stop.",
)
@click.option(
    "--from",
    "source",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    help="Check this plan and freeze it.",
)
@click.option("--endpoint", "endpoints", multiple=True, help="For the template: an endpoint to call.")
@click.option("--cap", "caps", multiple=True, type=int, help="For the template: a token cap.")
@click.option("--probe", is_flag=True, help="Ask each endpoint once per cap first; freeze what it accepts.")
@click.option("--amends", default=None, metavar="PLAN", help="The frozen plan that this one amends.")
@click.option("--force", is_flag=True, help="Freeze it although a test can never reach its alpha.")
@click.option("--no-stamp", is_flag=True, help="Do not submit to calendars now.")
@workspace_option
@json_option
@pass_console
def command(
    console: Console,
    battery: str,
    plan: str,
    template: str | None,
    source: Path | None,
    endpoints: tuple[str, ...],
    caps: tuple[int, ...],
    probe: bool,
    amends: str | None,
    force: bool,
    no_stamp: bool,
    folder: Path | None,
    as_json: bool,
) -> None:
    """\b
    seal preregister primes --plan primes-plan --template two-class
    seal preregister primes --plan primes-plan --from primes-plan.toml --probe
    seal preregister primes --plan primes-plan-2 --amends primes-plan --from changed.toml

    First write a commented plan that you read and change; then freeze it. A frozen plan names its
    hypotheses as data, is bound to the battery's commitment, signed and stamped.
    """
    workspace, settings = open_workspace(folder)
    if template is not None and source is None:
        _write_template(console, workspace, battery, plan, template, endpoints, caps, amends, as_json)
        return
    if template is not None or source is None:
        raise UsageError(
            "say either --template (write a plan to edit) or --from FILE (freeze one)",
            hint=f"seal preregister {battery} --plan {plan} --template two-class",
        )
    from sealbench.cli.run_tell import probe_values, tell_probes
    from sealbench.stages.preregister import preregister

    probed: list[Probed] = []

    def ask(endpoints: Sequence[Endpoint], caps: Sequence[int]) -> list[Endpoint]:
        from sealbench.stages.probe import probe_endpoints

        probed.extend(probe_endpoints(endpoints, caps, settings))
        tell_probes(console, probed)
        return [one.endpoint for one in probed]

    done = preregister(
        workspace,
        battery,
        plan=plan,
        source=source,
        settings=settings,
        probe=ask if probe else None,
        force=force,
        amends=amends,
    )
    stamped = None if no_stamp else stamp_now(console, workspace, settings)
    relative = workspace.relative(done.path)
    if as_json:
        console.json(
            {
                "schema": "sealbench/preregister/v1",
                "plan": plan,
                "path": relative,
                "sha256": done.plan.digest(),
                "hypotheses": [hypothesis.id for hypothesis in done.plan.hypotheses],
                "stamped": stamped,
                "probes": probe_values(probed) if probe else None,
            }
        )
    else:
        console.result(f"plan    {plan}: {len(done.plan.hypotheses)} hypotheses, frozen")
        console.result(f"sha256  {done.plan.digest()}  {relative}")
    console.next_step("seal upgrade (an hour or three after stamping), then seal run")


def _write_template(
    console: Console,
    workspace: Workspace,
    battery: str,
    plan: str,
    template: str,
    endpoints: tuple[str, ...],
    caps: tuple[int, ...],
    amends: str | None,
    as_json: bool,
) -> None:
    from sealbench.stages.preregister import write_template

    path = write_template(
        workspace,
        battery,
        plan=plan,
        template=template,
        folder=Path.cwd(),
        endpoints=endpoints,
        caps=caps,
        amending=amends is not None,
    )
    if as_json:
        console.json({"schema": "sealbench/preregister/v1", "plan": plan, "template": str(path)})
    else:
        console.result(f"written {path}; read every line and change what is not what you mean")
    amending = "" if amends is None else f" --amends {amends}"
    console.next_step(f"seal preregister {battery} --plan {plan}{amending} --from {path.name}")
