"""Step 10: each log is the registered one, unbroken, with exactly one line for every planned call.

Before retirement the item ids say nothing by themselves: counts, the full product over the items seen
and the agreement of each item's fields are checked. After retirement every line is compared with its
item and with the raw response that it hides (responses.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sealbench.crypto.digest import sha256_hex
from sealbench.errors import CheckFailed, FormatError, SealError
from sealbench.formats.battery import Battery, Commitment
from sealbench.formats.registry import RegistryLine
from sealbench.formats.run import LogLine, Run
from sealbench.verification.battery import is_open
from sealbench.verification.evidence import Evidence
from sealbench.verification.lines import parse_lines
from sealbench.verification.memo import Memo
from sealbench.verification.responses import ITEM_FIELDS, check_items, check_lines, check_responses
from sealbench.verification.reveals import opened_items
from sealbench.verification.steps import Results, StepResult, fail, not_checked, ok, pending

STEP = 10


def check_runs(evidence: Evidence) -> Results:
    """One result per run that the registry started."""
    yield from evidence.memo.each(partial(_check_run, evidence), evidence.run_events("run_start"))


def _check_run(evidence: Evidence, name: str) -> StepResult:
    path = f"runs/{name}/log.jsonl"
    run = evidence.runs.get(name)
    if run is None:
        return not_checked(STEP, path, f"runs/{name}/run.json is missing or unreadable")
    ended = evidence.subjects("run_end", "run_abort").get(name)
    if ended is None:
        return pending(STEP, path, "the run is not finished: `seal run` goes on with it")
    data = evidence.tree.get(path)
    if data is None:
        return fail(STEP, path, "is missing: the registry says that the run has ended")
    commitment = evidence.commitments.get(run.battery)
    if commitment is None:
        return not_checked(STEP, path, f"commitments/{run.battery}.json is missing or unreadable")
    try:
        lines = log_of(evidence, name)
        _check_registered(evidence, path, lines, ended)
        _check_coverage(run, lines, commitment, aborted=ended.event == "run_abort")
        return _check_opened(evidence, run, lines, path, ended)
    except SealError as error:
        return fail(STEP, path, error.message.removeprefix(f"{path} "))


def log_of(evidence: Evidence, name: str) -> tuple[LogLine, ...]:
    """The chained lines of a run's log; FormatError names the first bad one."""
    path = f"runs/{name}/log.jsonl"
    data, first = evidence.tree.get(path), evidence.digest(f"runs/{name}/run.json")
    if data is None or first is None:
        raise FormatError(f"{path}: the log or its run.json is missing")
    return evidence.memo.call(read_chain, evidence.memo, data, first, path)


def read_chain(memo: Memo, data: bytes, first: str, path: str) -> tuple[LogLine, ...]:
    """As `formats.run.read_log`, of lines that step 1 has parsed."""
    lines = memo.call(parse_lines, memo, LogLine, data, path)
    previous = first
    for number, (line, raw) in enumerate(zip(lines, data.split(b"\n")[:-1], strict=True), start=1):
        if line.seq != number - 1 or line.prev != previous:
            raise FormatError(f"{path} line {number}: does not follow the line before (chain broken)")
        previous = sha256_hex(raw)
    return lines


def _check_registered(evidence: Evidence, path: str, lines: Sequence[LogLine], ended: RegistryLine) -> None:
    expected = {file.path: file.sha256 for file in ended.files}.get(path)
    where = f"registry line {ended.seq + 1} ({ended.event})"
    if expected is not None and expected != evidence.digest(path):
        raise CheckFailed(f"{path} is not the log that {where} names")
    if ended.event == "run_end" and ended.detail.get("lines") != len(lines):
        raise CheckFailed(f"{path} has {len(lines)} lines, {where} counted {ended.detail.get('lines')}")


def _check_coverage(run: Run, lines: Sequence[LogLine], commitment: Commitment, *, aborted: bool) -> None:
    """One line for every planned call and no other; an aborted run may lack some."""
    items = commitment.instances * len(set(run.wordings))
    calls_each = len(run.endpoints) * len(run.caps) * run.repeats
    if run.planned_calls != items * calls_each:
        raise CheckFailed(
            f"run.json plans {run.planned_calls} calls; {items} items, {len(run.endpoints)} endpoints, "
            f"{len(run.caps)} caps and {run.repeats} repeats are {items * calls_each}"
        )
    parameters = {endpoint.name: endpoint.cap_parameter for endpoint in run.endpoints}
    keys, fields, asked = set(), dict[str, tuple[str, ...]](), set()
    for line in lines:
        _check_line(run, line, parameters)
        if line.key in keys:
            raise CheckFailed(f"line {line.seq + 1}: a call that stands there already")
        keys.add(line.key)
        content = tuple(getattr(line, field) for field in ITEM_FIELDS)
        if fields.setdefault(line.item, content) != content:
            raise CheckFailed(
                f"line {line.seq + 1}: item {line.item} is described in another way than before"
            )
        asked.add((line.instance, line.wording))
    if len(asked) != len(fields):
        raise CheckFailed("an instance stands in one wording under two item ids")
    if len(fields) > items or (not aborted and (len(fields), len(keys)) != (items, run.planned_calls)):
        raise CheckFailed(
            f"has {len(keys)} calls of {len(fields)} items; planned were {run.planned_calls} calls of {items}"
        )


def _check_line(run: Run, line: LogLine, parameters: dict[str, str]) -> None:
    number = line.seq + 1
    if line.endpoint not in parameters or line.cap not in run.caps or line.wording not in run.wordings:
        raise CheckFailed(
            f"line {number}: a call of {line.endpoint} at cap {line.cap}, which the run does not hold"
        )
    if not 1 <= line.repeat <= run.repeats:
        raise CheckFailed(f"line {number}: repeat {line.repeat} of {run.repeats}")
    if line.cap_parameter != parameters[line.endpoint]:
        raise CheckFailed(f"line {number}: the cap was carried by {line.cap_parameter}, not as run.json says")


def _check_opened(
    evidence: Evidence, run: Run, lines: Sequence[LogLine], path: str, ended: RegistryLine
) -> StepResult:
    """What a published K adds; before that the counts are all there is."""
    count = f"{len(lines)} of {run.planned_calls} planned calls, chain unbroken"
    if ended.event == "run_abort":
        count += f", aborted: {ended.detail.get('reason', 'no reason given')!s:.100}"
    folder = f"batteries/{run.battery}"
    battery_path, published = f"{folder}/battery.json", f"{folder}/responses/{run.name}.jsonl"
    if battery_path not in evidence.tree and f"{folder}/key.json" not in evidence.tree:
        opened = opened_items(evidence, run.battery)
        known = [line for line in lines if line.item in opened]
        check_lines(opened, known)
        seen = f"; {len(known)} lines agree with revealed items" if known else ""
        return ok(STEP, path, f"{count}{seen}; items and responses are still sealed")
    battery = evidence.document(Battery, battery_path)
    if battery is None or not is_open(evidence, run.battery):
        return not_checked(STEP, path, f"{count}; what is published does not open the battery (see step 6)")
    check_items(battery, lines, run.wordings, whole=ended.event == "run_end")
    if published not in evidence.tree:
        return not_checked(STEP, path, f"{count}; its raw responses are not published in {published}")
    needed = (f"runs/{run.name}/run.json", path, battery_path, f"{folder}/key.json", published)
    run_bytes, log_bytes, battery_bytes, key_bytes, raw = (evidence.require(file) for file in needed)
    memo = evidence.memo
    try:
        gap = check_responses(memo, run_bytes, log_bytes, battery_bytes, key_bytes, raw)
    except SealError as error:
        return fail(STEP, published, error.message)
    if gap:
        return not_checked(STEP, path, f"{count}; the salted hashes of what is there open, but {gap}")
    return ok(STEP, path, f"{count}; every line agrees with its item and its raw response")
