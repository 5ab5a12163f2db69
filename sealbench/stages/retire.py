"""Retire a battery: publish its key, its items and the raw responses, for anyone to check."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sealbench import store
from sealbench.clock import Clock, system_clock
from sealbench.crypto.digest import sha256_file
from sealbench.errors import NotYet, UsageError
from sealbench.formats.battery import Battery, BatteryKey, Commitment
from sealbench.formats.registry import Registry
from sealbench.formats.run import Run
from sealbench.publishing.publication import publish, read_registry, refuse_damage
from sealbench.publishing.sealing import OpenBattery, derived_batteries, open_battery, parent_of
from sealbench.running.journal import read_responses
from sealbench.store import Workspace

README = """\
# Battery {name}, retired

This battery was sealed before it was run. It is now published in full.{derived}

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
    derived: tuple[str, ...] = ()


def retire(workspace: Workspace, name: str, *, clock: Clock = system_clock) -> Retired:
    """Write `batteries/NAME/` and register it, and the same for what is derived from it. No way back.

    Raises
    ------
    UsageError : retired already, or derived from a battery that must be retired instead.
    NotYet : a run of this battery, or of one derived from it, is unfinished.
    """
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
        derived = waiting_derived(workspace, name)
        # The parent's event comes last: an interrupted retirement can be repeated.
        batteries = [*(open_battery(workspace, one) for one in derived), battery]
        names = [one.commitment.name for one in batteries]
        runs = {own: _ended_runs(workspace, registry, own) for own in names}
        for own, one in zip(names, batteries, strict=True):
            files = _write(workspace, one, runs[own], workspace.retired(own))
            hashes = [publication.hash_of(path) for path in files]
            publication.event("retire", own, hashes, {"runs": [run.name for run in runs[own]]})
    return Retired(
        workspace.retired(name), tuple(files), tuple(run.name for run in runs[name]), tuple(derived)
    )


def waiting_derived(workspace: Workspace, name: str) -> list[str]:
    """The batteries that are derived from this one and not published yet: they retire with it."""
    registry = read_registry(workspace)
    names = [commitment.name for commitment in derived_batteries(workspace, name)]
    return [one for one in names if registry.find("retire", one) is None]


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


def _write(workspace: Workspace, battery: OpenBattery, runs: list[Run], folder: Path) -> list[Path]:
    """The bundle's files; a half-written bundle of an interrupted attempt is replaced by the same bytes."""
    commitment = battery.commitment
    name = commitment.name
    key = BatteryKey(name=name, secret=battery.secret.hex())
    contents = {
        "battery.json": Battery(name=name, items=battery.items).to_bytes(),
        "key.json": key.to_bytes(),
        "README.md": _readme(commitment).encode(),
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


def _readme(commitment: Commitment) -> str:
    parent = parent_of(commitment)
    told = f" Its items are some of those of battery {parent}, which is published with it." if parent else ""
    return README.format(name=commitment.name, root=commitment.root, author=commitment.author, derived=told)


def _responses(workspace: Workspace, run: str) -> bytes:
    path = workspace.private_run(run) / "responses.jsonl"
    if not path.exists():
        raise UsageError(
            f"{path}: the raw responses of this run are not on this machine",
            hint="restore .seal/runs from the backup of the machine that ran it",
        )
    return b"".join(stored.raw.to_bytes() + b"\n" for stored in read_responses(path))
