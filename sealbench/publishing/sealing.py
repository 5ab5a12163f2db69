"""Seal a battery under its K, and open a sealed battery of this workspace again.

The envelope's cipher is not key-committing, so opening always ends with the committed root. A derived
battery has no K and no envelope: it is opened through its parent, and its leaves are the parent's.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from sealbench import store
from sealbench.crypto import encryption, merkle
from sealbench.crypto.derivation import ItemKeys, secret_commitment
from sealbench.errors import CheckFailed, NotYet, UsageError
from sealbench.formats.battery import (
    Battery,
    BatteryKey,
    Commitment,
    FamilyParameters,
    Item,
    Parameters,
    SealedBattery,
    associated_data,
    item_bytes,
)
from sealbench.formats.reveal import OpenedItem
from sealbench.store import Workspace


@dataclass(frozen=True)
class OpenBattery:
    """A battery of this workspace with its secret: commitment, items in sealed order, K.

    `tree` is over the items' leaves in the same order. `places` are the items' places under K, by which
    their salts are derived: those in the parent for a derived battery.
    """

    commitment: Commitment
    items: tuple[Item, ...]
    secret: bytes
    tree: merkle.Tree
    places: tuple[int, ...]


def leaf_hashes(secret: bytes, encoded: Sequence[bytes]) -> list[bytes]:
    """The salted leaf hash of each item, from its canonical bytes, in order (32 bytes each)."""
    salts = ItemKeys(secret).salts(len(encoded))
    return [merkle.leaf_hash(item, salt) for item, salt in zip(encoded, salts, strict=True)]


def seal_battery(secret: bytes, name: str, plain: bytes, parameters: Parameters) -> SealedBattery:
    """The envelope of a battery's canonical bytes; one K seals once."""
    ciphertext = encryption.seal(secret, plain, associated_data(name, parameters))
    return SealedBattery(
        name=name, cipher=encryption.CIPHER, ciphertext=base64.b64encode(ciphertext).decode()
    )


def unseal_battery(secret: bytes, sealed: SealedBattery, commitment: Commitment) -> OpenBattery:
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
    tree = merkle.Tree(leaf_hashes(secret, item_bytes(plain)))
    if tree.root.hex() != commitment.root:
        raise CheckFailed(f"{name}: the decrypted items do not have the committed root", hint="seal verify")
    return OpenBattery(commitment, battery.items, secret, tree, tuple(range(len(battery.items))))


def select_indices(items: Sequence[Item], families: Sequence[FamilyParameters]) -> list[int]:
    """Which of a parent's items make up a derived battery, by their place in the parent's sealed order.

    Of each family, class and kind the first `per_class` instances in that order, in all wordings. The
    order is a secret shuffle, so which ones come first tells nothing and nobody picked them.

    Raises
    ------
    UsageError : the parent has no such family, or too few instances of some class and kind.
    """
    wanted = {family.family: family.per_class for family in families}
    groups: dict[tuple[str, str, str], dict[str, None]] = {}
    for item in items:
        if item.family in wanted:
            groups.setdefault((item.family, item.class_label, item.kind), {})[item.instance] = None
    missing = sorted(set(wanted) - {family for family, _, _ in groups})
    if missing:
        raise UsageError(f"the parent holds no item of {', '.join(missing)}", hint="name its families")
    chosen: set[str] = set()
    for (family, label, kind), instances in groups.items():
        if len(instances) < wanted[family]:
            raise UsageError(
                f"the parent holds {len(instances)} instances of {family}, {label} ({kind})",
                hint=f"--per-class {len(instances)}, or fewer",
            )
        chosen.update(list(instances)[: wanted[family]])
    return [index for index, item in enumerate(items) if item.instance in chosen]


def parent_of(commitment: Commitment) -> str | None:
    """The name of the battery that this one is derived from, if any."""
    named = commitment.derived_from
    return None if named is None else PurePosixPath(named.path).stem


def derived_batteries(workspace: Workspace, parent: str) -> list[Commitment]:
    """The commitments of all batteries derived from this one, by name."""
    found = []
    for path in sorted((workspace.root / "commitments").glob("*.json")):
        if _is_commitment(workspace, path.stem):
            commitment = read_commitment(workspace, path.stem)
            if parent_of(commitment) == parent:
                found.append(commitment)
    return found


def _is_commitment(workspace: Workspace, stem: str) -> bool:
    """Whether `commitments/STEM.json` is a commitment and no other file of that folder."""
    return "." not in stem and f"commitments/{stem}.json" != store.FILES


def read_commitment(workspace: Workspace, name: str) -> Commitment:
    """The commitment of a battery of this workspace.

    Raises
    ------
    NotYet : the battery is a draft whose block has not come.
    FormatError : there is no such battery.
    """
    path = workspace.commitment(name)
    if not path.exists() and workspace.draft(name).exists():
        raise NotYet(
            f"{name} is a draft: its items are drawn once its block is known",
            hint=f"seal create --from-draft {name}",
        )
    data = store.read(path, hint=f"seal create primality --name {name} --per-class 8")
    return Commitment.from_bytes(data, workspace.relative(path))


def open_battery(workspace: Workspace, name: str, *, published: bool = False) -> OpenBattery:
    """Open a sealed battery with the key in `.seal/keys`; a derived one through its parent.

    Parameters
    ----------
    published : take the key that retirement published, on anyone's machine.

    Raises
    ------
    MissingKey : the key is not on this machine.
    CheckFailed : envelope, key and commitment do not belong together.
    """
    commitment = read_commitment(workspace, name)
    parent = parent_of(commitment)
    if parent is not None:
        return _open_derived(commitment, open_battery(workspace, parent, published=published))
    path = workspace.sealed(name)
    sealed_bytes = store.read(path, hint="restore the file from version control")
    sealed = SealedBattery.from_bytes(sealed_bytes, workspace.relative(path))
    if sealed.digest() != commitment.sealed.sha256:
        raise CheckFailed(
            f"{workspace.relative(path)} is not the file committed to",
            hint="seal verify, then restore the file from version control",
        )
    secret = _published_secret(workspace, name) if published else read_secret(workspace, name)
    return unseal_battery(secret, sealed, commitment)


def read_secret(workspace: Workspace, name: str) -> bytes:
    """K of a battery (32 bytes); MissingKey with the way to restore it."""
    path = workspace.battery_key(name)
    data = store.read_secret(
        path,
        hint="seal key restore BACKUP, or put the file back from your own copy; without K this battery can "
        "never be opened",
    )
    return BatteryKey.from_bytes(data, str(path)).secret_bytes()


def _published_secret(workspace: Workspace, name: str) -> bytes:
    path = workspace.retired(name) / "key.json"
    data = store.read(path, hint=f"seal retire {name} publishes it")
    return BatteryKey.from_bytes(data, workspace.relative(path)).secret_bytes()


def open_items(battery: OpenBattery, indices: Sequence[int]) -> tuple[OpenedItem, ...]:
    """Items with salt and path, in ascending order of their index."""
    keys = ItemKeys(battery.secret)
    return tuple(
        OpenedItem(
            index=index,
            item=battery.items[index],
            salt=keys.salt(battery.places[index]).hex(),
            path=tuple(step.hex() for step in battery.tree.inclusion_proof(index)),
        )
        for index in sorted(indices)
    )


def _open_derived(commitment: Commitment, parent: OpenBattery) -> OpenBattery:
    """The items that the derived battery's parameters choose among its parent's, checked by its root."""
    name = commitment.name
    named = commitment.derived_from
    if named is None or named.sha256 != parent.commitment.digest():
        raise CheckFailed(f"{name} is derived from another {parent.commitment.name}", hint="seal verify")
    indices = select_indices(parent.items, commitment.parameters.families)
    tree = merkle.Tree([parent.tree.leaves[index] for index in indices])
    if tree.root.hex() != commitment.root:
        raise CheckFailed(f"{name}: the parent's items do not have the committed root", hint="seal verify")
    items = tuple(parent.items[index] for index in indices)
    return OpenBattery(commitment, items, parent.secret, tree, tuple(indices))
