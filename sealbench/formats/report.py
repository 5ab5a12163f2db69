"""`runs/RUN/report.json`: everything a report says, as data, computed from run.json, the log and the plan.

Source: docs/report.md. Canonical JSON holds no floats, so every number that is not a count is exact
(`num`, `den`) or a decimal string; `report_view` gives the same as `seal report --json` prints it, with
`approx` as a JSON number. Verification computes the report again and compares its bytes.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from sealbench.formats.base import Bool, Count, Decimal, Hash, Instant, Int, Label, Name, Record, Str
from sealbench.formats.battery import Baseline
from sealbench.formats.report_endpoints import EndpointSummary
from sealbench.formats.report_history import RelatedEvent
from sealbench.formats.report_numbers import BoundedNumber as BoundedNumber
from sealbench.formats.report_numbers import ExactNumber as ExactNumber
from sealbench.formats.report_numbers import IntervalRecord as IntervalRecord
from sealbench.formats.report_numbers import PNumber as PNumber
from sealbench.formats.report_numbers import Policies as Policies

Verdict = Literal["void", "not_testable", "falsified", "supported", "not_supported"]
Finding = Literal["asymmetric", "not_shown", "cannot_tell", "not_estimable"]
Question = Literal["censoring_difference", "mean_difference", "max_over_caps"]
ReportMeasure = Literal[
    "censored",
    "lost",
    "first_attempt_lost",
    "charged_tokens",
    "reasoning_tokens",
    "accuracy",
    "error",
]
Alternative = Literal["greater", "less", "two-sided"]


class ClassCounts(Record):
    """One class in one comparison: what was asked, how it ended, and what the test could use.

    `missing` calls have a log line without a response; `absent` ones have no line at all.
    `instances_cut` counts instances with at least one censored response, `cut_rate` is its exact interval.
    `mean` is the mean of the instances' scores.
    """

    instances: Count
    responses: Count
    finished: Count
    cut_reported: Count
    cut_inferred: Count
    cut_other: Count
    at_cap: Count
    lost: Count
    empty: Count
    refused: Count
    filtered: Count
    unknown: Count
    missing: Count
    absent: Count
    instances_cut: Count
    cut_rate: IntervalRecord | None
    instances_used: Count
    responses_used: Count
    mean: ExactNumber | None


class Comparison(Record):
    """One test: two classes of one endpoint at one cap, instances exchanged within strata.

    `p_opposite` belongs to registered directions, `p_responses` is what a count of responses would
    have claimed (overstated, shown struck through), `smallest_p` what this design could reach at best.
    """

    hypothesis: Str | None
    question: Question
    measure: ReportMeasure
    where: dict[Str, Str]
    endpoint: Str
    reference: Bool
    cap: Count
    unit: Literal["instance"]
    classes: dict[Label, ClassCounts]
    class1: Label
    class0: Label
    alternative: Alternative
    strata: Count
    informative_strata: Count
    restricted: Bool
    effect: ExactNumber | None
    interval: IntervalRecord | None
    p: PNumber | None
    p_opposite: PNumber | None
    p_adjusted: PNumber | None
    p_responses: PNumber | None
    smallest_p: ExactNumber | None
    method: Str
    status: Literal["tested", "degenerate", "not_testable", "not_estimable"]
    reason: Str
    verdict: Verdict | None
    finding: Finding | None
    notes: tuple[Str, ...]


class HypothesisVerdict(Record):
    """What became of one registered hypothesis on one endpoint, with the sentence that says why."""

    hypothesis: Str
    endpoint: Str
    verdict: Verdict
    reason: Str


class VoidStatus(Record):
    """A registered void condition and whether it holds (null: no response it could be judged by)."""

    id: Str
    holds: Bool | None
    responses: Count
    censored: Count
    detail: Str
    voids: tuple[Str, ...]


class ClassCost(Record):
    """Charged tokens of one class; where something was cut the mean is a restricted mean.

    `median` is the Kaplan–Meier median over instances; where the curve does not reach one half it is only
    known to lie above `median_above`.
    """

    instances: Count
    responses: Count
    no_usage: Count
    cut: Count
    minimum: Int | None
    maximum: Int | None
    mean: ExactNumber | None
    median: Decimal | None
    median_above: Decimal | None


class SeparationRecord(Record):
    """Whether one class costs more than the other without exception, and which caps delete it whole.

    Every cap c with low <= c < high (`wipe_out`) cuts all of `expensive` and none of `cheap`;
    `high_at_least` says that the upper end is only known to lie there or above.
    """

    expensive: Label
    cheap: Label
    kind: Literal["strict", "weak", "none"]
    p: PNumber | None
    wipe_out_low: Int | None
    wipe_out_high: Int | None
    high_at_least: Bool


class Cost(Record):
    """Token costs by class for one family, wording, endpoint and cap."""

    where: dict[Str, Str]
    endpoint: Str
    reference: Bool
    cap: Count
    restricted: Bool
    classes: dict[Label, ClassCost]
    separation: SeparationRecord | None
    ratio_of_means: ExactNumber | None
    reason: Str


class ScoreRow(Record):
    """One row of a score table: the endpoint itself, or a reference row no model stands behind."""

    row: Literal["endpoint", "constant", "perfect_if_uncut"]
    answer: Label | None
    classes: dict[Label, Policies]
    overall: Policies
    balanced: Policies


class Score(Record):
    """Scores by class for one family, wording, endpoint and cap."""

    where: dict[Str, Str]
    endpoint: Str
    reference: Bool
    cap: Count
    rows: tuple[ScoreRow, ...]


class Inversion(Record):
    """Whether the side that needs the whole search costs more in every wording; never a verdict.

    `p` is the largest of `by_wording` (one-sided, in the order of `wordings`). Secondary, for two wordings
    and no cost cut: class effect on sums (`search_p`), differences (`word_p`, `word_interval` in tokens) and
    ratios (`ratio_p`).
    """

    family: Label
    wordings: tuple[Label, ...]
    endpoint: Str
    reference: Bool
    cap: Count
    left_out: Count
    p: PNumber | None
    by_wording: tuple[PNumber, ...]
    restricted: Bool
    search_p: PNumber | None
    word_p: PNumber | None
    word_interval: IntervalRecord | None
    ratio_p: PNumber | None
    reason: Str
    secondary_reason: Str


class Check(Record):
    """Whether the classes differ in something they should not differ in."""

    check: Literal["run_order", "prompt_tokens", "balance"]
    where: dict[Str, Str]
    endpoint: Str | None
    p: PNumber | None
    status: Literal["ok", "confounded", "not_testable"]
    detail: Str


class Deviation(Record):
    """One difference between the plan and the run: which field, planned, observed."""

    field: Str
    planned: Str
    observed: Str
    detail: Str


class Anchor(Record):
    """Where a file is anchored, as the proof's check found it. Verification checks this apart (step 4)."""

    path: Str
    sha256: Hash
    status: Literal["anchored", "pending", "none"]
    grade: Str
    network: Str
    height: Count | None
    time: Instant | None


class ScopeEndpoint(Record):
    """An endpoint of the run, and the model names it reported."""

    name: Str
    provider: Str
    model: Str
    reported: tuple[Str, ...]
    reference: Bool


class Scope(Record):
    """What the results rest on, and so all they are true of."""

    providers: tuple[Str, ...]
    endpoints: tuple[ScopeEndpoint, ...]
    families: tuple[Label, ...]
    wordings: tuple[Label, ...]
    caps: tuple[Count, ...]
    statement: Str


class Totals(Record):
    """The whole run in counts."""

    planned: Count
    lines: Count
    responses: Count
    missing: Count
    absent: Count
    instances: Count


class Report(Record):
    """A run's report; `endpoints` and `history` stand in no report of analysis version 1."""

    schema_: Literal["sealbench/report/v1"] = Field("sealbench/report/v1", alias="schema")
    analysis_version: Count
    time_limit: Count
    run: Name
    run_sha256: Hash
    log_sha256: Hash
    log_lines: Count
    battery: Name
    plan: Name | None
    plan_sha256: Hash | None
    amends: Hash | None
    exploratory: Bool
    alpha: Decimal
    correction: Literal["holm", "none"]
    totals: Totals
    tests: tuple[Comparison, ...]
    verdicts: tuple[HypothesisVerdict, ...]
    void_conditions: tuple[VoidStatus, ...]
    costs: tuple[Cost, ...]
    scores: tuple[Score, ...]
    inversions: tuple[Inversion, ...]
    checks: tuple[Check, ...]
    baselines: tuple[Baseline, ...]
    deviations: tuple[Deviation, ...]
    anchors: tuple[Anchor, ...]
    scope: Scope
    notes: tuple[Str, ...]
    not_proved: tuple[Str, ...]
    endpoints: tuple[EndpointSummary, ...] = ()
    history: tuple[RelatedEvent, ...] = ()

    def to_value(self) -> dict[str, Any]:
        """What is empty of the two parts that version 1 did not know is not written."""
        value = super().to_value()
        for name in ("endpoints", "history"):
            if not value[name]:
                del value[name]
        return value


def report_view(report: Report) -> dict[str, Any]:
    """The report as `seal report --json` prints it.

    `approx` and `error` become JSON numbers (a string stays where a double would underflow to 0: a
    p-value is never 0), and `verdicts` becomes {hypothesis: {endpoint: {verdict, reason}}}.
    """
    view = {key: _with_numbers(value) for key, value in report.to_value().items()}
    verdicts: dict[str, dict[str, Any]] = {}
    for verdict in report.verdicts:
        shown = {"verdict": verdict.verdict, "reason": verdict.reason}
        verdicts.setdefault(verdict.hypothesis, {})[verdict.endpoint] = shown
    view["verdicts"] = verdicts
    return view


def _with_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _number(item)
            if key in ("approx", "error") and isinstance(item, str)
            else _with_numbers(item)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_with_numbers(item) for item in value]
    return value


def _number(text: str) -> float | str:
    number = float(text)
    vanished = number == 0.0 and any(digit in "123456789" for digit in text.partition("e")[0])
    return text if vanished or number in (float("inf"), float("-inf")) else number
