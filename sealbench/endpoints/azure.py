"""Azure OpenAI: the chat format behind a deployment's URL, the key in an `api-key` header.

A base URL ending in `/openai/v1` is used as it is (the model goes into the body); otherwise the
classic path with `api-version`. A filtered prompt is HTTP 400 with code `content_filter`.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from sealbench.endpoints.base import EndpointSettings, HttpRequest, Parsed
from sealbench.endpoints.chat import ChatProvider, parse_chat
from sealbench.endpoints.requests import base_url_of, json_request

DEFAULT_API_VERSION = "2024-10-21"
_CHAT = ChatProvider(
    name="azure",
    default_base_url=None,
    default_api_key_env="AZURE_OPENAI_API_KEY",
    default_cap_parameter="max_completion_tokens",
)


class AzureProvider:
    """The chat format at a deployment's address."""

    name = "azure"
    default_base_url: str | None = None
    default_api_key_env: str | None = _CHAT.default_api_key_env
    default_cap_parameter = _CHAT.default_cap_parameter
    needs_key = True

    def build_request(
        self, prompt: str, cap: int, settings: EndpointSettings, api_key: str | None
    ) -> HttpRequest:
        """POST to the deployment named by `model`."""
        base = base_url_of(settings, None)
        body = _CHAT.build_body(prompt, cap, settings)
        if base.endswith("/v1"):
            url = f"{base}/chat/completions"
        else:
            version = settings.settings.get("api_version") or DEFAULT_API_VERSION
            deployment = quote(settings.model, safe="")
            url = f"{base}/openai/deployments/{deployment}/chat/completions?api-version={quote(str(version))}"
        return json_request(url, body, {"api-key": api_key} if api_key else None)

    def parse_response(self, status: int, headers: Mapping[str, str], body: bytes, cap: int) -> Parsed:
        """As the chat format."""
        return parse_chat(status, headers, body)


PROVIDER = AzureProvider()
