"""How far runs are: per endpoint and cap what is planned, done, cut and missing, its tokens and its cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from sealbench.config import Settings
from sealbench.endpoints.progress import Line, Progress
from sealbench.formats.run import Run
from sealbench.publishing.publication import read_registry
from sealbench.running.batches import open_batches
from sealbench.running.ready_endpoints import thaw_endpoints
from sealbench.running.run_records import begun_runs, has_ended, log_so_far, read_run
from sealbench.store import Workspace


@dataclass(frozen=True)
class RunStatus:
    """One run's figures.

    Attributes
    ----------
    lines : by (endpoint, cap); `usd` is 0 where no price is known (see `priced`).
    priced : names of the endpoints whose price is configured.
    ends : lines of the log by how the call ended.
    waiting : calls that wait in batch files.
    """

    run: Run
    ended: bool
    done: int
    lines: dict[tuple[str, int], Line]
    priced: frozenset[str]
    ends: dict[str, int]
    waiting: int

    @property
    def left(self) -> int:
        """Planned calls that have no line yet."""
        return self.run.planned_calls - self.done


def run_status(workspace: Workspace, settings: Settings, names: Iterable[str] = ()) -> list[RunStatus]:
    """The runs of these names (all unfinished ones, else the newest, if none is named), oldest first.

    Reads the log as it stands, also while another process is at work on the run.
    """
    registry = read_registry(workspace)
    begun = begun_runs(workspace, registry)
    wanted = list(names) or [name for name in begun if not has_ended(registry, name)] or begun[-1:]
    return [
        _status(workspace, settings, read_run(workspace, name), has_ended(registry, name)) for name in wanted
    ]


def _status(workspace: Workspace, settings: Settings, run: Run, ended: bool) -> RunStatus:
    endpoints = thaw_endpoints(run.endpoints, settings)
    each = run.planned_calls // (len(run.endpoints) * len(run.caps))
    planned = {(name, cap): each for name in endpoints for cap in run.caps}
    progress = Progress(endpoints, planned)
    ends: Counter[str] = Counter()
    for line in log_so_far(workspace, run):
        progress.count(
            line.endpoint,
            line.cap,
            cut=line.censored,
            missing=line.missing,
            charged_tokens=line.charged_tokens,
            prompt_tokens=line.prompt_tokens,
        )
        ends[line.end] += 1
    return RunStatus(
        run=run,
        ended=ended,
        done=progress.done,
        lines=progress.lines,
        priced=frozenset(name for name, endpoint in endpoints.items() if endpoint.price is not None),
        ends=dict(sorted(ends.items())),
        waiting=sum(len(stored.batch.waiting) for stored in open_batches(workspace, run)),
    )
