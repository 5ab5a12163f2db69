"""Amazon Bedrock's Converse API with a Bedrock API key: the cap is `inferenceConfig.maxTokens`.

A guardrail that blocked or masked the answer is `filtered`; the unmasked text in its trace is never
read. The error's class may stand in a header only. The body names neither model nor response.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from sealbench.endpoints.base import EndpointSettings, HttpRequest, Parsed
from sealbench.endpoints.bodies import decode_body, get, get_count, not_this_api, parse_error, stop_text
from sealbench.endpoints.ending import end_of_stop, strip_reasoning
from sealbench.endpoints.requests import (
    base_url_of,
    json_request,
    merge_extra,
    put_numbers,
    refuse_settings,
    set_path,
)


class BedrockProvider:
    """POST {base}/model/{model}/converse; `base_url` names the region."""

    name = "bedrock"
    default_base_url: str | None = None
    default_api_key_env: str | None = "AWS_BEARER_TOKEN_BEDROCK"
    default_cap_parameter = "inferenceConfig.maxTokens"
    needs_key = True

    def build_request(
        self, prompt: str, cap: int, settings: EndpointSettings, api_key: str | None
    ) -> HttpRequest:
        """One user message. Effort and budget differ by model: send them under extra."""
        refuse_settings(settings, "seed", "reasoning_effort", "thinking_budget", "api_version")
        asked = settings.settings
        config: dict[str, Any] = {}
        put_numbers(config, asked, temperature="temperature", top_p="topP")
        body: dict[str, Any] = {
            "messages": [{"role": "user", "content": [{"text": prompt}]}],
            "inferenceConfig": config,
        }
        if system := asked.get("system"):
            body["system"] = [{"text": system}]
        merge_extra(body, asked.get("extra"))
        set_path(body, settings.cap_parameter or self.default_cap_parameter, cap)
        url = f"{base_url_of(settings, None)}/model/{quote(settings.model, safe='')}/converse"
        return json_request(url, body, bearer=api_key)

    def parse_response(self, status: int, headers: Mapping[str, str], body: bytes, cap: int) -> Parsed:
        """Read the text blocks of the output message."""
        data = decode_body(body)
        if status >= 400 or data is None:
            return parse_error(status, headers, data, body)
        content = get(data, "output", "message", "content")
        stop = stop_text(get(data, "stopReason"))
        if not isinstance(content, list) and stop is None:
            return not_this_api("no output")
        blocks = content if isinstance(content, list) else []
        text, unclosed = strip_reasoning(
            "".join(block["text"] for block in blocks if isinstance(get(block, "text"), str))
        )
        return Parsed(
            end=end_of_stop(stop),
            stop=stop,
            text=text,
            unclosed_reasoning=unclosed,
            charged_tokens=get_count(data, "usage", "outputTokens"),
            prompt_tokens=get_count(data, "usage", "inputTokens"),
        )


PROVIDER = BedrockProvider()
