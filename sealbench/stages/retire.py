"""Retire a battery: publish its key, its items and the raw responses, for anyone to check."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sealbench import store
from sealbench.clock import Clock, system_clock
from sealbench.crypto.digest import sha256_file
from sealbench.errors import NotYet, UsageError
from sealbench.formats.battery import Battery, BatteryKey
from sealbench.formats.run import Run
from sealbench.journal import read_responses
from sealbench.publication import publish, read_registry, refuse_damage
from sealbench.sealing import OpenBattery, open_battery
from sealbench.store import Workspace

README = """\
# Battery {name}, retired

This battery was sealed before it was run. It is now published in full.

| file | what |
|---|---|
| battery.json | every item: prompt, answer, class, certificate of its ground truth |
| key.json | the secret K, from which every item can be made again |
| responses/ | the raw responses of each run, redacted on receipt |
| SHA256SUMS | hashes of these files |

Its commitment is `commitments/{name}.json` (root {root}), stamped in `commitments/{name}.json.ots`.

Check it:

    sha256sum -c SHA256SUMS
    ssh-keygen -Y verify -f ../../commitments/allowed_signers -I {author} -n sealbench \\
      -s ../../commitments/{name}.json.sig < ../../commitments/{name}.json
    seal verify ../..

Its items are public now: whoever trains on public text may have seen them. Do not use it again.
"""


@dataclass(frozen=True)
class Retired:
    """A published battery: its folder and the files in it."""

    folder: Path
    files: tuple[Path, ...]
    runs: tuple[str, ...]


def retire(workspace: Workspace, name: str, *, clock: Clock = system_clock) -> Retired:
    """Write `batteries/NAME/` and register it. There is no way back.

    Raises
    ------
    UsageError : retired already.
    NotYet : a run of this battery is unfinished.
    """
    battery = open_battery(workspace, name)
    with publish(workspace, clock) as publication:
        refuse_damage(workspace)
        runs = _ended_runs(workspace, name)
        folder = workspace.retired(name)
        files = _write(workspace, battery, runs, folder)
        publication.event(
            "retire",
            name,
            [publication.hash_of(path) for path in files],
            {"runs": [run.name for run in runs]},
        )
    return Retired(folder, tuple(files), tuple(run.name for run in runs))


def _ended_runs(workspace: Workspace, name: str) -> list[Run]:
    registry = read_registry(workspace)
    if registry.find("retire", name) is not None:
        raise UsageError(f"{name} is retired already", hint=f"seal verify, and see batteries/{name}/")
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


def _write(workspace: Workspace, battery: OpenBattery, runs: list[Run], folder: Path) -> list[Path]:
    """The bundle's files; a half-written bundle of an interrupted attempt is replaced by the same bytes."""
    commitment = battery.commitment
    name = commitment.name
    key = BatteryKey(name=name, secret=battery.secret.hex())
    contents = {
        "battery.json": Battery(name=name, items=battery.items).to_bytes(),
        "key.json": key.to_bytes(),
        "README.md": README.format(name=name, root=commitment.root, author=commitment.author).encode(),
    }
    for run in runs:
        contents[f"responses/{run.name}.jsonl"] = _responses(workspace, run.name)
    written = []
    for relative, data in sorted(contents.items()):
        store.replace(folder / relative, data)
        written.append(folder / relative)
    sums = "".join(f"{sha256_file(folder / path)}  {path}\n" for path in sorted(contents))
    store.replace(folder / "SHA256SUMS", sums.encode())
    return [*written, folder / "SHA256SUMS"]


def _responses(workspace: Workspace, run: str) -> bytes:
    path = workspace.private_run(run) / "responses.jsonl"
    if not path.exists():
        raise UsageError(
            f"{path}: the raw responses of this run are not on this machine",
            hint="restore .seal/runs from the backup of the machine that ran it",
        )
    return b"".join(stored.raw.to_bytes() + b"\n" for stored in read_responses(path))
