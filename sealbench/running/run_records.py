"""Which runs a workspace holds, which are unfinished, what each plans and what its log holds so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from sealbench.crypto.stream import Stream
from sealbench.errors import NotYet, UsageError
from sealbench.formats.battery import Item
from sealbench.formats.registry import Registry
from sealbench.formats.run import LogLine, Run, follow_log
from sealbench.publishing.publication import read_registry
from sealbench.running.journal import CallKey
from sealbench.store import Workspace, read


@dataclass(frozen=True)
class Selection:
    """The part of a run to do now; empty means all of it."""

    endpoints: tuple[str, ...] = ()
    caps: tuple[int, ...] = ()
    wordings: tuple[str, ...] = ()

    def check(self, run: Run) -> None:
        """UsageError for anything the run does not hold."""
        names = [endpoint.name for endpoint in run.endpoints]
        self.check_against(run.name, run.battery, names, run.caps, run.wordings)

    def check_against(
        self,
        name: str,
        battery: str,
        endpoints: Sequence[str],
        caps: Sequence[int],
        wordings: Sequence[str],
    ) -> None:
        """The same for a plan that no run has begun yet."""
        for chosen, offered, flag in (
            (self.endpoints, endpoints, "--endpoint"),
            (self.caps, caps, "--cap"),
            (self.wordings, wordings, "--wording"),
        ):
            for value in chosen:
                if value not in offered:
                    listed = ", ".join(str(one) for one in offered)
                    raise UsageError(
                        f"{flag} {value} is not in the plan of {name} (it holds {listed})",
                        hint=f"a pilot may use anything: seal run {battery} --exploratory "
                        f"--cap N --endpoint E",
                    )

    def holds(self, key: CallKey, wording: str) -> bool:
        """Whether a planned call belongs to this part."""
        _, endpoint, cap, _ = key
        return (
            (not self.endpoints or endpoint in self.endpoints)
            and (not self.caps or cap in self.caps)
            and (not self.wordings or wording in self.wordings)
        )


def read_run(workspace: Workspace, name: str) -> Run:
    """The document of one run; FormatError if it is not there."""
    path = workspace.run(name) / "run.json"
    return Run.from_bytes(read(path, hint="seal run --status"), workspace.relative(path))


def begun_runs(workspace: Workspace, registry: Registry) -> list[str]:
    """Names of the runs whose start is registered and whose folder is here, oldest first."""
    return [line.subject for line in registry.events("run_start") if workspace.run(line.subject).is_dir()]


def has_ended(registry: Registry, name: str) -> bool:
    """Whether a run was ended or aborted."""
    return any(registry.find(event, name) is not None for event in ("run_end", "run_abort"))


def latest_run(workspace: Workspace, stem: str) -> tuple[Run, bool] | None:
    """The newest run begun under this plan (or pilot), and whether it has ended."""
    registry = read_registry(workspace)
    names = [name for name in begun_runs(workspace, registry) if name.rpartition("-")[0] == stem]
    if not names:
        return None
    return read_run(workspace, names[-1]), has_ended(registry, names[-1])


def find_run(workspace: Workspace, name: str | None) -> Run:
    """The run of this name, the newest of this plan or pilot of this battery, or the newest of all.

    Raises
    ------
    NotYet : no such run was begun here.
    """
    registry = read_registry(workspace)
    begun = begun_runs(workspace, registry)
    stems = (name, f"{name}-exploratory")
    fitting = [one for one in begun if name is None or one == name or one.rpartition("-")[0] in stems]
    if not fitting:
        what = "no run was begun here" if name is None else f"no run of {name} was begun here"
        raise NotYet(what, hint=f"runs: {', '.join(begun)}" if begun else "seal run")
    return read_run(workspace, name if name in begun else fitting[-1])


def unfinished_runs(workspace: Workspace) -> list[Run]:
    """The runs that were begun and neither ended nor aborted, oldest first."""
    registry = read_registry(workspace)
    names = begun_runs(workspace, registry)
    return [read_run(workspace, name) for name in names if not has_ended(registry, name)]


def resume_command(run: Run) -> str:
    """The command that goes on with an unfinished run."""
    return f"seal run {Path(run.plan.path).stem if run.plan else run.name}"


def planned_calls(run: Run, items: Sequence[Item]) -> list[CallKey]:
    """Every planned call of a run in its drawn order.

    The order comes from SHA-256 of the plan's file (for an exploratory run: of the commitment's)
    and the run's number, so nobody picks it by hand.
    """
    ids = sorted(item.id for item in items if item.wording in run.wordings)
    names = [endpoint.name for endpoint in run.endpoints]
    calls = list(product(ids, names, run.caps, range(1, run.repeats + 1)))
    source = run.plan or run.commitment
    Stream("sealbench/v1/order", bytes.fromhex(source.sha256), run.number).shuffle(calls)
    return calls


def log_so_far(workspace: Workspace, run: Run) -> Iterator[LogLine]:
    """The lines of a run's log as it stands, also while the run is at work: a torn last line is left out."""
    path = workspace.run(run.name) / "log.jsonl"
    if not path.exists():
        return
    with path.open("rb") as stream:
        whole = (line for line in stream if line.endswith(b"\n"))
        yield from follow_log(whole, run.digest(), workspace.relative(path))
