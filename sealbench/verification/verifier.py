"""One call for all twelve steps: a tree in, a Verification out. No input or output of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from sealbench.verification.anchors import check_attestations, check_commits
from sealbench.verification.battery import check_ciphertext, check_regeneration, check_truth
from sealbench.verification.evidence import Evidence
from sealbench.verification.files import check_files
from sealbench.verification.memo import Elsewhere, Memo
from sealbench.verification.order import check_order
from sealbench.verification.policy import Policy
from sealbench.verification.registry import check_registry
from sealbench.verification.reports import check_deviations, check_reports
from sealbench.verification.runs import check_runs
from sealbench.verification.scope import Part, restricted, scope_of
from sealbench.verification.signatures import check_signatures, self_declared
from sealbench.verification.steps import Results, StepResult, Verification, not_due
from sealbench.verification.tree import PublicTree

CHECKS: dict[int, Callable[[Evidence], Results]] = {
    1: check_files,
    2: check_signatures,
    3: check_commits,
    4: check_attestations,
    5: check_ciphertext,
    6: check_regeneration,
    7: check_truth,
    8: check_registry,
    9: check_order,
    10: check_runs,
    11: check_reports,
    12: check_deviations,
}
COSTLY = (6, 7, 10, 11, 12)  # steps that other processes can compute for

_ROOM = 4  # times a tree's own size: each content is remembered under a few checks


class Verifier:
    """Checks trees under one policy and remembers what it checked, by content.

    Checking thousands of slightly different copies of one workspace costs little more than what
    differs; a fresh Verifier remembers nothing.
    """

    def __init__(self, policy: Policy | None = None, elsewhere: Elsewhere | None = None) -> None:
        """`elsewhere`: other processes for the costly checks; the results are the same without."""
        self.policy = policy or Policy()
        self._memo = Memo(elsewhere=elsewhere)
        self._elsewhere = elsewhere

    def verify(self, tree: PublicTree, parts: Sequence[Part] = ()) -> Verification:
        """All twelve steps. A false file is a result, never an exception.

        With `parts`, only what is about them and what they rest on is judged; UsageError if the tree
        holds no such part.
        """
        self._memo.make_room(_ROOM * sum(len(data) for _, data in tree.items()))
        evidence = Evidence(tree, self.policy, self._memo)
        results: list[StepResult] = []
        for step, found in zip(CHECKS, self._check(evidence), strict=True):
            results += found or [not_due(step, "", "nothing to check yet")]
        scope = scope_of(evidence, parts) if parts else None
        judged, elsewhere = restricted(evidence, scope, results) if scope else (results, [])
        required = [
            one for demand in self.policy.requirements for one in demand.check(evidence, scope, judged)
        ]
        return Verification(
            steps=tuple(judged),
            network=self.policy.network,
            accept_unanchored=self.policy.accept_unanchored,
            self_declared=self_declared(evidence),
            requirements=tuple(required),
            subject=scope.words if scope else "",
            elsewhere=tuple(elsewhere),
        )

    def _check(self, evidence: Evidence) -> Iterator[list[StepResult]]:
        """What each step finds, in order.

        With other processes the costly steps are begun first: while these draw and certify, this one
        parses files. The rest stays one after the other, because threads would only take turns.
        """

        def found(check: Callable[[Evidence], Results]) -> list[StepResult]:
            return list(check(evidence))

        if self._elsewhere is None:
            yield from map(found, CHECKS.values())
            return
        threads = ThreadPoolExecutor(len(COSTLY))
        try:
            begun = {step: threads.submit(found, CHECKS[step]) for step in COSTLY}
            yield from (
                begun[step].result() if step in begun else found(check) for step, check in CHECKS.items()
            )
        except BaseException:
            # Whoever presses Ctrl-C does not want to wait for what the other processes were given.
            self._memo.give_up()
            self._memo = Memo(elsewhere=self._elsewhere)
            raise
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
