"""`seal demo`: the whole life of two batteries on this machine, with nothing faked but the money."""

from __future__ import annotations

import re
import shutil
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console
from sealbench.errors import InternalError, UsageError

if TYPE_CHECKING:
    from sealbench.config import Settings
    from sealbench.formats.report import Report
    from sealbench.store import Workspace
    from sealbench.testing.calendar import CalendarServer
    from sealbench.verification.steps import Verification

Say = Callable[[str], None]

# Name of the battery, its family, what its plan is called.
BATTERIES = (("primes", "primality", "primes-plan"), ("pairs", "subset_sum", "pairs-plan"))
PER_CLASS = 8


@click.command("demo")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("seal-demo"),
    show_default=True,
    help="A folder that does not exist yet.",
)
@json_option
@pass_console
def command(console: Console, out: Path, as_json: bool) -> int:
    """\b
    seal demo --out seal-demo

    Create, seal, stamp, preregister, run, report, verify and retire two batteries, offline: built-in
    reference endpoints over real HTTP, a built-in calendar and regtest chain with real proofs of work.
    Then change one byte in a copy, and watch the verification fail.
    """
    from sealbench.testing.calendar import CalendarServer

    started = time.monotonic()
    root = out.resolve()
    if root.exists():
        raise UsageError(f"{out} exists already", hint=f"seal demo --out {out.name}-2")
    say = console.note if as_json else console.result
    with CalendarServer() as calendar:
        workspace, settings = _begin(say, root, calendar)
        _seal(say, workspace, settings, calendar)
        reports = _run(say, workspace, settings)
        _retire(say, workspace, settings, calendar)
    verification = _verify(say, workspace)
    tampered = _tamper(say, workspace)
    if verification.verdict != "ok" or tampered.verdict != "fail":
        raise InternalError(
            f"the demo ended with {verification.verdict} for the workspace and "
            f"{tampered.verdict} for the tampered copy"
        )
    seconds = time.monotonic() - started
    if as_json:
        _json(console, root, reports, verification, tampered, seconds)
    else:
        console.result(f"\nThe whole life of two batteries took {seconds:.1f} s. Everything is in {root}.")
    console.next_step(f"cd {out} && seal verify --network regtest && seal report")
    return 0


def _begin(say: Say, root: Path, calendar: CalendarServer) -> tuple[Workspace, Settings]:
    from sealbench.config import load
    from sealbench.stages.init import init

    made = init(root, network="regtest", calendars=(calendar.url,), explorers=(calendar.url,))
    say(f"1. Made a workspace in {root} with a signing key ({made.fingerprint}).")
    say("   Its timestamps go to a chain of this machine: real proofs of work, but regtest, so they")
    say("   prove nothing about time. Reference endpoints are programs, not models.")
    return made.workspace, load(made.workspace.settings)


def _seal(say: Say, workspace: Workspace, settings: Settings, calendar: CalendarServer) -> None:
    from sealbench.stages.create import create
    from sealbench.stages.preregister import preregister, write_template
    from sealbench.stages.stamp import stamp

    say(f"2. Sealed two batteries, {PER_CLASS} problems per class; only their salted roots are public:")
    for name, family, _ in BATTERIES:
        commitment = create(workspace, [family], name=name, per_class=PER_CLASS).commitment
        say(f"   {name} ({family}, {commitment.instances} problems): root {commitment.root}")
        say(f"   sha256 {commitment.digest()}  commitments/{name}.json")
    say("3. Froze a plan for each, bound to its commitment, its hypotheses as data:")
    for name, _, plan in BATTERIES:
        template = write_template(workspace, name, plan=plan, template="two-class", folder=workspace.root)
        frozen = preregister(workspace, name, plan=plan, source=template, settings=settings).plan
        say(f"   {plan}: {len(frozen.hypotheses)} hypotheses, caps {_listed(frozen.caps)} tokens")
        say(f"   sha256 {frozen.digest()}  preregistrations/{plan}.json")
    stamped = stamp(workspace, settings)
    say(f"4. Stamped {len(stamped.files)} files: the calendar promised to put them into a block.")
    _confirm(say, workspace, settings, calendar)


def _confirm(say: Say, workspace: Workspace, settings: Settings, calendar: CalendarServer) -> None:
    from sealbench.stages.upgrade import upgrade_workspace

    height = calendar.mine()
    done = upgrade_workspace(workspace, settings)
    waiting = [one for one in done.files if not one.complete]
    if waiting:
        raise InternalError(f"{waiting[0].path.name} did not get its proof: {waiting[0].notes}")
    say(f"   Mined block {height} and six more; {len(done.files)} proofs lead into the chain,")
    say(f"   {done.headers} block headers are in commitments/headers.bin.")


def _run(say: Say, workspace: Workspace, settings: Settings) -> list[Report]:
    from sealbench.render.summary import render_summary
    from sealbench.stages.report import report
    from sealbench.stages.run import execute_run
    from sealbench.stages.stamp import stamp
    from sealbench.stages.start_run import start_run

    reports = []
    say("5. Ran the plans over HTTP, one chained log line per call:")
    for _, _, plan in BATTERIES:
        opened = start_run(workspace, plan)
        stamp(workspace, settings)
        items, secret = opened.battery.items, opened.battery.secret
        done = execute_run(workspace, opened.run, items, secret, opened.planned(), settings=settings)
        if not done.ended:
            raise InternalError(f"{done.left} calls of {opened.run.name} are left")
        say(f"   {done.done} calls in runs/{opened.run.name}/log.jsonl")
        reports.append(report(workspace, opened.run.name).report)
    for found in reports:
        say(f"6. Report of {found.run} in short (whole: runs/{found.run}/report.md):\n")
        say(textwrap.indent(render_summary(found), "   ") + "\n")
    return reports


def _retire(say: Say, workspace: Workspace, settings: Settings, calendar: CalendarServer) -> None:
    from sealbench.stages.retire import retire
    from sealbench.stages.stamp import stamp

    # A bundle holds the proofs as they are when it is made.
    stamp(workspace, settings)
    _confirm(say, workspace, settings, calendar)
    for name, _, _ in BATTERIES:
        retire(workspace, name)
    say("7. Retired both: keys, items, certificates and raw responses are in batteries/, for anyone.")
    stamp(workspace, settings)
    _confirm(say, workspace, settings, calendar)


def _verify(say: Say, workspace: Workspace) -> Verification:
    from sealbench.cli.verification_text import verification_text
    from sealbench.stages.verify import verify_workspace

    verification = verify_workspace(workspace.root, network="regtest")
    say("8. seal verify --network regtest:\n")
    say(verification_text(verification))
    return verification


def _tamper(say: Say, workspace: Workspace) -> Verification:
    """Flip one bit of one logged token count in a copy, and verify the copy."""
    from sealbench.stages.verify import verify_workspace

    copy = workspace.root / "tampered-copy"
    shutil.copytree(workspace.root, copy, ignore=shutil.ignore_patterns(".seal", copy.name))
    log = copy / "runs" / f"{BATTERIES[0][2]}-1" / "log.jsonl"
    data = bytearray(log.read_bytes())
    count = re.search(rb'"charged_tokens":\d*(\d)', data)
    if count is None:
        raise InternalError(f"{log.name} holds no token count")
    data[count.start(1)] ^= 1  # the last digit: 0 becomes 1, 7 becomes 6
    log.write_bytes(bytes(data))
    verification = verify_workspace(copy, network="regtest")
    say(f"9. Changed one byte of {log.relative_to(workspace.root)} (a token count) and verified the copy:")
    for step in verification.failures:
        say(f"   step {step.step} {step.name}: FAIL {step.subject}: {step.detail}")
    say(f"   (the copy is in {copy})")
    return verification


def _json(
    console: Console,
    root: Path,
    reports: list[Report],
    verification: Verification,
    tampered: Verification,
    seconds: float,
) -> None:
    from sealbench.formats.report import report_view

    console.json(
        {
            "schema": "sealbench/demo/v1",
            "folder": str(root),
            "seconds": round(seconds, 2),
            "reports": [report_view(report) for report in reports],
            "verification": verification.to_json(),
            "tampered": tampered.to_json(),
        }
    )


def _listed(values: tuple[int, ...]) -> str:
    return " and ".join(str(value) for value in values)
