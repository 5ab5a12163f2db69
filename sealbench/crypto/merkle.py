"""The RFC 6962 Merkle tree: leaf and node hashes, root, inclusion proofs.

    leaf = SHA-256(0x00 ‖ data)      node = SHA-256(0x01 ‖ left ‖ right)

For a battery, `data` is the item's secret salt followed by the canonical item, so a published path
tells nothing of its neighbours. Source: RFC 6962 section 2.1; docs/spec/merkle.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from sealbench.crypto.digest import sha256
from sealbench.errors import ProofFailed

EMPTY_ROOT = sha256(b"")


def leaf_hash(data: bytes, salt: bytes = b"") -> bytes:
    """Hash of one leaf (32 bytes); `salt` goes in front of the data."""
    return sha256(b"\x00" + salt + data)


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash of an inner node (32 bytes)."""
    return sha256(b"\x01" + left + right)


class Tree:
    """The tree over these leaf hashes (32 bytes each), hashed once: its root and any leaf's audit path.

    RFC 6962 splits at the largest power of two below n, which is the same tree as pairing each level
    from the left and lifting an odd last node unchanged.
    """

    def __init__(self, leaves: Sequence[bytes]) -> None:
        level = tuple(leaves)
        levels = [level]
        while len(level) > 1:
            lifted = level[-1:] if len(level) % 2 else ()
            paired = (node_hash(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2))
            level = (*paired, *lifted)
            levels.append(level)
        self._levels = levels

    @property
    def leaves(self) -> tuple[bytes, ...]:
        """The leaf hashes, in order."""
        return self._levels[0]

    @property
    def root(self) -> bytes:
        """Merkle tree hash (32 bytes); SHA-256 of nothing for a tree without leaves."""
        return self._levels[-1][0] if self.leaves else EMPTY_ROOT

    def inclusion_proof(self, index: int) -> list[bytes]:
        """Audit path of leaf `index`, from the leaf's level up (RFC 6962 section 2.1.1).

        Raises
        ------
        IndexError : no such leaf.
        """
        if not 0 <= index < len(self.leaves):
            raise IndexError(f"a leaf index outside 0..{len(self.leaves) - 1}")
        path = []
        for level in self._levels[:-1]:
            sibling = index ^ 1
            if sibling < len(level):
                path.append(level[sibling])
            index >>= 1
        return path


def root(leaves: Sequence[bytes]) -> bytes:
    """Merkle tree hash of these leaf hashes, in order (32 bytes)."""
    return Tree(leaves).root


def verify_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], expected: bytes) -> None:
    """Check that `leaf` is at `index` of a tree of `size` leaves with root `expected`.

    Raises
    ------
    ProofFailed : the path does not lead to that root (RFC 9162 section 2.1.3.2).
    """
    if not 0 <= index < size:
        raise ProofFailed(f"inclusion proof: index {index} lies outside a tree of {size} leaves")
    node, position, last = leaf, index, size - 1
    for step in path:
        if last == 0:
            raise ProofFailed("inclusion proof: the path is longer than the tree is high")
        if position & 1 or position == last:
            node = node_hash(step, node)
            # A lifted last node skips the levels on which it has no sibling.
            while not position & 1 and position:
                position >>= 1
                last >>= 1
        else:
            node = node_hash(node, step)
        position >>= 1
        last >>= 1
    if last != 0 or node != expected:
        raise ProofFailed("inclusion proof: the path does not lead to the committed root")
