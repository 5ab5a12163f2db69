"""The batch files of a run that are out at a provider: which calls wait in one, under which id.

    .seal/runs/RUN/batches/NNN.ENDPOINT.jsonl    the requests, prompts and all: private like the battery
    .seal/runs/RUN/batches/NNN.open.json         which of their calls have not come back yet

A call that waits in a batch is not asked live. Removing NNN.open.json gives the batch up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sealbench import store
from sealbench.formats.base import Hash, Instant, Record, Str
from sealbench.formats.run import Run
from sealbench.running.journal import CallKey
from sealbench.store import Workspace


class OpenBatch(Record):
    """One batch file that is out, and the ids of its calls that have not come back."""

    endpoint: Str
    requests: Str
    written_at: Instant
    waiting: tuple[Str, ...]
    # SHA-256 of the result files read so far; `reading` is one whose reading was interrupted.
    read: tuple[Hash, ...]
    reading: Hash | None


@dataclass(frozen=True)
class StoredBatch:
    """An open batch and the file it stands in."""

    path: Path
    batch: OpenBatch

    def changed(
        self,
        *,
        reading: str | None,
        waiting: tuple[str, ...] | None = None,
        read: tuple[str, ...] | None = None,
    ) -> StoredBatch:
        """The same with these values."""
        update: dict[str, object] = {"reading": reading}
        if waiting is not None:
            update["waiting"] = waiting
        if read is not None:
            update["read"] = read
        return StoredBatch(self.path, self.batch.model_copy(update=update))

    def save(self) -> None:
        """Write it in place of what is there."""
        store.replace(self.path, self.batch.to_bytes(), mode=0o600)


def custom_id(run: Run, key: CallKey) -> str:
    """The id of a call in a batch file: item, position of the endpoint in the run, cap, repeat."""
    item, endpoint, cap, repeat = key
    position = [one.name for one in run.endpoints].index(endpoint)
    return f"{item}-{position}-{cap}-{repeat}"


def batch_folder(workspace: Workspace, run: Run) -> Path:
    """Where the batch files of a run lie."""
    return workspace.private_run(run.name) / "batches"


def open_batches(workspace: Workspace, run: Run) -> list[StoredBatch]:
    """The batches that are out, oldest first."""
    found = sorted(batch_folder(workspace, run).glob("*.open.json"))
    return [StoredBatch(path, OpenBatch.from_bytes(store.read(path), str(path))) for path in found]


def waiting_ids(workspace: Workspace, run: Run) -> set[str]:
    """The ids of all calls that wait in a batch."""
    return {one for stored in open_batches(workspace, run) for one in stored.batch.waiting}


def add_batch(
    workspace: Workspace, run: Run, endpoint: str, data: bytes, ids: Sequence[str], at: str
) -> Path:
    """Write one request file and note that its calls wait; the file's path."""
    folder = batch_folder(workspace, run)
    taken = [int(path.name[:3]) for path in folder.glob("[0-9][0-9][0-9].*")]
    number = f"{max(taken, default=0) + 1:03d}"
    safe = re.sub(r"[^A-Za-z0-9_-]+", "-", endpoint).strip("-")[:60]
    path = folder / f"{number}.{safe}.jsonl"
    store.write_new(path, data, mode=0o600)
    batch = OpenBatch(
        endpoint=endpoint, requests=path.name, written_at=at, waiting=tuple(ids), read=(), reading=None
    )
    StoredBatch(folder / f"{number}.open.json", batch).save()
    return path
