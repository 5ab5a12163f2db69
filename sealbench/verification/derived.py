"""Step 6 for derived batteries, whose leaves are their parent's; and the baselines of any battery."""

from __future__ import annotations

from sealbench.crypto import merkle
from sealbench.errors import CertificateFailed, SealError, UsageError
from sealbench.formats.battery import Battery, BatteryKey, Commitment, SealedBattery, item_bytes
from sealbench.publishing.sealing import leaf_hashes, select_indices, unseal_battery
from sealbench.verification.evidence import Evidence, parse_again
from sealbench.verification.memo import Memo
from sealbench.verification.steps import StepResult, fail, not_checked, ok

STEP = 6


def check_derived(
    evidence: Evidence, commitment: Commitment, parent: str, battery_bytes: bytes, path: str
) -> StepResult:
    """The published parent, the rule in the parameters and K give exactly this battery and its root."""
    memo = evidence.memo
    commitment_bytes = evidence.tree.get(f"commitments/{commitment.name}.json")
    key_bytes = evidence.tree.get(f"batteries/{commitment.name}/key.json")
    if commitment_bytes is None or key_bytes is None:
        return not_checked(STEP, path, "commitment or K is missing")
    try:
        parent_bytes = _parent_battery(evidence, parent, key_bytes)
        if parent_bytes is None:
            told = f"the items of {parent} are missing or unreadable, and its items are among them"
            return not_checked(STEP, path, told)
        memo.costly(check_selection, memo, parent, commitment_bytes, key_bytes, parent_bytes, battery_bytes)
        gap = memo.costly(check_baselines, memo, commitment_bytes, battery_bytes)
    except SealError as error:
        return fail(STEP, path, error.message)
    if gap:
        return not_checked(STEP, path, f"its items are {parent}'s and give the root, but {gap}")
    told = f"the first instances of each class and kind of {parent}, as its parameters say, and give the root"
    return ok(STEP, path, f"its {commitment.items} items are {told}")


def _parent_battery(evidence: Evidence, parent: str, key_bytes: bytes) -> bytes | None:
    """The parent's battery: the published one, or in a bundle the one that K finds in its envelope."""
    published = f"batteries/{parent}/battery.json"
    if evidence.tree.bundle is None:
        return None if evidence.document(Battery, published) is None else evidence.tree.get(published)
    files = (f"commitments/{parent}.json", f"batteries/{parent}.sealed.json")
    commitment_bytes, sealed_bytes = (evidence.tree.get(file) for file in files)
    known = parent in evidence.commitments and evidence.document(SealedBattery, files[1]) is not None
    if commitment_bytes is None or sealed_bytes is None or not known:
        return None
    return evidence.memo.call(open_parent, commitment_bytes, key_bytes, sealed_bytes)


def open_parent(commitment_bytes: bytes, key_bytes: bytes, sealed_bytes: bytes) -> bytes:
    """The battery in an envelope, whose items give the committed root; CheckFailed if they do not."""
    commitment = Commitment.from_bytes(commitment_bytes)
    secret = BatteryKey.from_bytes(key_bytes).secret_bytes()
    sealed = SealedBattery.from_bytes(sealed_bytes)
    opened = unseal_battery(secret, sealed, commitment)
    return Battery(name=commitment.name, items=opened.items).to_bytes()


def check_selection(
    memo: Memo,
    parent: str,
    commitment_bytes: bytes,
    key_bytes: bytes,
    parent_bytes: bytes,
    battery_bytes: bytes,
) -> None:
    """Choose the derived battery again out of its parent; CertificateFailed if another one comes out."""
    commitment = Commitment.from_bytes(commitment_bytes)
    secret = BatteryKey.from_bytes(key_bytes).secret_bytes()
    items = parse_again(memo, Battery, parent_bytes, f"batteries/{parent}/battery.json").items
    try:
        indices = select_indices(items, commitment.parameters.families)
    except UsageError as error:
        raise CertificateFailed(f"its parameters fit no part of {parent}: {error.message}") from error
    chosen = tuple(items[index] for index in indices)
    if Battery(name=commitment.name, items=chosen).to_bytes() != battery_bytes:
        raise CertificateFailed(f"the parameters choose other items of {parent} than the published ones")
    leaves = leaf_hashes(secret, item_bytes(parent_bytes))
    if merkle.root([leaves[index] for index in indices]).hex() != commitment.root:
        raise CertificateFailed("the items chosen do not give the committed root")
    counts = (len(chosen), len({item.instance for item in chosen}))
    if counts != (commitment.items, commitment.instances):
        raise CertificateFailed(f"{counts[0]} items of {counts[1]} instances, committed were others")


def check_baselines(memo: Memo, commitment_bytes: bytes, battery_bytes: bytes) -> str:
    """What short cuts score on the items is what the commitment said; CertificateFailed otherwise.

    Returns why another version of the program may score differently, or "".
    """
    from sealbench import __version__
    from sealbench.analysis.leaks import own_baselines

    commitment = Commitment.from_bytes(commitment_bytes)
    path = f"batteries/{commitment.name}/battery.json"
    if own_baselines(parse_again(memo, Battery, battery_bytes, path).items) == commitment.baselines:
        return ""
    if commitment.tool_version != __version__:
        return f"its baselines were computed by version {commitment.tool_version}, installed is {__version__}"
    raise CertificateFailed("the published items score other baselines than the commitment says")
