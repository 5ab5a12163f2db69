"""The author's key and the batteries' keys: back up, restore, rotate, revoke."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sealbench import store
from sealbench.clock import Clock, system_clock
from sealbench.crypto import passphrase as passphrases
from sealbench.crypto.signature import AuthorKey, PublicKey
from sealbench.errors import UsageError
from sealbench.formats.backup import KeyBackup, KeySet
from sealbench.formats.base import format_instant
from sealbench.formats.battery import BatteryKey
from sealbench.publishing.publication import author_key, publish, read_registry, refuse_damage
from sealbench.store import Workspace

KDF = "scrypt-131072-8-1"


@dataclass(frozen=True)
class KeyEvent:
    """One key of the registry: when it came in and, if so, when it was revoked (registry lines from 1)."""

    public: PublicKey
    line: int
    revoked: int | None
    current: bool


def list_keys(workspace: Workspace) -> list[KeyEvent]:
    """Every key the registry names, oldest first."""
    registry = read_registry(workspace)
    found: list[KeyEvent] = []
    for line in registry.events("key"):
        revoked = line.detail.get("revoked")
        found = [
            KeyEvent(key.public, key.line, line.seq + 1, False) if key.public.fingerprint == revoked else key
            for key in found
        ]
        if "public_key" in line.detail:
            public = PublicKey.from_openssh(str(line.detail["public_key"]))
            found = [KeyEvent(key.public, key.line, key.revoked, False) for key in found]
            found.append(KeyEvent(public, line.seq + 1, None, True))
    return found


def backup_keys(
    workspace: Workspace, target: Path, passphrase: str, *, clock: Clock = system_clock
) -> KeyBackup:
    """Write the author's key and every K into one file under a passphrase.

    Raises
    ------
    UsageError : the file exists, or the passphrase is too short.
    MissingKey : the author's key is not here.
    """
    key = author_key(workspace)
    batteries = sorted((workspace.private / "keys").glob("*.key"))
    secrets = tuple(
        BatteryKey.from_bytes(store.read_secret(path, hint="restore it from an earlier backup"), path.name)
        for path in batteries
    )
    own = store.read_secret(workspace.author_key, hint="seal key restore BACKUP").decode("ascii")
    plain = KeySet(author_key=own, battery_keys=secrets).to_bytes()
    salt, ciphertext = passphrases.protect(passphrase, plain)
    backup = KeyBackup(
        author=key.public.fingerprint,
        made_at=format_instant(clock()),
        batteries=tuple(secret.name for secret in secrets),
        kdf=KDF,
        salt=salt.hex(),
        ciphertext=base64.b64encode(ciphertext).decode(),
    )
    store.write_new(target, backup.to_bytes(), mode=0o600)
    return backup


def restore_keys(workspace: Workspace, source: Path, passphrase: str) -> list[Path]:
    """Put back every key of a backup that is not here; keys that are here are never overwritten."""
    backup = KeyBackup.from_bytes(store.read(source), source.name)
    plain = passphrases.recover(passphrase, bytes.fromhex(backup.salt), base64.b64decode(backup.ciphertext))
    keys = KeySet.from_bytes(plain, f"{source.name} (decrypted)")
    wanted = {workspace.author_key: keys.author_key.encode()}
    wanted |= {workspace.battery_key(key.name): key.to_bytes() for key in keys.battery_keys}
    restored = []
    for path, data in wanted.items():
        if not path.exists():
            store.write_new(path, data, mode=0o600)
            restored.append(path)
    return restored


def rotate_key(
    workspace: Workspace, *, revoke: bool = False, clock: Clock = system_clock
) -> tuple[PublicKey, PublicKey]:
    """Put a fresh key in force; the old one signs the registry line that names it.

    Parameters
    ----------
    revoke : also revoke the old key. What it signed before stays valid.

    Returns
    -------
    (old, new)
    """
    fresh = AuthorKey.generate()
    # The new key is on disk before any line names it; the next command finishes an interrupted swap.
    store.replace(workspace.next_author_key, fresh.to_openssh(), mode=0o600)
    with publish(workspace, clock) as publication:
        refuse_damage(workspace)
        old = publication.key.public
        detail: dict[str, Any] = {"public_key": fresh.public.openssh, "previous": old.fingerprint}
        if revoke:
            detail["revoked"] = old.fingerprint
        publication.event("key", fresh.public.fingerprint, [], detail)
    return old, fresh.public


def revoke_key(workspace: Workspace, fingerprint: str, *, clock: Clock = system_clock) -> None:
    """Revoke an earlier key, or the current one by rotating it out.

    Raises
    ------
    UsageError : the registry names no such key, or it is revoked already.
    """
    known = {key.public.fingerprint: key for key in list_keys(workspace)}
    key = known.get(fingerprint)
    if key is None:
        raise UsageError(f"the registry names no key {fingerprint}", hint="seal key show")
    if key.revoked is not None:
        raise UsageError(f"{fingerprint} was revoked at registry line {key.revoked}", hint="seal key show")
    if key.current:
        rotate_key(workspace, revoke=True, clock=clock)
        return
    with publish(workspace, clock) as publication:
        refuse_damage(workspace)
        publication.event("key", fingerprint, [], {"revoked": fingerprint})
