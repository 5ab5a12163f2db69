"""Batch files of OpenAI and Anthropic: the same requests through the provider's queue, the same outcomes.

Written: OpenAI one JSON line a call, Anthropic one JSON object with all calls. Read: the result lines
of either. A call that expired or was cancelled there is left undone; an unknown or repeated id is an
error, because a result must belong to exactly one planned call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from sealbench.endpoints.base import EndpointSettings, Parsed, get_provider
from sealbench.endpoints.bodies import decode_body, get, get_text
from sealbench.endpoints.calls import Attempt, Call, Outcome
from sealbench.endpoints.redaction import redact_body
from sealbench.errors import FormatError, UsageError

_OPENAI_PATHS = {"openai": "/v1/chat/completions", "openai-responses": "/v1/responses"}
_CUSTOM_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
BATCH_PROVIDERS = (*_OPENAI_PATHS, "anthropic")


def write_batch(
    calls: Iterable[Call], settings: EndpointSettings, identify: Callable[[Call], str]
) -> Iterator[bytes]:
    """The bytes of a batch file, in pieces; `identify` gives each call's id there ([A-Za-z0-9_-], ≤ 64)."""
    _check_provider(settings)
    provider = get_provider(settings.provider)
    anthropic = settings.provider == "anthropic"
    seen: set[str] = set()
    if anthropic:
        yield b'{"requests":['
    for call in calls:
        custom_id = identify(call)
        if not _CUSTOM_ID.match(custom_id) or custom_id in seen:
            raise UsageError(
                f"batch id {custom_id[:70]!r} is repeated or not of [A-Za-z0-9_-]{{1,64}}",
                hint="give each call its own short id",
            )
        body = json.loads(provider.build_request(call.prompt, call.cap, settings, None).body)
        if anthropic:
            yield b"," if seen else b""
            yield _line({"custom_id": custom_id, "params": body}).rstrip(b"\n")
        else:
            path = _OPENAI_PATHS[settings.provider]
            yield _line({"custom_id": custom_id, "method": "POST", "url": path, "body": body})
        seen.add(custom_id)
    if anthropic:
        yield b"]}\n"


def read_batch(
    lines: Iterable[bytes],
    settings: EndpointSettings,
    calls: Mapping[str, Call],
    *,
    submitted_at: datetime,
    received_at: datetime,
) -> Iterator[Outcome]:
    """An outcome for every line that holds a response; FormatError for a line that fits no planned call."""
    _check_provider(settings)
    provider = get_provider(settings.provider)
    seen: set[str] = set()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        record = decode_body(line)
        custom_id = get_text(record, "custom_id")
        if custom_id is None or custom_id not in calls:
            raise FormatError(
                f"line {number} of the batch result belongs to no call of this run",
                hint="read the result file of the batch that this run wrote",
            )
        if custom_id in seen:
            raise FormatError(f"line {number} of the batch result repeats {custom_id}")
        seen.add(custom_id)
        response = _anthropic(record) if settings.provider == "anthropic" else _openai(record)
        if response is None:
            continue
        status, body, request_id = response
        body = redact_body(body)
        call = calls[custom_id]
        headers = {"x-request-id": request_id} if request_id else {}
        parsed: Parsed = provider.parse_response(status, headers, body, call.cap)
        attempt = Attempt(1, submitted_at, received_at, status, "rejected" if parsed.fault else "answered")
        yield Outcome(call, (attempt,), status, headers, body, parsed)


def _check_provider(settings: EndpointSettings) -> None:
    if settings.provider not in BATCH_PROVIDERS:
        raise UsageError(
            f"endpoint {settings.name}: {settings.provider} has no batch files here",
            hint=f"batches exist for {', '.join(BATCH_PROVIDERS)}; run this endpoint without --batch",
        )


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _openai(record: Any) -> tuple[int, bytes, str | None] | None:
    response = get(record, "response")
    status = get(response, "status_code")
    if not isinstance(response, dict) or not isinstance(status, int):
        return None  # the line's own `error`: expired or cancelled before it was asked
    return status, _line(get(response, "body") or {}), get_text(response, "request_id")


def _anthropic(record: Any) -> tuple[int, bytes, str | None] | None:
    kind = get(record, "result", "type")
    if kind == "succeeded":
        return 200, _line(get(record, "result", "message") or {}), None
    if kind == "errored":
        error = get(record, "result", "error")
        # Older files hold the error itself, newer ones the whole error body.
        body = error if get(error, "error") is not None else {"type": "error", "error": error}
        status = 400 if get(body, "error", "type") == "invalid_request_error" else 500
        return status, _line(body), None
    return None
