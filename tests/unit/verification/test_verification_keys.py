"""Which key is in force where: rotation, revocation, and what trust in one key covers."""

from __future__ import annotations

from typing import Any

import pytest
from forgery import lines_of, rechain, relist

from sealbench.crypto.signature import AuthorKey
from sealbench.errors import FormatError
from sealbench.formats.registry import NO_LINE, Checkpoint, Registry, RegistryLine
from sealbench.store import ALLOWED_SIGNERS, REGISTRY
from sealbench.verification.keys import KeyRing
from sealbench.verification.policy import Policy
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier

OLD, NEW = AuthorKey.generate(), AuthorKey.generate()


def event(subject: str, detail: dict[str, Any], event: Any = "key") -> RegistryLine:
    return RegistryLine(
        seq=0, prev=NO_LINE, at="2026-12-01T00:00:00Z", event=event, subject=subject, files=(), detail=detail
    )


def key_event(key: AuthorKey, **more: Any) -> RegistryLine:
    return event(key.public.fingerprint, {"public_key": key.public.openssh, **more})


def ring(*lines: RegistryLine) -> KeyRing:
    return KeyRing.of(Registry.from_bytes(rechain(list(lines))))


def test_one_key_from_the_first_line_on() -> None:
    keys = ring(key_event(OLD))
    for seq in (0, 1, 99):
        found = keys.in_force(seq)
        assert found is not None
        assert found.raw == OLD.public.raw
    assert keys.allowed_signers == f"{OLD.public.allowed_signer}\n".encode()


def test_a_rotation_is_the_old_keys_act() -> None:
    keys = ring(key_event(OLD), event("x", {}, "deviation"), key_event(NEW))
    in_force = [keys.in_force(seq) for seq in range(5)]
    assert [key.raw == NEW.public.raw for key in in_force if key] == [False, False, False, True, True]
    assert [period.first for period in keys.rotations] == [2]


def test_a_revocation_voids_nothing_earlier() -> None:
    revoked = event(OLD.public.fingerprint, {"revoked": OLD.public.fingerprint})
    keys = ring(key_event(OLD), event("x", {}, "deviation"), revoked)
    assert [keys.in_force(seq) is not None for seq in range(5)] == [True, True, True, False, False]


def test_rotation_with_revocation() -> None:
    keys = ring(key_event(OLD), key_event(NEW, revoked=OLD.public.fingerprint))
    found = keys.in_force(2)
    assert found is not None
    assert found.raw == NEW.public.raw


@pytest.mark.parametrize(
    "line",
    [
        event("SHA256:x", {}),
        event("SHA256:x", {"public_key": OLD.public.openssh}),
        event(OLD.public.fingerprint, {"public_key": "ssh-rsa AAAA"}),
    ],
)
def test_a_key_line_without_its_key_is_named(line: RegistryLine) -> None:
    with pytest.raises(FormatError, match="line 2"):
        ring(key_event(OLD), line)


def small_tree(lines: list[RegistryLine], signers: dict[int, AuthorKey]) -> PublicTree:
    """A workspace of key events alone, with one checkpoint for each size and signer."""
    registry = Registry.from_bytes(rechain(lines))
    files = {REGISTRY: rechain(lines), ALLOWED_SIGNERS: KeyRing.of(registry).allowed_signers}
    for size, key in signers.items():
        checkpoint = Checkpoint(
            author=key.public.fingerprint,
            registry=registry.first,
            size=size,
            head=registry.hashes[size - 1],
        )
        path = f"commitments/checkpoints/{size}.json"
        files[path] = checkpoint.to_bytes()
        files[path + ".sig"] = key.sign(files[path])
    return relist(PublicTree(files))


LINES = [key_event(OLD), key_event(NEW), event("x", {}, "deviation")]


def verify(tree: PublicTree, *trusted: AuthorKey) -> Any:
    keys = tuple(key.public for key in trusted)
    return Verifier(Policy(accept_unanchored=True, trusted_keys=keys)).verify(tree)


def test_rotation_verifies_and_trust_is_handed_on() -> None:
    tree = small_tree(LINES, {1: OLD, 2: OLD, 3: NEW})
    assert verify(tree).verdict == "ok_except_time"
    trusting = verify(tree, OLD)
    assert trusting.verdict == "ok_except_time"
    assert "handed over" in trusting.step(2)[0].detail
    # Trust in the new key says nothing of what the old one signed.
    assert verify(tree, NEW).verdict == "unchecked"
    assert verify(tree, AuthorKey.generate()).verdict == "fail"


def test_a_thief_cannot_rotate() -> None:
    """Lines appended to somebody's registry by a person without the old key."""
    forged = verify(small_tree(LINES, {1: OLD, 2: NEW, 3: NEW}))
    assert any(one.step == 2 and "names" in one.detail for one in forged.failures)
    unshown = verify(small_tree(LINES, {1: OLD, 3: NEW}))
    assert any("shows that the old key's owner did so" in one.detail for one in unshown.failures)


def test_a_revoked_key_signs_nothing_more() -> None:
    revoked = event(OLD.public.fingerprint, {"revoked": OLD.public.fingerprint})
    lines = [key_event(OLD), revoked, event("x", {}, "deviation")]
    assert verify(small_tree(lines, {1: OLD, 2: OLD})).verdict == "pending"  # the last line is uncovered
    late = verify(small_tree(lines, {1: OLD, 2: OLD, 3: OLD}))
    assert any("no key was in force at registry line 3" in one.detail for one in late.failures)


def test_without_a_readable_key_nothing_is_signed() -> None:
    line = event("SHA256:x", {"network": "mainnet"})
    tree = relist(PublicTree({REGISTRY: rechain([line])}))
    result = verify(tree)
    assert any("no key to check signatures with" in one.detail for one in result.step(2))
    assert result.self_declared is None
    assert lines_of(tree)[0].event == "key"
