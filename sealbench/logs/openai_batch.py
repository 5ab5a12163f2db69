"""OpenAI Batch output (chat completions and responses), joined to its request file where there is one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sealbench.logs.base import ReadOptions, Row
from sealbench.logs.batch_requests import Request, is_request_file, requests_for
from sealbench.logs.endings import content_text, ending, text_state
from sealbench.logs.json_stream import json_lines
from sealbench.logs.values import dig, integer, only_number, unnamed_model


class OpenAIBatch:
    """The reader. Scores and classes are the user's own: `--labels`, `--class` or `--class-pattern`."""

    name = "openai-batch"

    def detect(self, path: Path, head: bytes) -> bool:
        """Lines with a custom id and a response."""
        line = head.partition(b"\n")[0]
        return line.lstrip().startswith(b"{") and b'"custom_id"' in line and b'"response"' in line

    def is_companion(self, path: Path, head: bytes) -> bool:
        """The request file of any batch."""
        return is_request_file(head)

    def read(self, path: Path, options: ReadOptions, notes: list[str]) -> Iterator[Row]:
        """One row per line; a response with n > 1 choices is its first (usage sums over all of them)."""
        requests: dict[str, Request] | None = None
        model: str | None = None
        several = False
        for _, record in json_lines(path):
            custom_id = str(record.get("custom_id"))
            if requests is None:
                requests = requests_for(path, options.requests, custom_id, notes)
            body = dig(record, "response", "body")
            served = dig(body, "model")
            request = requests.get(custom_id)
            model = served if isinstance(served, str) else model
            if len(dig(body, "choices") or ()) > 1 and not several:
                several = True
                notes.append(
                    f"{path.name}: several choices per request: the first is read, without its tokens"
                )
            yield _row(record, custom_id, request, model or unnamed_model(path), path.stem)


def _row(record: Mapping[str, Any], custom_id: str, request: Request | None, model: str, task: str) -> Row:
    body = dig(record, "response", "body")
    end, text, tokens = _responses(body) if dig(body, "object") == "response" else _chat(body)
    status = dig(record, "response", "status_code")
    if record.get("error") or body is None or dig(body, "error") or (integer(status) or 200) >= 400:
        end, text, tokens = "error", None, None
    prompt = request.prompt if request else None
    return Row(
        item=custom_id,
        model=model,
        task=task,
        end=end,
        text=text_state(text),
        record={**record, "metadata": request.metadata if request else {}},
        tokens=tokens,
        cap=request.cap if request else None,
        prompt_length=None if prompt is None else len(prompt),
        number=only_number(prompt),
    )


def _chat(body: Any) -> tuple[str, str | None, int | None]:
    choice = dig(body, "choices", 0)
    message = dig(choice, "message")
    end = "refused" if dig(message, "refusal") else ending(dig(choice, "finish_reason"))
    tokens = (
        integer(dig(body, "usage", "completion_tokens")) if len(dig(body, "choices") or ()) == 1 else None
    )
    return end, content_text(dig(message, "content")) if message is not None else None, tokens


def _responses(body: Any) -> tuple[str, str | None, int | None]:
    reason = dig(body, "incomplete_details", "reason")
    output = dig(body, "output")
    messages = [part for part in output or () if dig(part, "type") == "message"]
    text = "".join(content_text(dig(message, "content")) or "" for message in messages)
    status = dig(body, "status")
    end = ending(reason if reason is not None else status)
    if any(dig(part, "type") == "refusal" for message in messages for part in dig(message, "content") or ()):
        end = "refused"
    return end, text, integer(dig(body, "usage", "output_tokens"))


FORMAT = OpenAIBatch()
