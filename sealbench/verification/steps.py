"""The twelve numbered steps, their results, and the verdict that follows from them.

The numbers and names stand here once and are used in code, errors, output and documents
(docs/verify.md). A verdict is never better than its evidence: any `fail` makes it `fail`, else any
`pending` makes it `pending`, else any `not_checked` makes it `unchecked`; `not_due` does not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["ok", "fail", "pending", "not_checked", "not_due"]
Verdict = Literal["ok", "ok_except_time", "fail", "pending", "unchecked"]

STEP_NAMES: dict[int, str] = {
    1: "files",
    2: "signatures",
    3: "proofs commit to the files",
    4: "Bitcoin attestations",
    5: "ciphertext",
    6: "battery from its secret",
    7: "ground truth",
    8: "registry",
    9: "order",
    10: "run log",
    11: "report",
    12: "deviations",
}
# What `accept_unanchored` waives: the steps that speak of time and of nothing else.
TIME_STEPS = frozenset({3, 4, 9})
EXIT_CODES: dict[Verdict, int] = {"ok": 0, "ok_except_time": 0, "fail": 1, "pending": 3, "unchecked": 4}


@dataclass(frozen=True)
class StepResult:
    """What one step found about one file.

    Attributes
    ----------
    step : 1 to 12, see STEP_NAMES.
    status : ok, fail, pending, not_checked or not_due.
    subject : the file's path relative to the workspace; empty if the step had nothing to look at.
    detail : one sentence: what was checked, or why it fails or waits.
    grade : how well a Bitcoin attestation is proved (docs/timestamps.md), None elsewhere.
    """

    step: int
    status: Status
    subject: str
    detail: str
    grade: str | None = None

    @property
    def name(self) -> str:
        """The step's name."""
        return STEP_NAMES[self.step]

    def to_json(self) -> dict[str, Any]:
        """The entry of `steps` in `sealbench/verify/v1`."""
        return {
            "step": self.step,
            "name": self.name,
            "status": self.status,
            "subject": self.subject,
            "detail": self.detail,
            "grade": self.grade,
        }


@dataclass(frozen=True)
class RequirementResult:
    """What became of something the caller demanded besides the steps, such as an expected hash."""

    name: str
    status: Status
    detail: str

    def to_json(self) -> dict[str, str]:
        """The entry of `requirements` in `sealbench/verify/v1`."""
        return {"name": self.name, "status": self.status, "detail": self.detail}


@dataclass(frozen=True)
class Verification:
    """All results of one verification, in order of their steps.

    Attributes
    ----------
    steps : at least one result per step.
    network : the Bitcoin network whose rules the verifier chose.
    accept_unanchored : whether missing proofs of time were waived beforehand.
    self_declared : fingerprint of the registry's own key if nobody vouched for it, else None.
    requirements : results of what the caller demanded besides.
    subject : the part that was judged, in words; empty for the whole.
    elsewhere : results about other parts, left out of the verdict and of `steps`.
    source : where the files came from, if they were fetched or unpacked first.
    """

    steps: tuple[StepResult, ...]
    network: str
    accept_unanchored: bool = False
    self_declared: str | None = None
    requirements: tuple[RequirementResult, ...] = ()
    subject: str = ""
    elsewhere: tuple[StepResult, ...] = ()
    source: str = ""

    def step(self, number: int) -> tuple[StepResult, ...]:
        """The results of one step."""
        return tuple(result for result in self.steps if result.step == number)

    @property
    def failures(self) -> tuple[StepResult, ...]:
        """The results that say `fail`, first step first."""
        return tuple(result for result in self.steps if result.status == "fail")

    @property
    def verdict(self) -> Verdict:
        """The verdict over all steps."""
        waived = [result for result in self.steps if self._is_waived(result)]
        found = {result.status for result in self.steps if not self._is_waived(result)}
        found |= {result.status for result in self.requirements}
        if "fail" in found:
            return "fail"
        if "pending" in found:
            return "pending"
        if "not_checked" in found:
            return "unchecked"
        return "ok_except_time" if waived else "ok"

    def _is_waived(self, result: StepResult) -> bool:
        missing = result.status in ("pending", "not_checked")
        return self.accept_unanchored and missing and result.step in TIME_STEPS

    @property
    def exit_code(self) -> int:
        """0 verified, 1 false, 3 not yet, 4 could not check."""
        return EXIT_CODES[self.verdict]

    @property
    def sentence(self) -> str:
        """The verdict as it is printed, with everything that limits it."""
        words = {"ok_except_time": "ok except time", "unchecked": "not checked in full"}
        text = words.get(self.verdict, self.verdict)
        if self.network != "mainnet":
            text += f" ({self.network}: proves nothing about time)"
        if self.self_declared is not None:
            text += f"; self-declared key {self.self_declared}, owner not checked"
        return text

    def to_json(self) -> dict[str, Any]:
        """The object that `seal verify --json` prints: `sealbench/verify/v1`."""
        return {
            "schema": "sealbench/verify/v1",
            "verdict": self.verdict,
            "network": self.network,
            "exit_code": self.exit_code,
            "self_declared_key": self.self_declared,
            "subject": self.subject or None,
            "source": self.source or None,
            "steps": [result.to_json() for result in self.steps],
            "requirements": [result.to_json() for result in self.requirements],
            "elsewhere": [result.to_json() for result in self.elsewhere],
        }


Results = Iterator[StepResult]


def ok(step: int, subject: str, detail: str, grade: str | None = None) -> StepResult:
    """Checked and true."""
    return StepResult(step, "ok", subject, detail, grade)


def fail(step: int, subject: str, detail: str, grade: str | None = None) -> StepResult:
    """Checked and false."""
    return StepResult(step, "fail", subject, detail, grade)


def pending(step: int, subject: str, detail: str, grade: str | None = None) -> StepResult:
    """True later perhaps: a proof that waits for its block, a run that is not finished."""
    return StepResult(step, "pending", subject, detail, grade)


def not_checked(step: int, subject: str, detail: str, grade: str | None = None) -> StepResult:
    """Something needed for the check is not here."""
    return StepResult(step, "not_checked", subject, detail, grade)


def not_due(step: int, subject: str, detail: str) -> StepResult:
    """Nothing to check yet, by design: K is not published, nothing was run."""
    return StepResult(step, "not_due", subject, detail)
