"""What a run would call, what that can cost at most, what it would write; touches no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sealbench.config import Settings
from sealbench.endpoints.budget import Estimate, estimate
from sealbench.formats.preregistration import Endpoint, Preregistration
from sealbench.formats.run import Run
from sealbench.publishing.publication import read_registry
from sealbench.publishing.sealing import open_battery
from sealbench.running.batches import custom_id, waiting_ids
from sealbench.running.ready_endpoints import check_ready, thaw_endpoints
from sealbench.running.run_records import Selection, has_ended, latest_run, log_so_far
from sealbench.store import CHECKPOINTS, FILES, REGISTRY, Workspace


@dataclass(frozen=True)
class Pilot:
    """An exploratory run as asked for; no wordings means all of the battery's."""

    battery: str
    endpoints: tuple[Endpoint, ...]
    caps: tuple[int, ...]
    repeats: int
    wordings: tuple[str, ...]


@dataclass(frozen=True)
class DryRun:
    """Exact numbers of calls, ceilings of tokens and cost.

    Attributes
    ----------
    name : of the run that would be begun or gone on with.
    endpoints : the ceilings by endpoint name; retries are not in them.
    planned, done : calls of the whole run, and those in its log already.
    waiting : calls of the part asked for that wait in a batch file.
    files : paths that would be written, relative to the workspace.
    """

    name: str
    battery: str
    exploratory: bool
    begun: bool
    endpoints: dict[str, Estimate]
    planned: int
    done: int
    waiting: int
    files: tuple[str, ...]

    @property
    def calls(self) -> int:
        """Calls that would be made."""
        return sum(one.calls for one in self.endpoints.values())


@dataclass(frozen=True)
class _Shape:
    name: str
    battery: str
    endpoints: tuple[Endpoint, ...]
    caps: tuple[int, ...]
    repeats: int
    wordings: tuple[str, ...]
    exploratory: bool
    begun: Run | None
    ended: bool = False


def dry_run(
    workspace: Workspace,
    work: Run | Preregistration | Pilot,
    settings: Settings,
    *,
    selection: Selection | None = None,
    again: bool = False,
    stamp: bool = True,
) -> DryRun:
    """The figures of the run that the same command would make without `--dry-run`.

    Raises
    ------
    UsageError, ConfigurationError : a selection, cap or setting that the real run would refuse.
    MissingKey : K is not here, without which nobody knows the prompts' lengths.
    """
    shape = _shape(workspace, work, again)
    battery = open_battery(workspace, shape.battery)
    wordings = shape.wordings or battery.commitment.parameters.wordings
    chosen = selection or Selection()
    names = [endpoint.name for endpoint in shape.endpoints]
    chosen.check_against(shape.name, shape.battery, names, shape.caps, wordings)
    check_ready(shape.endpoints, shape.caps, settings, keys=False)
    done = set() if shape.begun is None else {line.key for line in log_so_far(workspace, shape.begun)}
    waiting = set() if shape.begun is None else waiting_ids(workspace, shape.begun)
    items = [item for item in battery.items if item.wording in wordings]
    calls: list[tuple[str, str, int]] = []
    in_batches = 0
    for item in [] if shape.ended else items:
        for name in names:
            for cap in shape.caps:
                for repeat in range(1, shape.repeats + 1):
                    key = (item.id, name, cap, repeat)
                    if key in done or not chosen.holds(key, item.wording):
                        continue
                    if waiting and shape.begun is not None and custom_id(shape.begun, key) in waiting:
                        in_batches += 1
                    else:
                        calls.append((name, item.prompt, cap))
    planned = len(items) * len(names) * len(shape.caps) * shape.repeats
    completes = len(done) + len(calls) == planned
    return DryRun(
        name=shape.name,
        battery=shape.battery,
        exploratory=shape.exploratory,
        begun=shape.begun is not None,
        endpoints=estimate(calls, thaw_endpoints(shape.endpoints, settings)),
        planned=planned,
        done=len(done),
        waiting=in_batches,
        files=tuple(_files(workspace, shape, completes, stamp and not shape.exploratory)) if calls else (),
    )


def _shape(workspace: Workspace, work: Run | Preregistration | Pilot, again: bool) -> _Shape:
    if isinstance(work, Run):
        ended = has_ended(read_registry(workspace), work.name)
        return _Shape(
            work.name,
            work.battery,
            work.endpoints,
            work.caps,
            work.repeats,
            work.wordings,
            work.exploratory,
            work,
            ended,
        )
    if isinstance(work, Pilot):
        latest = latest_run(workspace, f"{work.battery}-exploratory")
        if latest is not None and not latest[1] and _same(work, latest[0]):
            return _shape(workspace, latest[0], again)
        number = _next_number(workspace, f"{work.battery}-exploratory")
        name = f"{work.battery}-exploratory-{number}"
        return _Shape(name, work.battery, work.endpoints, work.caps, work.repeats, work.wordings, True, None)
    latest = latest_run(workspace, work.name)
    if latest is not None and not (again and latest[1]):
        return _shape(workspace, latest[0], again)
    name = f"{work.name}-{_next_number(workspace, work.name)}"
    return _Shape(name, work.battery, work.endpoints, work.caps, work.repeats, work.wordings, False, None)


def _same(pilot: Pilot, run: Run) -> bool:
    """Whether the command that asks for this pilot would go on with this run."""
    shape = (run.endpoints, run.caps, run.repeats)
    return shape == (pilot.endpoints, pilot.caps, pilot.repeats) and pilot.wordings in ((), run.wordings)


def _next_number(workspace: Workspace, stem: str) -> int:
    latest = latest_run(workspace, stem)
    return latest[0].number + 1 if latest is not None else 1


def _files(workspace: Workspace, shape: _Shape, completes: bool, stamp: bool) -> list[str]:
    size = read_registry(workspace).size
    sizes = []
    if shape.begun is None:
        size += 2  # run_start and expose
        sizes.append(size)
    if completes:
        sizes.append(size + 1)  # run_end
    folder = f"runs/{shape.name}"
    files = [f"{folder}/run.json", f"{folder}/run.json.sig"] if shape.begun is None else []
    files += [f"{folder}/log.jsonl", f".seal/{folder}/attempts.jsonl", f".seal/{folder}/responses.jsonl"]
    if sizes:
        files += [REGISTRY, FILES]
    suffixes: Sequence[str] = ("", ".sig", ".ots") if stamp else ("", ".sig")
    return files + [f"{CHECKPOINTS}/{one}.json{suffix}" for one in sizes for suffix in suffixes]
