"""Mistral: `max_tokens`, the seed is `random_seed`, the context window's cut is `model_length`.

Reasoning models answer with a list of parts, the thinking part first; its tokens are not split out.
"""

from __future__ import annotations

from sealbench.endpoints.chat import ChatProvider

PROVIDER = ChatProvider(
    name="mistral",
    default_base_url="https://api.mistral.ai/v1",
    default_api_key_env="MISTRAL_API_KEY",
    seed_field="random_seed",
)
