"""Endings that no recording shows, for every API, and the rules that settle an end."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sealbench.endpoints.base import Parsed, get_provider, settle_end
from sealbench.endpoints.ending import end_of_stop, strip_reasoning

UNSET = object()


def chat(
    text: Any = "Yes", stop: Any = "stop", tokens: Any = 5, reasoning: Any = UNSET, **fields: Any
) -> Any:
    message = {} if text is UNSET else {"role": "assistant", "content": text}
    usage: Any = {"prompt_tokens": 10, "completion_tokens": tokens}
    if reasoning is not UNSET:
        usage["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    choice = {"index": 0, "message": {**message, **fields.pop("message", {})}, "finish_reason": stop}
    return {"choices": [choice], "usage": usage, **fields}


def responses(text: str | None = "Yes", status: str = "completed", reason: str | None = None) -> Any:
    content = [] if text is None else [{"type": "output_text", "text": text}]
    return {
        "status": status,
        "incomplete_details": {"reason": reason} if reason else None,
        "output": [{"type": "reasoning", "summary": []}, {"type": "message", "content": content}],
        "usage": {"input_tokens": 3, "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 2}},
    }


def messages(*blocks: Any, stop: Any = "end_turn") -> Any:
    return {"type": "message", "content": list(blocks), "stop_reason": stop, "usage": {"output_tokens": 5}}


def gemini(*parts: Any, stop: Any = "STOP") -> Any:
    content = {"parts": list(parts)} if parts else {}
    usage = {"promptTokenCount": 3, "candidatesTokenCount": 5, "thoughtsTokenCount": 7}
    return {"candidates": [{"content": content, "finishReason": stop}], "usageMetadata": usage}


def ollama(text: str = "Yes", stop: Any = "stop") -> Any:
    return {"message": {"content": text}, "done": True, "done_reason": stop, "eval_count": 5}


def converse(*blocks: Any, stop: Any = "end_turn") -> Any:
    return {
        "output": {"message": {"content": list(blocks)}},
        "stopReason": stop,
        "usage": {"outputTokens": 5},
    }


TEXT = {"type": "text", "text": "Yes"}
THINKING = {"type": "thinking", "thinking": "hm"}
CASES: list[tuple[str, str, Any, str, str]] = [
    # (provider, what it is, body, end, visible text)
    ("openai", "full", chat(), "finished", "Yes"),
    ("openai", "cut with text", chat("The", "length"), "cut_reported", "The"),
    ("openai", "cut empty", chat("", "length"), "cut_reported", ""),
    ("openai", "cut inside reasoning", chat("<think>so", "length"), "cut_reported", ""),
    ("openai", "refusal says stop", chat(None, message={"refusal": "no"}), "refused", ""),
    ("openai", "refusal part", chat([{"type": "refusal", "refusal": "no"}]), "refused", ""),
    ("openai", "filter", chat("Th", "content_filter"), "filtered", "Th"),
    ("openai", "unknown stop", chat("Yes", "because"), "unknown", "Yes"),
    ("openai", "numeric stop", chat("Yes", 7), "unknown", "Yes"),
    ("openai", "missing stop", chat("Yes", None), "unknown", "Yes"),
    ("openai", "content object", chat({"type": "text", "text": "Yes"}), "finished", "Yes"),
    ("openai", "content absent", chat(UNSET), "finished", ""),
    ("openai", "unknown fields", chat(novelty={"x": [1]}), "finished", "Yes"),
    ("mistral", "window", chat("Th", "model_length"), "cut_other", "Th"),
    ("xai", "native words", chat("Th", "REASON_MAX_LEN"), "cut_reported", "Th"),
    ("xai", "native window", chat("Th", "REASON_MAX_CONTEXT"), "cut_other", "Th"),
    ("xai", "native time limit", chat("Th", "REASON_TIME_LIMIT"), "cut_other", "Th"),
    ("deepseek", "server gave up", chat("Th", "insufficient_system_resource"), "error", "Th"),
    ("openai-responses", "full", responses(), "finished", "Yes"),
    ("openai-responses", "cut empty", responses(None, "incomplete", "max_output_tokens"), "cut_reported", ""),
    ("openai-responses", "filter", responses("Y", "incomplete", "content_filter"), "filtered", "Y"),
    ("openai-responses", "unknown reason", responses("Y", "incomplete", "novel"), "unknown", "Y"),
    ("anthropic", "full", messages(THINKING, TEXT), "finished", "Yes"),
    ("anthropic", "cut in thought", messages(THINKING, stop="max_tokens"), "cut_reported", ""),
    ("anthropic", "window", messages(TEXT, stop="model_context_window_exceeded"), "cut_other", "Yes"),
    ("anthropic", "refusal", messages(stop="refusal"), "refused", ""),
    ("anthropic", "no stop", messages(TEXT, stop=None), "unknown", "Yes"),
    ("google", "full", gemini({"text": "hm", "thought": True}, {"text": "Yes"}), "finished", "Yes"),
    ("google", "cut empty", gemini(stop="MAX_TOKENS"), "cut_reported", ""),
    ("google", "recitation", gemini(stop="RECITATION"), "filtered", ""),
    ("google", "enum", gemini({"text": "Yes"}, stop=1), "finished", "Yes"),
    ("google", "other", gemini({"text": "Yes"}, stop="OTHER"), "unknown", "Yes"),
    ("google", "no candidates, usage", {"usageMetadata": {"promptTokenCount": 3}}, "unknown", ""),
    ("ollama", "full", ollama("<think>hm</think>Yes"), "finished", "Yes"),
    ("ollama", "cut", ollama("<think>hm", "length"), "cut_reported", ""),
    ("bedrock", "full", converse({"reasoningContent": {}}, {"text": "Yes"}), "finished", "Yes"),
    ("bedrock", "filter", converse({"text": "No."}, stop="content_filtered"), "filtered", "No."),
]


@pytest.mark.parametrize(("provider", "what", "body", "end", "text"), CASES, ids=lambda v: str(v)[:24])
def test_endings(provider: str, what: str, body: Any, end: str, text: str) -> None:
    parsed = get_provider(provider).parse_response(200, {}, json.dumps(body).encode(), 300)
    assert (parsed.end, parsed.text) == (end, text), what


@pytest.mark.parametrize("provider", ["openai", "openai-responses", "anthropic", "google", "ollama"])
@pytest.mark.parametrize(
    "error", [{"message": "busy", "code": 503}, {"message": "busy", "code": "503"}, "busy", {"type": "x"}]
)
def test_an_error_under_http_200_is_an_error(provider: str, error: Any) -> None:
    parsed = get_provider(provider).parse_response(200, {}, json.dumps({"error": error}).encode(), 300)
    assert (parsed.end, parsed.fault, parsed.text) == ("error", "error_body", None)
    if isinstance(error, dict) and "code" in error:
        assert parsed.error_status == 503


@given(
    st.binary(max_size=200), st.sampled_from(["openai", "openai-responses", "anthropic", "google", "ollama"])
)
def test_any_bytes_are_read_without_raising(body: bytes, provider: str) -> None:
    assert get_provider(provider).parse_response(200, {}, body, 300).end in ("error", "unknown", "finished")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = ["choices", "usage", "error", "output", "status", "content", "candidates", "message", "done", "type"]


@given(st.dictionaries(st.sampled_from(KEYS), JSON), st.sampled_from([200, 400, 500]))
def test_any_json_of_the_right_keys_is_read_without_raising(body: Any, status: int) -> None:
    raw = json.dumps(body).encode()
    for name in ("openai", "openai-responses", "anthropic", "google", "ollama", "bedrock"):
        get_provider(name).parse_response(status, {}, raw, 300)


def test_deeply_nested_json_is_malformed_not_fatal() -> None:
    parsed = get_provider("openai").parse_response(200, {}, b"[" * 100_000, 300)
    assert parsed.fault == "malformed"


def usage(**fields: Any) -> Parsed:
    raw = json.dumps({**chat(), "usage": fields}).encode()
    return get_provider("compatible").parse_response(200, {}, raw, 300)


def test_missing_usage_is_null_and_never_0() -> None:
    for parsed in (usage(), usage(completion_tokens=None), usage(completion_tokens="5")):
        assert parsed.charged_tokens is None
        assert parsed.reasoning_tokens is None
        assert parsed.visible_tokens is None
    assert usage(completion_tokens=0).charged_tokens == 0


def test_reasoning_inside_or_beside_the_completion_is_told_by_the_total() -> None:
    details = {"completion_tokens_details": {"reasoning_tokens": 94}}
    beside = usage(prompt_tokens=32, completion_tokens=9, total_tokens=135, **details)
    assert (beside.charged_tokens, beside.visible_tokens, beside.reasoning_outside_cap) == (103, 9, True)
    inside = usage(prompt_tokens=32, completion_tokens=103, total_tokens=135, **details)
    assert (inside.charged_tokens, inside.visible_tokens, inside.reasoning_outside_cap) == (103, 9, False)


def test_a_routers_stop_gives_way_to_the_hosts_cut() -> None:
    body = chat("Th", "tool_calls")
    body["choices"][0]["native_finish_reason"] = "length"
    parsed = get_provider("openrouter").parse_response(200, {}, json.dumps(body).encode(), 300)
    assert (parsed.end, parsed.stop) == ("cut_reported", "tool_calls/length")


def test_mean_log_probability_is_a_decimal_string() -> None:
    body = chat()
    body["choices"][0]["logprobs"] = {"content": [{"logprob": -0.25}, {"logprob": -0.75}]}
    parsed = get_provider("openai").parse_response(200, {}, json.dumps(body).encode(), 300)
    assert parsed.mean_logprob == "-0.500000"


@pytest.mark.parametrize(
    ("text", "visible", "unclosed"),
    [
        ("Yes", "Yes", False),
        ("<think>a</think>Yes", "Yes", False),
        ("<THINK>a</think>Y<thinking>b</thinking>es", "Yes", False),
        ("Y<think>a", "Y", True),
        ("<think>a</think>Y<think>b", "Y", True),
        ("opened by the template</think>Yes", "Yes", False),
        ("[THINK]a[/THINK]Yes", "Yes", False),
        ("1 < 2 and [3]", "1 < 2 and [3]", False),
    ],
)
def test_inline_reasoning(text: str, visible: str, unclosed: bool) -> None:
    assert strip_reasoning(text) == (visible, unclosed)


@pytest.mark.parametrize(
    ("parsed", "answer", "expected"),
    [
        # (end, stop, charged, visible, reasoning), status of the answer, (end, at_cap, not_binding)
        (("finished", "stop", 299, 299, 0), "answer", ("finished", False, False)),
        (("finished", "stop", 300, 300, 0), "answer", ("finished", True, False)),
        (("finished", "stop", 301, 301, 0), "answer", ("finished", True, False)),
        (("finished", "stop", 302, 302, 0), "answer", ("finished", False, True)),
        (("finished", "stop", 300, 0, 300), "empty", ("cut_inferred", False, False)),
        (("finished", "stop", 299, 0, 299), "empty", ("finished", False, False)),
        (("finished", "stop", 300, None, None), "unparseable", ("cut_inferred", False, False)),
        (("finished", "stop", 300, None, None), "unclosed_reasoning", ("cut_inferred", False, False)),
        (("finished", "stop", 900, 5, 895), "unparseable", ("finished", False, True)),
        (("finished", "stop", 900, 300, 600), "unparseable", ("cut_inferred", False, False)),
        (("finished", "stop", None, None, None), "empty", ("finished", False, False)),
        (("unknown", "because", 5, 5, 0), "answer", ("unknown", False, False)),
        (("unknown", None, 5, 5, 0), "answer", ("finished", False, False)),
        (("unknown", None, None, None, None), "answer", ("unknown", False, False)),
        (("unknown", None, 5, 5, 0), "unparseable", ("unknown", False, False)),
        (("unknown", "because", 300, 0, 300), "empty", ("cut_inferred", False, False)),
        (("cut_reported", "length", 5, 5, 0), "answer", ("cut_reported", False, False)),
        (("cut_other", "model_length", 300, 5, 0), "empty", ("cut_other", False, False)),
        (("error", "error", 300, 0, 300), "empty", ("error", False, False)),
        (("refused", "refusal", 300, 0, 0), "empty", ("refused", False, False)),
    ],
)
def test_settling(parsed: Any, answer: Any, expected: tuple[str, bool, bool]) -> None:
    end, stop, charged, visible, reasoning = parsed
    found = Parsed(end, stop, "", False, charged, visible, reasoning)
    assert tuple(settle_end(found, 300, answer)) == expected


def test_words_are_normalised_in_any_case_and_unknown_ones_stay_unknown() -> None:
    assert end_of_stop("MAX_TOKENS") == end_of_stop("length") == "cut_reported"
    assert end_of_stop("eos") == "finished"
    assert end_of_stop("stopped?") == end_of_stop("") == end_of_stop(None) == "unknown"


def test_what_goes_into_the_log_can_always_be_written() -> None:
    body = chat("a\ud800b", "st\udfffop")
    body |= {"id": "x\ud800", "model": "m" * 10_000, "usage": {"completion_tokens": 10**300}}
    parsed = get_provider("compatible").parse_response(200, {}, json.dumps(body).encode(), 300)
    assert (parsed.text, parsed.stop, parsed.response_id) == ("a?b", "st?op", "x?")
    assert len(parsed.model or "") == 500
    assert parsed.charged_tokens is None
    emoji = get_provider("compatible").parse_response(200, {}, json.dumps(chat("\U0001f600")).encode(), 300)
    assert emoji.text == "\U0001f600"
