"""DeepSeek: `max_tokens`, reasoning in `reasoning_content` and inside the completion tokens.

`insufficient_system_resource` is the server's own failure, not an answer. Its reasoning models
ignore the temperature without saying so.
"""

from __future__ import annotations

from sealbench.endpoints.chat import ChatProvider

PROVIDER = ChatProvider(
    name="deepseek",
    default_base_url="https://api.deepseek.com",
    default_api_key_env="DEEPSEEK_API_KEY",
)
