"""One sample of an Inspect AI log, whatever file it stood in, as a row."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

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


def row_of(sample: Mapping[str, Any], header: Mapping[str, Any], path: Path, options: ReadOptions) -> Row:
    """A sample and its log's header (`eval`, `plan`) as one row."""
    message = dig(sample, "output", "choices", 0, "message")
    content = dig(message, "content")
    text = content_text(content) if message is not None else None
    prompt = prompt_text(sample.get("input"))
    model = dig(header, "eval", "model")
    return Row(
        item=str(sample.get("id")),
        model=model if isinstance(model, str) else unnamed_model(path),
        task=str(dig(header, "eval", "task") or path.stem),
        end=_end(sample),
        text=text_state(text),
        target=label(sample.get("target")),
        record=sample,
        tokens=_tokens(sample),
        score=_score(sample, options.metric),
        cap=_cap(header),
        prompt_length=None if prompt is None else len(prompt),
        number=only_number(prompt),
        time=seconds(sample.get("started_at")),
    )


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
    for path in (("plan", "config"), ("eval", "model_generate_config")):
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
