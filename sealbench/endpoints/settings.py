"""What an endpoint is: whom to ask, with which settings, at what price, within which limits.

A secret is never part of it: only the name of the environment variable that holds it. The record
(`to_record`, `from_record`) is what a frozen plan keeps; it lies in the canonical JSON profile, so
fractions are decimal strings and extra request fields, whose names are foreign, are one JSON text.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Any

from sealbench.errors import ConfigurationError, MissingKey

Json = None | bool | int | float | str | list[Any] | dict[str, Any]

SETTING_NAMES = (
    "temperature",
    "top_p",
    "seed",
    "reasoning_effort",
    "thinking_budget",
    "system",
    "api_version",
    "extra",
)
# Fields that the tool itself fills in, or that would change what one call means.
RESERVED_EXTRA = frozenset({"model", "messages", "input", "contents", "prompt", "stream", "n", "best_of"})
_FRACTIONS = ("temperature", "top_p")


@dataclass(frozen=True)
class Price:
    """USD per million tokens of prompt (`input`) and of charged answer (`output`)."""

    input: Decimal
    output: Decimal

    def cost(self, prompt_tokens: int, charged_tokens: int) -> Decimal:
        """USD for one call."""
        return (self.input * prompt_tokens + self.output * charged_tokens) / 1_000_000


@dataclass(frozen=True)
class Limits:
    """How hard one endpoint may be pushed.

    `max_connections` is the ceiling of calls in flight; `timeout` seconds for one attempt, body
    included; `max_attempts` and `max_elapsed` (seconds) bound the retries of one call;
    being told to wait (429) counts against the time alone.
    """

    max_connections: int = 16
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    timeout: float = 600.0
    max_attempts: int = 8
    max_elapsed: float = 1800.0


@dataclass(frozen=True)
class EndpointSettings:
    """One endpoint as the user named it, resolved.

    `name` as written (`openai/gpt-5.5`, `http://host:port/v1#model`, a configured name);
    `base_url` None means the provider's own, or for `reference` the server started for the run;
    `cap_parameter` None means the provider's default. `release_date` of the model and `baseline_tokens`
    (tokens of a minimal answer by its tokenizer) are for the report's verbosity measures alone.
    """

    name: str
    provider: str
    model: str
    base_url: str | None = None
    api_key_env: str | None = None
    cap_parameter: str | None = None
    settings: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    price: Price | None = None
    limits: Limits = Limits()
    release_date: date | None = None
    baseline_tokens: int | None = None

    def to_record(self) -> dict[str, Any]:
        """The part a plan freezes, in the canonical JSON profile: not limits, price, or what reports use."""
        settings: dict[str, Any] = {}
        for key, value in self.settings.items():
            if key == "extra":
                settings[key] = json.dumps(value, sort_keys=True, separators=(",", ":"))
            elif isinstance(value, float) or key in _FRACTIONS:
                settings[key] = str(value)
            else:
                settings[key] = value
        return {
            "name": self.name,
            "provider": self.provider,
            "model": self.model,
            "base_url": self.base_url,
            "api_key_env": self.api_key_env,
            "cap_parameter": self.cap_parameter,
            "settings": settings,
        }

    @classmethod
    def from_record(
        cls, record: Mapping[str, Any], *, price: Price | None = None, limits: Limits | None = None
    ) -> EndpointSettings:
        """The endpoint of a frozen plan, with today's price and limits."""
        settings = dict(record["settings"])
        if isinstance(settings.get("extra"), str):
            settings["extra"] = json.loads(settings["extra"])
        return cls(
            name=record["name"],
            provider=record["provider"],
            model=record["model"],
            base_url=record["base_url"],
            api_key_env=record["api_key_env"],
            cap_parameter=record["cap_parameter"],
            settings=MappingProxyType(settings),
            price=price,
            limits=limits or Limits(),
        )


def read_api_key(
    settings: EndpointSettings, *, required: bool, environ: Mapping[str, str] | None = None
) -> str | None:
    """The secret that `api_key_env` names, or None where none is needed; MissingKey if it is not set.

    The value appears in no error.
    """
    if settings.api_key_env is None:
        return None
    value = (os.environ if environ is None else environ).get(settings.api_key_env, "").strip()
    if not value:
        if not required:
            return None
        raise MissingKey(
            f"endpoint {settings.name}: the environment variable {settings.api_key_env} is not set",
            hint=f"export {settings.api_key_env}=… and run the same command again",
        )
    if not value.isascii() or not value.isprintable() or " " in value:
        raise ConfigurationError(
            f"endpoint {settings.name}: {settings.api_key_env} holds characters that no key can have",
            hint=f"set {settings.api_key_env} again, without quotes, blanks or line breaks",
        )
    return value


def number(value: Json, name: str) -> float | int:
    """A setting as a JSON number: numbers as they are, decimal strings (as plans keep them) converted."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        try:
            parsed = Decimal(value)
        except InvalidOperation:
            parsed = Decimal("NaN")
        if parsed.is_finite():
            return int(parsed) if parsed == parsed.to_integral_value() and "." not in value else float(parsed)
    raise ConfigurationError(
        f"{name} = {str(value)[:40]!r} is not a number", hint=f"write for example {name} = 0"
    )
