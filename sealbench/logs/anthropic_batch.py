"""Anthropic message-batch results, joined to the request file where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sealbench.logs.base import ReadOptions, Row
from sealbench.logs.batch_requests import Request, requests_for
from sealbench.logs.endings import content_text, ending, text_state
from sealbench.logs.json_stream import json_lines
from sealbench.logs.values import dig, integer, only_number, unnamed_model


class AnthropicBatch:
    """The reader. Scores and classes are the user's own: `--labels`, `--class` or `--class-pattern`."""

    name = "anthropic-batch"

    def detect(self, path: Path, head: bytes) -> bool:
        """Lines with a custom id and a result."""
        line = head.partition(b"\n")[0]
        return line.lstrip().startswith(b"{") and b'"custom_id"' in line and b'"result"' in line

    def is_companion(self, path: Path, head: bytes) -> bool:
        """Request files are known by the OpenAI reader."""
        return False

    def read(self, path: Path, options: ReadOptions, notes: list[str]) -> Iterator[Row]:
        """One row per line; whatever did not succeed is missing."""
        requests: dict[str, Request] | None = None
        model: str | None = None
        for _, record in json_lines(path):
            custom_id = str(record.get("custom_id"))
            if requests is None:
                requests = requests_for(path, options.requests, custom_id, notes)
            request = requests.get(custom_id)
            message = dig(record, "result", "message")
            served = dig(message, "model")
            model = served if isinstance(served, str) else model
            answered = dig(record, "result", "type") == "succeeded"
            prompt = request.prompt if request else None
            yield Row(
                item=custom_id,
                model=model or unnamed_model(path),
                task=path.stem,
                end=ending(dig(message, "stop_reason")) if answered else "error",
                text=text_state(content_text(dig(message, "content")) if answered else None),
                record={**record, "metadata": request.metadata if request else {}},
                tokens=integer(dig(message, "usage", "output_tokens")) if answered else None,
                cap=request.cap if request else None,
                prompt_length=None if prompt is None else len(prompt),
                number=only_number(prompt),
            )


FORMAT = AnthropicBatch()
