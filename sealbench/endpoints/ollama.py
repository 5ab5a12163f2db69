"""Ollama's own API: the cap is `options.num_predict`, the cut `done_reason` = length.

`eval_count` holds reasoning and answer together; `prompt_eval_count` is absent when the prompt was
cached (null, not 0). Needs no key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
from sealbench.endpoints.ending import end_of_stop, strip_reasoning
from sealbench.endpoints.requests import (
    base_url_of,
    json_request,
    merge_extra,
    put_numbers,
    refuse_settings,
    set_path,
)


class OllamaProvider:
    """POST {base}/api/chat; `/api/generate` answers are read too."""

    name = "ollama"
    default_base_url: str | None = "http://127.0.0.1:11434"
    default_api_key_env: str | None = None
    default_cap_parameter = "options.num_predict"
    needs_key = False

    def build_request(
        self, prompt: str, cap: int, settings: EndpointSettings, api_key: str | None
    ) -> HttpRequest:
        """One user message, not streamed. `reasoning_effort` goes into `think`."""
        refuse_settings(settings, "thinking_budget", "api_version")
        asked = settings.settings
        messages = [{"role": "user", "content": prompt}]
        if system := asked.get("system"):
            messages.insert(0, {"role": "system", "content": str(system)})
        options: dict[str, Any] = {}
        put_numbers(options, asked, temperature="temperature", top_p="top_p", seed="seed")
        body: dict[str, Any] = {
            "model": settings.model,
            "messages": messages,
            "stream": False,
            "options": options,
        }
        if effort := asked.get("reasoning_effort"):
            body["think"] = effort != "none" if effort in ("none", "on") else effort
        merge_extra(body, asked.get("extra"))
        set_path(body, settings.cap_parameter or self.default_cap_parameter, cap)
        base = base_url_of(settings, self.default_base_url)
        return json_request(f"{base}/api/chat", body, bearer=api_key)

    def parse_response(self, status: int, headers: Mapping[str, str], body: bytes, cap: int) -> Parsed:
        """Read a chat or generate answer."""
        data = decode_body(body)
        if status >= 400 or data is None or get(data, "error") is not None:
            return parse_error(status, headers, data, body)
        content = get(data, "message", "content")
        if content is None:
            content = get(data, "response")
        if not isinstance(content, str) and get(data, "done") is None:
            return not_this_api("no message")
        text, unclosed = strip_reasoning(content if isinstance(content, str) else "")
        stop = stop_text(get(data, "done_reason"))
        return Parsed(
            end=end_of_stop(stop),
            stop=stop,
            text=text,
            unclosed_reasoning=unclosed,
            charged_tokens=get_count(data, "eval_count"),
            prompt_tokens=get_count(data, "prompt_eval_count"),
            model=get_text(data, "model"),
        )


PROVIDER = OllamaProvider()
