"""Steps 5, 6 and 7: the ciphertext is the committed one; a published K opens, regenerates, certifies.

The cipher is not key-committing, so the root is always checked after decryption. A family that is not
installed in the committed version is NOT CHECKED, never false.
"""

from __future__ import annotations

from functools import partial

from sealbench.crypto import encryption, merkle
from sealbench.crypto.derivation import secret_commitment
from sealbench.errors import CertificateFailed, SealError, UsageError
from sealbench.formats.base import collector_held, parse_instant
from sealbench.formats.battery import (
    Battery,
    BatteryKey,
    Commitment,
    FamilyParameters,
    SealedBattery,
    associated_data,
    item_bytes,
)
from sealbench.publishing.sealing import leaf_hashes, parent_of
from sealbench.verification.certificates import certify, missing_families
from sealbench.verification.derived import check_baselines, check_derived
from sealbench.verification.evidence import Evidence, parse_again
from sealbench.verification.imported import check_imported_order, is_imported
from sealbench.verification.memo import Memo
from sealbench.verification.reveals import check_revealed_truth, check_reveals
from sealbench.verification.steps import Results, StepResult, fail, not_checked, not_due, ok, pending

CIPHERTEXT = 5
REGENERATE = 6
TRUTH = 7


def check_ciphertext(evidence: Evidence) -> Results:
    """Step 5: `batteries/NAME.sealed.json` is exactly the file that the commitment names."""
    for name, commitment in evidence.commitments.items():
        path = f"batteries/{parent_of(commitment) or name}.sealed.json"
        digest = evidence.digest(path)
        if commitment.sealed.path != path:
            yield fail(CIPHERTEXT, path, f"the commitment of {name} names {commitment.sealed.path} instead")
        elif evidence.is_elsewhere(path):
            yield not_due(CIPHERTEXT, path, f"is not part of this bundle: {name} is another battery")
        elif digest is None:
            yield fail(CIPHERTEXT, path, "is missing: without it K opens nothing")
        elif digest != commitment.sealed.sha256:
            yield fail(CIPHERTEXT, path, f"is not the ciphertext committed to: its SHA-256 is {digest}")
        elif evidence.document(SealedBattery, path) is None:
            yield not_checked(CIPHERTEXT, path, "does not parse (see step 1)")
        else:
            yield ok(CIPHERTEXT, path, f"SHA-256 {digest}, as committed")


def check_regeneration(evidence: Evidence) -> Results:
    """Step 6: K opens the secret commitment, gives the items again, and the items give the root."""
    yield from evidence.memo.each(partial(_check_regeneration, evidence), evidence.commitments)
    yield from check_reveals(evidence)


def _check_regeneration(evidence: Evidence, name: str) -> StepResult:
    path = f"batteries/{name}/battery.json"
    if path not in evidence.tree and f"batteries/{name}/key.json" not in evidence.tree:
        return _unpublished(evidence, name, f"commitments/{name}.json")
    return _check_published(evidence, name, evidence.commitments[name], path)


def _unpublished(evidence: Evidence, name: str, path: str) -> StepResult:
    """K is not here: not due, unless a plan's deadline has passed."""
    if evidence.tree.bundle not in (None, name):
        return not_due(REGENERATE, path, "another battery than this bundle's: its K is not asked for here")
    deadlines = [plan.reveal.deadline for plan in evidence.plans.values() if plan.battery == name]
    now = evidence.policy.at
    if now is not None and deadlines and parse_instant(min(deadlines)) < now:
        return pending(REGENERATE, path, f"the reveal is overdue: K was to be published by {min(deadlines)}")
    return not_due(REGENERATE, path, "K is not published yet")


def _check_published(evidence: Evidence, name: str, commitment: Commitment, path: str) -> StepResult:
    sealed = f"batteries/{parent_of(commitment) or name}.sealed.json"
    files = [f"commitments/{name}.json", f"batteries/{name}/key.json", path, sealed]
    commitment_bytes, key_bytes, battery_bytes, sealed_bytes = (evidence.tree.get(file) for file in files)
    key = evidence.document(BatteryKey, files[1])
    if key is None or key_bytes is None:
        return fail(REGENERATE, files[1], "the battery is published, and its K is missing or unreadable")
    if secret_commitment(key.secret_bytes()).hex() != commitment.secret_commitment:
        return fail(REGENERATE, files[1], "is not the K committed to")
    if battery_bytes is None or evidence.document(Battery, path) is None:
        return fail(REGENERATE, path, "K is published, and the battery is missing or unreadable")
    if commitment_bytes is None or sealed_bytes is None or evidence.document(SealedBattery, files[3]) is None:
        return not_checked(REGENERATE, path, f"{files[3]} is missing or unreadable")
    memo = evidence.memo
    parent = parent_of(commitment)
    if parent is not None:
        return check_derived(evidence, commitment, parent, battery_bytes, path)
    try:
        memo.costly(check_opening, memo, name, commitment_bytes, key_bytes, battery_bytes, sealed_bytes)
        gap = memo.costly(check_draws, memo, commitment_bytes, key_bytes, battery_bytes)
        gap = gap or memo.costly(check_baselines, memo, commitment_bytes, battery_bytes)
    except SealError as error:
        return fail(REGENERATE, path, error.message)
    if gap:
        return not_checked(REGENERATE, path, f"K opens the ciphertext and the items give the root, but {gap}")
    count = commitment.items
    if is_imported(commitment.parameters):
        told = f"all {count} items come from the ciphertext; K gives their ids, their order and the root"
    else:
        told = f"K gives all {count} items again, opens the ciphertext, and gives the root"
    return ok(REGENERATE, path, told)


def check_opening(
    memo: Memo,
    name: str,
    commitment_bytes: bytes,
    key_bytes: bytes,
    battery_bytes: bytes,
    sealed_bytes: bytes,
) -> None:
    """K decrypts the envelope to exactly the published battery, whose leaves give the committed root.

    Raises
    ------
    CheckFailed, CertificateFailed : which of these is not so.
    """
    commitment = Commitment.from_bytes(commitment_bytes)
    secret = BatteryKey.from_bytes(key_bytes).secret_bytes()
    sealed = parse_again(memo, SealedBattery, sealed_bytes, f"batteries/{name}.sealed.json")
    associated = associated_data(commitment.name, commitment.parameters)
    if encryption.unseal(secret, sealed.ciphertext_bytes(), associated) != battery_bytes:
        raise CertificateFailed("the ciphertext holds another battery than the published one")
    items = parse_again(memo, Battery, battery_bytes, f"batteries/{name}/battery.json").items
    with collector_held(len(battery_bytes)):
        root = merkle.root(leaf_hashes(secret, item_bytes(battery_bytes)))
    if root.hex() != commitment.root:
        raise CertificateFailed("the published items do not give the committed root")
    counts = (len(items), len({item.instance for item in items}))
    if counts != (commitment.items, commitment.instances):
        raise CertificateFailed(
            f"there are {counts[0]} items of {counts[1]} instances, committed were {commitment.items} of "
            f"{commitment.instances}"
        )


def check_draws(memo: Memo, commitment_bytes: bytes, key_bytes: bytes, battery_bytes: bytes) -> str:
    """Draw the battery again from K; CertificateFailed if another one comes out.

    Returns why it could not be drawn here (a family or a version that is not installed), or "".
    """
    from sealbench.tasks.battery import build_items

    commitment = Commitment.from_bytes(commitment_bytes)
    parameters = commitment.parameters
    if is_imported(parameters):
        check_imported_order(memo, commitment, BatteryKey.from_bytes(key_bytes).secret_bytes(), battery_bytes)
        return ""
    missing = missing_families(parameters)
    if missing:
        return missing
    # A hostile commitment could ask for more draws than any machine can make.
    if sum(family.per_class for family in parameters.families) * len(parameters.wordings) > commitment.items:
        raise CertificateFailed(f"its parameters are for more than the {commitment.items} items committed to")
    # The beacon is sha256d of the block's header in internal order; the file shows it reversed.
    beacon = bytes.fromhex(commitment.beacon.hash)[::-1] if commitment.beacon else b""
    secret = BatteryKey.from_bytes(key_bytes).secret_bytes()
    try:
        items = build_items(secret, parameters, beacon=beacon)
    except UsageError as error:
        raise CertificateFailed(f"K and the parameters give no battery: {error.message}") from error
    if Battery(name=commitment.name, items=tuple(items)).to_bytes() == battery_bytes:
        return ""
    changed = [family.family for family in parameters.families if not _same_source(family)]
    if changed:
        return f"the installed source of {', '.join(changed)} is not the committed one and draws other items"
    raise CertificateFailed("K and the parameters give another battery than the published one")


def _same_source(family: FamilyParameters) -> bool:
    from sealbench.tasks.base import get_family, source_sha256

    return source_sha256(get_family(family.family)) == family.source_sha256


def check_truth(evidence: Evidence) -> Results:
    """Step 7: the certificate of every published item shows its class by arithmetic alone."""
    yield from evidence.memo.each(partial(_check_truth, evidence), evidence.commitments)
    yield from check_revealed_truth(evidence)


def _check_truth(evidence: Evidence, name: str) -> StepResult:
    path = f"batteries/{name}/battery.json"
    data = evidence.tree.get(path)
    if data is None:
        return not_due(TRUTH, f"commitments/{name}.json", "the items are not published yet")
    if evidence.document(Battery, path) is None:
        return not_checked(TRUTH, path, "does not parse (see step 1)")
    missing = missing_families(evidence.commitments[name].parameters)
    return not_checked(TRUTH, path, missing) if missing else _certified(evidence, path, data)


def _certified(evidence: Evidence, path: str, data: bytes) -> StepResult:
    try:
        told = evidence.memo.costly(check_certificates, evidence.memo, data, path)
    except SealError as error:
        return fail(TRUTH, path, error.message)
    return ok(TRUTH, path, told)


def check_certificates(memo: Memo, battery_bytes: bytes, path: str) -> str:
    """Check every instance's certificate; what they show, in words. CertificateFailed names the item."""
    return certify(parse_again(memo, Battery, battery_bytes, path).items)


def is_open(evidence: Evidence, name: str) -> bool:
    """Whether a readable battery and the K committed to are published."""
    key = evidence.document(BatteryKey, f"batteries/{name}/key.json")
    battery = evidence.document(Battery, f"batteries/{name}/battery.json")
    commitment = evidence.commitments.get(name)
    if key is None or battery is None or commitment is None:
        return False
    return secret_commitment(key.secret_bytes()).hex() == commitment.secret_commitment
