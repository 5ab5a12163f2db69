"""One sample of an Inspect AI log, whatever file it stood in, as a row."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sealbench.formats.sealed_sample import METADATA_KEY
from sealbench.logs.base import ReadOptions, Row
from sealbench.logs.endings import content_text, ending, text_state
from sealbench.logs.values import (
    dig,
    integer,
    label,
    only_number,
    prompt_text,
    score,
    seconds,
    unnamed_model,
)

_CONFIGS = (("plan", "config"), ("eval", "model_generate_config"))


def row_of(sample: Mapping[str, Any], header: Mapping[str, Any], path: Path, options: ReadOptions) -> Row:
    """A sample and its log's header (`eval`, `plan`) as one row.

    An item of a sealed battery says itself what its unit and its class are; whether it says so rightly is
    checked against the commitment, not here.
    """
    message = dig(sample, "output", "choices", 0, "message")
    content = dig(message, "content")
    text = content_text(content) if message is not None else None
    prompt = prompt_text(sample.get("input"))
    model = dig(header, "eval", "model")
    sealed = dig(sample, "metadata", METADATA_KEY)
    item = dig(sealed, "opened", "item")
    task = str(dig(header, "eval", "task") or path.stem)
    if item is not None:
        task = f"{dig(sealed, 'battery')}: {dig(item, 'family')}, {dig(item, 'wording')}"
    return Row(
        item=str(sample.get("id") if item is None else dig(item, "instance")),
        model=model if isinstance(model, str) else unnamed_model(path),
        task=task,
        end=_end(sample),
        text=text_state(text),
        target=label(sample.get("target") if item is None else dig(item, "class_label")),
        record=sample,
        tokens=_tokens(sample),
        score=_score(sample, options.metric),
        cap=_cap(header),
        prompt_length=None if prompt is None else len(prompt),
        number=only_number(prompt),
        time=seconds(sample.get("started_at")),
    )


def tell_header(header: Mapping[str, Any], path: Path, notes: list[str]) -> None:
    """What a log's header says that no sample does, for the reader of the audit."""
    if header.get("status") not in (None, "success"):
        notes.append(
            f"{path.name}: the run did not finish (status {header.get('status')}); what it wrote is read"
        )
    if any(dig(header, *at, "system_message") for at in _CONFIGS):
        notes.append(f"{path.name}: the model was sent a system message besides every prompt")


def _end(sample: Mapping[str, Any]) -> str:
    if sample.get("error"):
        return "error"
    limit = dig(sample, "limit", "type")
    if isinstance(limit, str):
        # A sample's own limit is not the token cap of a call, whatever stop reason the last call had.
        return "cut_other"
    return ending(dig(sample, "output", "choices", 0, "stop_reason"))


def _tokens(sample: Mapping[str, Any]) -> int | None:
    return integer(dig(sample, "output", "usage", "output_tokens"))


def _cap(header: Mapping[str, Any]) -> int | None:
    for path in _CONFIGS:
        cap = integer(dig(header, *path, "max_tokens"))
        if cap is not None:
            return cap
    return None


def _score(sample: Mapping[str, Any], metric: str | None) -> float | None:
    scores = sample.get("scores")
    if not isinstance(scores, Mapping) or not scores:
        return None
    name = metric if metric is not None and metric in scores else next(iter(scores))
    return score(dig(scores, name, "value"))
