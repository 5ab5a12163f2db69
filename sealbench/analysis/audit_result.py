"""What an audit hands back: groups with their counts, tests, scores and warnings, worst first.

Plain frozen records with exact numbers; `sealbench.render.audit` writes them as text, page and JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sealbench.stats.pvalue import PValue

ASYMMETRIC = "asymmetric"
NOT_SHOWN = "not shown"
CANNOT_TELL = "cannot tell"
NOTHING_CUT = "nothing cut"
NOT_TESTED = "not tested"
FINDINGS = (ASYMMETRIC, CANNOT_TELL, NOT_SHOWN, NOT_TESTED, NOTHING_CUT)  # worst first


@dataclass(frozen=True)
class ClassCounts:
    """One class of one group, in responses unless the name says items.

    `at_cap` counts token counts at or beyond the cap, whatever the stop reason; `empty` responses with
    nothing visible, `unclosed` of them those inside reasoning that was never closed; `lost` those cut with
    nothing visible; `judged` those of which the log tells whether they were cut; `missing` calls in error.
    """

    items: int
    responses: int
    cut_reported: int
    cut_inferred: int
    cut_other: int
    at_cap: int
    empty: int
    unclosed: int
    lost: int
    judged: int
    refused: int
    missing: int

    @property
    def cut(self) -> int:
        """Reported and inferred cuts."""
        return self.cut_reported + self.cut_inferred


@dataclass(frozen=True)
class Policies:
    """One score under each policy, shares of 1; None where there is nothing to divide by.

    recorded : the mean of the scores as the log has them.
    cut_wrong : what was cut, empty or lost counts as 0, missing left out.
    answered_only : what was cut, empty or lost is left out too.
    low, high : whatever the cut, empty and missing responses would have been.
    scored : responses with a score behind these numbers; unknown : those without a known truth.
    """

    recorded: Fraction | None
    cut_wrong: Fraction | None
    answered_only: Fraction | None
    low: Fraction | None
    high: Fraction | None
    scored: int
    unknown: int


@dataclass(frozen=True)
class CapPoint:
    """A counterfactual cap: per class the responses above it and exactly at it, and the item-level p."""

    cap: int
    above: Mapping[str, int]
    exactly: Mapping[str, int]
    p: PValue | None


@dataclass(frozen=True)
class Curve:
    """Counterfactual caps below the real one; `p_any` is familywise over all of them (Smirnov)."""

    points: tuple[CapPoint, ...]
    p_any: PValue | None
    class1: str
    class0: str
    worst: int | None


@dataclass(frozen=True)
class Test:
    """The item-level test of a group.

    `measure` is "cut", "lost" or "empty". `times` is the number of one-against-rest tests the smallest p was
    multiplied by (1 for two classes). `p_response` counts responses as if they were items: overstated.
    """

    __test__ = False

    measure: str
    class1: str
    class0: str
    alternative: str
    p_item: PValue
    p_response: PValue | None
    times: int
    smallest: Fraction
    items1: tuple[int, int]
    items0: tuple[int, int]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Group:
    """One model on one task at one cap.

    `cap_source` is "log", "option", "inferred" or "" (unknown). `class_field` says where classes came from.
    """

    model: str
    task: str
    cap: int | None
    cap_source: str
    class_field: str
    classes: Mapping[str, ClassCounts]
    test: Test | None
    p_adjusted: Fraction | None
    finding: str
    reason: str
    scores: Policies
    class_scores: Mapping[str, Policies]
    curve: Curve | None
    safe_cap: int | None
    safe_cap_reason: str
    warnings: tuple[str, ...]

    @property
    def name(self) -> str:
        """How the group is called in one line."""
        cap = "" if self.cap is None else f", cap {self.cap}"
        return f"{self.model}, {self.task}{cap}"

    @property
    def responses(self) -> int:
        """All responses of all classes, missing ones left out."""
        return sum(counts.responses for counts in self.classes.values())


@dataclass(frozen=True)
class Reversal:
    """Two models on one task whose order the cut answers could reverse."""

    task: str
    first: str
    second: str


@dataclass(frozen=True)
class Audit:
    """Everything one audit found; `groups` come worst first.

    files : (path, format, rows) of each log read; notes : what was assumed or left out while reading.
    """

    groups: tuple[Group, ...]
    reversals: tuple[Reversal, ...]
    files: tuple[tuple[str, str, int], ...]
    notes: tuple[str, ...]
    alpha: Fraction

    @property
    def is_asymmetric(self) -> bool:
        """Whether any group's cutting differs by class, corrected over all groups."""
        return any(group.finding == ASYMMETRIC for group in self.groups)
