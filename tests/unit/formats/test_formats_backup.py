"""Key backups: strict like every other document, and their ciphertext has one spelling."""

from __future__ import annotations

from typing import Any

import pytest

from sealbench.errors import FormatError
from sealbench.formats.backup import KeyBackup, KeySet

BACKUP: dict[str, Any] = {
    "schema": "sealbench/backup/v1",
    "author": "SHA256:" + "A" * 43,
    "made_at": "2026-12-01T00:00:00Z",
    "batteries": ["primes"],
    "kdf": "scrypt-131072-8-1",
    "salt": "0" * 32,
    "ciphertext": "AQI=",
}


def test_a_backup_and_its_keys_come_back() -> None:
    backup = KeyBackup.from_value(BACKUP)
    assert KeyBackup.from_bytes(backup.to_bytes()) == backup
    key = {"schema": "sealbench/key/v1", "name": "primes", "secret": "0" * 64}
    keys = KeySet.from_value({"author_key": "text", "battery_keys": [key]})
    assert KeySet.from_bytes(keys.to_bytes()) == keys


@pytest.mark.parametrize(
    ("field", "value"),
    [("kdf", "scrypt-2-8-1"), ("salt", "0" * 31), ("ciphertext", "AQJ="), ("batteries", ["A"]), ("more", 1)],
)
def test_anything_else_is_refused(field: str, value: object) -> None:
    with pytest.raises(FormatError):
        KeyBackup.from_value({**BACKUP, field: value})
