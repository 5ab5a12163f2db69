"""The built-in reference endpoints: the chat format, at an address known only once they run.

They are no models and are labelled so wherever they appear; see `sealbench.testing.server`.
"""

from __future__ import annotations

from sealbench.endpoints.chat import ChatProvider

PROVIDER = ChatProvider(
    name="reference",
    default_base_url=None,
    default_api_key_env=None,
    default_cap_parameter="max_completion_tokens",
    needs_key=False,
)
