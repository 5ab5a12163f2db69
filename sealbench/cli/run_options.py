"""The options of `seal run`: their names, their help, and one object that holds what was given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from sealbench.cli.options import json_option, workspace_option
from sealbench.cli.workers_option import dask_option
from sealbench.errors import UsageError

if TYPE_CHECKING:
    from sealbench.endpoints.budget import Budget
    from sealbench.running.run_records import Selection

Command = TypeVar("Command", bound=Callable[..., Any])


def _usd(_context: click.Context, _option: click.Parameter, value: str | None) -> Decimal | None:
    """An amount of USD, exact."""
    if value is None:
        return None
    try:
        amount = Decimal(value)
    except InvalidOperation:
        amount = Decimal(0)
    if not amount.is_finite() or amount <= 0:
        raise click.BadParameter(f"{value!r} is not an amount of USD above 0")
    return amount


@dataclass(frozen=True)
class RunOptions:
    """What stood on the command line of `seal run`."""

    plan: str | None
    caps: tuple[int, ...]
    endpoints: tuple[str, ...]
    wordings: tuple[str, ...]
    repeats: int
    exploratory: bool
    probe: bool
    require: Literal["confirmed", "stamped", "registered"]
    again: bool
    max_connections: int | None
    budget: Decimal | None
    max_calls: int | None
    max_tokens: int | None
    wait: bool
    wait_hours: float
    wait_every: float
    dry_run: bool
    status: bool
    batch: str | None
    batch_files: tuple[Path, ...]
    audit_ids: bool
    no_stamp: bool
    dask: str | None
    folder: Path | None
    as_json: bool

    @property
    def ceilings(self) -> Budget | None:
        """The budget asked for, if any."""
        from sealbench.endpoints.budget import Budget

        if self.budget is None and self.max_calls is None and self.max_tokens is None:
            return None
        return Budget(calls=self.max_calls, tokens=self.max_tokens, usd=self.budget)

    @property
    def selection(self) -> Selection:
        """The part of a plan asked for; a pilot is always done whole."""
        from sealbench.running.run_records import Selection

        return Selection() if self.exploratory else Selection(self.endpoints, self.caps, self.wordings)

    def check(self) -> None:
        """UsageError for options that contradict each other."""
        if any(cap < 1 for cap in self.caps):
            raise UsageError("a cap of 0 tokens asks for nothing", hint="--cap 300")
        asked = [
            flag
            for flag, given in (
                ("--dry-run", self.dry_run),
                ("--status", self.status),
                ("--batch", self.batch is not None),
                ("--audit-ids", self.audit_ids),
            )
            if given
        ]
        if len(asked) > 1:
            raise UsageError(f"{' and '.join(asked)} are two different things", hint=f"seal run {asked[0]}")
        if self.batch_files and self.batch != "read":
            raise UsageError("--batch-file goes with --batch read", hint="seal run --batch read …")
        if self.batch == "read" and not self.batch_files:
            raise UsageError(
                "say which result file to read", hint="seal run --batch read --batch-file RESULTS.jsonl"
            )
        if self.dask is not None and asked:
            raise UsageError(
                f"{asked[0]} makes no calls, so there is nothing to spread", hint="leave --dask out"
            )
        if self.exploratory and self.plan is None:
            raise UsageError("a pilot needs a battery", hint="seal run BATTERY --exploratory --cap 300 …")
        if self.probe and not self.exploratory:
            raise UsageError(
                "the endpoints of a plan are probed before it is frozen, not when it is run",
                hint="seal preregister BATTERY --plan PLAN --from PLAN.toml --probe",
            )


_OPTIONS = (
    click.argument("plan", required=False),
    click.option("--cap", "caps", multiple=True, type=int, help="Do only this cap of the plan."),
    click.option("--endpoint", "endpoints", multiple=True, help="Do only this endpoint of the plan."),
    click.option("--wording", "wordings", multiple=True, help="Do only this wording of the plan."),
    click.option("--repeats", type=int, default=1, show_default=True, help="For a pilot: repeats."),
    click.option("--exploratory", is_flag=True, help="A pilot: PLAN is a battery; no plan, no stamp."),
    click.option("--probe", is_flag=True, help="For a pilot: probe the endpoints first."),
    click.option(
        "--require",
        type=click.Choice(["confirmed", "stamped", "registered"]),
        default="confirmed",
        show_default=True,
        help="What commitment and plan must have: a block, a calendar's promise, or their registry lines.",
    ),
    click.option("--again", is_flag=True, help="Begin a further run of a plan that was run already."),
    click.option(
        "--max-connections",
        type=click.IntRange(1),
        default=None,
        help="Calls at the same time to each endpoint, whatever the configuration says.",
    ),
    click.option(
        "--budget", metavar="USD", callback=_usd, default=None, help="What this command may spend at most."
    ),
    click.option(
        "--max-calls",
        type=click.IntRange(1),
        default=None,
        help="Requests this command may send, retries included.",
    ),
    click.option(
        "--max-tokens", type=click.IntRange(1), default=None, help="Tokens, prompts included, it may use."
    ),
    click.option("--wait", is_flag=True, help="Wait until commitment and plan are confirmed, then run."),
    click.option(
        "--wait-hours",
        type=click.FloatRange(0, 24 * 14),
        default=24,
        show_default=True,
        help="Give up waiting after this long.",
    ),
    click.option(
        "--wait-every",
        type=click.FloatRange(0.05, 86400),
        default=300,
        show_default=True,
        help="Seconds between two looks.",
    ),
    click.option("--dry-run", is_flag=True, help="Say what would be called and written; touch no network."),
    click.option("--status", is_flag=True, help="Say how far the run is; change nothing."),
    click.option(
        "--batch",
        type=click.Choice(["write", "read"]),
        default=None,
        help="Write request files for the provider's batch queue, or read its results.",
    ),
    click.option(
        "--batch-file",
        "batch_files",
        multiple=True,
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="A provider's result file, for --batch read.",
    ),
    click.option("--audit-ids", is_flag=True, help="List the response ids an auditor could fetch."),
    click.option("--no-stamp", is_flag=True, help="Do not stamp the run's start and end."),
    dask_option,
    workspace_option,
    json_option,
)


def run_options(command: Command) -> Command:
    """Give a command all options of `seal run`; it gets them as keyword arguments for `RunOptions`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
