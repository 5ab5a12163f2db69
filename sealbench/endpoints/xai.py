"""xAI's chat API: reasoning tokens stand beside the completion tokens and outside the cap.

The native stop words (`REASON_MAX_LEN`, `REASON_MAX_CONTEXT`, `REASON_TIME_LIMIT`) may come through.
For xAI's Responses API use provider `openai-responses` with base_url `https://api.x.ai/v1`.
"""

from __future__ import annotations

from sealbench.endpoints.chat import ChatProvider

PROVIDER = ChatProvider(
    name="xai",
    default_base_url="https://api.x.ai/v1",
    default_api_key_env="XAI_API_KEY",
    reasoning_outside_cap=True,
)
