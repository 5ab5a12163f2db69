"""The probe adapts to refusals and watches caps; batch files go out and come back."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from sealbench.endpoints.base import EndpointSettings, resolve
from sealbench.endpoints.batch import read_batch, write_batch
from sealbench.endpoints.calls import Call
from sealbench.endpoints.probe import PROBE_PROMPT, Probe, probe
from sealbench.errors import ConfigurationError, FormatError, MissingKey, NetworkError, SealError, UsageError
from sealbench.testing.server import ReferenceServer

ENVIRON = {"OPENAI_API_KEY": "sk-abcdefgh12345678", "ANTHROPIC_API_KEY": "sk-ant-abcdefgh1234"}
MOMENT = datetime(2026, 11, 30, tzinfo=UTC)


def configured(**fields: Any) -> EndpointSettings:
    return resolve("e", {"e": {"provider": "openai", "model": "o9", "max_attempts": 1, **fields}})


def answer(tokens: int) -> httpx.Response:
    body = {
        "choices": [{"message": {"content": "1"}, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": tokens},
    }
    return httpx.Response(200, json=body)


def refusal(message: str, code: str | None = "unsupported_parameter", status: int = 400) -> httpx.Response:
    return httpx.Response(status, json={"error": {"message": message, "code": code}})


def run(settings: EndpointSettings, handler: Any, caps: tuple[int, ...] = (50,)) -> Probe:
    transport = httpx.MockTransport(handler)
    return asyncio.run(probe(settings, caps, environ=ENVIRON, transport=transport))


def test_refused_settings_are_left_out_and_the_cap_renamed_once() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        sent = json.loads(request.content)
        assert sent["messages"][-1]["content"] == PROBE_PROMPT
        if "max_tokens" in sent:
            return refusal(
                "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead."
            )
        if "temperature" in sent:
            return refusal("Unsupported value: 'temperature' does not support 0 with this model.", None)
        return answer(sent["max_completion_tokens"])

    settings = configured(cap_parameter="max_tokens", temperature=0, seed=7)
    found = run(settings, handler, (50, 20))
    assert found.endpoint.cap_parameter == "max_completion_tokens"
    assert dict(found.endpoint.settings) == {"seed": 7}
    assert [(s.field, s.asked, s.sent) for s in found.substitutions] == [
        ("cap_parameter", "max_tokens", "max_completion_tokens"),
        ("temperature", "0", None),
    ]
    assert [(c.cap, c.ignored) for c in found.caps] == [(20, False), (50, False)]


def test_a_cap_that_the_server_ignores_is_found() -> None:
    assert [c.ignored for c in run(configured(), lambda _: answer(900)).caps] == [True]


@pytest.mark.parametrize(
    ("response", "error", "words"),
    [
        (refusal("Incorrect API key provided", "invalid_api_key", 401), MissingKey, "401"),
        (refusal("no such model", "model_not_found", 404), ConfigurationError, "404"),
        (refusal("max_tokens is too large: 999999"), ConfigurationError, "cap 50"),
        (refusal("'messages[0].role' does not support 'system'"), ConfigurationError, "cap 50"),
        (httpx.Response(503), NetworkError, "did not answer"),
    ],
)
def test_an_unusable_endpoint_is_a_clear_error(
    response: httpx.Response, error: type[SealError], words: str
) -> None:
    with pytest.raises(error, match=words) as caught:
        run(configured(system="S"), lambda _: response)
    assert caught.value.hint
    assert "sk-" not in caught.value.message


def test_a_host_that_does_not_exist() -> None:
    settings = dataclasses.replace(resolve("http://127.0.0.1:9/v1#m", {}), limits=configured().limits)
    with pytest.raises(NetworkError) as caught:
        asyncio.run(probe(settings, [50]))
    assert "127.0.0.1:9" in caught.value.hint


def test_reference_endpoints_pass_the_probe() -> None:
    with ReferenceServer() as server:
        settings = dataclasses.replace(resolve("reference/solver", {}), base_url=server.url)
        found = asyncio.run(probe(settings, [1, 300]))
    assert found.endpoint == settings
    assert [c.ignored for c in found.caps] == [False, False]


CALLS = [Call(n, "e", f"Is {n} prime?", 300) for n in (7, 8, 9)]


def test_openai_batch_there_and_back() -> None:
    settings = resolve("openai/gpt-5.5", {})
    written = b"".join(write_batch(CALLS, settings, lambda call: f"c{call.key}")).splitlines()
    requests = [json.loads(line) for line in written]
    assert [r["custom_id"] for r in requests] == ["c7", "c8", "c9"]
    assert all(r["url"] == "/v1/chat/completions" and r["method"] == "POST" for r in requests)
    assert requests[0]["body"]["max_completion_tokens"] == 300
    body = json.loads(answer(300).content)
    results = [
        {"custom_id": "c9", "response": {"status_code": 200, "request_id": "r", "body": body}, "error": None},
        {"custom_id": "c7", "response": {"status_code": 500, "body": {"error": {"message": "x"}}}},
        {"custom_id": "c8", "response": None, "error": {"code": "batch_expired"}},
    ]
    lines = [json.dumps(result).encode() for result in results]
    calls = {f"c{call.key}": call for call in CALLS}
    outcomes = list(read_batch(lines, settings, calls, submitted_at=MOMENT, received_at=MOMENT))
    assert [(o.call.key, o.parsed.end, o.status) for o in outcomes] == [
        (9, "cut_reported", 200),
        (7, "error", 500),
    ]
    assert outcomes[0].headers == {"x-request-id": "r"}


def test_anthropic_batch_there_and_back() -> None:
    settings = resolve("anthropic/claude-opus-5", {})
    written = json.loads(b"".join(write_batch(CALLS, settings, lambda call: f"c{call.key}")))
    assert [r["custom_id"] for r in written["requests"]] == ["c7", "c8", "c9"]
    assert written["requests"][0]["params"]["max_tokens"] == 300
    message = {"content": [{"type": "text", "text": "Y"}], "stop_reason": "max_tokens", "usage": {}}
    results = [
        {"custom_id": "c8", "result": {"type": "succeeded", "message": message}},
        {"custom_id": "c7", "result": {"type": "errored", "error": {"type": "api_error", "message": "x"}}},
        {"custom_id": "c9", "result": {"type": "expired"}},
    ]
    lines = [json.dumps(result).encode() for result in results]
    calls = {f"c{call.key}": call for call in CALLS}
    outcomes = list(read_batch(lines, settings, calls, submitted_at=MOMENT, received_at=MOMENT))
    assert [(o.call.key, o.parsed.end, o.parsed.text) for o in outcomes] == [
        (8, "cut_reported", "Y"),
        (7, "error", None),
    ]


def test_batch_lines_that_fit_no_call_are_errors() -> None:
    settings = resolve("openai/gpt-5.5", {})
    line = b'{"custom_id": "c7", "response": {"status_code": 200, "body": {}}}'
    for lines in ([b'{"custom_id": "zzz"}'], [b"not json"], [line, line]):
        with pytest.raises(FormatError):
            list(read_batch(lines, settings, {"c7": CALLS[0]}, submitted_at=MOMENT, received_at=MOMENT))
    with pytest.raises(UsageError):
        list(write_batch(CALLS, settings, lambda _: "same"))
    with pytest.raises(UsageError):
        list(write_batch(CALLS, resolve("ollama/m", {}), lambda call: str(call.key)))
