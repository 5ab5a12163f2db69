"""Helpers that every provider builds its request with: JSON bytes, nested fields, refused settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sealbench.endpoints.base import EndpointSettings, HttpRequest
from sealbench.endpoints.settings import number
from sealbench.errors import ConfigurationError

JSON_HEADERS = {"content-type": "application/json", "accept": "application/json"}


def set_path(target: dict[str, Any], dotted: str, value: Any) -> None:
    """Set `a.b.c` in nested objects, making those that are missing."""
    *parents, last = dotted.split(".")
    for key in parents:
        child = target.get(key)
        if not isinstance(child, dict):
            child = target[key] = {}
        target = child
    target[last] = value


def merge_extra(target: dict[str, Any], extra: Any) -> None:
    """Put the user's extra request fields in, object by object; they win over the provider's own."""
    if not isinstance(extra, Mapping):
        return
    for key, value in extra.items():
        if isinstance(value, Mapping) and isinstance(target.get(key), dict):
            merge_extra(target[key], value)
        else:
            target[key] = value


def put_numbers(target: dict[str, Any], asked: Mapping[str, Any], **names: str) -> None:
    """Put in the settings of these names that are given, as JSON numbers under the API's own names."""
    for name, field_name in names.items():
        if (value := asked.get(name)) is not None:
            target[field_name] = number(value, name)


def json_request(
    url: str, body: dict[str, Any], headers: Mapping[str, str] | None = None, *, bearer: str | None = None
) -> HttpRequest:
    """A POST of a JSON body; `bearer` is the key for an Authorization header."""
    all_headers = {**JSON_HEADERS, **(headers or {})}
    if bearer:
        all_headers["authorization"] = f"Bearer {bearer}"
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return HttpRequest("POST", url, all_headers, data)


def refuse_settings(settings: EndpointSettings, *names: str) -> None:
    """ConfigurationError if one of these settings is asked of a provider that does not have it."""
    for name in names:
        if settings.settings.get(name) is not None:
            raise ConfigurationError(
                f"endpoint {settings.name}: {settings.provider} has no setting {name}",
                hint=f"remove {name}, or send the provider's own field under extra",
            )


def base_url_of(settings: EndpointSettings, default: str | None) -> str:
    """The configured base URL or the provider's; ConfigurationError if there is neither."""
    url = settings.base_url or default
    if url is None:
        raise ConfigurationError(
            f"endpoint {settings.name}: no address", hint='give base_url = "https://…" in sealbench.toml'
        )
    return url.rstrip("/")
