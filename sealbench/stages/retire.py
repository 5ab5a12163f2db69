"""Retire a battery: publish its key, its items and the raw responses, for anyone to check."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sealbench import store
from sealbench.anchoring import check_anchor, needed_by, read_headers, stampable_files
from sealbench.clock import Clock, system_clock
from sealbench.crypto.digest import sha256_hex
from sealbench.errors import CheckFailed, NotYet, UsageError
from sealbench.formats.base import FileHash
from sealbench.formats.registry import Registry
from sealbench.formats.run import PublishedResponse, Run
from sealbench.publishing.bundle import SUMS, Responses, bundle_files, record_files
from sealbench.publishing.bundle_archive import archive_parts, archive_sha256
from sealbench.publishing.bundle_metadata import DEFAULT_LICENSE, Imprint, check_license
from sealbench.publishing.bundle_record import RECORD
from sealbench.publishing.bundle_scan import Finding, scan
from sealbench.publishing.publication import Publication, publish, read_registry, refuse_damage
from sealbench.publishing.sealing import OpenBattery, derived_batteries, open_battery, parent_of
from sealbench.running.journal import read_responses
from sealbench.running.known_secrets import forbidden_here
from sealbench.store import Workspace

_SHOWN = 5  # findings told in one error
Withheld = Mapping[str, frozenset[int]]  # run → line numbers, from 1


@dataclass(frozen=True)
class Retired:
    """A published battery: its folder, the files in it, its archive, and what was left out of it.

    `withheld` counts the bodies of each run that are not published.
    """

    folder: Path
    files: tuple[Path, ...]
    archive: Path
    archive_sha256: str
    runs: tuple[str, ...]
    derived: tuple[str, ...] = ()
    withheld: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class _Prepared:
    """One battery's bundle in memory."""

    name: str
    files: dict[str, bytes]
    runs: tuple[str, ...]
    withheld: dict[str, int]


def retire(
    workspace: Workspace,
    name: str,
    *,
    license: str = DEFAULT_LICENSE,
    authors: Sequence[str] = (),
    withhold: Sequence[str] = (),
    clock: Clock = system_clock,
) -> Retired:
    """Write `batteries/NAME/` and register it, and the same for what is derived from it. No way back.

    Parameters
    ----------
    license : SPDX identifier of the data's licence.
    authors : names to cite.
    withhold : `RUN:LINE` of each response that is left out of the bundle (lines from 1).

    Raises
    ------
    UsageError : retired already, or derived from a battery that must be retired instead.
    NotYet : a run of this battery, or of one derived from it, is unfinished.
    CheckFailed : a file would publish a secret or a local path; nothing was written.
    """
    check_license(license)
    left_out = _read_withhold(withhold)
    battery = open_battery(workspace, name)
    parent = parent_of(battery.commitment)
    if parent is not None:
        raise UsageError(
            f"{name} has no key of its own: it is published with {parent}, whose items it shares",
            hint=f"seal retire {parent}",
        )
    with publish(workspace, clock) as publication:
        refuse_damage(workspace)
        registry = read_registry(workspace)
        if registry.find("retire", name) is not None:
            raise UsageError(f"{name} is retired already", hint=f"seal verify, and see batteries/{name}/")
        publication.checkpoint()  # a bundle's registry is covered to its last line
        before = _before_retirements(registry)
        derived = waiting_derived(workspace, name)
        # The parent's event comes last: an interrupted retirement can be repeated.
        batteries = [*(open_battery(workspace, one) for one in derived), battery]
        _refuse_strange_folders(workspace, [*derived, name])
        imprint = Imprint(tuple(authors), license, clock().strftime("%Y-%m-%d"))
        prepared = [_prepare(workspace, before, one, left_out, imprint) for one in batteries]
        _refuse_unknown_runs(left_out, prepared)
        _refuse_leaks(workspace, name, prepared)
        for one in prepared:
            archive_hash = _write(workspace, publication, one)
    own = prepared[-1]
    return Retired(
        workspace.retired(name),
        tuple(workspace.retired(name) / path for path in sorted(own.files)),
        workspace.archive(name),
        archive_hash,
        own.runs,
        tuple(derived),
        tuple(sorted((run, count) for one in prepared for run, count in one.withheld.items())),
    )


def waiting_derived(workspace: Workspace, name: str) -> list[str]:
    """The batteries that are derived from this one and not published yet: they retire with it."""
    registry = read_registry(workspace)
    names = [commitment.name for commitment in derived_batteries(workspace, name)]
    return [one for one in names if registry.find("retire", one) is None]


def unproved_files(workspace: Workspace) -> list[str]:
    """The files whose proof does not lead into a block yet: in a bundle made now they stay so."""
    network = read_registry(workspace).network
    headers = read_headers(workspace, network)
    reports = {path: check_anchor(path, headers, network) for path in stampable_files(workspace)}
    return [
        workspace.relative(path)
        for path, report in reports.items()
        if report is None or report.best("explorer") is None
    ]


def _refuse_strange_folders(workspace: Workspace, names: Sequence[str]) -> None:
    """What an interrupted retirement left is a whole bundle, and is replaced; anything else is somebody's."""
    for folder in (workspace.retired(name) for name in names):
        if folder.exists() and not (folder / SUMS).is_file():
            raise UsageError(
                f"{workspace.relative(folder)} exists and holds other files, which retirement would replace",
                hint=f"move it to another place, then seal retire {names[-1]}",
            )


def _before_retirements(registry: Registry) -> Registry:
    """The registry without the retire events at its end.

    They say nothing that a bundle rests on, and the checkpoint over them is not in a block yet when several
    batteries are retired in a row.
    """
    size = registry.size
    while size > 1 and registry.lines[size - 1].event == "retire":
        size -= 1
    return Registry(registry.lines[:size], registry.hashes[:size])


def _ended_runs(workspace: Workspace, registry: Registry, name: str) -> list[Run]:
    runs = []
    for line in registry.events("run_start"):
        if line.detail.get("battery") != name:
            continue
        if not any(registry.find(event, line.subject) for event in ("run_end", "run_abort")):
            raise NotYet(
                f"the run {line.subject} of {name} is unfinished; after retirement nobody could finish it",
                hint=f"seal run {line.detail.get('plan') or name}",
            )
        path = workspace.run(line.subject) / "run.json"
        runs.append(Run.from_bytes(store.read(path), workspace.relative(path)))
    return runs


def _prepare(
    workspace: Workspace, registry: Registry, battery: OpenBattery, left_out: Withheld, imprint: Imprint
) -> _Prepared:
    name = battery.commitment.name
    runs = tuple(run.name for run in _ended_runs(workspace, registry, name))
    responses = {run: _responses(workspace, run, left_out.get(run, frozenset())) for run in runs}
    withheld = {run: one.withheld for run, one in responses.items() if one.withheld}
    record = record_files(workspace, registry, battery.commitment)
    if store.HEADERS in record:
        record[store.HEADERS] = needed_by(record, registry.network).to_bytes()
    return _Prepared(name, bundle_files(registry, battery, responses, record, imprint), runs, withheld)


def _responses(workspace: Workspace, run: str, left_out: frozenset[int]) -> Responses:
    path = workspace.private_run(run) / "responses.jsonl"
    if not path.exists():
        raise UsageError(
            f"{path}: the raw responses of this run are not on this machine",
            hint="restore .seal/runs from the backup of the machine that ran it",
        )
    stored = [one.raw for one in read_responses(path)]
    missing = [line for line in left_out if not 1 <= line <= len(stored)]
    if missing:
        raise UsageError(
            f"run {run} has {len(stored)} responses, none in line {missing[0]}",
            hint=f"--withhold {run}:LINE with a line from 1 to {len(stored)}",
        )
    published = [
        PublishedResponse(seq=raw.seq, response_id=None, body=None, text=None, withheld=True)
        if raw.seq + 1 in left_out
        else raw
        for raw in stored
    ]
    return Responses(b"".join(raw.to_bytes() + b"\n" for raw in published), len(left_out))


def _read_withhold(given: Sequence[str]) -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for text in given:
        run, _, line = text.rpartition(":")
        if not run or not re.fullmatch(r"[1-9][0-9]{0,8}", line):
            raise UsageError(f"--withhold {text!r:.80} is not RUN:LINE", hint="--withhold primes-plan-1:17")
        found.setdefault(run, set()).add(int(line))
    return {run: frozenset(lines) for run, lines in found.items()}


def _refuse_unknown_runs(left_out: Withheld, prepared: Sequence[_Prepared]) -> None:
    known = [run for one in prepared for run in one.runs]
    for run in left_out:
        if run not in known:
            told = ", ".join(known) or "none"
            raise UsageError(f"{run!r:.80} is no run of this battery", hint=f"its runs: {told}")


def _refuse_leaks(workspace: Workspace, name: str, prepared: Sequence[_Prepared]) -> None:
    """Nothing is written if any file of any bundle holds a secret or a local path."""
    forbidden = forbidden_here(workspace, {one.name for one in prepared})
    found = [(one, finding) for one in prepared for finding in scan(one.files, forbidden)]
    if not found:
        return
    told = "; ".join(f"batteries/{one.name}/{finding}" for one, finding in found[:_SHOWN])
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    raise CheckFailed(
        f"nothing was published: {told}{more}", hint=_leak_hint(name, [finding for _, finding in found])
    )


def _leak_hint(name: str, found: Sequence[Finding]) -> str:
    """How to go on: a response can be withheld; any other file is the author's own."""
    bodies = [one for one in found if one.path.startswith("responses/")]
    if len(bodies) < len(found):
        first = next(one for one in found if one not in bodies)
        source = first.path.removeprefix(f"{RECORD}/")
        return f"look at {source}: what the registry binds cannot be changed, so {name} stays sealed"
    lines = {(one.path.removeprefix("responses/").removesuffix(".jsonl"), one.line) for one in bodies}
    options = " ".join(f"--withhold {run}:{line}" for run, line in sorted(lines)[:_SHOWN])
    return f"seal retire {name} {options}"


def _write(workspace: Workspace, publication: Publication, one: _Prepared) -> str:
    """Write a bundle and its archive, then the event that binds both; the archive's SHA-256."""
    folder = workspace.retired(one.name)
    store.write_folder(folder, one.files)
    digest = archive_sha256(one.name, one.files)
    store.replace_parts(workspace.archive(one.name), archive_parts(one.name, one.files))
    # The archive can be made again from the folder: no version control needs it.
    store.replace(workspace.archive(one.name).with_name(".gitignore"), b"*\n")
    hashes = [
        FileHash(path=f"batteries/{one.name}/{path}", sha256=sha256_hex(data))
        for path, data in one.files.items()
    ]
    detail: dict[str, object] = {"runs": list(one.runs), "archive_sha256": digest}
    if one.withheld:
        detail["withheld"] = [{"run": run, "count": count} for run, count in sorted(one.withheld.items())]
    publication.event("retire", one.name, hashes, detail)
    return digest
