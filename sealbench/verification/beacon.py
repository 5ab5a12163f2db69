"""Step 9 in beacon mode: the beacon is a linked block, and draft and plans stand well below it.

Then nobody chose K after the beacon, and nobody, the author included, could know an item before the
beacon's block: no call can be older than it.
"""

from __future__ import annotations

from collections.abc import Iterator

from sealbench.formats.battery import Commitment
from sealbench.formats.draft import Draft
from sealbench.verification.anchors import lacks_headers, place_of, place_of_block
from sealbench.verification.evidence import Evidence
from sealbench.verification.steps import Results, StepResult, fail, not_checked, not_due, ok, pending

STEP = 9
DEPTH = 6  # blocks that draft and plans must stand below the beacon, and that bury it before it is used


def check_beacons(evidence: Evidence) -> Results:
    """One result per battery in beacon mode, and one per draft that is no battery."""
    for name, commitment in evidence.commitments.items():
        if commitment.mode == "beacon":
            yield check_beacon(evidence, name, commitment)
    void = evidence.subjects("void")
    for name, draft in evidence.drafts.items():
        path = f"commitments/{name}.draft.json"
        if name in void:
            reason = void[name].detail.get("reason", "no reason given")
            yield not_due(STEP, path, f"void, and its K is never used again: {reason!s:.200}")
        elif name not in evidence.commitments:
            yield _waiting(evidence, path, draft)


def _waiting(evidence: Evidence, path: str, draft: Draft) -> StepResult:
    """A draft without items: fair before its block, an unexplained silence after it."""
    if evidence.labelled_network != evidence.policy.network:
        return not_due(STEP, path, f"waits for block {draft.height}")
    tip = evidence.headers.links(evidence.policy.rules).forward.tip
    if tip < draft.height + DEPTH:
        return not_due(STEP, path, f"waits for block {draft.height}; the newest linked here is {tip}")
    return pending(
        STEP, path, f"block {draft.height} is known, and neither its items nor a void event followed"
    )


def check_beacon(evidence: Evidence, name: str, commitment: Commitment) -> StepResult:
    """The beacon is the block it says, and draft and plans were proved well below it."""
    path = f"commitments/{name}.json"
    if commitment.beacon is None or commitment.draft is None:
        return fail(STEP, path, "claims beacon mode without a draft and a beacon block")
    if evidence.labelled_network != evidence.policy.network:
        return pending(
            STEP, path, "the beacon is not checked: the headers are not of this network (see step 4)"
        )
    block, block_hash = place_of_block(evidence, commitment.beacon.height)
    if block_hash and block_hash != commitment.beacon.hash:
        return fail(STEP, path, f"its beacon is not block {commitment.beacon.height} of the chain")
    if block is None or not block.height_proved:
        return not_checked(
            STEP, path, f"the beacon's block {commitment.beacon.height} is not linked to a checkpoint"
        )
    needed = [commitment.draft.path, *_plans_of(evidence, name)]
    for earlier in needed:
        wrong = _too_late(evidence, path, earlier, block.height)
        if wrong is not None:
            return wrong
    return ok(
        STEP,
        path,
        f"{', '.join(needed)} stand at least {DEPTH} blocks below the beacon {block.height}, so K was not "
        "chosen after it; that the items were drawn with it, step 6 shows once K is published",
    )


def _too_late(evidence: Evidence, path: str, earlier: str, beacon: int) -> StepResult | None:
    """What keeps `earlier` from standing below the beacon, by its earliest proved height; None if it does."""
    place = place_of(evidence, earlier)
    if place is not None and place.height_proved:
        if place.height <= beacon - DEPTH:
            return None
        return fail(
            STEP, path, f"{earlier} stands in block {place.height}, not {DEPTH} below the beacon: void"
        )
    if lacks_headers(evidence, earlier):
        return not_checked(STEP, path, f"headers are missing to place {earlier}: `seal upgrade`")
    return pending(STEP, path, f"{earlier} is not proved to stand below the beacon yet")


def _plans_of(evidence: Evidence, battery: str) -> Iterator[str]:
    for name, plan in evidence.plans.items():
        if plan.battery == battery and plan.amends is None:
            yield f"preregistrations/{name}.json"
