"""Step 9: commitment and plan stand before the run, by proved places in time, never by written dates.

A proved height counts most; where one side's height is only claimed, header times do, with two hours'
slack each. What is ordered are the files: that the calls themselves came after the plan is proved in
beacon mode only, and every result says so.
"""

from __future__ import annotations

from sealbench.formats.preregistration import Preregistration
from sealbench.formats.run import Run
from sealbench.store import CHECKPOINTS
from sealbench.timestamps.grades import CLOCK_SLACK
from sealbench.verification.anchors import Place, lacks_headers, place_of, place_of_block
from sealbench.verification.beacon import DEPTH, check_beacon, check_beacons
from sealbench.verification.evidence import Evidence
from sealbench.verification.steps import Results, StepResult, fail, not_checked, not_due, ok, pending

STEP = 9
_CALLS = "that the calls themselves came after the plan is proved only in beacon mode"

_AFTER_PLAN = "that it came after its plan"
# Why a run of this kind never waited for a block. Its order stays open for good, so it is NOT CHECKED
# rather than PENDING: no stamp made later can prove it (docs/adr/0010-registered-runs.md).
_WAIVED = {
    "stamped": "begun on the calendars' promise alone (`--require stamped`)",
    "registered": "begun unstamped, the plan before it by the registry's word alone (`--require registered`)",
}


def check_order(evidence: Evidence) -> Results:
    """One result per run, and one per beacon or draft (beacon.py)."""
    yield from check_beacons(evidence)
    for name, run in evidence.runs.items():
        yield _check_run(evidence, name, run)


def _check_run(evidence: Evidence, name: str, run: Run) -> StepResult:
    path = f"runs/{name}/run.json"
    if run.exploratory or run.plan is None:
        return not_due(STEP, path, "EXPLORATORY: a pilot claims no order")
    commitment = evidence.commitments.get(run.battery)
    beacon = None if commitment is None else commitment.beacon
    if beacon is not None and run.block is not None and run.block.height < beacon.height:
        told = f"began at block {run.block.height}, before its battery's beacon {beacon.height}"
        return fail(STEP, path, told)
    if evidence.labelled_network != evidence.policy.network:
        return pending(STEP, path, "no order is proved: the proofs are not of this network (see step 4)")
    if run.block is None:
        return not_checked(STEP, path, f"names no block, so nothing shows {_AFTER_PLAN}{_waived(run)}")
    block, block_hash = place_of_block(evidence, run.block.height)
    if block_hash and block_hash != run.block.hash:
        return fail(
            STEP, path, f"names another block {run.block.height} than the chain has: {run.block.hash}"
        )
    waiting = []
    for earlier in (run.commitment.path, run.plan.path):
        place = place_of(evidence, earlier)
        if place is None:
            waiting.append(earlier)
        elif block is not None:
            wrong = _compare(evidence, run, earlier, place, block)
            if wrong is not None:
                return wrong
    if waiting:
        return _unproved(evidence, path, run, waiting)
    if block is None:
        return not_checked(
            STEP, path, f"no proved header of block {run.block.height} is at hand: `seal upgrade`"
        )
    return _after(evidence, name, run, path, block)


def _waived(run: Run) -> str:
    """What the run's author said beforehand about its order, in the words that end a sentence."""
    return f"; {_WAIVED[run.require]}" if run.require in _WAIVED else ""


def _late_amendment(evidence: Evidence, plan: str, beacon: int) -> str:
    """What a beacon does not prove of an amendment that stands above it: its run's calls can be older."""
    document, place = evidence.document(Preregistration, plan), place_of(evidence, plan)
    if document is None or document.amends is None:
        return ""
    if place is not None and place.height_proved and place.height <= beacon - DEPTH:
        return ""
    where = "is not placed" if place is None else f"stands in block {place.height}"
    return (
        f"; {plan} amends a plan and {where}, not {DEPTH} blocks below the beacon: that the calls came after "
        "this amendment is not proved"
    )


def _unproved(evidence: Evidence, path: str, run: Run, waiting: list[str]) -> StepResult:
    """Why the order is open: it was waived, headers are missing, or blocks are still to come."""
    if run.require in _WAIVED:
        return not_checked(STEP, path, f"nothing shows {_AFTER_PLAN}{_waived(run)}")
    if all(lacks_headers(evidence, earlier) for earlier in waiting):
        return not_checked(STEP, path, f"headers are missing to place {', '.join(waiting)}: `seal upgrade`")
    return pending(STEP, path, f"not anchored as far as needed: {', '.join(waiting)}")


def _compare(evidence: Evidence, run: Run, earlier: str, place: Place, block: Place) -> StepResult | None:
    """What is wrong with `earlier` standing before the run's block; None if it does."""
    path = f"runs/{run.name}/run.json"
    if place.height_proved and block.height_proved:
        if place.height <= block.height:
            return None
        told = (
            f"{earlier} is proved no earlier than block {place.height}, the run began at block {block.height}"
        )
    elif place.time + CLOCK_SLACK <= block.time - CLOCK_SLACK:
        return None
    elif place.time - CLOCK_SLACK <= block.time + CLOCK_SLACK:
        told = f"{earlier} and the run's block are too close to tell without linked headers: `seal upgrade`"
        return not_checked(STEP, path, told)
    else:
        told = f"{earlier} is of {place.time:%Y-%m-%d %H:%M} UTC, after the run's block {block.height}"
    plan = evidence.document(Preregistration, earlier)
    if plan is not None and plan.amends is not None:
        return not_checked(STEP, path, f"post hoc: {told}; the amendment does not count for this run")
    if run.require in _WAIVED:
        return not_checked(STEP, path, f"the order is not proved: {told}{_waived(run)}")
    return fail(STEP, path, told)


def _after(evidence: Evidence, name: str, run: Run, path: str, block: Place) -> StepResult:
    """The registry's checkpoint over `run_start` must be proved, and no earlier than the run's block."""
    started = evidence.subjects("run_start").get(name)
    covering = [size for size in evidence.checkpoints if started is not None and size > started.seq]
    if not covering:
        return pending(STEP, path, "no checkpoint covers the start of this run yet")
    checkpoint = f"{CHECKPOINTS}/{min(covering)}.json"
    place = place_of(evidence, checkpoint)
    if place is None and lacks_headers(evidence, checkpoint):
        return not_checked(STEP, path, f"headers are missing to place {checkpoint}: `seal upgrade`")
    if place is None:
        return pending(STEP, path, f"{checkpoint}, which records the start of this run, is not anchored yet")
    proved = place.height_proved and block.height_proved
    early = place.height < block.height if proved else place.time + CLOCK_SLACK < block.time - CLOCK_SLACK
    if early:
        return fail(
            STEP, checkpoint, f"stands in block {place.height}, before block {block.height} that it follows"
        )
    plan = "" if run.plan is None else run.plan.path
    detail = (
        f"{run.commitment.path} and {plan} stand at or before block {block.height}, {checkpoint} after it"
    )
    commitment = evidence.commitments.get(run.battery)
    if commitment is not None and check_beacon(evidence, run.battery, commitment).status == "ok":
        height = 0 if commitment.beacon is None else commitment.beacon.height
        told = f"beacon mode: no call can be older than block {height}"
        return ok(STEP, path, f"{detail}; {told}{_late_amendment(evidence, plan, height)}")
    return ok(STEP, path, f"{detail}; {_CALLS}")
