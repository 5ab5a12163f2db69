"""What is asked again, what ends an endpoint, and how long is waited."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sealbench.endpoints.base import Parsed, get_provider
from sealbench.endpoints.retries import judge, stated_delay, stop_hint

FOLDER = Path(__file__).parents[2] / "data" / "responses"
NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


def recorded(name: str, provider: str) -> tuple[int, dict[str, str], bytes, Parsed]:
    record = json.loads((FOLDER / f"{name}.json").read_text())
    body = record["body"]
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    parsed = get_provider(provider).parse_response(record["status"], record["headers"], raw, 300)
    return record["status"], record["headers"], raw, parsed


@pytest.mark.parametrize(
    ("name", "provider", "verdict"),
    [
        ("openai_chat_400_unsupported_value", "openai", "rejected"),
        ("openai_chat_400_max_tokens_unsupported", "openai", "rejected"),
        ("openai_responses_400_temperature_code_null", "openai-responses", "rejected"),
        ("bedrock_400_validation", "bedrock", "rejected"),
        ("openai_chat_404_model_not_found", "openai", "stop"),
        ("openai_responses_401", "openai-responses", "stop"),
        ("mistral_401_detail", "mistral", "stop"),
        ("gemini_400_api_key_invalid", "google", "stop"),
        ("xai_400_bad_key", "xai", "stop"),
        ("ollama_404_model", "ollama", "stop"),
        ("vertex_404_html", "google", "stop"),
        ("openai_500_server_error", "openai", "retry"),
        ("SYNTHETIC_openai_chat_429_retry_after", "openai", "retry"),
        ("SYNTHETIC_anthropic_429_rate_limit", "anthropic", "retry"),
        ("gemini_429_retry_info", "google", "retry"),
        ("azure_429_retry_after", "azure", "retry"),
        ("openrouter_429_upstream", "openrouter", "retry"),
        ("SYNTHETIC_openrouter_choice_error_in_200", "openrouter", "retry"),
        ("SYNTHETIC_gemini_unparseable_200", "google", "retry"),
        ("azure_400_content_filter", "azure", "accept"),
        ("SYNTHETIC_compat_stop_at_cap_empty", "compatible", "accept"),
        ("anthropic_end_turn_empty_content", "anthropic", "accept"),
        ("gemini_max_tokens_no_parts", "google", "accept"),
    ],
)
def test_recorded_responses(name: str, provider: str, verdict: str) -> None:
    status, headers, _, parsed = recorded(name, provider)
    assert judge(status, headers, parsed) == verdict


def error(status: int, code: Any = None, message: str = "m", error_status: int | None = None) -> Parsed:
    return Parsed("error", code, error=message, fault="status", error_status=error_status)


@pytest.mark.parametrize(
    ("status", "parsed", "verdict"),
    [
        (408, error(408), "retry"),
        (409, error(409), "retry"),
        (529, error(529), "retry"),
        (422, error(422), "rejected"),
        (402, error(402), "stop"),
        (429, error(429, "insufficient_quota"), "stop"),
        (200, error(200, error_status=401), "stop"),
        (200, error(200, error_status=429), "retry"),
        (200, error(200, error_status=400), "rejected"),
        (200, error(200), "retry"),
        (500, error(500, message="model x not found"), "retry"),
    ],
)
def test_statuses(status: int, parsed: Parsed, verdict: str) -> None:
    assert judge(status, {}, parsed) == verdict


def test_a_server_may_say_that_asking_again_is_useless() -> None:
    assert judge(500, {"x-should-retry": "false"}, error(500)) == "accept"


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after": "7", "retry-after-ms": "6200"}, b"", 6.2),
        ({"retry-after": "1", "retry-after-ms": "0"}, b"", 1.0),
        ({"retry-after": "12"}, b"", 12.0),
        ({"retry-after": "0.5"}, b"", 0.5),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT"}, b"", 30.0),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, b"", 0.0),
        ({"retry-after": "86400"}, b"", 60.0),
        ({"retry-after": "soon"}, b"", None),
        ({"retry-after": "-5"}, b"", None),
        ({"retry-after": "nan"}, b"", None),
        ({"retry-after": "9" * 5000}, b"", None),
        ({}, b'{"retryDelay": "48s"}', 48.0),
        ({}, b"{}", None),
    ],
)
def test_stated_delays(headers: dict[str, str], body: bytes, seconds: float | None) -> None:
    assert stated_delay(headers, body, NOW) == seconds


def test_hints_name_the_next_thing_to_try() -> None:
    assert "OPENAI_API_KEY" in stop_hint(401, error(401), "e", "m", "OPENAI_API_KEY")
    assert "api_key_env" in stop_hint(401, error(401), "e", "m", None)
    assert "credit" in stop_hint(429, error(429, "insufficient_quota"), "e", "m", "KEY")
    assert "model name m" in stop_hint(404, error(404), "e", "m", None)
    assert "may not use m" in stop_hint(403, error(403, message="no"), "e", "m", "KEY")
