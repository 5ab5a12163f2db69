"""Steps 5, 6 and 7: the ciphertext is the committed one; a published K opens, regenerates, certifies.

The cipher is not key-committing, so the root is always checked after decryption. A family that is not
installed in the committed version is NOT CHECKED, never false.
"""

from __future__ import annotations

from sealbench.crypto import encryption, merkle
from sealbench.crypto.derivation import secret_commitment
from sealbench.errors import CertificateFailed, SealError, UsageError
from sealbench.formats.base import parse_instant
from sealbench.formats.battery import (
    Battery,
    BatteryKey,
    Commitment,
    FamilyParameters,
    SealedBattery,
    associated_data,
)
from sealbench.sealing import leaf_hashes
from sealbench.verification.evidence import Evidence, parse_again
from sealbench.verification.memo import Memo
from sealbench.verification.steps import Results, StepResult, fail, not_checked, not_due, ok, pending

CIPHERTEXT = 5
REGENERATE = 6
TRUTH = 7
IMPORTED = "imported"  # its items come from the ciphertext, no draw makes them again


def check_ciphertext(evidence: Evidence) -> Results:
    """Step 5: `batteries/NAME.sealed.json` is exactly the file that the commitment names."""
    for name, commitment in evidence.commitments.items():
        path = f"batteries/{name}.sealed.json"
        digest = evidence.digest(path)
        if commitment.sealed.path != path:
            yield fail(CIPHERTEXT, path, f"the commitment of {name} names {commitment.sealed.path} instead")
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
    for name, commitment in evidence.commitments.items():
        path = f"batteries/{name}/battery.json"
        if path not in evidence.tree and f"batteries/{name}/key.json" not in evidence.tree:
            yield _unpublished(evidence, name, f"commitments/{name}.json")
        else:
            yield _check_published(evidence, name, commitment, path)


def _unpublished(evidence: Evidence, name: str, path: str) -> StepResult:
    """K is not here: not due, unless a plan's deadline has passed."""
    deadlines = [plan.reveal.deadline for plan in evidence.plans.values() if plan.battery == name]
    now = evidence.policy.at
    if now is not None and deadlines and parse_instant(min(deadlines)) < now:
        return pending(REGENERATE, path, f"the reveal is overdue: K was to be published by {min(deadlines)}")
    return not_due(REGENERATE, path, "K is not published yet")


def _check_published(evidence: Evidence, name: str, commitment: Commitment, path: str) -> StepResult:
    files = [f"commitments/{name}.json", f"batteries/{name}/key.json", path, f"batteries/{name}.sealed.json"]
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
    try:
        memo = evidence.memo
        memo.call(check_opening, memo, name, commitment_bytes, key_bytes, battery_bytes, sealed_bytes)
        gap = memo.call(check_draws, commitment_bytes, key_bytes, battery_bytes)
    except SealError as error:
        return fail(REGENERATE, path, error.message)
    if gap:
        return not_checked(REGENERATE, path, f"K opens the ciphertext and the items give the root, but {gap}")
    count = commitment.items
    return ok(REGENERATE, path, f"K gives all {count} items again, opens the ciphertext, and gives the root")


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
    if merkle.root(leaf_hashes(secret, items)).hex() != commitment.root:
        raise CertificateFailed("the published items do not give the committed root")
    counts = (len(items), len({item.instance for item in items}))
    if counts != (commitment.items, commitment.instances):
        raise CertificateFailed(
            f"there are {counts[0]} items of {counts[1]} instances, committed were {commitment.items} of "
            f"{commitment.instances}"
        )


def check_draws(commitment_bytes: bytes, key_bytes: bytes, battery_bytes: bytes) -> str:
    """Draw the battery again from K; CertificateFailed if another one comes out.

    Returns why it could not be drawn here (a family or a version that is not installed), or "".
    """
    from sealbench.tasks.battery import build_items

    commitment = Commitment.from_bytes(commitment_bytes)
    if commitment.derived_from is not None:
        return "its items are its parent's, which are not drawn here"
    parameters = commitment.parameters
    missing = [reason for family in parameters.families if (reason := _not_installed(family))]
    if missing:
        return "; ".join(missing)
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


def _not_installed(family: FamilyParameters) -> str:
    from sealbench.tasks.base import get_family

    if family.family == IMPORTED:
        return "imported items are not drawn"
    try:
        installed = get_family(family.family)
    except SealError:
        return f"the task family {family.family} is not installed"
    if installed.version != family.version:
        return f"{family.family} is installed in version {installed.version}, committed was {family.version}"
    return ""


def _same_source(family: FamilyParameters) -> bool:
    from sealbench.tasks.base import get_family, source_sha256

    return source_sha256(get_family(family.family)) == family.source_sha256


def check_truth(evidence: Evidence) -> Results:
    """Step 7: the certificate of every published item shows its class by arithmetic alone."""
    for name, commitment in evidence.commitments.items():
        path = f"batteries/{name}/battery.json"
        data = evidence.tree.get(path)
        battery = evidence.document(Battery, path)
        if data is None:
            yield not_due(TRUTH, f"commitments/{name}.json", "the items are not published yet")
        elif battery is None:
            yield not_checked(TRUTH, path, "does not parse (see step 1)")
        else:
            missing = [one for family in commitment.parameters.families if (one := _not_installed(family))]
            if missing:
                yield not_checked(TRUTH, path, "; ".join(missing))
            else:
                yield _certified(evidence, path, data)


def _certified(evidence: Evidence, path: str, data: bytes) -> StepResult:
    try:
        count = evidence.memo.call(check_certificates, evidence.memo, data, path)
    except SealError as error:
        return fail(TRUTH, path, error.message)
    return ok(TRUTH, path, f"the certificates of {count} instances hold, by arithmetic alone")


def check_certificates(memo: Memo, battery_bytes: bytes, path: str) -> int:
    """Check every instance's certificate; the number of instances. CertificateFailed names the item."""
    from sealbench.tasks.base import get_family

    seen: dict[str, tuple[object, ...]] = {}
    for item in parse_again(memo, Battery, battery_bytes, path).items:
        content = (item.family, item.class_label, item.params, item.certificate)
        if seen.setdefault(item.instance, content) != content:
            raise CertificateFailed(f"item {item.id}: its instance is another problem in another wording")
        if seen[item.instance] is content:
            try:
                get_family(item.family).check(item.params, item.class_label, item.certificate)
            except SealError as error:
                raise CertificateFailed(f"item {item.id}: {error.message}") from error
    return len(seen)


def is_open(evidence: Evidence, name: str) -> bool:
    """Whether a readable battery and the K committed to are published."""
    key = evidence.document(BatteryKey, f"batteries/{name}/key.json")
    battery = evidence.document(Battery, f"batteries/{name}/battery.json")
    commitment = evidence.commitments.get(name)
    if key is None or battery is None or commitment is None:
        return False
    return secret_commitment(key.secret_bytes()).hex() == commitment.secret_commitment
