"""Names of endpoints and the providers behind them: the protocol, the registry, `resolve`.

A provider is two pure functions, one that builds a request and one that reads a response; nothing
in a provider does network I/O. Built-ins and plugins (entry points, group `sealbench.endpoints`)
are imported only when one is used.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Protocol, cast
from urllib.parse import urlsplit

from sealbench.endpoints.ending import AnswerStatus, End, Parsed, Settled, settle_end
from sealbench.endpoints.settings import (
    RESERVED_EXTRA,
    SETTING_NAMES,
    EndpointSettings,
    Json,
    Limits,
    Price,
    number,
    read_api_key,
)
from sealbench.errors import ConfigurationError, UsageError

__all__ = [
    "AnswerStatus",
    "End",
    "EndpointSettings",
    "HttpRequest",
    "Json",
    "Limits",
    "Parsed",
    "Price",
    "Provider",
    "Settled",
    "check_settings",
    "get_provider",
    "provider_names",
    "read_api_key",
    "resolve",
    "settle_end",
]

ENTRY_POINT_GROUP = "sealbench.endpoints"
_BUILT_IN = {
    name: f"sealbench.endpoints.{name.replace('-', '_')}:PROVIDER"
    for name in (
        *("openai", "openai-responses", "anthropic", "google", "openrouter", "mistral", "deepseek", "xai"),
        *("azure", "bedrock", "ollama", "compatible", "reference"),
    )
}
REFERENCE_MODELS = ("solver", "constant", "reasoner", "faulty")


@dataclass(frozen=True)
class HttpRequest:
    """A request ready to send. Headers hold the key, so they are left out of the repr."""

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


class Provider(Protocol):
    """One API's way of being asked and of answering; both functions are pure."""

    @property
    def name(self) -> str: ...
    @property
    def default_base_url(self) -> str | None: ...
    @property
    def default_cap_parameter(self) -> str: ...
    @property
    def default_api_key_env(self) -> str | None: ...
    @property
    def needs_key(self) -> bool: ...

    def build_request(
        self, prompt: str, cap: int, settings: EndpointSettings, api_key: str | None
    ) -> HttpRequest:
        """The request for one call at a cap (tokens); ConfigurationError for a setting it has not."""
        ...

    def parse_response(self, status: int, headers: Mapping[str, str], body: bytes, cap: int) -> Parsed:
        """What a response says; never raises, whatever the bytes."""
        ...


@functools.cache
def _plugins() -> dict[str, str]:
    return {point.name: point.value for point in entry_points(group=ENTRY_POINT_GROUP)}


def provider_names() -> tuple[str, ...]:
    """All providers, built-in and plugged in, sorted; imports none of them."""
    return tuple(sorted({*_BUILT_IN, *_plugins()}))


@functools.cache
def get_provider(name: str) -> Provider:
    """The provider of this name; UsageError with the closest name if there is none."""
    target = _BUILT_IN.get(name) or _plugins().get(name)
    if target is None:
        raise UsageError(f"there is no provider {name!r}", hint=_closest(name, provider_names()))
    module, _, attribute = target.partition(":")
    return cast("Provider", getattr(importlib.import_module(module), attribute))


def resolve(name: str, configured: Mapping[str, Mapping[str, object]]) -> EndpointSettings:
    """The endpoint a user named: configured name, `http://host:port/v1#model`, or `provider/model`.

    `configured` is the `[endpoints]` table of sealbench.toml. UsageError (with the closest name) or
    ConfigurationError (with the field) if it cannot be used. Reads no key and no network.
    """
    if name in configured:
        return _from_table(name, configured[name])
    if re.match(r"https?://", name):
        url, _, model = name.partition("#")
        if not model:
            raise UsageError(f"endpoint {name}: no model", hint=f"write {url}#MODEL")
        return EndpointSettings(name, "compatible", model, check_url(url, name))
    provider, slash, model = name.partition("/")
    if slash and model and provider in provider_names():
        if provider == "reference" and model not in REFERENCE_MODELS:
            names = [f"reference/{known}" for known in REFERENCE_MODELS]
            raise UsageError(f"there is no endpoint {name}", hint=_closest(name, names))
        found = get_provider(provider)
        if found.default_base_url is None and provider != "reference":
            raise UsageError(
                f"endpoint {name}: {provider} has no address of its own",
                hint=f'put [endpoints.NAME] provider = "{provider}", model and base_url into sealbench.toml',
            )
        return EndpointSettings(name, provider, model, None, found.default_api_key_env)
    candidates = [*configured, *(f"{known}/{model or 'MODEL'}" for known in provider_names())]
    raise UsageError(f"there is no endpoint {name!r}", hint=_closest(name, candidates))


def check_settings(settings: EndpointSettings, caps: Iterable[int]) -> None:
    """ConfigurationError if the provider cannot send these settings at one of these caps; no network."""
    if settings.provider == "reference" and settings.base_url is None:
        settings = replace(settings, base_url="http://127.0.0.1")  # known only once the server runs
    provider = get_provider(settings.provider)
    for cap in caps:
        if isinstance(cap, bool) or cap < 1:
            raise UsageError(f"a cap of {cap} tokens cannot be asked for", hint="a cap is at least 1 token")
        provider.build_request("", cap, settings, None)


def check_url(url: str, name: str) -> str:
    """The base URL without its last slash; ConfigurationError unless plain http(s) without credentials."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        valid = False
    if not valid or any(char.isspace() or not char.isprintable() for char in url):
        raise ConfigurationError(f"endpoint {name}: not a URL", hint="write https://host:port/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        # The URL itself is not repeated: it holds a secret.
        raise ConfigurationError(
            "an endpoint's URL holds a user name, a password or a query",
            hint='keep the secret in a variable and name it: api_key_env = "MY_KEY"',
        )
    return url.rstrip("/")


def _closest(name: str, known: list[str] | tuple[str, ...]) -> str:
    matches = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if matches:
        return f"did you mean {matches[0]}?"
    return f"known: {', '.join(known)}"


_TEXT_FIELDS = ("provider", "model", "base_url", "api_key_env", "cap_parameter")
_LIMIT_FIELDS = tuple(Limits.__dataclass_fields__)
_REPORT_FIELDS = ("release_date", "baseline_tokens")


def _from_table(name: str, table: Mapping[str, object]) -> EndpointSettings:
    known = (*_TEXT_FIELDS, *SETTING_NAMES, *_LIMIT_FIELDS, "price", *_REPORT_FIELDS)
    for key in table:
        if key not in known:
            raise ConfigurationError(f"[endpoints.{name}]: unknown field {key}", hint=_closest(key, known))
    texts: dict[str, str] = {}
    for key in _TEXT_FIELDS:
        value = table.get(key)
        if value is not None and not (isinstance(value, str) and value):
            raise ConfigurationError(f"[endpoints.{name}]: {key} is not a text", hint=f'write {key} = "…"')
        if isinstance(value, str):
            texts[key] = value
    for key in ("provider", "model"):
        if key not in texts:
            raise ConfigurationError(f"[endpoints.{name}]: {key} is missing", hint=f'add {key} = "…"')
    provider = get_provider(texts["provider"])
    if provider.default_base_url is None and "base_url" not in texts and provider.name != "reference":
        raise ConfigurationError(
            f"[endpoints.{name}]: base_url is missing", hint='add base_url = "https://…"'
        )
    base_url = texts.get("base_url")
    return EndpointSettings(
        name=name,
        provider=texts["provider"],
        model=texts["model"],
        base_url=check_url(base_url, name) if base_url else None,
        api_key_env=texts.get("api_key_env", provider.default_api_key_env),
        cap_parameter=texts.get("cap_parameter"),
        settings=_settings(name, table),
        price=_price(name, table.get("price")),
        limits=_limits(name, table),
        release_date=_release_date(name, table.get("release_date")),
        baseline_tokens=_baseline_tokens(name, table.get("baseline_tokens")),
    )


def _settings(name: str, table: Mapping[str, object]) -> Mapping[str, Json]:
    settings = {key: cast("Json", table[key]) for key in SETTING_NAMES if table.get(key) is not None}
    for key in ("temperature", "top_p", "seed", "thinking_budget"):
        if key in settings:
            number(settings[key], f"[endpoints.{name}] {key}")
    extra = settings.get("extra", {})
    if not isinstance(extra, dict):
        raise ConfigurationError(
            f"[endpoints.{name}]: extra is not a table", hint=f"[endpoints.{name}.extra]"
        )
    if reserved := sorted(RESERVED_EXTRA & set(extra)):
        raise ConfigurationError(
            f"[endpoints.{name}.extra]: {reserved[0]} is filled in by seal itself",
            hint=f"remove {reserved[0]}",
        )
    return MappingProxyType(settings)


def _price(name: str, value: object) -> Price | None:
    if value is None:
        return None
    amounts = [value.get(key) for key in ("input", "output")] if isinstance(value, Mapping) else []
    try:
        input_price, output_price = (Decimal(str(amount)) for amount in amounts)
        usable = min(input_price, output_price) >= 0
    except (InvalidOperation, ValueError):
        usable = False
    if not usable or (isinstance(value, Mapping) and len(value) != 2):
        raise ConfigurationError(
            f"[endpoints.{name}]: price is not in USD per million tokens",
            hint="write price = { input = 1.25, output = 10.0 }",
        )
    return Price(input_price, output_price)


def _limits(name: str, table: Mapping[str, object]) -> Limits:
    values: dict[str, float | int] = {}
    for key in _LIMIT_FIELDS:
        value = table.get(key)
        if value is None:
            continue
        whole = key not in ("timeout", "max_elapsed")
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or value <= 0:
            raise ConfigurationError(f"[endpoints.{name}]: {key} must be above 0", hint=f"write {key} = 10")
        values[key] = value
    return Limits(**values)  # type: ignore[arg-type]  # checked field by field just above


def _release_date(name: str, value: object) -> date | None:
    """A day, as a TOML date or as text; a TOML date with an hour is none."""
    if value is None:
        return None
    try:
        return date.fromisoformat(str(value))
    except ValueError as error:
        raise ConfigurationError(
            f"[endpoints.{name}]: release_date is not a day", hint="write release_date = 2026-01-31"
        ) from error


def _baseline_tokens(name: str, value: object) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise ConfigurationError(
            f"[endpoints.{name}]: baseline_tokens is not a number of tokens", hint="write baseline_tokens = 3"
        )
    return value
