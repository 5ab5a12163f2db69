"""The OpenAI Responses API, also spoken by xAI and vLLM: the cut is `incomplete/max_output_tokens`.

Only `status` tells a cut: one recorded reply was cut with 0 output tokens. vLLM says `completed`
inside an open `<think>`; settling the end infers that cut. The least cap OpenAI takes is 16.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sealbench.endpoints.base import EndpointSettings, HttpRequest, Parsed
from sealbench.endpoints.bodies import decode_body, get, get_count, get_text, not_this_api, parse_error
from sealbench.endpoints.chat import mean_logprob
from sealbench.endpoints.ending import end_of_stop, strip_reasoning
from sealbench.endpoints.requests import (
    base_url_of,
    json_request,
    merge_extra,
    put_numbers,
    refuse_settings,
    set_path,
)


class ResponsesProvider:
    """POST {base}/responses."""

    name = "openai-responses"
    default_base_url: str | None = "https://api.openai.com/v1"
    default_api_key_env: str | None = "OPENAI_API_KEY"
    default_cap_parameter = "max_output_tokens"
    needs_key = True

    def build_request(
        self, prompt: str, cap: int, settings: EndpointSettings, api_key: str | None
    ) -> HttpRequest:
        """One user input; nothing is stored at the provider unless `extra` asks for it."""
        refuse_settings(settings, "seed", "thinking_budget", "api_version")
        asked = settings.settings
        body: dict[str, Any] = {"model": settings.model, "input": prompt, "store": False}
        if system := asked.get("system"):
            body["instructions"] = system
        put_numbers(body, asked, temperature="temperature", top_p="top_p")
        if effort := asked.get("reasoning_effort"):
            body["reasoning"] = {"effort": effort}
        merge_extra(body, asked.get("extra"))
        set_path(body, settings.cap_parameter or self.default_cap_parameter, cap)
        return json_request(base_url_of(settings, self.default_base_url) + "/responses", body, bearer=api_key)

    def parse_response(self, status: int, headers: Mapping[str, str], body: bytes, cap: int) -> Parsed:
        """Read status and reason, the message items, and the usage."""
        data = decode_body(body)
        state = get_text(data, "status")
        if status >= 400 or data is None or (state is None and get(data, "error") is not None):
            return parse_error(status, headers, data, body)
        if state is None or not isinstance(get(data, "output"), list):
            if get(data, "error") is not None:
                return parse_error(status, headers, data, body)
            return not_this_api("no status or no output")
        if state == "failed" or (get(data, "error") is not None and state != "completed"):
            return parse_error(status, headers, data, body)
        reason = get_text(data, "incomplete_details", "reason")
        stop = f"{state}/{reason}" if reason else state
        text, unclosed, refused, logprobs = _read_output(data["output"])
        end = end_of_stop(reason if state == "incomplete" else state)
        if end == "finished" and refused:
            end = "refused"
        charged = get_count(data, "usage", "output_tokens")
        reasoning = get_count(data, "usage", "output_tokens_details", "reasoning_tokens")
        inside = charged is not None and reasoning is not None and reasoning <= charged
        return Parsed(
            end=end,
            stop=stop,
            text=text,
            unclosed_reasoning=unclosed,
            charged_tokens=charged,
            visible_tokens=charged - reasoning
            if inside and charged is not None and reasoning is not None
            else None,
            reasoning_tokens=reasoning,
            prompt_tokens=get_count(data, "usage", "input_tokens"),
            model=get_text(data, "model"),
            response_id=get_text(data, "id"),
            fingerprint=get_text(data, "metadata", "system_fingerprint"),
            mean_logprob=mean_logprob(logprobs),
        )


def _read_output(items: list[Any]) -> tuple[str, bool, bool, list[Any]]:
    pieces: list[str] = []
    logprobs: list[Any] = []
    refused = False
    for item in items:
        if get(item, "type") != "message":
            continue
        for part in get(item, "content") or []:
            if get(part, "type") == "refusal":
                refused = True
            elif get(part, "type") in ("output_text", "text") and isinstance(get(part, "text"), str):
                pieces.append(part["text"])
                logprobs.extend(get(part, "logprobs") or [])
    text, unclosed = strip_reasoning("".join(pieces))
    return text, unclosed, refused, logprobs


PROVIDER = ResponsesProvider()
