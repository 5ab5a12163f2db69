"""The canary follows from the commitment and stands in files only."""

from __future__ import annotations

import hashlib
import json
import uuid

from sealbench.formats.battery import Item
from sealbench.publishing.bundle_items import canary_guid, canary_text, item_lines

COMMITMENT = "ab" * 32


def test_the_guid_by_the_specifications_own_words() -> None:
    label = b"sealbench/v1/canary"
    parts = (label, bytes.fromhex(COMMITMENT))
    raw = bytearray(hashlib.sha256(b"".join(len(p).to_bytes(4, "big") + p for p in parts)).digest()[:16])
    raw[6] = raw[6] % 16 + 0x80
    raw[8] = raw[8] % 64 + 0x80
    found = uuid.UUID(canary_guid(COMMITMENT))
    assert found.bytes == bytes(raw)
    assert (found.version, found.variant) == (8, uuid.RFC_4122)
    assert canary_guid("cd" * 32) != canary_guid(COMMITMENT)


def test_lines_are_the_items_and_the_canary() -> None:
    item = Item(
        **dict.fromkeys(("id", "instance"), "0" * 16),
        **dict.fromkeys(("family", "class_label", "kind", "stratum", "wording", "category"), "x"),
        **dict.fromkeys(("prompt", "answer", "answer_type", "minimal_answer"), "Is 7 prime?"),
        search="none",
        params={"digits": 1},
        certificate={},
    )
    lines = item_lines([item, item], canary_text(COMMITMENT)).split(b"\n")
    assert len(lines) == 3
    assert lines[-1] == b""
    value = json.loads(lines[0])
    assert value.pop("canary") == canary_text(COMMITMENT)
    assert value == item.to_value()
    assert "canary" not in value["prompt"]
