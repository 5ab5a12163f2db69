"""Find and read evaluation logs, then audit them: files in, an `Audit` out. Nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from sealbench import store
from sealbench.analysis.audit import audit_tables
from sealbench.analysis.audit_asked import Asked, options_of
from sealbench.analysis.audit_result import Audit
from sealbench.analysis.audit_table import Collector
from sealbench.errors import CheckFailed, FormatError, UsageError
from sealbench.formats.battery import Commitment
from sealbench.logs.base import LogFormat, ReadOptions, Row
from sealbench.logs.finding import find_logs
from sealbench.store import Workspace
from sealbench.verification.sealed_samples import SampleCheck

Progress = Callable[[str, int], None]
_TOLD_EVERY = 5000  # rows between two reports of progress


@dataclass(frozen=True)
class Logs:
    """Which files are read, and how.

    Attributes
    ----------
    paths : files, or folders that are walked.
    format : the format of all of them; found by content where not given.
    columns : role to column name, for CSV and JSONL.
    requests : the request file of a batch output.
    metric : the score to read where a log has several.
    model : the name of the model, for logs that do not hold it.
    commitments : commitments of sealed batteries; every sample must then be of one of them. Without any,
        those of the workspace around the current folder are tried, and what fits none is not checked.
    """

    paths: Sequence[Path]
    format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    requests: Path | None = None
    metric: str | None = None
    model: str | None = None
    commitments: Sequence[Path] = ()


def audit(
    logs: Logs, asked: Asked | None = None, *, keep_rows: bool = False, progress: Progress | None = None
) -> Audit:
    """Read the logs and audit them.

    Parameters
    ----------
    keep_rows : keep what `Audit.rows_frame` needs: about forty bytes a response and a hundred and fifty an
        item for as long as the result lives.

    Raises
    ------
    FormatError : a file is missing, broken, or of no known format.
    CheckFailed : a sample is not of the sealed battery that it names.
    UsageError : an option names something that is not there.
    """
    options = options_of(asked or Asked())
    collector = Collector(options.classes, options.cap)
    check = SampleCheck(_commitments(logs.commitments), required=bool(logs.commitments))
    notes: list[str] = []
    files = []
    for place, (path, reader) in enumerate(find_logs(logs.paths, logs.format, notes)):
        count = 0
        for row in _rows(path, reader, logs, notes):
            check.add(row.record, place, path.name)
            collector.add(row, place)
            count += 1
            if progress is not None and count % _TOLD_EVERY == 0:
                progress(path.name, count)
        files.append((str(path), reader.name, count))
    if not any(count for _, _, count in files):
        raise FormatError(
            f"{logs.paths[0]}: holds no responses",
            hint="write the log with its samples, or name another file",
        )
    checked = check.results()
    if logs.commitments and not checked:
        raise CheckFailed(
            "no sample of these logs is of a sealed battery, so no commitment can be checked",
            hint="leave --commitment out, or run the battery: inspect eval sealbench/battery -T battery=NAME",
        )
    found = audit_tables(collector.tables(), options, files, notes, keep_rows=keep_rows)
    return replace(found, batteries=checked)


def audit_paths(paths: Sequence[str | Path], options: Mapping[str, Any], *, keep_rows: bool = False) -> Audit:
    """The same for callers who write names instead of objects: `sealbench.audit`.

    Parameters
    ----------
    options : fields of `Logs` and `Asked` by name; files may be texts.

    Raises
    ------
    UsageError : there is no such option, or one is wrong.
    """
    given = dict(options)
    for name in ("requests", "labels", "class_from"):
        if given.get(name) is not None:
            given[name] = Path(given[name])
    given["commitments"] = [Path(path) for path in given.get("commitments", ())]
    reading = {one.name for one in fields(Logs)} - {"paths"}
    known = reading | {one.name for one in fields(Asked)}
    unknown = sorted(set(given) - known)
    if unknown:
        raise UsageError(f"there is no option {unknown[0]!r}", hint=f"options: {', '.join(sorted(known))}")
    logs = Logs([Path(path) for path in paths], **{name: given.pop(name) for name in reading & set(given)})
    return audit(logs, Asked(**given), keep_rows=keep_rows)


def _rows(path: Path, reader: LogFormat, logs: Logs, notes: list[str]) -> Iterator[Row]:
    options = ReadOptions(logs.columns, logs.requests, logs.metric)
    for row in reader.read(path, options, notes):
        if logs.model is not None and row.model.startswith("model not in log ["):
            yield replace(row, model=logs.model)
        else:
            yield row


def _commitments(named: Sequence[Path]) -> dict[str, Commitment]:
    """The commitments named, or all that are readable in the workspace around, if there is one."""
    if named:
        return {str(path): Commitment.from_bytes(store.read(path), str(path)) for path in named}
    try:
        workspace = Workspace.find()
    except UsageError:
        return {}
    found = {}
    for path in sorted((workspace.root / "commitments").glob("*.json")):
        try:
            found[workspace.relative(path)] = Commitment.from_bytes(store.read(path), path.name)
        except FormatError:  # a draft, the list of files, or damage, which `seal verify` tells
            continue
    return found
