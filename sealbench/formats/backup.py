"""A backup of a workspace's private keys under a passphrase (`seal key backup`)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from sealbench.formats.base import Fingerprint, Instant, Name, Record, Str
from sealbench.formats.battery import BatteryKey, is_base64

Salt = Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9a-f]{32}$")]


class KeyBackup(Record):
    """What is in the open, and the ciphertext of a `KeySet`."""

    schema_: Literal["sealbench/backup/v1"] = Field("sealbench/backup/v1", alias="schema")
    author: Fingerprint
    made_at: Instant
    batteries: tuple[Name, ...]
    kdf: Literal["scrypt-131072-8-1"]
    salt: Salt
    ciphertext: Annotated[Str, AfterValidator(is_base64)]


class KeySet(Record):
    """The author's private key (OpenSSH text) and every battery's K."""

    author_key: Str
    battery_keys: tuple[BatteryKey, ...]
