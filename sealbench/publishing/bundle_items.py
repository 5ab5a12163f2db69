"""A retired battery as a data set: one line per item, each with the canary string.

The canary stands in files only, never in a prompt: it lets whoever trains on public text leave these
files out, and lets anyone ask a model whether they were left in. It follows from the commitment, so a
verifier computes it again. Source: docs/spec/retired.md.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from sealbench.crypto import canonical
from sealbench.crypto.digest import tagged_sha256
from sealbench.formats.battery import Item

_LABEL = "sealbench/v1/canary"


def canary_guid(commitment_sha256: str) -> str:
    """The GUID of a commitment file with this SHA-256 (hex): a UUID of version 8 (RFC 9562)."""
    raw = bytearray(tagged_sha256(_LABEL, bytes.fromhex(commitment_sha256))[:16])
    raw[6] = raw[6] & 0x0F | 0x80
    raw[8] = raw[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(raw)))


def canary_text(commitment_sha256: str) -> str:
    """The canary string, one line without a line feed."""
    return f"sealbench canary {canary_guid(commitment_sha256)}: evaluation data, not for training corpora"


def item_lines(items: Sequence[Item], canary: str) -> bytes:
    """`items.jsonl`: each item's canonical JSON with the field `canary`, in sealed order."""
    return b"".join(canonical.encode({**item.to_value(), "canary": canary}) + b"\n" for item in items)
