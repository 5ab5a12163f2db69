"""Step 2: every signed file carries a signature by the key in force at its registry line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sealbench.crypto.signature import PublicKey
from sealbench.errors import SealError
from sealbench.store import ALLOWED_SIGNERS, CHECKPOINTS, REGISTRY
from sealbench.verification.evidence import Evidence
from sealbench.verification.keys import KeyRing
from sealbench.verification.steps import Results, StepResult, fail, not_checked, ok

STEP = 2


class _Signed(NamedTuple):
    """A signed file, the author it names, and its registry line (from 0); None if no line names it."""

    path: str
    author: str
    line: int | None


def check_signatures(evidence: Evidence) -> Results:
    """One result per signed file; checkpoints, of which there are many, share one OK."""
    keys = evidence.keys
    if keys is None:
        yield fail(STEP, REGISTRY, f"no key to check signatures with: {evidence.keys_error}")
        return
    yield from _check_key_files(evidence, keys)
    for signed in _documents(evidence):
        yield _check(evidence, keys, signed)
    checked = [_check(evidence, keys, signed) for signed in _checkpoints(evidence)]
    wrong = [result for result in checked if result.status != "ok"]
    yield from wrong
    if checked and not wrong:
        yield ok(STEP, CHECKPOINTS, f"{len(checked)} checkpoints {_signed_by(checked)}")


def _check_key_files(evidence: Evidence, keys: KeyRing) -> Iterator[StepResult]:
    if evidence.tree.get(ALLOWED_SIGNERS) != keys.allowed_signers:
        yield fail(STEP, ALLOWED_SIGNERS, "does not hold exactly the registry's keys")
    if evidence.policy.trusted_keys and not any(evidence.policy.trusts(one.key) for one in keys.periods):
        own = ", ".join(period.key.fingerprint for period in keys.periods)
        yield fail(STEP, REGISTRY, f"none of the registry's keys is one you trust: it is kept by {own}")
    for period in keys.rotations:
        if period.first + 1 not in evidence.checkpoints:
            yield fail(
                STEP,
                REGISTRY,
                f"line {period.first + 1} brings in the key {period.key.fingerprint}, and no checkpoint of "
                f"size {period.first + 1} shows that the old key's owner did so",
            )


def _documents(evidence: Evidence) -> Iterator[_Signed]:
    for path, document in evidence.identities.items():
        yield _Signed(path, document.author, evidence.line_of(path))


def _checkpoints(evidence: Evidence) -> Iterator[_Signed]:
    for size, checkpoint in evidence.checkpoints.items():
        # A checkpoint is the act that closes its last line; one of size 0 is refused in step 8.
        yield _Signed(f"{CHECKPOINTS}/{size}.json", checkpoint.author, max(size - 1, 0))


def _check(evidence: Evidence, keys: KeyRing, signed: _Signed) -> StepResult:
    if signed.line is None:
        # Whether the file belongs here at all is step 8's question.
        return not_checked(STEP, signed.path, "no registry line names it, so no key is in force for it")
    key = keys.in_force(signed.line)
    if key is None:
        return fail(STEP, signed.path, f"no key was in force at registry line {signed.line + 1}: revoked")
    if signed.author != key.fingerprint:
        return fail(
            STEP, signed.path, f"names {signed.author} as its author; in force there was {key.fingerprint}"
        )
    data, signature = evidence.tree.get(signed.path), evidence.tree.get(signed.path + ".sig")
    if data is None or signature is None:
        return fail(STEP, signed.path + ".sig", f"is missing: {signed.path} is not signed")
    try:
        evidence.memo.call(verify_signature, key.raw, data, signature)
    except SealError as error:
        return fail(
            STEP, signed.path + ".sig", f"{error.message} (file {signed.path}, key {key.fingerprint})"
        )
    return _vouched(evidence, keys, key, signed.path)


def verify_signature(key: bytes, data: bytes, signature: bytes) -> None:
    """Check an armoured signature by the key with these 32 raw bytes; SignatureFailed otherwise."""
    PublicKey(key).verify(data, signature)


def _vouched(evidence: Evidence, keys: KeyRing, key: PublicKey, path: str) -> StepResult:
    """A valid signature, and who says whose it is. Trust in a key covers those it handed over to."""
    if not evidence.policy.trusted_keys:
        return ok(STEP, path, f"signed by self-declared key {key.fingerprint}, owner not checked")
    for period in keys.periods:
        if evidence.policy.trusts(period.key):
            through = "" if period.key.raw == key.raw else f", to which {period.key.fingerprint} handed over"
            return ok(STEP, path, f"signed by {key.fingerprint}{through}, a key you trust")
        if period.key.raw == key.raw:
            break
    return not_checked(STEP, path, f"signed by {key.fingerprint}, which is no key you trust or one after it")


def _signed_by(checked: list[StepResult]) -> str:
    details = sorted({result.detail for result in checked})
    return " and ".join(details)


def self_declared(evidence: Evidence) -> str | None:
    """The newest key's fingerprint if the caller vouched for none, else None."""
    keys = evidence.keys
    if keys is None or not keys.periods or evidence.policy.trusted_keys:
        return None
    return keys.periods[-1].key.fingerprint
