"""Steps 3 and 4: each proof commits to exactly its file, and each Bitcoin attestation has its grade.

Also what step 9 builds on: where a file, or a block that a run names, is proved to stand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sealbench.store import HEADERS, REGISTRY
from sealbench.timestamps.check import ProofReport
from sealbench.timestamps.grades import Graded, at_least, grade_attestation
from sealbench.timestamps.header_store import HeaderStore
from sealbench.timestamps.networks import NETWORKS, Header
from sealbench.verification.evidence import Evidence
from sealbench.verification.roles import STAMPED, role_of
from sealbench.verification.steps import Results, StepResult, fail, not_checked, not_due, ok, pending

COMMIT = 3
ATTEST = 4


@dataclass(frozen=True)
class Place:
    """A place in time that is proved at the policy's grade or better.

    Attributes
    ----------
    height : of the block; only with `height_proved` is it more than a claim.
    time : the block header's, real to within two hours.
    """

    height: int
    time: datetime
    height_proved: bool


def stamped_paths(evidence: Evidence) -> list[str]:
    """Every file that needs a proof: commitments, drafts, plans, checkpoints."""
    return [path for path in evidence.tree.paths() if role_of(path).kind in STAMPED]


def check_commits(evidence: Evidence) -> Results:
    """Step 3: each proof is for exactly the bytes of the file beside it, by SHA-256 alone."""
    good = 0
    for proof in evidence.paths("proof"):
        result = _check_commits(evidence, role_of(proof).name)
        if result.status == "ok":
            good += 1
        else:
            yield result
    if not evidence.paths("proof"):
        yield not_due(COMMIT, "", "no file carries a proof (see step 4)")
    if good:
        yield ok(COMMIT, "", f"{good} proofs commit to exactly their files' bytes, by SHA-256 alone")


def _check_commits(evidence: Evidence, path: str) -> StepResult:
    proof = path + ".ots"
    report = evidence.proof(path)
    if report is None:
        return fail(COMMIT, proof, "is no readable proof of this file")
    if not report.commits:
        return fail(
            COMMIT, proof, f"is for a file with {report.hash_name} {report.digest.hex()}, not for {path}"
        )
    if not report.only_sha256:
        return fail(
            COMMIT,
            proof,
            "uses other operations than SHA-256, append and prepend; it may commit to two files",
        )
    return ok(COMMIT, path, "")


def check_attestations(evidence: Evidence) -> Results:
    """Step 4: one result per proof, and per file that should carry one; other networks are not graded."""
    for path in stamped_paths(evidence):
        if path + ".ots" not in evidence.tree:
            yield pending(ATTEST, path, "not anchored: never stamped (`seal stamp` asks the calendars)")
    labelled, chosen = evidence.labelled_network, evidence.policy.network
    if labelled != chosen:
        yield _other_network(labelled, chosen)
        return
    yield from _check_headers(evidence)
    for path in evidence.paths("proof"):
        subject = role_of(path).name
        report = evidence.proof(subject)
        if report is None:
            yield not_checked(
                ATTEST, path, "is not a readable proof of a file that is here (see steps 1 and 3)"
            )
        else:
            yield _check_attestation(evidence, path, report)


def _other_network(labelled: str, chosen: str) -> StepResult:
    if chosen == "mainnet":
        return pending(
            ATTEST,
            REGISTRY,
            f"this workspace is labelled {labelled}, whose blocks prove nothing about time: not anchored in "
            f"Bitcoin; `--network {labelled}` checks its form",
        )
    return not_checked(
        ATTEST,
        REGISTRY,
        f"this workspace is labelled {labelled}; by the rules of {chosen} its proofs show nothing: leave out "
        "`--network`",
    )


def _check_headers(evidence: Evidence) -> Iterator[StepResult]:
    """Headers that the workspace carries must belong to the network and link as far as they claim to."""
    data = evidence.tree.get(HEADERS)
    if data is None:
        return
    if evidence.headers_error:
        yield fail(ATTEST, HEADERS, evidence.headers_error)
        return
    fault = evidence.memo.call(header_faults, evidence.headers, evidence.policy.network)
    if fault:
        yield fail(ATTEST, HEADERS, fault)


def header_faults(headers: HeaderStore, network: str) -> str:
    """The first header that cannot stand where it stands; empty if there is none."""
    rules = NETWORKS[network]
    previous: tuple[int, bytes] | None = None
    for height, raw in headers.items():
        header = Header(raw)
        graded = grade_attestation(header.merkle_root, height, headers, rules)
        if graded.grade == "mismatch":
            return graded.detail
        if previous is not None and previous[0] == height - 1 and header.previous != previous[1]:
            return f"block {height} does not link to the one before it"
        previous = (height, header.hash)
    return ""


def _check_attestation(evidence: Evidence, path: str, report: ProofReport) -> StepResult:
    minimum = evidence.policy.minimum_grade
    sentence = report.sentence(evidence.policy.rules, minimum)
    if not report.commits:
        return not_checked(ATTEST, path, "is a proof of another file (see step 3)")
    if report.mismatches:
        carried = f" (headers: {HEADERS})" if HEADERS in evidence.tree else ""
        return fail(ATTEST, path, report.mismatches[0].detail + carried, "mismatch")
    best = report.best(minimum)
    if best is not None:
        cost = f"; a forger pays {best.forgery_cost}" if best.forgery_cost else ""
        return ok(ATTEST, path, sentence + cost, best.grade)
    if report.graded:
        found = max(report.graded, key=lambda one: (at_least(one.grade, "explorer"), -one.height))
        return not_checked(ATTEST, path, f"{found.detail}; wanted is {minimum} or better", found.grade)
    return pending(ATTEST, path, f"{sentence}; `seal upgrade` asks again", "pending")


def place_of(evidence: Evidence, path: str) -> Place | None:
    """Where a file is proved to have existed, at the policy's grade; None if it is not."""
    if evidence.labelled_network != evidence.policy.network:
        return None
    report = evidence.proof(path)
    if report is None or not report.commits or report.mismatches:
        return None
    return _place(report.best(evidence.policy.minimum_grade))


def lacks_headers(evidence: Evidence, path: str) -> bool:
    """Whether a file's place is unproved only because block headers are not at hand, or prove too little."""
    report = evidence.proof(path)
    return report is not None and report.commits and bool(report.graded) and not report.mismatches


def place_of_block(evidence: Evidence, height: int) -> tuple[Place | None, str]:
    """Where a block stands, and its hash; an empty hash if its header is not at hand."""
    raw = evidence.headers.get(height)
    if raw is None or evidence.labelled_network != evidence.policy.network:
        return None, ""
    graded = grade_attestation(Header(raw).merkle_root, height, evidence.headers, evidence.policy.rules)
    accepted = at_least(graded.grade, evidence.policy.minimum_grade)
    return (_place(graded) if accepted else None), graded.block_hash


def _place(graded: Graded | None) -> Place | None:
    if graded is None or graded.time is None:
        return None
    return Place(graded.height, graded.time, graded.height_proved)
