"""The request file of a batch: what the output does not repeat (cap, prompt, the user's own metadata)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sealbench.errors import FormatError
from sealbench.logs.base import read_head
from sealbench.logs.json_stream import json_lines
from sealbench.logs.values import integer, prompt_text

_CAPS = ("max_completion_tokens", "max_output_tokens", "max_tokens")


@dataclass(frozen=True)
class Request:
    """One request of a batch."""

    cap: int | None
    prompt: str | None
    model: str | None
    metadata: Mapping[str, Any]


def is_request_file(head: bytes) -> bool:
    """Lines with a custom id and a request, but no response."""
    line = head.partition(b"\n")[0]
    if b'"custom_id"' not in line or b'"response"' in line or b'"result"' in line:
        return False
    return b'"body"' in line or b'"params"' in line


def requests_for(
    path: Path, named: Path | None, first_id: str | None, notes: list[str]
) -> dict[str, Request]:
    """The requests by custom id: of the file that was named, or of the one in the folder that fits."""
    if named is not None:
        return _read(named)
    for other in sorted(path.parent.glob("*.jsonl")):
        if other == path or not is_request_file(read_head(other)):
            continue
        found = _read(other)
        if first_id in found:
            notes.append(f"{path.name}: joined to its request file {other.name}")
            return found
    notes.append(f"{path.name}: no request file found, so cap and prompts are not known (--requests FILE)")
    return {}


def _read(path: Path) -> dict[str, Request]:
    requests = {}
    for number, record in json_lines(path):
        custom_id = record.get("custom_id")
        body = record.get("body", record.get("params"))
        if not isinstance(custom_id, str) or not isinstance(body, dict):
            raise FormatError(
                f"{path.name} line {number}: not a batch request",
                hint="--requests takes the file you uploaded",
            )
        cap = next((body[name] for name in _CAPS if body.get(name) is not None), None)
        model = body.get("model")
        metadata = body.get("metadata")
        requests[custom_id] = Request(
            integer(cap),
            prompt_text(body.get("messages", body.get("input"))),
            model if isinstance(model, str) else None,
            metadata if isinstance(metadata, Mapping) else {},
        )
    return requests
