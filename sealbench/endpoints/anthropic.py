"""Anthropic Messages: `max_tokens` is required and thinking counts inside it.

`budget_tokens` must be at least 1024 and below the cap; the content may be a thinking block only,
empty, or one blank. Source: the API's reference and the types of the official Python SDK.
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
from sealbench.endpoints.settings import number
from sealbench.errors import ConfigurationError

API_VERSION = "2023-06-01"
LEAST_BUDGET = 1024


class AnthropicProvider:
    """POST {base}/v1/messages."""

    name = "anthropic"
    default_base_url: str | None = "https://api.anthropic.com"
    default_api_key_env: str | None = "ANTHROPIC_API_KEY"
    default_cap_parameter = "max_tokens"
    needs_key = True

    def build_request(
        self, prompt: str, cap: int, settings: EndpointSettings, api_key: str | None
    ) -> HttpRequest:
        """One user message; a thinking budget that does not fit below the cap is refused here."""
        headers = {"anthropic-version": API_VERSION}
        if api_key:
            headers["x-api-key"] = api_key
        base = base_url_of(settings, self.default_base_url).removesuffix("/v1")
        return json_request(f"{base}/v1/messages", self.build_body(prompt, cap, settings), headers)

    def build_body(self, prompt: str, cap: int, settings: EndpointSettings) -> dict[str, Any]:
        """The JSON body of one call (batch files hold it too)."""
        refuse_settings(settings, "seed", "api_version")
        asked = settings.settings
        body: dict[str, Any] = {"model": settings.model, "messages": [{"role": "user", "content": prompt}]}
        if system := asked.get("system"):
            body["system"] = system
        put_numbers(body, asked, temperature="temperature", top_p="top_p")
        if (budget := asked.get("thinking_budget")) is not None:
            tokens = int(number(budget, "thinking_budget"))
            if tokens == 0:
                body["thinking"] = {"type": "disabled"}
            elif not LEAST_BUDGET <= tokens < cap:
                raise ConfigurationError(
                    f"endpoint {settings.name}: thinking_budget {tokens} does not fit a cap of {cap}",
                    hint=f"a budget is at least {LEAST_BUDGET} and below the cap; remove it for small caps",
                )
            else:
                body["thinking"] = {"type": "enabled", "budget_tokens": tokens}
        if effort := asked.get("reasoning_effort"):
            body["output_config"] = {"effort": effort}
        merge_extra(body, asked.get("extra"))
        set_path(body, settings.cap_parameter or self.default_cap_parameter, cap)
        return body

    def parse_response(self, status: int, headers: Mapping[str, str], body: bytes, cap: int) -> Parsed:
        """Read text blocks only; thinking and redacted thinking are not visible."""
        data = decode_body(body)
        content = get(data, "content")
        if status >= 400 or data is None or get(data, "type") == "error" or get(data, "error") is not None:
            return parse_error(status, headers, data, body)
        if not isinstance(content, list):
            return not_this_api("no content")
        blocks = [block["text"] for block in content if _is_text(block)]
        text, unclosed = strip_reasoning("".join(blocks))
        usage = get(data, "usage")
        charged = get_count(usage, "output_tokens")
        reasoning = get_count(usage, "output_tokens_details", "thinking_tokens")
        visible = None
        if charged is not None and reasoning is not None and reasoning <= charged:
            visible = charged - reasoning
        elif reasoning is None and content and len(blocks) == len(content):
            visible = charged  # nothing but text was written
        stop = stop_text(get(data, "stop_reason"))
        return Parsed(
            end=end_of_stop(stop),
            stop=stop,
            text=text,
            unclosed_reasoning=unclosed,
            charged_tokens=charged,
            visible_tokens=visible,
            reasoning_tokens=reasoning,
            prompt_tokens=_prompt_tokens(usage),
            model=get_text(data, "model"),
            response_id=get_text(data, "id"),
        )


def _is_text(block: Any) -> bool:
    return get(block, "type") == "text" and isinstance(get(block, "text"), str)


def _prompt_tokens(usage: Any) -> int | None:
    """Cached parts of the prompt are counted beside `input_tokens`."""
    tokens = get_count(usage, "input_tokens")
    if tokens is None:
        return None
    cached = (
        get_count(usage, name) or 0 for name in ("cache_creation_input_tokens", "cache_read_input_tokens")
    )
    return tokens + sum(cached)


PROVIDER = AnthropicProvider()
