"""OpenRouter: the chat format with `native_finish_reason`, and errors that come as HTTP 200.

Effort and budget go into one `reasoning` object. A host may raise a small cap on its own.
"""

from __future__ import annotations

from typing import Any

from sealbench.endpoints.base import EndpointSettings
from sealbench.endpoints.chat import ChatProvider
from sealbench.endpoints.settings import number


def _reasoning(body: dict[str, Any], settings: EndpointSettings) -> None:
    reasoning: dict[str, Any] = {}
    if effort := settings.settings.get("reasoning_effort"):
        reasoning["effort"] = effort
    if (budget := settings.settings.get("thinking_budget")) is not None:
        reasoning["max_tokens"] = number(budget, "thinking_budget")
    if reasoning:
        body["reasoning"] = reasoning


PROVIDER = ChatProvider(
    name="openrouter",
    default_base_url="https://openrouter.ai/api/v1",
    default_api_key_env="OPENROUTER_API_KEY",
    reasoning=_reasoning,
)
