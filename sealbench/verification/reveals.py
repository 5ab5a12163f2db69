"""Steps 6 and 7 for items opened while the rest is sealed, and for proofs that open nothing.

Every path is followed to the root that the COMMITMENT names; that the reveal names the same root and
commitment is step 8's business.
"""

from __future__ import annotations

from collections import Counter

from sealbench.errors import ProofFailed, SealError
from sealbench.formats.battery import Commitment, Item
from sealbench.formats.reveal import Reveal, Subset, check_opened, check_subset
from sealbench.verification.certificates import certify, missing_families
from sealbench.verification.evidence import Evidence, parse_again
from sealbench.verification.memo import Memo
from sealbench.verification.steps import Results, fail, not_checked, ok

LEAVES = 6
TRUTH = 7


def check_reveals(evidence: Evidence) -> Results:
    """Step 6: opened items and shared leaves lead to the committed roots."""
    for path, reveal in evidence.reveals.items():
        commitment = evidence.commitments.get(reveal.battery)
        if commitment is None:
            yield not_checked(LEAVES, path, f"commitments/{reveal.battery}.json is missing or unreadable")
            continue
        try:
            told = evidence.memo.call(
                check_reveal, evidence.memo, evidence.require(path), commitment.to_bytes(), path
            )
        except SealError as error:
            yield fail(LEAVES, path, error.message)
        else:
            yield ok(LEAVES, path, told)
    for path, subset in evidence.subsets.items():
        derived, parent = (evidence.commitments.get(one) for one in (subset.battery, subset.parent))
        if derived is None or parent is None:
            yield not_checked(LEAVES, path, "a commitment that it is about is missing or unreadable")
            continue
        try:
            evidence.memo.call(
                check_shared,
                evidence.memo,
                evidence.require(path),
                derived.root,
                derived.items,
                parent.root,
                parent.items,
            )
        except SealError as error:
            yield fail(LEAVES, path, error.message)
        else:
            told = f"all {derived.items} leaves of {derived.name} are leaves of {parent.name}"
            yield ok(LEAVES, path, f"{told}; nothing is opened")


def check_reveal(memo: Memo, data: bytes, commitment_bytes: bytes, path: str) -> str:
    """Every opened item is a leaf of the committed tree, in all wordings; what was opened, in words.

    Raises
    ------
    ProofFailed : names the item.
    """
    reveal = parse_again(memo, Reveal, data, path)
    commitment = Commitment.from_bytes(commitment_bytes)
    check_opened(reveal.entries, commitment.items, commitment.root)
    items = [entry.item for entry in reveal.entries]
    if len({item.id for item in items}) != len(items):
        raise ProofFailed("two opened items have the same id")
    wordings = len(commitment.parameters.wordings)
    for instance, count in Counter(item.instance for item in items).items():
        if count != wordings:
            raise ProofFailed(f"instance {instance} is opened in {count} of {wordings} wordings")
    return f"{len(items)} of {commitment.items} items opened, each with its path to the committed root"


def check_shared(memo: Memo, data: bytes, root: str, size: int, parent_root: str, parent_size: int) -> None:
    """Every leaf of the derived tree is a leaf of the parent's; ProofFailed names one that is not."""
    subset = parse_again(memo, Subset, data, "subset")
    if len(subset.leaves) != size:
        raise ProofFailed(f"shows {len(subset.leaves)} leaves, the derived battery has {size}")
    check_subset(subset.leaves, root, parent_size, parent_root)


def check_revealed_truth(evidence: Evidence) -> Results:
    """Step 7: the certificates of opened items."""
    for path, reveal in evidence.reveals.items():
        commitment = evidence.commitments.get(reveal.battery)
        missing = "" if commitment is None else missing_families(commitment.parameters)
        if commitment is None or missing:
            yield not_checked(TRUTH, path, missing or "its commitment is missing or unreadable")
            continue
        try:
            told = evidence.memo.call(check_opened_truth, evidence.memo, evidence.require(path))
        except SealError as error:
            yield fail(TRUTH, path, error.message)
        else:
            yield ok(TRUTH, path, told)


def check_opened_truth(memo: Memo, data: bytes) -> str:
    """What the certificates of one reveal's items show; CertificateFailed names the item."""
    return certify([entry.item for entry in parse_again(memo, Reveal, data, "reveal").entries])


def opened_items(evidence: Evidence, battery: str) -> dict[str, Item]:
    """The items of a battery that reveals opened, by id."""
    reveals = [one for one in evidence.reveals.values() if one.battery == battery]
    return {entry.item.id: entry.item for reveal in reveals for entry in reveal.entries}
