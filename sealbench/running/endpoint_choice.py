"""From an endpoint's name to the record that plans and runs keep of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sealbench.endpoints.base import get_provider, resolve
from sealbench.formats.preregistration import Endpoint


def freeze_endpoint(name: str, configured: Mapping[str, Mapping[str, Any]]) -> Endpoint:
    """The endpoint's record with its cap parameter settled; UsageError for a name that means nothing.

    `configured` is the `[endpoints]` table of sealbench.toml. No key is read, no network touched.
    """
    resolved = resolve(name, configured)
    record = resolved.to_record()
    record["cap_parameter"] = record["cap_parameter"] or get_provider(resolved.provider).default_cap_parameter
    return Endpoint.from_value({**record, "probed": False}, f"endpoint {name}")
