"""One real document of every kind, taken from the complete workspace among the test vectors."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sealbench.formats.base import Record
from sealbench.formats.battery import Battery, BatteryKey, Commitment, SealedBattery
from sealbench.formats.preregistration import Preregistration
from sealbench.formats.registry import Checkpoint, PublicFiles, RegistryLine
from sealbench.formats.run import LogLine, RawResponse, Run

VECTORS = Path(__file__).parents[2] / "vectors"
WORKSPACE = VECTORS / "workspace"
# Objects whose fields are free: a family's own, a request's own, an event's own.
FREE = {"params", "certificate", "parameters", "settings", "detail", "where"}


def read(path: str) -> bytes:
    return (WORKSPACE / path).read_bytes()


def first_line(path: str) -> bytes:
    return read(path).split(b"\n", 1)[0]


def samples() -> dict[type[Record], bytes]:
    """Model and canonical bytes of each kind of document."""
    return {
        Commitment: read("commitments/mixed.json"),
        SealedBattery: read("batteries/mixed.sealed.json"),
        Battery: read("batteries/mixed/battery.json"),
        BatteryKey: read("batteries/mixed/key.json"),
        Preregistration: read("preregistrations/mixed-plan.json"),
        Run: read("runs/mixed-plan-1/run.json"),
        LogLine: first_line("runs/mixed-plan-1/log.jsonl"),
        RawResponse: first_line("batteries/mixed/responses/mixed-plan-1.jsonl"),
        RegistryLine: first_line("commitments/registry.jsonl"),
        Checkpoint: read("commitments/checkpoints/1.json"),
        PublicFiles: read("commitments/files.json"),
    }


def value_of(model: type[Record]) -> Any:
    """The parsed sample of a model, fresh each time, long lists cut to two entries."""
    return _shortened(json.loads(samples()[model]))


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shortened(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shortened(item) for item in value[:2]]
    return value


def places(value: Any, path: tuple[str | int, ...] = (), *, free: bool = False) -> Iterator[tuple[Any, ...]]:
    """Paths of all fields and entries whose shape a model decides."""
    if free:
        return
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, item in entries:
        yield (*path, key)
        yield from places(item, (*path, key), free=key in FREE and isinstance(item, dict) and path != ())


def changed(value: Any, path: tuple[Any, ...], new: Any = ..., *, rename: str = "") -> Any:
    """A copy with one place replaced, renamed, or (without either) removed."""
    result = copy.deepcopy(value)
    parent = result
    for key in path[:-1]:
        parent = parent[key]
    if rename:
        parent[rename] = parent.pop(path[-1])
    elif new is ...:
        del parent[path[-1]]
    else:
        parent[path[-1]] = new
    return result
