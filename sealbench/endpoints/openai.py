"""OpenAI Chat Completions: `max_completion_tokens` is the cap, reasoning counts inside it.

Source: the API's reference and the types of the official Python SDK. The Responses API is
`openai_responses.py`.
"""

from __future__ import annotations

from sealbench.endpoints.chat import ChatProvider

PROVIDER = ChatProvider(
    name="openai",
    default_base_url="https://api.openai.com/v1",
    default_api_key_env="OPENAI_API_KEY",
    default_cap_parameter="max_completion_tokens",
)
