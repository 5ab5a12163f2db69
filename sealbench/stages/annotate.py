"""Write the sheet on which people judge verbose answers, and read the sheets that come back.

Texts stand in no public file: they are in `.seal/runs/RUN` of the machine that ran the battery, or, once the
battery is retired, in `batteries/NAME/`. A sheet is private and is refused wherever it could be published.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sealbench import store
from sealbench.analysis.annotations import verbose_lines
from sealbench.errors import CheckFailed, CouldNotCheck, FormatError, UsageError
from sealbench.formats.annotation_sheet import Annotation, SheetRow, read_sheet, write_sheet
from sealbench.formats.battery import Battery, Item
from sealbench.formats.run import LogLine, RawResponse, Run
from sealbench.publishing.sealing import open_battery
from sealbench.running.journal import read_responses
from sealbench.store import Workspace


@dataclass(frozen=True)
class Sheet:
    """A written sheet; `rows` 0 means that no answer is verbose and nothing was written."""

    path: Path
    rows: int


def annotation_sheet(workspace: Workspace, run: Run, lines: Sequence[LogLine], path: Path) -> Sheet:
    """Write the verbose answers at the run's largest cap with their prompts, mode 0600.

    Raises
    ------
    UsageError : the file exists, or lies where this workspace is published from.
    CouldNotCheck : this machine does not hold the run's texts.
    CheckFailed : a stored response is not the one of its log line.
    """
    _refuse_public(workspace, run, path)
    chosen = verbose_lines(run, lines)
    if not chosen:
        return Sheet(path, 0)
    texts = _texts(workspace, run, {line.seq: line for line in chosen})
    items = _items(workspace, run)
    rows = [
        SheetRow(
            run=run.name,
            line=line.seq,
            prompt=items[line.item].prompt,
            minimal_answer=items[line.item].minimal_answer,
            answer=texts[line.seq],
        )
        for line in chosen
    ]
    try:
        store.write_new(path, write_sheet(rows), mode=0o600)
    except OSError as error:
        raise UsageError(
            f"{path}: {error.strerror}", hint=f"--annotate {_private_place(workspace, run)}"
        ) from error
    return Sheet(path, len(rows))


def read_sheets(paths: Sequence[Path], runs: Sequence[str]) -> dict[str, tuple[Annotation, ...]]:
    """Rater -> what they wrote; a rater is the sheet's file name without its ending.

    Raises
    ------
    FormatError : a sheet cannot be read, or holds a row of a run that is not reported here.
    UsageError : two sheets have the same name.
    """
    found: dict[str, tuple[Annotation, ...]] = {}
    for path in paths:
        if path.stem in found:
            raise UsageError(
                f"two sheets are named {path.stem}", hint="name each sheet after its rater: anna.csv, ben.csv"
            )
        rows = read_sheet(store.read(path), path.name)
        others = sorted({row.run for row in rows} - set(runs))
        if others:
            raise FormatError(
                f"{path.name}: judges run {others[0]}, which is not reported here",
                hint=f"seal report {others[0]} --annotations {path}",
            )
        found[path.stem] = rows
    return found


def _private_place(workspace: Workspace, run: Run) -> Path:
    return workspace.private / "annotations" / f"{run.name}.csv"


def _refuse_public(workspace: Workspace, run: Run, path: Path) -> None:
    """Inside a workspace only `.seal` is never published; links are followed first."""
    place, root = path.resolve(), workspace.root.resolve()
    if place.is_relative_to(root) and not place.is_relative_to(root / workspace.private.name):
        raise UsageError(
            f"{path} lies in the workspace, where it could be published; the sheet holds sealed prompts",
            hint=f"--annotate {_private_place(workspace, run)}",
        )


def _texts(workspace: Workspace, run: Run, wanted: Mapping[int, LogLine]) -> dict[int, str]:
    """Log line number -> visible text of its response."""
    private = workspace.private_run(run.name) / "responses.jsonl"
    published = workspace.retired(run.battery) / "responses" / f"{run.name}.jsonl"
    if private.exists():
        found = dict(_private_texts(private, wanted))
    elif published.exists():
        raws = (RawResponse.from_bytes(raw, published.name) for raw in store.read(published).splitlines())
        found = {raw.seq: raw.text or "" for raw in raws if raw.seq in wanted}
    else:
        raise CouldNotCheck(
            f"the texts of run {run.name} are not on this machine ({private})",
            hint="write the sheet on the machine that ran it, or after the battery is retired",
        )
    if absent := sorted(set(wanted) - set(found)):
        raise CheckFailed(f"run {run.name}: line {absent[0]} has no stored response", hint="seal verify")
    return found


def _private_texts(path: Path, wanted: Mapping[int, LogLine]) -> Iterator[tuple[int, str]]:
    for stored in read_responses(path):
        line = wanted.get(stored.raw.seq)
        if line is None:
            continue
        if stored.line != line.to_value():
            raise CheckFailed(
                f"{path}: response {stored.raw.seq} is not the one of its log line", hint="seal verify"
            )
        yield stored.raw.seq, stored.raw.text or ""


def _items(workspace: Workspace, run: Run) -> dict[str, Item]:
    published = workspace.retired(run.battery) / "battery.json"
    if published.exists():
        items = Battery.from_bytes(store.read(published), workspace.relative(published)).items
    else:
        items = open_battery(workspace, run.battery).items
    return {item.id: item for item in items}
