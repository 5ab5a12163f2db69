"""When the events of a battery happened: the author's word, and what a timestamp proof shows of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sealbench import store
from sealbench.anchoring import check_anchor, read_headers
from sealbench.formats.registry import Registry, RegistryLine
from sealbench.publishing.bundle_record import BundleScope
from sealbench.render.site import Moment
from sealbench.store import Workspace
from sealbench.timestamps.header_store import HeaderStore
from sealbench.timestamps.networks import NETWORKS

_WORDS = {
    "create": "created and committed to",
    "preregister": "plan {} preregistered",
    "amend": "plan {} amends an earlier one",
    "run_start": "run {} began",
    "run_end": "run {} ended",
    "run_abort": "run {} aborted",
    "deviation": "deviation in run {}",
    "report": "run {} reported",
    "reveal": "some items revealed",
    "supersede": "superseded by {}",
    "void": "void",
    "retire": "retired",
}


def battery_timeline(workspace: Workspace, registry: Registry, scope: BundleScope) -> Iterator[Moment]:
    """Every event of a battery, in the registry's order."""
    headers = read_headers(workspace, registry.network)
    for line in registry.lines:
        words = _words(line, scope)
        if words:
            yield Moment(
                words, f"{line.at[:10]} {line.at[11:16]} UTC", _proved(workspace, registry, line, headers)
            )


def _words(line: RegistryLine, scope: BundleScope) -> str:
    """What happened, if it happened to this battery; else nothing."""
    about = line.subject == scope.name or line.subject in scope.plans | scope.runs
    if not about or line.event not in _WORDS:
        return ""
    if line.event == "create" and line.detail.get("draft") is True:
        return f"announced, to be drawn from block {line.detail.get('height')}"
    if line.event == "reveal" and "subset_of" in line.detail:
        return f"shown to be part of {line.detail['subset_of']}"
    subject = line.detail.get("by") if line.event == "supersede" else line.subject
    return _WORDS[line.event].format(subject)


def _proved(workspace: Workspace, registry: Registry, line: RegistryLine, headers: HeaderStore) -> str:
    """The block before whose end the event happened: by its own file's proof, else by a checkpoint's."""
    network = NETWORKS[registry.network]
    own = [
        workspace.root / file.path for file in line.files if line.event in ("create", "preregister", "amend")
    ]
    covering = [path for size, path in _checkpoints(workspace) if size > line.seq]
    waiting = False
    for path in [*own, *covering]:
        report = check_anchor(path, headers, registry.network)
        best = report.best("explorer") if report is not None and report.commits else None
        if best is not None and best.time is not None:
            time = f", {best.time:%Y-%m-%d %H:%M} UTC, give or take two hours" if network.proves_time else ""
            through = "" if path in own else f", by checkpoint {path.stem}"
            return f"in block {best.height} or before{time} ({best.grade}{through})"
        waiting = waiting or report is not None
    return "promised by a calendar, not in a block yet" if waiting else "not stamped"


def _checkpoints(workspace: Workspace) -> list[tuple[int, Path]]:
    folder = workspace.root / store.CHECKPOINTS
    return sorted((int(path.stem), path) for path in folder.glob("*.json") if path.stem.isdigit())
