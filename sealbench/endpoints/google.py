"""Google Gemini `generateContent`: thoughts are counted beside the candidates, and inside the cap.

`parts` may be absent when the cap went into thoughts; a blocked prompt has no candidates at all;
finish reasons may be enum numbers. A key goes into a header, never into the URL.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from sealbench.endpoints.base import EndpointSettings, HttpRequest, Parsed
from sealbench.endpoints.bodies import (
    decode_body,
    get,
    get_count,
    get_text,
    not_this_api,
    parse_error,
    stop_text,
)
from sealbench.endpoints.ending import End, end_of_stop, strip_reasoning
from sealbench.endpoints.requests import (
    base_url_of,
    json_request,
    merge_extra,
    put_numbers,
    refuse_settings,
    set_path,
)
from sealbench.endpoints.settings import number

# The numbers on which the Gemini API and Vertex AI agree; 6 and 9 mean different things there.
_NUMBERED_ENDS: dict[str, End] = {
    "1": "finished",
    "2": "cut_reported",
    "3": "filtered",
    "4": "filtered",
    "7": "filtered",
    "8": "filtered",
}


class GoogleProvider:
    """POST {base}/models/{model}:generateContent."""

    name = "google"
    default_base_url: str | None = "https://generativelanguage.googleapis.com/v1beta"
    default_api_key_env: str | None = "GEMINI_API_KEY"
    default_cap_parameter = "generationConfig.maxOutputTokens"
    needs_key = True

    def build_request(
        self, prompt: str, cap: int, settings: EndpointSettings, api_key: str | None
    ) -> HttpRequest:
        """One user turn, one candidate."""
        refuse_settings(settings, "api_version")
        asked = settings.settings
        config: dict[str, Any] = {}
        put_numbers(config, asked, temperature="temperature", top_p="topP", seed="seed")
        thinking: dict[str, Any] = {}
        if (budget := asked.get("thinking_budget")) is not None:
            thinking["thinkingBudget"] = number(budget, "thinking_budget")
        if effort := asked.get("reasoning_effort"):
            thinking["thinkingLevel"] = effort
        if thinking:
            config["thinkingConfig"] = thinking
        body: dict[str, Any] = {
            "contents": [{"role": "user", "parts": [{"text": prompt}]}],
            "generationConfig": config,
        }
        if system := asked.get("system"):
            body["systemInstruction"] = {"parts": [{"text": system}]}
        merge_extra(body, asked.get("extra"))
        set_path(body, settings.cap_parameter or self.default_cap_parameter, cap)
        base = base_url_of(settings, self.default_base_url)
        url = f"{base}/models/{quote(settings.model, safe='')}:generateContent"
        return json_request(url, body, {"x-goog-api-key": api_key} if api_key else None)

    def parse_response(self, status: int, headers: Mapping[str, str], body: bytes, cap: int) -> Parsed:
        """Read the first candidate, or why there is none."""
        data = decode_body(body)
        if status >= 400 or data is None or get(data, "error") is not None:
            return parse_error(status, headers, data, body)
        candidate = get(data, "candidates", 0)
        blocked = stop_text(get(data, "promptFeedback", "blockReason"))
        usage = get(data, "usageMetadata")
        if not isinstance(candidate, dict) and blocked is None and usage is None:
            return not_this_api("neither candidates nor usage")
        stop = stop_text(get(candidate, "finishReason"))
        end = _NUMBERED_ENDS.get(stop or "") or end_of_stop(stop)
        if candidate is None and blocked is not None:
            stop, end = blocked, "filtered"
        text, unclosed = _visible_text(candidate)
        # proto3 leaves zeros out: one count present makes the other one 0, none present says nothing.
        visible = get_count(usage, "candidatesTokenCount")
        thoughts = get_count(usage, "thoughtsTokenCount")
        charged = None if visible is None and thoughts is None else (visible or 0) + (thoughts or 0)
        return Parsed(
            end=end,
            stop=stop,
            text=text,
            unclosed_reasoning=unclosed,
            charged_tokens=charged,
            visible_tokens=visible,
            reasoning_tokens=thoughts,
            prompt_tokens=get_count(usage, "promptTokenCount"),
            model=get_text(data, "modelVersion"),
            response_id=get_text(data, "responseId"),
            mean_logprob=_mean_logprob(get(candidate, "avgLogprobs")),
        )


def _visible_text(candidate: Any) -> tuple[str, bool]:
    parts = get(candidate, "content", "parts")
    pieces = [
        part["text"]
        for part in (parts if isinstance(parts, list) else [])
        if isinstance(get(part, "text"), str) and not get(part, "thought")
    ]
    return strip_reasoning("".join(pieces))


def _mean_logprob(value: Any) -> str | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e6:
        return f"{value:.6f}"
    return None


PROVIDER = GoogleProvider()
