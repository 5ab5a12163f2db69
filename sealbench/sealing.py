"""Seal a battery under its K, and open a sealed battery of this workspace again.

The envelope's cipher is not key-committing, so opening always ends with the committed root.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

from sealbench import store
from sealbench.crypto import encryption, merkle
from sealbench.crypto.derivation import ItemKeys, secret_commitment
from sealbench.errors import CheckFailed
from sealbench.formats.battery import (
    Battery,
    BatteryKey,
    Commitment,
    Item,
    Parameters,
    SealedBattery,
    associated_data,
)
from sealbench.store import Workspace


@dataclass(frozen=True)
class OpenBattery:
    """A battery of this workspace with its secret: commitment, items in sealed order, K."""

    commitment: Commitment
    items: tuple[Item, ...]
    secret: bytes


def leaf_hashes(secret: bytes, items: Sequence[Item]) -> list[bytes]:
    """The salted leaf hash of each item, in order (32 bytes each)."""
    salts = ItemKeys(secret).salts(len(items))
    return [merkle.leaf_hash(item.to_bytes(), salt) for item, salt in zip(items, salts, strict=True)]


def seal_battery(secret: bytes, battery: Battery, parameters: Parameters) -> SealedBattery:
    """The envelope of a battery; one K seals once."""
    ciphertext = encryption.seal(secret, battery.to_bytes(), associated_data(battery.name, parameters))
    return SealedBattery(
        name=battery.name, cipher=encryption.CIPHER, ciphertext=base64.b64encode(ciphertext).decode()
    )


def unseal_battery(secret: bytes, sealed: SealedBattery, commitment: Commitment) -> Battery:
    """Open an envelope and check it against its commitment.

    Raises
    ------
    CheckFailed : K is not the committed one, does not open it, or the items have another root.
    """
    name = commitment.name
    if secret_commitment(secret).hex() != commitment.secret_commitment:
        raise CheckFailed(f"{name}: this key is not the one committed to", hint="restore the right key file")
    plain = encryption.unseal(secret, sealed.ciphertext_bytes(), associated_data(name, commitment.parameters))
    battery = Battery.from_bytes(plain, f"{name} (decrypted)")
    if merkle.root(leaf_hashes(secret, battery.items)).hex() != commitment.root:
        raise CheckFailed(f"{name}: the decrypted items do not have the committed root", hint="seal verify")
    return battery


def read_commitment(workspace: Workspace, name: str) -> Commitment:
    """The commitment of a battery of this workspace; FormatError if there is none."""
    path = workspace.commitment(name)
    data = store.read(path, hint=f"seal create primality --name {name} --per-class 8")
    return Commitment.from_bytes(data, workspace.relative(path))


def open_battery(workspace: Workspace, name: str) -> OpenBattery:
    """Open a sealed battery with the key in `.seal/keys`.

    Raises
    ------
    MissingKey : the key is not on this machine.
    CheckFailed : envelope, key and commitment do not belong together.
    """
    commitment = read_commitment(workspace, name)
    path = workspace.sealed(name)
    sealed_bytes = store.read(path, hint="restore the file from version control")
    sealed = SealedBattery.from_bytes(sealed_bytes, workspace.relative(path))
    if sealed.digest() != commitment.sealed.sha256:
        raise CheckFailed(
            f"{workspace.relative(path)} is not the file committed to",
            hint="seal verify, then restore the file from version control",
        )
    key_path = workspace.battery_key(name)
    key_bytes = store.read_secret(
        key_path,
        hint="seal key restore BACKUP, or put the file back from your own copy; without K this battery can "
        "never be opened",
    )
    key = BatteryKey.from_bytes(key_bytes, str(key_path))
    battery = unseal_battery(key.secret_bytes(), sealed, commitment)
    return OpenBattery(commitment, battery.items, key.secret_bytes())
