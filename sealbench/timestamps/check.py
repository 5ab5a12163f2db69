"""Steps 3 and 4 of verification for one proof: what it commits to, and how well that is proved.

Pure: bytes and headers in, a report out; nothing is fetched, nothing is remembered.
"""

from __future__ import annotations

from dataclasses import dataclass

from sealbench.timestamps.grades import GRADES, Graded, at_least, grade_attestation
from sealbench.timestamps.header_store import HeaderStore
from sealbench.timestamps.networks import Network
from sealbench.timestamps.proof import (
    Attestation,
    apply_file_hash,
    attestations,
    read_proof,
    serialize,
    uses_only_sha256,
    uses_weak_hash,
)


@dataclass(frozen=True)
class ProofReport:
    """What one proof shows about one file.

    `commits`: the proof is for exactly these bytes. `weak_hash`: SHA-1 or RIPEMD-160 occurs, so it may
    commit to two files. `only_sha256`: SHA-256, append and prepend only, as in our own proofs.
    `canonical`: the proof equals its own re-encoding. `graded`: its Bitcoin attestations by height;
    `pending`: URIs of all promises, those beside a Bitcoin attestation included;
    `other`: attestations of other chains and unknown ones, named but not checked.
    """

    hash_name: str
    digest: bytes
    commits: bool
    weak_hash: bool
    only_sha256: bool
    canonical: bool
    graded: tuple[Graded, ...]
    pending: tuple[str, ...]
    other: tuple[Attestation, ...]

    @property
    def mismatches(self) -> tuple[Graded, ...]:
        """Attestations that are false; one of them fails the proof."""
        return tuple(one for one in self.graded if one.grade == "mismatch")

    def accepted(self, minimum: str = "proof-of-work") -> tuple[Graded, ...]:
        """Attestations of at least this grade, by height."""
        return tuple(one for one in self.graded if at_least(one.grade, minimum))

    def best(self, minimum: str = "proof-of-work") -> Graded | None:
        """The earliest block this proof is anchored in at `minimum` or better: proved heights go first."""
        found = self.accepted(minimum)
        return min(found, key=lambda one: (not one.height_proved, one.height), default=None)

    @property
    def earliest_proved_height(self) -> int | None:
        """The lowest height proved by links (`checkpointed`, `chained`); None if there is none."""
        return min((one.height for one in self.graded if one.height_proved), default=None)

    def status(self, minimum: str = "proof-of-work") -> str:
        """One word: wrong file, mismatch, anchored, the best grade if below `minimum`, pending, or none."""
        if not self.commits:
            return "wrong file"
        if self.mismatches:
            return "mismatch"
        if self.accepted(minimum):
            return "anchored"
        if self.graded:
            return max((one.grade for one in self.graded), key=GRADES.index)
        return "pending" if self.pending else "none"

    def sentence(self, network: Network, minimum: str = "proof-of-work") -> str:
        """What to print about the file's place in time."""
        found = self.best(minimum)
        if self.status(minimum) != "anchored" or found is None or found.time is None:
            return self._unproved(minimum)
        height = f"block {found.height}"
        if not found.height_proved:
            height = f"a block (height {found.height} as claimed)"
        promises = len(self.pending)
        also = f"; {promises} other promise{'s' * (promises != 1)} outstanding (harmless)" if promises else ""
        if not network.proves_time:
            return f"anchored in {height} of {network.name}, which proves nothing about time{also}"
        return f"anchored in {height}, {found.time:%Y-%m-%d %H:%M} UTC, give or take two hours{also}"

    def _unproved(self, minimum: str) -> str:
        status = self.status(minimum)
        if status == "wrong file":
            return f"the proof is for a file with {self.hash_name} {self.digest.hex()}, not for this one"
        if status == "pending":
            return f"pending: promised by {', '.join(self.pending)}"
        if status == "none":
            return "no attestation that this program can check"
        heights = [str(one.height) for one in self.graded if one.grade == "needs header"]
        if len(heights) == len(self.graded):
            return (
                f"needs header: claimed in block {', '.join(heights)}; "
                "fetch headers with `seal upgrade`, or give them with --headers FILE"
            )
        chosen = max(self.mismatches or self.graded, key=lambda one: GRADES.index(one.grade))
        return f"{chosen.grade}: {chosen.detail}"


def check_file(
    data: bytes, proof: bytes, headers: HeaderStore, network: Network, *, own: bool = False
) -> ProofReport:
    """Check a proof against the file's bytes and the headers at hand; FormatError if it does not parse.

    `own` says that this program made the file (timestamps.md: it cannot be older than the program).
    """
    parsed = read_proof(proof)
    found = attestations(parsed)
    graded = tuple(
        grade_attestation(one.message, one.height, headers, network, own=own)
        for one in found
        if one.kind == "bitcoin" and one.height is not None
    )
    return ProofReport(
        hash_name=parsed.hash_name,
        digest=parsed.digest,
        commits=apply_file_hash(parsed.hash_name, data) == parsed.digest,
        weak_hash=uses_weak_hash(parsed),
        only_sha256=uses_only_sha256(parsed),
        canonical=serialize(parsed) == proof,
        graded=graded,
        pending=tuple(one.uri for one in found if one.kind == "pending" and one.uri is not None),
        other=tuple(one for one in found if one.kind not in {"bitcoin", "pending"}),
    )
