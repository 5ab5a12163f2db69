"""What an audit hands back: groups with their counts, tests, scores and warnings, worst first.

Plain frozen records with exact numbers; `sealbench.render.audit` writes them as text, page and JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from sealbench.stats.pvalue import PValue

if TYPE_CHECKING:
    from sealbench.analysis.audit_frame import GroupRows

FrameLibrary = Literal["pandas", "polars"]

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
class SafeCap:
    """The cap that spares 95% of a class's responses with 95% confidence; None where the data cannot tell.

    cap : for all classes; by_class : for each that has token counts; reason : why there is none.
    """

    cap: int | None
    by_class: Mapping[str, int | None]
    reason: str


@dataclass(frozen=True)
class Costs:
    """Token counts of one class, sorted; where there are many, some of them, evenly spaced, out of `of`.

    cut : per token count whether the response was cut there, so that its cost is only known to be larger.
    """

    tokens: tuple[int, ...]
    cut: tuple[bool, ...]
    of: int


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
    `costs` hold the token counts by class, for figures; none without token counts.
    `rows` are the responses themselves, kept only where that was asked for.
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
    costs: Mapping[str, Costs]
    safe_cap: SafeCap
    warnings: tuple[str, ...]
    rows: GroupRows | None = field(default=None, repr=False, compare=False)

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
class CheckedBattery:
    """One battery of which samples were met; all of them passed, or this would not exist.

    `items` of `committed` were met in `samples` samples; of these `regraded` had their score computed again,
    and `altered` were sent more to the model than the committed prompt. `path` is where the commitment
    stands, None where there was none to check against: then nothing was checked.
    """

    battery: str
    commitment: str
    path: str | None
    items: int
    committed: int | None
    samples: int
    regraded: int
    altered: int


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
    batteries : sealed batteries that the logs name, checked against their commitments or not.
    """

    groups: tuple[Group, ...]
    reversals: tuple[Reversal, ...]
    files: tuple[tuple[str, str, int], ...]
    notes: tuple[str, ...]
    alpha: Fraction
    batteries: tuple[CheckedBattery, ...] = ()

    def counts_frame(self, library: FrameLibrary | None = None) -> Any:
        """The counts by group and class as a DataFrame; see `analysis.audit_frame`."""
        from sealbench.analysis.audit_frame import counts_frame

        return counts_frame(self, library)

    def rows_frame(self, library: FrameLibrary | None = None) -> Any:
        """One row per response as a DataFrame, with `keep_rows=True`; see `analysis.audit_frame`."""
        from sealbench.analysis.audit_frame import rows_frame

        return rows_frame(self, library)

    @property
    def is_asymmetric(self) -> bool:
        """Whether any group's cutting differs by class, corrected over all groups."""
        return any(group.finding == ASYMMETRIC for group in self.groups)
