"""Names of endpoints: resolved, or refused with the closest name."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from sealbench.crypto import canonical
from sealbench.endpoints.base import (
    EndpointSettings,
    Price,
    check_settings,
    get_provider,
    provider_names,
    read_api_key,
    resolve,
)
from sealbench.errors import ConfigurationError, MissingKey, UsageError

TABLE: dict[str, Any] = {
    "provider": "openai",
    "model": "gpt-5.6-sol",
    "base_url": "https://gateway.example/v1/",
    "api_key_env": "SOL_KEY",
    "cap_parameter": "max_tokens",
    "temperature": 0.7,
    "reasoning_effort": "low",
    "extra": {"logprobs": True, "serviceTier": 0.5},
    "price": {"input": 1.25, "output": 10.0},
    "max_connections": 4,
    "requests_per_minute": 600,
}


@pytest.mark.parametrize(
    ("name", "provider", "model", "base_url", "key"),
    [
        ("openai/gpt-5.5", "openai", "gpt-5.5", None, "OPENAI_API_KEY"),
        ("openai-responses/gpt-5.5", "openai-responses", "gpt-5.5", None, "OPENAI_API_KEY"),
        ("anthropic/claude-opus-5", "anthropic", "claude-opus-5", None, "ANTHROPIC_API_KEY"),
        ("openrouter/openai/gpt-4.1", "openrouter", "openai/gpt-4.1", None, "OPENROUTER_API_KEY"),
        ("ollama/qwen3:4b", "ollama", "qwen3:4b", None, None),
        ("reference/solver", "reference", "solver", None, None),
        ("http://127.0.0.1:8000/v1#org/m", "compatible", "org/m", "http://127.0.0.1:8000/v1", None),
        ("https://[::1]:8000/v1/#m", "compatible", "m", "https://[::1]:8000/v1", None),
    ],
)
def test_names(name: str, provider: str, model: str, base_url: str | None, key: str | None) -> None:
    assert resolve(name, {}) == EndpointSettings(name, provider, model, base_url, key)


def test_a_configured_table() -> None:
    found = resolve("sol", {"sol": TABLE})
    assert (found.name, found.provider, found.model) == ("sol", "openai", "gpt-5.6-sol")
    assert (found.base_url, found.api_key_env, found.cap_parameter) == (
        "https://gateway.example/v1",
        "SOL_KEY",
        "max_tokens",
    )
    assert found.settings["temperature"] == 0.7
    assert found.price == Price(Decimal("1.25"), Decimal("10.0"))
    assert (found.limits.max_connections, found.limits.requests_per_minute) == (4, 600)


def test_what_only_reports_use_is_read_and_not_frozen() -> None:
    for day in (date(2026, 1, 31), "2026-01-31"):
        found = resolve("sol", {"sol": {**TABLE, "release_date": day, "baseline_tokens": 3}})
        assert (found.release_date, found.baseline_tokens) == (date(2026, 1, 31), 3)
        assert found.to_record() == resolve("sol", {"sol": TABLE}).to_record()


def test_a_record_survives_canonical_json_and_sends_the_same_request() -> None:
    found = resolve("sol", {"sol": TABLE})
    record = canonical.decode(canonical.encode(found.to_record()))
    again = EndpointSettings.from_record(record, price=found.price, limits=found.limits)
    build = get_provider("openai").build_request
    assert build("p", 300, again, None) == build("p", 300, found, None)
    assert again.to_record() == found.to_record()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("opnai/gpt", "openai/gpt"),
        ("reference/solvr", "reference/solver"),
        ("so", "sol"),
        ("http://host/v1", "http://host/v1#MODEL"),
        ("azure/gpt-4o", "base_url"),
        ("", "known:"),
        ("compatible/m", "base_url"),
    ],
)
def test_wrong_names_get_the_next_thing_to_try(name: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve(name, {"sol": TABLE})
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    "change",
    [
        {"modell": "x"},
        {"model": ""},
        {"model": 3},
        {"model": None},
        {"provider": "nobody"},
        {"base_url": "ftp://host"},
        {"base_url": "https://user:hunter2@host/v1"},
        {"base_url": "https://host/v1?key=hunter2"},
        {"base_url": "https://host:99999/v1"},
        {"temperature": "hot"},
        {"temperature": "NaN"},
        {"seed": True},
        {"extra": 3},
        {"extra": {"n": 5}},
        {"extra": {"messages": []}},
        {"price": 3},
        {"price": {"input": 1}},
        {"price": {"input": -1, "output": 1}},
        {"price": {"input": "nan", "output": 1}},
        {"price": {"input": 1, "output": 1, "cached": 0}},
        {"release_date": "soon"},
        {"release_date": datetime(2026, 1, 31, 9, tzinfo=UTC)},
        {"release_date": 2026},
        {"baseline_tokens": -1},
        {"baseline_tokens": 1.5},
        {"baseline_tokens": True},
        {"max_connections": 0},
        {"max_connections": 1.5},
        {"timeout": -1},
        {"max_attempts": True},
    ],
)
def test_wrong_tables_are_refused_without_repeating_secrets(change: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        resolve("sol", {"sol": {**TABLE, **change}})
    assert caught.value.message
    assert caught.value.hint
    assert "hunter2" not in caught.value.message + caught.value.hint


def test_settings_are_checked_against_caps_without_network() -> None:
    thinking = resolve(
        "t", {"t": {"provider": "anthropic", "model": "claude-sonnet-4-6", "thinking_budget": 1024}}
    )
    check_settings(thinking, [1025, 4000])
    with pytest.raises(ConfigurationError, match="1024"):
        check_settings(thinking, [300])
    with pytest.raises(UsageError):
        check_settings(resolve("reference/solver", {}), [0])
    check_settings(resolve("reference/solver", {}), [1, 300])


def test_keys_are_read_by_name_and_never_repeated() -> None:
    settings = resolve("openai/gpt-5.5", {})
    assert read_api_key(settings, required=True, environ={"OPENAI_API_KEY": " sk-1 \n"}) == "sk-1"
    with pytest.raises(MissingKey, match="OPENAI_API_KEY"):
        read_api_key(settings, required=True, environ={})
    assert read_api_key(settings, required=False, environ={}) is None
    with pytest.raises(ConfigurationError) as caught:
        read_api_key(settings, required=True, environ={"OPENAI_API_KEY": "sk-1\nsk-2"})
    assert "sk-" not in caught.value.message


def test_every_provider_loads_and_has_what_the_protocol_names() -> None:
    assert {"openai", "anthropic", "google", "reference", "compatible"} <= set(provider_names())
    for name in provider_names():
        provider = get_provider(name)
        assert provider.name == name
        assert provider.default_cap_parameter


def test_importing_the_registry_imports_nothing_heavy() -> None:
    code = (
        "import sys, sealbench.endpoints.base as b; b.provider_names(); b.resolve('openai/x', {});"
        "print([m for m in ('httpx', 'aiohttp', 'tenacity', 'numpy', 'sympy') if m in sys.modules])"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert output.stdout.strip() == "[]"
