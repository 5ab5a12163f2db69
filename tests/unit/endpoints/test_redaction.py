"""Secrets and accounts are taken out of everything that is kept; answers are left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sealbench.endpoints.redaction import redact_body, redact_headers, redact_text

FOLDER = Path(__file__).parents[2] / "data" / "responses"


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("Incorrect API key provided: sk-proj-abcDEF0123456789", "abcDEF"),
        ("in organization org-AbCdEf0123456789 on tokens", "AbCdEf"),
        ('{"user_id": "user_2abcDEF"}', "user_2abc"),
        ('{"organization": "acme-inc"}', "acme"),
        ('{"account_id":"1234"}', "1234"),
        ("key AIzaSyA1234567890abcdefghijklmn is bad", "SyA123"),
        ("Bearer abcdef.ghijkl-123", "abcdef"),
        ("gsk_abcdefghijklmnop1234", "abcdefgh"),
        ("write to jane.doe+x@mail.example.org please", "jane"),
        ("/v1/projects/my-project-id/locations", "my-project-id"),
        ("arn:aws:bedrock:us-east-1:123456789012:guardrail/x", "123456789012"),
        ("the opaque-key-in-use is echoed", "opaque-key"),
    ],
)
def test_what_must_go_goes(text: str, gone: str) -> None:
    redacted = redact_text(text, "opaque-key-in-use")
    assert gone not in redacted
    assert "REDACTED" in redacted
    assert redact_text(redacted, "opaque-key-in-use") == redacted


@pytest.mark.parametrize(
    "text", ["123457 / 7 = 17636 r 5.", "Answer: Yes", "task-oriented", "a @ b", '"user"']
)
def test_answers_are_left_alone(text: str) -> None:
    assert redact_text(text, "k") == text


def test_recorded_bodies_stay_json() -> None:
    for path in FOLDER.glob("*.json"):
        record = json.loads(path.read_text())
        if isinstance(record.get("body"), dict):
            json.loads(redact_body(json.dumps(record["body"]).encode()))


def test_only_listed_headers_are_kept() -> None:
    headers = {"X-Request-ID": "req_1", "Set-Cookie": "s", "openai-organization": "acme", "Retry-After": "1"}
    assert redact_headers(headers) == {"x-request-id": "req_1", "retry-after": "1"}
