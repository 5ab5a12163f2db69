"""What each provider sends: the cap under its name, settings in its fields, the key in its header."""

from __future__ import annotations

import dataclasses
import json
from types import MappingProxyType
from typing import Any

import pytest

from sealbench.endpoints.base import EndpointSettings, get_provider, provider_names
from sealbench.errors import ConfigurationError

BASE = "https://host.example/v1"
PROMPT = "Is 91 prime? “quoted” \u2028"


def settings(provider: str, **asked: Any) -> EndpointSettings:
    base = BASE if get_provider(provider).default_base_url is None else None
    return EndpointSettings("e", provider, "some/model", base, settings=MappingProxyType(asked))


def body(provider: str, cap: int = 300, **asked: Any) -> dict[str, Any]:
    return json.loads(
        get_provider(provider).build_request(PROMPT, cap, settings(provider, **asked), "K").body
    )


@pytest.mark.parametrize(
    ("provider", "path"),
    [
        ("openai", "max_completion_tokens"),
        ("openai-responses", "max_output_tokens"),
        ("anthropic", "max_tokens"),
        ("google", "generationConfig.maxOutputTokens"),
        ("openrouter", "max_tokens"),
        ("mistral", "max_tokens"),
        ("deepseek", "max_tokens"),
        ("xai", "max_tokens"),
        ("azure", "max_completion_tokens"),
        ("bedrock", "inferenceConfig.maxTokens"),
        ("ollama", "options.num_predict"),
        ("compatible", "max_tokens"),
        ("reference", "max_completion_tokens"),
    ],
)
def test_cap_and_prompt_arrive(provider: str, path: str) -> None:
    found: Any = body(provider, 77)
    for step in path.split("."):
        found = found[step]
    assert found == 77
    request = get_provider(provider).build_request(PROMPT, 77, settings(provider), "K")
    assert PROMPT in json.dumps(json.loads(request.body), ensure_ascii=False).replace('\\"', '"')
    assert request.method == "POST"
    assert "K" not in request.url.split("?")[-1]
    assert "'K'" not in repr(request)


def test_the_cap_parameter_can_be_chosen() -> None:
    chosen = dataclasses.replace(settings("openai"), cap_parameter="max_tokens")
    sent = json.loads(get_provider("openai").build_request("p", 5, chosen, None).body)
    assert sent["max_tokens"] == 5
    assert "max_completion_tokens" not in sent


@pytest.mark.parametrize(
    ("provider", "url", "header"),
    [
        ("openai", "https://api.openai.com/v1/chat/completions", ("authorization", "Bearer K")),
        ("openai-responses", "https://api.openai.com/v1/responses", ("authorization", "Bearer K")),
        ("anthropic", "https://api.anthropic.com/v1/messages", ("x-api-key", "K")),
        (
            "google",
            "https://generativelanguage.googleapis.com/v1beta/models/some%2Fmodel:generateContent",
            ("x-goog-api-key", "K"),
        ),
        ("azure", f"{BASE}/chat/completions", ("api-key", "K")),
        ("bedrock", f"{BASE}/model/some%2Fmodel/converse", ("authorization", "Bearer K")),
        ("ollama", "http://127.0.0.1:11434/api/chat", ("authorization", "Bearer K")),
        ("compatible", f"{BASE}/chat/completions", ("authorization", "Bearer K")),
    ],
)
def test_addresses_and_keys(provider: str, url: str, header: tuple[str, str]) -> None:
    request = get_provider(provider).build_request("p", 5, settings(provider), "K")
    assert request.url == url
    assert request.headers[header[0]] == header[1]
    without = get_provider(provider).build_request("p", 5, settings(provider), None)
    assert header[0] not in without.headers


def test_azure_deployments() -> None:
    classic = dataclasses.replace(settings("azure"), base_url="https://r.openai.azure.com")
    request = get_provider("azure").build_request("p", 5, classic, "K")
    assert request.url == (
        "https://r.openai.azure.com/openai/deployments/some%2Fmodel/chat/completions?api-version=2024-10-21"
    )


def test_sampling_settings_go_where_each_api_wants_them() -> None:
    assert body("openai", temperature="0.5", seed=7)["temperature"] == 0.5
    assert body("mistral", seed=7)["random_seed"] == 7
    assert body("google", temperature=0, top_p="0.9", seed=7)["generationConfig"] == {
        "temperature": 0,
        "topP": 0.9,
        "seed": 7,
        "maxOutputTokens": 300,
    }
    assert body("ollama", temperature=0, seed=7)["options"] == {
        "temperature": 0,
        "seed": 7,
        "num_predict": 300,
    }
    assert body("bedrock", top_p=0.9)["inferenceConfig"] == {"topP": 0.9, "maxTokens": 300}


def test_reasoning_settings() -> None:
    assert body("openai", reasoning_effort="low")["reasoning_effort"] == "low"
    assert body("openai-responses", reasoning_effort="low")["reasoning"] == {"effort": "low"}
    assert body("openrouter", reasoning_effort="low")["reasoning"] == {"effort": "low"}
    assert body("openrouter", thinking_budget=2000)["reasoning"] == {"max_tokens": 2000}
    assert body("anthropic", 4000, thinking_budget=1024)["thinking"] == {
        "type": "enabled",
        "budget_tokens": 1024,
    }
    assert body("anthropic", thinking_budget=0)["thinking"] == {"type": "disabled"}
    assert body("anthropic", reasoning_effort="low")["output_config"] == {"effort": "low"}
    assert body("google", thinking_budget=0)["generationConfig"]["thinkingConfig"] == {"thinkingBudget": 0}
    assert body("ollama", reasoning_effort="none")["think"] is False


@pytest.mark.parametrize(
    ("provider", "name"),
    [
        ("openai", "thinking_budget"),
        ("openai", "api_version"),
        ("openai-responses", "seed"),
        ("anthropic", "seed"),
        ("bedrock", "reasoning_effort"),
        ("ollama", "thinking_budget"),
    ],
)
def test_settings_a_provider_has_not_are_refused_and_not_dropped(provider: str, name: str) -> None:
    with pytest.raises(ConfigurationError, match=name):
        body(provider, **{name: 1})


def test_system_prompts() -> None:
    assert body("openai", system="S")["messages"][0] == {"role": "system", "content": "S"}
    assert body("openai-responses", system="S")["instructions"] == "S"
    assert body("anthropic", system="S")["system"] == "S"
    assert body("google", system="S")["systemInstruction"] == {"parts": [{"text": "S"}]}
    assert body("bedrock", system="S")["system"] == [{"text": "S"}]
    assert body("ollama", system="S")["messages"][0]["role"] == "system"


@pytest.mark.parametrize("provider", sorted(set(provider_names())))
def test_extra_fields_are_merged_but_never_over_the_cap(provider: str) -> None:
    extra = {"my_field": {"a": 1}, "max_tokens": 9, "options": {"num_predict": 9, "mirostat": 1}}
    sent = body(provider, extra=extra)
    assert sent["my_field"] == {"a": 1}
    path = get_provider(provider).default_cap_parameter
    found: Any = sent
    for step in path.split("."):
        found = found[step]
    assert found == 300
