"""What each class costs in charged tokens: summaries, separation, and the caps that delete one class whole.

Where the cap cut something, a cost is only known to be at least what was charged: means are then
restricted means, and everything here says so. Token counts of different endpoints are never compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

from sealbench.analysis.quantities import exact_or_none, fraction_of, mean, p_number
from sealbench.analysis.rows import InstanceScores, Selection, by_stratum, instance_scores
from sealbench.formats.report import ClassCost, Cost, SeparationRecord
from sealbench.formats.run import LogLine
from sealbench.stats.completeness import separation
from sealbench.stats.pvalue import PValue
from sealbench.stats.results import decimal_text
from sealbench.stats.survival import kaplan_meier


def cost_by_class(
    selection: Selection, where: dict[str, str], endpoint: str, cap: int, *, reference: bool
) -> Cost:
    """The cost section of one family, wording, endpoint and cap."""
    labels = selection.labels
    scores = instance_scores(selection.lines, "charged_tokens")
    classes = {label: _class_cost(selection, label, scores) for label in labels}
    restricted = any(cost.cut for cost in classes.values())
    separation, ratio, reason = None, None, ""
    priced = [label for label in labels if classes[label].mean is not None]
    if not priced:
        reason = "no usage was reported" if selection.lines else "no response"
    elif len(labels) != 2 or len(priced) != 2:
        reason = f"two classes with token counts are needed, {len(priced)} of {len(labels)} have them"
    else:
        expensive, cheap = sorted(priced, key=lambda label: (-_mean(classes[label]), label))
        separation = _separation(selection, scores, expensive, cheap)
        ratio = _mean(classes[expensive]) / _mean(classes[cheap]) if _mean(classes[cheap]) else None
    return Cost(
        where=where,
        endpoint=endpoint,
        reference=reference,
        cap=cap,
        restricted=restricted,
        classes=classes,
        separation=separation,
        ratio_of_means=exact_or_none(ratio),
        reason=reason,
    )


def _mean(cost: ClassCost) -> Fraction:
    return fraction_of(cost.mean) if cost.mean is not None else Fraction(0)


def _class_cost(selection: Selection, label: str, scores: Sequence[InstanceScores]) -> ClassCost:
    lines = [line for line in selection.of_class(label) if not line.missing]
    charged = [line for line in lines if line.charged_tokens is not None]
    tokens = [line.charged_tokens or 0 for line in charged]
    means = [score.mean for score in scores if score.class_label == label]
    median, above = _median(charged)
    return ClassCost(
        instances=len(means),
        responses=len(lines),
        no_usage=len(lines) - len(charged),
        cut=sum(not is_whole(line) for line in charged),
        minimum=min(tokens, default=None),
        maximum=max(tokens, default=None),
        mean=exact_or_none(mean(means)),
        median=median,
        median_above=above,
    )


def is_whole(line: LogLine) -> bool:
    """Whether a response's tokens are its whole cost, not merely a lower bound of it."""
    return line.end not in ("cut_reported", "cut_inferred", "cut_other", "unknown")


def cost_pairs(lines: Sequence[LogLine]) -> list[tuple[int, bool]]:
    """(charged tokens, whether that is the whole cost) of every response with usage."""
    return [
        (line.charged_tokens, is_whole(line))
        for line in lines
        if line.charged_tokens is not None and not line.missing
    ]


def instance_costs(lines: Sequence[LogLine]) -> list[tuple[Fraction, bool]]:
    """Per instance its mean charged tokens, and whether all its responses were whole: what a curve takes."""
    pairs: dict[str, list[tuple[int, bool]]] = defaultdict(list)
    for line in lines:
        pairs[line.instance].extend(cost_pairs([line]))
    return [
        (Fraction(sum(tokens for tokens, _ in own), len(own)), all(whole for _, whole in own))
        for _, own in sorted(pairs.items())
        if own
    ]


def _median(lines: Sequence[LogLine]) -> tuple[str | None, str | None]:
    """The Kaplan–Meier median over instances, or the cost it is known to lie above."""
    costs = instance_costs(lines)
    if not costs:
        return None, None
    curve = kaplan_meier(costs)
    if curve.median is None:
        return None, decimal_text(max(cost for cost, _ in costs))
    return decimal_text(curve.median), None


def _separation(
    selection: Selection, scores: Sequence[InstanceScores], expensive: str, cheap: str
) -> SeparationRecord:
    """Whether every response of one class costs more than every response of the other.

    A cut response of the dear class is a lower bound, which keeps a separation true; a cut response
    of the cheap class leaves its cost open, and so the question.
    """
    extremes = {label: cost_pairs(selection.of_class(label)) for label in (expensive, cheap)}
    low = max(tokens for tokens, _ in extremes[cheap])
    high = min(tokens for tokens, _ in extremes[expensive])
    cheap_whole = all(whole for _, whole in extremes[cheap])
    strict = low < high and cheap_whole
    same = len({tokens for own in extremes.values() for tokens, _ in own}) == 1
    weak = low == high and cheap_whole and not same
    at_least = any(not whole for tokens, whole in extremes[expensive] if tokens == high)
    return SeparationRecord(
        expensive=expensive,
        cheap=cheap,
        kind="strict" if strict else "weak" if weak else "none",
        p=p_number(_separation_p(scores, expensive, cheap)) if strict else None,
        wipe_out_low=low if strict else None,
        wipe_out_high=high if strict else None,
        high_at_least=strict and at_least,
    )


def _separation_p(scores: Sequence[InstanceScores], expensive: str, cheap: str) -> PValue:
    """The exact share of labellings, within strata, that separate the instances' mean costs either way."""
    strata = by_stratum(scores, expensive, cheap)
    values = [
        ([score.values for score in first], [score.values for score in second]) for first, second in strata
    ]
    return separation(strata=values).p_value
