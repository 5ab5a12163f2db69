"""Step 6 for derived batteries, whose leaves are their parent's; and the baselines of any battery."""

from __future__ import annotations

from sealbench.crypto import merkle
from sealbench.errors import CertificateFailed, SealError, UsageError
from sealbench.formats.battery import Battery, BatteryKey, Commitment, item_bytes
from sealbench.publishing.sealing import leaf_hashes, select_indices
from sealbench.verification.evidence import Evidence, parse_again
from sealbench.verification.memo import Memo
from sealbench.verification.steps import StepResult, fail, not_checked, ok

STEP = 6


def check_derived(
    evidence: Evidence, commitment: Commitment, parent: str, battery_bytes: bytes, path: str
) -> StepResult:
    """The published parent, the rule in the parameters and K give exactly this battery and its root."""
    memo = evidence.memo
    files = (f"commitments/{commitment.name}.json", f"batteries/{parent}/battery.json")
    commitment_bytes, parent_bytes = (evidence.tree.get(file) for file in files)
    key_bytes = evidence.tree.get(f"batteries/{commitment.name}/key.json")
    if parent_bytes is None or evidence.document(Battery, files[1]) is None:
        return not_checked(STEP, path, f"{files[1]} is missing or unreadable, and its items are from there")
    if commitment_bytes is None or key_bytes is None:
        return not_checked(STEP, path, "commitment or K is missing")
    try:
        memo.call(check_selection, memo, parent, commitment_bytes, key_bytes, parent_bytes, battery_bytes)
        gap = memo.call(check_baselines, memo, commitment_bytes, battery_bytes)
    except SealError as error:
        return fail(STEP, path, error.message)
    if gap:
        return not_checked(STEP, path, f"its items are {parent}'s and give the root, but {gap}")
    told = f"the first instances of each class and kind of {parent}, as its parameters say, and give the root"
    return ok(STEP, path, f"its {commitment.items} items are {told}")


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
