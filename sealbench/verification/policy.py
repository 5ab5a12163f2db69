"""What the verifier decides and the tested files do not: network, grade, keys, headers, what is waived.

Nothing in a workspace can change its verifier's policy: a workspace that calls itself regtest is
still checked by the rules of the network chosen here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from sealbench.crypto.signature import PublicKey
from sealbench.errors import UsageError
from sealbench.formats.registry import Checkpoint
from sealbench.timestamps.grades import GRADES
from sealbench.timestamps.header_store import HeaderStore
from sealbench.timestamps.networks import NETWORKS, Network

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sealbench.verification.evidence import Evidence
    from sealbench.verification.scope import Scope
    from sealbench.verification.steps import RequirementResult, StepResult

DEFAULT_GRADE = "proof-of-work"


class Requirement(Protocol):
    """Something a caller demands beyond the twelve steps; one small object each (requirements.py)."""

    def check(
        self, evidence: Evidence, scope: Scope | None, results: Sequence[StepResult]
    ) -> Sequence[RequirementResult]:
        """At least one result line; `scope` is the part that is judged, None for the whole."""


@dataclass(frozen=True)
class Policy:
    """One verifier's choices.

    Attributes
    ----------
    network : the Bitcoin network whose rules count.
    minimum_grade : the weakest grade of an attestation that counts as verified.
    trusted_keys : keys the caller knows to be the author's; without any, the registry's own key is
        used and every verdict says that its owner was not checked.
    headers : block headers of the caller's own, beside those the workspace carries.
    since : a checkpoint the caller kept: the registry must contain it.
    accept_unanchored : let missing proofs of time pass as "ok except time".
    at : the moment of checking (aware), for reveals that are overdue; None leaves that out.
    requirements : what must hold besides; each gets lines of its own and counts in the verdict.
    """

    network: str = "mainnet"
    minimum_grade: str = DEFAULT_GRADE
    trusted_keys: tuple[PublicKey, ...] = ()
    headers: HeaderStore | None = None
    since: Checkpoint | None = None
    accept_unanchored: bool = False
    at: datetime | None = None
    requirements: tuple[Requirement, ...] = ()

    def __post_init__(self) -> None:
        if self.network not in NETWORKS:
            raise UsageError(
                f"there is no network {self.network!r}", hint=f"choose one of {', '.join(sorted(NETWORKS))}"
            )
        if self.minimum_grade not in GRADES:
            raise UsageError(
                f"there is no grade {self.minimum_grade!r}", hint=f"choose one of {', '.join(GRADES)}"
            )

    @property
    def rules(self) -> Network:
        """The chosen network's rules."""
        return NETWORKS[self.network]

    def trusts(self, key: PublicKey) -> bool:
        """Whether the caller named this key."""
        return any(key.raw == trusted.raw for trusted in self.trusted_keys)
