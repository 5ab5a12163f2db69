"""Files of a battery: items, parameters, sealed envelope, commitment, secret key.

Source: docs/spec/battery.md. `batteries/NAME.sealed.json` and `commitments/NAME.json` are public
from the start; the key and the plain battery become public at retirement.
"""

from __future__ import annotations

import base64
import json
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from sealbench.crypto.digest import join_parts
from sealbench.formats.base import (
    Count,
    Decimal,
    FileHash,
    Hash,
    Identifier,
    Identity,
    Instant,
    JsonObject,
    Label,
    Name,
    Record,
    Str,
)

Search = Literal["exhaustive", "witness", "none"]


class Item(Record):
    """One problem in one wording: what a leaf of the commitment's tree is made of."""

    id: Identifier
    instance: Identifier
    family: Label
    class_label: Label
    kind: Label
    stratum: Label
    search: Search
    wording: Label
    category: Label
    prompt: Str
    answer: Str
    answer_type: Str
    minimal_answer: Str
    params: JsonObject
    certificate: JsonObject


class FamilyParameters(Record):
    """One family's share of a battery: its version, its source's hash, how many, and which sizes."""

    family: Label
    version: Count
    source_sha256: Hash
    per_class: Count
    parameters: JsonObject


class Parameters(Record):
    """The public parameters: with K they determine every item."""

    families: tuple[FamilyParameters, ...]
    wordings: tuple[Label, ...]


class Battery(Record):
    """The plain battery: what the envelope holds, and what retirement publishes."""

    schema_: Literal["sealbench/battery/v1"] = Field("sealbench/battery/v1", alias="schema")
    name: Name
    items: tuple[Item, ...]


def item_bytes(battery_bytes: bytes) -> list[bytes]:
    """The canonical bytes of each item, cut out of those of a whole battery, in its order.

    A battery's encoding holds its items' encodings one after the other, so a large battery's leaves
    need no second encoding. Only for bytes that `Battery.from_bytes` has read.
    """
    text = battery_bytes.decode("utf-8")
    start = text.index("[") + 1  # keys are sorted: {"items":[ comes first
    scan = json.JSONDecoder().raw_decode
    cut = []
    while text[start] == "{":
        _, end = scan(text, start)
        cut.append(text[start:end].encode("utf-8"))
        start = end + 1  # past the comma, or past the bracket that ends the list
    return cut


def is_base64(text: str) -> str:
    """The text, if it is base64 in its usual spelling (ValueError otherwise)."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError as error:  # not base64, or not ASCII
        raise ValueError("not base64") from error
    if base64.b64encode(data).decode() != text:
        raise ValueError("not base64 in its usual spelling")
    return text


class SealedBattery(Record):
    """The envelope `batteries/NAME.sealed.json`."""

    schema_: Literal["sealbench/sealed/v1"] = Field("sealbench/sealed/v1", alias="schema")
    name: Name
    cipher: Literal["ChaCha20-Poly1305"]
    ciphertext: Annotated[Str, AfterValidator(is_base64)]

    def ciphertext_bytes(self) -> bytes:
        """The ciphertext with its tag."""
        return base64.b64decode(self.ciphertext)


def associated_data(name: str, parameters: Parameters) -> bytes:
    """What the envelope authenticates without hiding: the battery's name and public parameters."""
    return join_parts(name, parameters.to_bytes())


class Block(Record):
    """A block by height and hash (display order, 64 hex digits)."""

    height: Count
    hash: Hash


class Baseline(Record):
    """What one short cut without any search scores on this battery."""

    family: Label
    baseline: Label
    accuracy: Decimal


class Commitment(Identity):
    """`commitments/NAME.json`: what the author binds themselves to."""

    schema_: Literal["sealbench/commitment/v1"] = Field("sealbench/commitment/v1", alias="schema")
    name: Name
    created_at: Instant
    tool_version: Str
    mode: Literal["sealed", "beacon"]
    draft: FileHash | None
    beacon: Block | None
    parameters: Parameters
    secret_commitment: Hash
    items: Count
    instances: Count
    root: Hash
    sealed: FileHash
    baselines: tuple[Baseline, ...]
    supersedes: FileHash | None
    supersedes_void: Str | None
    derived_from: FileHash | None

    @model_validator(mode="after")
    def _consistent(self) -> Commitment:
        if {self.draft is not None, self.beacon is not None} != {self.mode == "beacon"}:
            raise ValueError("beacon mode needs a draft and a beacon block, and only beacon mode has them")
        return self


class BatteryKey(Record):
    """The secret K of one battery: `.seal/keys/NAME.key`, and `batteries/NAME/key.json` once retired."""

    schema_: Literal["sealbench/key/v1"] = Field("sealbench/key/v1", alias="schema")
    name: Name
    secret: Hash

    def secret_bytes(self) -> bytes:
        """K, 32 bytes."""
        return bytes.fromhex(self.secret)
