"""`commitments/reveals/…`: some items opened, or a derived battery shown to be part of its parent.

Source: docs/spec/reveal.md. Both are checked against the roots that the commitments name, never
against a root of their own.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from sealbench.crypto import merkle
from sealbench.errors import ProofFailed
from sealbench.formats.base import Count, FileHash, Hash, Identity, Name, Record
from sealbench.formats.battery import Item


class OpenedItem(Record):
    """One leaf opened: its place, the item, its salt, and the siblings from the leaf's level up."""

    index: Count
    item: Item
    salt: Hash
    path: tuple[Hash, ...]

    def leaf(self) -> bytes:
        """The leaf's hash (32 bytes)."""
        return merkle.leaf_hash(self.item.to_bytes(), bytes.fromhex(self.salt))


class Reveal(Identity):
    """`commitments/reveals/NAME-N.json`: every wording of some instances of a sealed battery.

    `items` is the size of the committed tree, `root` its root; both repeat the commitment's.
    """

    schema_: Literal["sealbench/reveal/v1"] = Field("sealbench/reveal/v1", alias="schema")
    battery: Name
    commitment: FileHash
    root: Hash
    items: Count
    entries: tuple[OpenedItem, ...] = Field(min_length=1)


class SharedLeaf(Record):
    """One leaf of a derived battery, and where it stands in the parent's tree. Opens nothing."""

    leaf: Hash
    index: Count
    path: tuple[Hash, ...]


class Subset(Identity):
    """`commitments/reveals/NAME-subset.json`: the derived battery's leaves are leaves of its parent.

    `leaves` stand in the derived battery's order, which is the parent's.
    """

    schema_: Literal["sealbench/subset/v1"] = Field("sealbench/subset/v1", alias="schema")
    battery: Name
    commitment: FileHash
    root: Hash
    parent: Name
    parent_commitment: FileHash
    parent_root: Hash
    parent_items: Count
    leaves: tuple[SharedLeaf, ...] = Field(min_length=1)


def check_opened(entries: tuple[OpenedItem, ...], size: int, root: str) -> None:
    """Each entry is a leaf of the tree with this size and root, and no place is opened twice.

    Raises
    ------
    ProofFailed : names the item.
    """
    previous = -1
    for entry in entries:
        if entry.index <= previous:
            raise ProofFailed(f"item {entry.item.id}: entries are not in ascending order of their index")
        previous = entry.index
        _check_path(entry.leaf(), entry.index, size, entry.path, root, f"item {entry.item.id}")


def check_subset(leaves: tuple[SharedLeaf, ...], root: str, parent_size: int, parent_root: str) -> None:
    """The leaves give the derived root and each is a leaf of the parent's tree, in the parent's order.

    Raises
    ------
    ProofFailed : names the leaf.
    """
    if merkle.root([bytes.fromhex(one.leaf) for one in leaves]).hex() != root:
        raise ProofFailed("the leaf hashes do not give the derived battery's root")
    previous = -1
    for number, one in enumerate(leaves):
        if one.index <= previous:
            raise ProofFailed(f"leaf {number}: does not follow the parent's order")
        previous = one.index
        _check_path(bytes.fromhex(one.leaf), one.index, parent_size, one.path, parent_root, f"leaf {number}")


def _check_path(leaf: bytes, index: int, size: int, path: tuple[str, ...], root: str, what: str) -> None:
    siblings = [bytes.fromhex(step) for step in path]
    try:
        merkle.verify_inclusion(leaf, index, size, siblings, bytes.fromhex(root))
    except ProofFailed as error:
        raise ProofFailed(f"{what}: {error.message}") from error
