"""The cost and score sections of a report."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from sealbench.formats.report import ClassCost, Cost, Policies, Report, Score, ScoreRow, SeparationRecord
from sealbench.render.document import (
    DASH,
    Block,
    Bullets,
    Grid,
    Paragraph,
    Section,
    amount,
    columns,
    endpoint_text,
    p_text,
    percent,
    range_of,
    range_text,
    where_text,
)


def cost_section(report: Report) -> Section | None:
    """Charged tokens by class, and the caps that would delete one class whole."""
    costs = sorted(
        (cost for cost in report.costs if cost.classes), key=lambda c: (where_text(c.where), c.cap)
    )
    if not costs:
        return None
    blocks: list[Block] = [
        Paragraph("Where the cap cut something, means are restricted means: the true cost is at least that.")
    ]
    for (where, cap), group in groupby(costs, key=lambda cost: (where_text(cost.where), cost.cap)):
        rows = [row for cost in group for row in _cost_rows(cost)]
        header = ("endpoint", "class", "least", "median", "mean", "most", "cut", "no usage")
        blocks.append(Grid(f"{where}, cap {cap}", header, columns(rows), right=frozenset(range(2, 8))))
    blocks.extend(_separations(costs))
    return Section("costs", "What each class costs, in charged tokens", tuple(blocks))


def _cost_rows(cost: Cost) -> list[tuple[str, ...]]:
    name = endpoint_text(cost.endpoint, cost.reference)
    return [(name, label, *_class_cells(own)) for label, own in sorted(cost.classes.items())]


def _class_cells(own: ClassCost) -> tuple[str, ...]:
    median = own.median or (f"> {own.median_above}" if own.median_above is not None else DASH)
    mean = amount(own.mean)
    return (
        DASH if own.minimum is None else str(own.minimum),
        median,
        f"≥ {mean}" if own.cut and own.mean is not None else mean,
        DASH if own.maximum is None else str(own.maximum),
        str(own.cut),
        str(own.no_usage),
    )


def _separations(costs: Sequence[Cost]) -> list[Block]:
    rows = [
        (
            endpoint_text(cost.endpoint, cost.reference),
            f"{where_text(cost.where)}, cap {cost.cap}",
            f"{cost.separation.expensive} over {cost.separation.cheap}",
            cost.separation.kind,
            _wipe_out(cost.separation),
            p_text(cost.separation.p),
            ("≥ " if cost.restricted else "") + amount(cost.ratio_of_means, 2),
        )
        for cost in costs
        if cost.separation is not None
    ]
    if not rows:
        return []
    header = ("endpoint", "where", "classes", "separation", "wipe-out caps", "exact p", "ratio of means")
    caption = "Every cap in the wipe-out interval cuts one class whole and spares the other"
    return [Grid(caption, header, columns(rows), right=frozenset({6}))]


def _wipe_out(separation: SeparationRecord) -> str:
    if separation.wipe_out_low is None or separation.wipe_out_high is None:
        return DASH
    end = f"{separation.wipe_out_high - 1}"
    return f"{separation.wipe_out_low} to {end}" + (" or more" if separation.high_at_least else "")


def inversion_section(report: Report) -> Section | None:
    """Several wordings of the same instances: whether the cost follows the search or the answer word."""
    if not report.inversions:
        return None
    rows = [
        (
            endpoint_text(control.endpoint, control.reference),
            f"{control.family}, cap {control.cap}: {', '.join(control.wordings)}",
            p_text(control.p),
            p_text(control.search_p),
            p_text(control.word_p),
            range_of(control.word_interval, 1).strip() or DASH,
            p_text(control.ratio_p),
        )
        for control in report.inversions
    ]
    text = (
        "Whether the side that needs the whole search costs more in every wording: p is the largest of the "
        "wordings' one-sided ones. The rest is secondary: the class effect on the sum of both costs, "
        "on their difference (the answer word, with its interval in tokens), and on their ratio."
    )
    header = ("endpoint", "where", "exact p", "p of sums", "p of differences", "word effect", "p of ratios")
    remarks = dict.fromkeys(
        f"{endpoint_text(control.endpoint, control.reference)}, cap {control.cap}: {remark}"
        for control in report.inversions
        for remark in (control.reason, control.secondary_reason)
        if remark
    )
    grid = Grid("Inversion control, uncorrected", header, columns(rows))
    blocks: tuple[Block, ...] = (Paragraph(text), grid, *((Bullets(tuple(remarks)),) if remarks else ()))
    return Section("inversion", "EXPLORATORY: does the cost follow the search or the answer word?", blocks)


def score_section(report: Report) -> Section | None:
    """Scores under each policy with their worst-case bounds, and the rows no model stands behind."""
    scores = sorted(
        (s for s in report.scores if s.rows[0].classes), key=lambda s: (where_text(s.where), s.cap)
    )
    if not scores:
        return None
    text = (
        "Cut counted wrong, cut dropped, and bounds that hold whatever the lost and missing answers would "
        "have been. Balanced accuracy is the mean over the classes. A constant answerer and a perfect model "
        "under this cap stand beside each endpoint for comparison."
    )
    blocks: list[Block] = [Paragraph(text)]
    for (where, cap), group in groupby(scores, key=lambda score: (where_text(score.where), score.cap)):
        # Constant rows depend on the class sizes alone: one of each is enough.
        rows = dict.fromkeys(cells for score in group for cells in _score_cells(score))
        header = (
            "row",
            "class",
            "cut wrong",
            "cut dropped",
            "bounds",
            "balanced, cut wrong",
            "balanced, dropped",
        )
        blocks.append(
            Grid(f"{where}, cap {cap}", header, columns(list(rows)), right=frozenset({2, 3, 4, 5, 6}))
        )
    return Section("scores", "Scores under each policy", tuple(blocks))


def _score_cells(score: Score) -> list[tuple[str, ...]]:
    """Per class for the endpoint, all classes together for it and for the reference rows."""
    cells: list[tuple[str, ...]] = []
    for row in score.rows:
        name = _row_name(row, score)
        if row.row == "endpoint":
            cells += [
                (name, label, *_policy_cells(own), "", "") for label, own in sorted(row.classes.items())
            ]
        balanced = (percent(row.balanced.cut_wrong), percent(row.balanced.cut_dropped))
        cells.append((name, "all", *_policy_cells(row.overall), *balanced))
    return cells


def _policy_cells(own: Policies) -> tuple[str, ...]:
    return percent(own.cut_wrong), percent(own.cut_dropped), range_text(own.low, own.high)


def _row_name(row: ScoreRow, score: Score) -> str:
    endpoint = endpoint_text(score.endpoint, score.reference)
    if row.row == "endpoint":
        return endpoint
    if row.row == "constant":
        return f"always {row.answer}"
    return f"perfect, cut like {endpoint}"
