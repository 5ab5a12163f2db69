"""`commitments/NAME.draft.json`: a battery announced before its beacon's block exists.

Source: docs/spec/draft.md. K and the parameters are bound here; no item exists until the block at
`height` does, because the seed of every item takes that block's hash in.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from sealbench.formats.base import Count, Hash, Identity, Instant, Name, Str
from sealbench.formats.battery import Parameters


class Draft(Identity):
    """What the author binds themselves to before anybody, the author included, can know an item."""

    schema_: Literal["sealbench/draft/v1"] = Field("sealbench/draft/v1", alias="schema")
    name: Name
    created_at: Instant
    tool_version: Str
    parameters: Parameters
    secret_commitment: Hash
    height: Count
