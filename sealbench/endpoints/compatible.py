"""Any server that speaks the OpenAI chat format, by URL: vLLM, llama.cpp, LM Studio, TGI and others.

`max_tokens`, because every one of them knows it. A key is sent only if `api_key_env` names one.
"""

from __future__ import annotations

from sealbench.endpoints.chat import ChatProvider

PROVIDER = ChatProvider(name="compatible", default_base_url=None, default_api_key_env=None, needs_key=False)
