"""What `seal run` prints: results, dry runs, status, probes, batches, response ids; as text or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sealbench.cli.console import Console

if TYPE_CHECKING:
    from sealbench.formats.run import Run
    from sealbench.stages.audit_ids import AuditIds
    from sealbench.stages.dry_run import DryRun
    from sealbench.stages.probe import Probed
    from sealbench.stages.run import RunResult
    from sealbench.stages.run_batch import BatchesRead, BatchesWritten
    from sealbench.stages.run_status import RunStatus


def tell_result(console: Console, result: RunResult, as_json: bool) -> int:
    """How an execution ended; exit code 0 if the run is whole, else 3 with the command that goes on."""
    from sealbench.running.run_records import resume_command

    run, summary = result.run, result.summary
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
                "waiting_in_batches": result.waiting,
                "interrupted": summary.interrupted,
                "budget_exhausted": summary.budget_exhausted,
                "tokens": summary.tokens,
                "usd": str(summary.usd),
                "stopped": [
                    {"endpoint": one.endpoint, "cap": one.cap, "reason": one.reason, "hint": one.hint}
                    for one in summary.stopped
                ],
                "resume": None if result.ended else resume_command(run),
            }
        )
    else:
        console.result(f"{_heading(run)}: {result.done} of {run.planned_calls} calls in the log")
    for stopped in summary.stopped:
        where = f"endpoint {stopped.endpoint}" + ("" if stopped.cap is None else f" at cap {stopped.cap}")
        console.error(f"{where} was stopped: {stopped.reason}", stopped.hint)
    if result.ended:
        console.next_step(f"seal report {run.name}")
        return 0
    if summary.budget_exhausted:
        spent = f"{summary.tokens} tokens" + (f", ${summary.usd:.4f}" if summary.usd else "")
        console.note(f"the budget of this command does not allow another call ({spent} used)")
    if result.waiting:
        console.note(f"{result.waiting} calls wait in batch files: {resume_command(run)} --batch read …")
    console.next_step(f"{resume_command(run)} ({result.left} calls are left)")
    return 3


def tell_dry_run(console: Console, found: DryRun, as_json: bool) -> int:
    """Exact calls, ceilings of tokens and cost per endpoint, files."""
    tokens = sum(one.prompt_tokens + one.answer_tokens for one in found.endpoints.values())
    priced = [one.usd for one in found.endpoints.values() if one.usd is not None]
    if as_json:
        console.json(
            {
                "schema": "sealbench/dry-run/v1",
                "run": found.name,
                "battery": found.battery,
                "exploratory": found.exploratory,
                "begun": found.begun,
                "planned": found.planned,
                "done": found.done,
                "waiting_in_batches": found.waiting,
                "calls": found.calls,
                "token_ceiling": tokens,
                "endpoints": [
                    {
                        "endpoint": name,
                        "calls": one.calls,
                        "prompt_token_ceiling": one.prompt_tokens,
                        "answer_token_ceiling": one.answer_tokens,
                        "usd_ceiling": None if one.usd is None else str(one.usd),
                    }
                    for name, one in found.endpoints.items()
                ],
                "files": list(found.files),
            }
        )
        return 0
    how = "goes on" if found.begun else "begins"
    kind = "EXPLORATORY run" if found.exploratory else "run"
    console.result(f"{how} {kind} {found.name}: {found.calls} calls ({found.done} of {found.planned} done)")
    for name, one in found.endpoints.items():
        cost = "no price given" if one.usd is None else f"at most ${one.usd:.4f}"
        console.result(
            f"  {name}: {one.calls} calls, at most {one.prompt_tokens} prompt and {one.answer_tokens} answer "
            f"tokens, {cost}"
        )
    total = f", ${sum(priced):.4f}" if priced else ""
    console.result(f"at most {tokens} tokens{total} in all, retries apart")
    if found.waiting:
        console.result(f"{found.waiting} calls wait in batch files and are not asked live")
    for path in found.files:
        console.result(f"  writes {path}")
    return 0


def tell_status(console: Console, found: Sequence[RunStatus], as_json: bool) -> int:
    """Per endpoint and cap; exit code 3 while calls are left."""
    from sealbench.running.run_records import resume_command

    unfinished = [one for one in found if not one.ended]
    if as_json:
        console.json(
            {"schema": "sealbench/run-status/v1", "runs": [_status_value(one) for one in found]},
        )
        return 3 if unfinished else 0
    if not found:
        console.result("no run was begun here")
    for one in found:
        state = "ended" if one.ended else f"{one.left} calls left"
        console.result(f"{_heading(one.run)}: {one.done} of {one.run.planned_calls} calls, {state}")
        width = max(len(name) for name, _ in one.lines)
        for (name, cap), line in one.lines.items():
            cost = f"${line.usd:.4f}" if name in one.priced else "no price"
            untold = f" ({line.uncounted} answers did not say)" if line.uncounted else ""
            console.result(
                f"  {name:<{width}}  cap {cap}: {line.done} of {line.planned} done, {line.cut} cut, "
                f"{line.errors} errors, {line.charged_tokens} tokens{untold}, {cost}"
            )
        if one.waiting:
            console.result(f"  {one.waiting} calls wait in batch files")
        console.next_step(f"seal report {one.run.name}" if one.ended else resume_command(one.run))
    return 3 if unfinished else 0


def _status_value(one: RunStatus) -> dict[str, Any]:
    return {
        "run": one.run.name,
        "exploratory": one.run.exploratory,
        "ended": one.ended,
        "planned": one.run.planned_calls,
        "done": one.done,
        "left": one.left,
        "waiting_in_batches": one.waiting,
        "ends": one.ends,
        "lines": [
            {
                "endpoint": name,
                "cap": cap,
                "planned": line.planned,
                "done": line.done,
                "cut": line.cut,
                "errors": line.errors,
                "charged_tokens": line.charged_tokens,
                "uncounted": line.uncounted,
                "usd": str(line.usd) if name in one.priced else None,
            }
            for (name, cap), line in one.lines.items()
        ],
    }


def tell_probes(console: Console, found: Sequence[Probed]) -> None:
    """What was substituted and which caps do not bind, to stderr."""
    for one in found:
        name = one.endpoint.name
        for change in one.substitutions:
            what = "left out" if change.sent is None else f"sent as {change.sent}"
            console.note(f"probe {name}: {change.field} ({change.asked}) is {what}; it said: {change.reason}")
        for seen in one.caps:
            if seen.ignored:
                console.note(
                    f"probe {name}: the cap {seen.cap} is ignored ({seen.parsed.charged_tokens} tokens "
                    "came): it does not bind, and no censoring can be tested there"
                )
        if not one.substitutions and not one.ignored_caps:
            console.note(f"probe {name}: accepted as configured")


def probe_values(found: Sequence[Probed]) -> list[dict[str, Any]]:
    """The same for `--json`."""
    return [
        {
            "endpoint": one.endpoint.name,
            "substitutions": [
                {"field": change.field, "asked": change.asked, "sent": change.sent, "reason": change.reason}
                for change in one.substitutions
            ],
            "caps": [
                {
                    "cap": seen.cap,
                    "end": seen.parsed.end,
                    "charged_tokens": seen.parsed.charged_tokens,
                    "ignored": seen.ignored,
                }
                for seen in one.caps
            ],
        }
        for one in found
    ]


def tell_written(console: Console, run: Run, found: BatchesWritten, as_json: bool) -> int:
    """The request files and what to do with them; exit code 3, for the run is not done."""
    from sealbench.running.run_records import resume_command

    if as_json:
        files = [
            {"endpoint": one.endpoint, "provider": one.provider, "path": str(one.path), "calls": one.calls}
            for one in found.files
        ]
        value = {"run": run.name, "files": files, "live_only": list(found.live_only)}
        console.json({"schema": "sealbench/run-batch/v1", **value})
    for one in found.files if not as_json else ():
        console.result(f"{one.path}: {one.calls} calls for {one.endpoint} ({one.provider})")
    for name in found.live_only:
        console.note(f"{name} takes no batch files; its calls stay for {resume_command(run)}")
    console.note("the files hold the battery's prompts: send them to the provider and to nobody else")
    console.next_step(
        f"submit them (docs/running.md), then {resume_command(run)} --batch read --batch-file …"
    )
    return 3


def tell_read(console: Console, run: Run, found: BatchesRead, as_json: bool) -> int:
    """What came back; exit code 3 while calls are left."""
    from sealbench.running.run_records import resume_command

    if as_json:
        console.json(
            {
                "schema": "sealbench/run-batch/v1",
                "run": run.name,
                "done_now": found.done_now,
                "failed": found.failed,
                "done": found.done,
                "planned": run.planned_calls,
                "ended": found.ended,
            }
        )
    else:
        console.result(
            f"{_heading(run)}: {found.done_now} results logged, {found.done} of {run.planned_calls} calls"
        )
    if found.failed:
        console.note(f"{found.failed} calls expired or failed at the provider; they are open again")
    if found.ended:
        console.next_step(f"seal report {run.name}")
        return 0
    console.next_step(f"{resume_command(run)} --status ({found.left} calls are left)")
    return 3


def tell_audit_ids(console: Console, found: AuditIds, as_json: bool) -> int:
    """One line per id: log line, endpoint, time, id, how to fetch it; tab-separated."""
    if as_json:
        console.json(
            {
                "schema": "sealbench/audit-ids/v1",
                "run": found.run.name,
                "without_id": found.without,
                "ids": [
                    {
                        "line": one.line,
                        "endpoint": one.endpoint,
                        "provider": one.provider,
                        "model": one.model,
                        "at": one.at,
                        "response_id": one.response_id,
                        "fetch": one.fetch,
                        "condition": one.condition,
                    }
                    for one in found.ids
                ],
            }
        )
        return 0
    for one in found.ids:
        way = one.fetch or "no way to fetch it; the provider's own logs"
        console.result(f"{one.line}\t{one.endpoint}\t{one.at}\t{one.response_id}\t{way}")
    conditions = {(one.provider, one.condition) for one in found.ids if one.condition}
    for provider, condition in sorted(conditions):
        console.note(f"{provider}: {condition}")
    console.note(
        f"{len(found.ids)} response ids of {found.run.name}, each checked against its salted hash in the log"
        + (f"; {found.without} lines without one" if found.without else "")
    )
    return 0


def _heading(run: Run) -> str:
    return f"EXPLORATORY run {run.name}" if run.exploratory else f"run {run.name}"
