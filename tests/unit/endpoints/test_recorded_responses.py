"""Every recorded body ends as a careful reader of it decided (tests/data/responses/EXPECTED.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sealbench.endpoints.base import get_provider, settle_end

FOLDER = Path(__file__).parents[2] / "data" / "responses"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FOLDER / "EXPECTED.json").read_text())
PROVIDER_OF_API = {
    "openai-chat": "compatible",
    "openai-responses": "openai-responses",
    "anthropic-messages": "anthropic",
    "gemini-generateContent": "google",
    "bedrock-converse": "bedrock",
    "ollama-chat": "ollama",
    "ollama-generate": "ollama",
}
# outcome of the data set → (end, status of the answer); see the data's README.
ENDS = {
    "answered": ("finished", "answer"),
    "cut_reported": ("cut_reported", "unparseable"),
    "cut_inferred": ("cut_inferred", "unparseable"),
    "empty": ("finished", "empty"),
    "unclosed_reasoning": ("finished", "unclosed_reasoning"),
    "refused": ("refused", "empty"),
    "filtered": ("filtered", "empty"),
    "error": ("error", "empty"),
    "unparseable": ("error", "empty"),
}


def load(name: str) -> tuple[int, dict[str, str], bytes, str, str]:
    record = json.loads((FOLDER / f"{name}.json").read_text())
    body = record["body"]
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return record["status"], record["headers"], raw, record["api"], record["provider"]


def parse(name: str, cap: int):
    status, headers, raw, api, provider = load(name)
    chosen = PROVIDER_OF_API[api]
    if api == "openai-chat" and provider in ("openai", "mistral", "deepseek", "openrouter", "azure", "xai"):
        chosen = provider
    return get_provider(chosen).parse_response(status, headers, raw, cap)


def test_data_is_all_there() -> None:
    files = {path.stem for path in FOLDER.glob("*.json")} - {"EXPECTED"}
    assert files == set(EXPECTED)
    assert len(files) == 74


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_end(name: str) -> None:
    expected = EXPECTED[name]
    cap = expected["cap"] or 100_000
    parsed = parse(name, cap)
    outcomes = [expected["outcome"], *(expected.get("ambiguous_with") or [])]
    wanted = {ENDS[outcome][0] for outcome in outcomes}
    if expected["stop_raw"] == "model_context_window_exceeded":
        wanted = {"cut_other"}  # the protocol tells the context window's cut from the cap's
    answer = ENDS[expected["outcome"]][1]
    if parsed.unclosed_reasoning:
        answer = "unclosed_reasoning"
    end, _, _ = settle_end(parsed, cap, answer)
    assert end in wanted


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_fields(name: str) -> None:
    expected = EXPECTED[name]
    parsed = parse(name, expected["cap"] or 100_000)
    assert (parsed.stop or "") == (expected["stop_raw"] or "")
    assert parsed.prompt_tokens == expected["prompt_tokens"]
    assert parsed.reasoning_tokens == expected["reasoning_tokens"]
    _, _, _, api, _ = load(name)
    if api == "gemini-generateContent":
        assert parsed.visible_tokens == expected["output_tokens"]
    else:
        assert parsed.charged_tokens == expected["output_tokens"]
    assert len(parsed.text or "") == expected["visible_chars"]
    assert len((parsed.text or "").strip()) == expected["visible_chars_stripped"]
    assert (parsed.text or "").lstrip().startswith(expected["visible_text_start"].strip())
    assert (parsed.response_id or "") == (expected["response_id"] or "")
    assert (parsed.model or "") == (expected["model"] or "")
    if expected["outcome"] in ("error", "unparseable"):
        assert parsed.fault is not None
        assert parsed.error
    else:
        assert parsed.fault is None


@pytest.mark.parametrize("name", ["doubleword_answered_over_cap", "xai_responses_answered_over_cap"])
def test_answer_above_the_cap_means_that_the_cap_does_not_bind(name: str) -> None:
    cap = EXPECTED[name]["cap"]
    settled = settle_end(parse(name, cap), cap, "answer")
    assert (settled.end, settled.at_cap, settled.not_binding) == ("finished", False, True)


@pytest.mark.parametrize("provider", sorted({*PROVIDER_OF_API.values(), "azure", "xai", "openrouter"}))
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_no_provider_ever_raises_on_another_ones_body(provider: str, name: str) -> None:
    status, headers, raw, _, _ = load(name)
    parsed = get_provider(provider).parse_response(status, headers, raw, 300)
    assert parsed.end in ("error", "filtered", "refused", "cut_reported", "cut_other", "finished", "unknown")
