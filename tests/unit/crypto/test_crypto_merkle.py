"""Merkle trees against RFC 6962's own recursion; proofs that hold, and every change that breaks one."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sealbench.crypto import merkle
from sealbench.errors import ProofFailed

LEAVES = st.lists(st.binary(max_size=4), min_size=1, max_size=40).map(
    lambda data: [merkle.leaf_hash(one) for one in data]
)


def _root(leaves: list[bytes]) -> bytes:
    """RFC 6962 section 2.1, word for word."""
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return hashlib.sha256(b"\x01" + _root(leaves[:split]) + _root(leaves[split:])).digest()


@given(LEAVES)
def test_the_root_is_that_of_the_rfc(leaves: list[bytes]) -> None:
    assert merkle.root(leaves) == _root(leaves)


def test_the_empty_tree_has_the_hash_of_nothing() -> None:
    assert merkle.root([]) == merkle.EMPTY_ROOT == hashlib.sha256(b"").digest()


def test_a_salt_stands_before_the_data() -> None:
    assert merkle.leaf_hash(b"data", b"salt") == hashlib.sha256(b"\x00saltdata").digest()


@given(LEAVES, st.data())
def test_a_proof_holds_for_its_leaf_and_place_alone(leaves: list[bytes], data: st.DataObject) -> None:
    size, root = len(leaves), merkle.root(leaves)
    index = data.draw(st.integers(0, size - 1))
    path = merkle.Tree(leaves).inclusion_proof(index)
    merkle.verify_inclusion(leaves[index], index, size, path, root)
    other = data.draw(st.integers(0, size - 1))
    if leaves[other] != leaves[index]:
        with pytest.raises(ProofFailed):
            merkle.verify_inclusion(leaves[other], index, size, path, root)
        with pytest.raises(ProofFailed):
            merkle.verify_inclusion(leaves[index], other, size, path, root)


@given(LEAVES, st.data())
def test_every_changed_bit_of_a_proof_is_caught(leaves: list[bytes], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(leaves) - 1))
    path = merkle.Tree(leaves).inclusion_proof(index)
    whole = bytearray(b"".join([leaves[index], *path, merkle.root(leaves)]))
    position = data.draw(st.integers(0, len(whole) - 1))
    whole[position] ^= 1 << data.draw(st.integers(0, 7))
    parts = [bytes(whole[start : start + 32]) for start in range(0, len(whole), 32)]
    with pytest.raises(ProofFailed):
        merkle.verify_inclusion(parts[0], index, len(leaves), parts[1:-1], parts[-1])


def test_all_places_and_sizes_up_to_thirty_three() -> None:
    leaves = [merkle.leaf_hash(bytes([number])) for number in range(33)]
    for size in range(1, 34):
        tree = merkle.Tree(leaves[:size])
        root, paths = tree.root, [tree.inclusion_proof(index) for index in range(size)]
        for index, path in enumerate(paths):
            merkle.verify_inclusion(leaves[index], index, size, path, root)
            for bent in (path[:-1], [*path, bytes(32)], path[::-1]):
                if bent != path:
                    with pytest.raises(ProofFailed):
                        merkle.verify_inclusion(leaves[index], index, size, bent, root)


@pytest.mark.parametrize(("index", "size"), [(-1, 3), (3, 3), (0, 0)])
def test_a_place_outside_the_tree_is_refused(index: int, size: int) -> None:
    with pytest.raises(ProofFailed, match="outside a tree"):
        merkle.verify_inclusion(bytes(32), index, size, [], bytes(32))


@pytest.mark.parametrize("index", [-1, 3])
def test_no_proof_is_made_for_a_leaf_that_is_not_there(index: int) -> None:
    with pytest.raises(IndexError, match=r"outside 0\.\.2"):
        merkle.Tree([bytes(32)] * 3).inclusion_proof(index)


def test_a_node_cannot_pass_as_a_leaf() -> None:
    leaves = [merkle.leaf_hash(bytes([number])) for number in range(2)]
    assert merkle.leaf_hash(leaves[0] + leaves[1]) != merkle.root(leaves)
