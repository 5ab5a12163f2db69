"""Write the rows of ended runs to one file, as CSV or as Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sealbench import store
from sealbench.analysis.row_tables import RunLog, write_parquet
from sealbench.crypto.digest import sha256_file
from sealbench.errors import CheckFailed, NotYet, UsageError
from sealbench.formats.registry import Registry
from sealbench.formats.run import LogLine, follow_log
from sealbench.publishing.publication import read_registry
from sealbench.render.rows_csv import write_rows
from sealbench.running.run_records import read_run
from sealbench.store import Workspace


@dataclass(frozen=True)
class Exported:
    """What was written."""

    path: Path
    runs: tuple[str, ...]
    rows: int


def export_parquet(workspace: Workspace, names: Sequence[str], target: Path) -> Exported:
    """Every row of these runs (without names: of all ended ones) as a Parquet file.

    Raises
    ------
    NotYet : no run has ended, or one of these has not. UsageError : a run is named twice.
    CheckFailed : a log is not the one that the registry names.
    CouldNotCheck : the extra is not installed.
    """
    logs = ended_logs(workspace, names)
    _check_folder(target)
    return Exported(target, tuple(log.run for log in logs), write_parquet(logs, target))


def export_csv(workspace: Workspace, names: Sequence[str], target: Path) -> Exported:
    """The same as CSV, line by line; needs no extra. Raises as `export_parquet`."""
    logs = ended_logs(workspace, names)
    _check_folder(target)
    partial = target.with_name(f".{target.name}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="") as stream:
            rows = write_rows(stream, ((log.run, _lines(workspace, log)) for log in logs))
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return Exported(target, tuple(log.run for log in logs), rows)


def ended_logs(workspace: Workspace, names: Sequence[str]) -> list[RunLog]:
    """The logs of these runs, each exactly the one whose hash the registry holds."""
    registry = read_registry(workspace)
    ended = {line.subject for line in registry.events("run_end")}
    if len(set(names)) != len(names):
        raise UsageError("a run is named twice", hint="name each run once, or none for all of them")
    if not names and not ended:
        raise NotYet("no run has ended here", hint="seal run, then seal export")
    for name in names:
        store.check_name(name, "run")
        if name not in ended:
            known = ", ".join(sorted(ended)) or "none"
            raise NotYet(f"there is no ended run {name} (ended runs: {known})", hint="seal status")
    order = [line.subject for line in registry.events("run_end")]
    return [_registered(workspace, registry, name) for name in (names or order)]


def _registered(workspace: Workspace, registry: Registry, name: str) -> RunLog:
    path = workspace.run(name) / "log.jsonl"
    relative = workspace.relative(path)
    (event,) = [line for line in registry.events("run_end") if line.subject == name]
    listed = {file.path: file.sha256 for file in event.files}
    if not path.exists() or listed.get(relative) != sha256_file(path):
        raise CheckFailed(f"{relative} is missing, or was changed after the run ended", hint="seal verify")
    return RunLog(name, path)


def _lines(workspace: Workspace, log: RunLog) -> Iterator[LogLine]:
    with log.path.open("rb") as stream:
        yield from follow_log(stream, read_run(workspace, log.run).digest(), workspace.relative(log.path))


def _check_folder(target: Path) -> None:
    if not target.parent.is_dir():
        raise UsageError(f"there is no folder {target.parent}", hint=f"mkdir -p {target.parent}")
    if target.is_dir():
        raise UsageError(f"{target} is a folder", hint=f"name a file: {target / 'rows.parquet'}")
