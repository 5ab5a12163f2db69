"""Sections over several runs: summary, trend, leaderboard, verbosity, cascade. All of it is exploratory."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby

from sealbench.analysis.cascade import Cascade
from sealbench.analysis.leaderboard import Standing
from sealbench.analysis.trend import TrendRow
from sealbench.analysis.verbosity import Compensation, Verbosity
from sealbench.formats.report import Report
from sealbench.render.document import (
    DASH,
    MEASURES,
    Block,
    Bullets,
    Document,
    Grid,
    Paragraph,
    Section,
    clean,
    columns,
    endpoint_text,
    fraction,
    where_text,
)
from sealbench.stats.pvalue import PValue

_TOKENS = "Token counts of different providers are never compared."


def summary_section(reports: Sequence[Report]) -> Section:
    """Every run, endpoint and cap side by side: what was lost of each class, and the score."""
    rows = []
    for report in reports:
        lost = {
            (test.endpoint, test.cap, where_text(test.where)): test
            for test in report.tests
            if test.hypothesis is None and test.measure == "lost"
        }
        for score in report.scores:
            test = lost.get((score.endpoint, score.cap, where_text(score.where)))
            classes = {} if test is None else test.classes
            counts = [f"{label} {own.lost}/{own.responses}" for label, own in classes.items()]
            balanced = score.rows[0].balanced.cut_wrong if score.rows else None
            rows.append(
                (
                    clean(report.run),
                    endpoint_text(score.endpoint, score.reference),
                    where_text(score.where),
                    str(score.cap),
                    ", ".join(counts) or DASH,
                    _share(None if balanced is None else fraction(balanced)),
                )
            )
    rows.sort(key=lambda row: (row[2], int(row[3]), row[1]))  # one endpoint's runs stand together
    header = ("run", "endpoint", "where", "cap", "lost/total", "balanced score")
    grid = Grid("Runs side by side", header, columns(rows), right=frozenset({3, 5}))
    text = "Lost is cut without a final answer. Balanced score: mean over the classes, cut counted wrong."
    return Section("summary", "EXPLORATORY: runs side by side", (Paragraph(text), grid))


def trend_section(rows: Sequence[TrendRow]) -> Section:
    """What moved from run to run of one battery and endpoint."""
    text = (
        "Each run against all earlier ones on the same instances: exact sign-flip test of each instance's "
        "change, two-sided, corrected over the whole table (Holm)."
    )
    if not rows:
        none = Paragraph("No two of these runs share a battery, an endpoint and a cap.")
        return Section("trend", "EXPLORATORY: trend over dates", (none,))
    blocks: list[Block] = [Paragraph(text)]
    for place, group in groupby(rows, key=lambda row: row.place):
        battery, family, wording, endpoint, cap = place
        cells = [
            (
                MEASURES[row.measure],
                row.started_at[:10],
                clean(row.run),
                _value(row.measure, row.value),
                DASH if row.change is None else _signed(row.measure, row.change),
                _p(row.p),
                _p(row.p_adjusted),
            )
            for row in group
        ]
        caption = f"{clean(endpoint)}: battery {clean(battery)}, {family}, {wording}, cap {cap}"
        header = ("measure", "began", "run", "mean", "change", "p", "corrected")
        blocks.append(Grid(caption, header, columns(cells), frozenset({3, 4})))
    if told := _models(rows):
        blocks.append(Bullets(told))
    return Section("trend", "EXPLORATORY: trend over dates", tuple(blocks))


def _models(rows: Sequence[TrendRow]) -> tuple[str, ...]:
    """Endpoints whose reported model is not the same in all runs: the pin did not hold."""
    seen: dict[str, dict[tuple[str, ...], str]] = {}
    for row in rows:
        seen.setdefault(row.place[3], {}).setdefault(row.models, row.run)
    return tuple(
        f"{clean(endpoint)} reported different models: "
        + "; ".join(f"{', '.join(map(clean, models)) or 'none'} ({run})" for models, run in found.items())
        for endpoint, found in seen.items()
        if len(found) > 1
    )


def leaderboard_section(standings: Sequence[Standing]) -> Section:
    """Standings, each with the ranks it can have."""
    rows = [
        (
            f"{row.ranks[0]}" if row.ranks[0] == row.ranks[1] else f"{row.ranks[0]}–{row.ranks[1]}",
            endpoint_text(row.endpoint, row.reference),
            clean(row.run),
            f"{clean(row.battery)}, {row.place}, cap {row.cap}",
            _share(row.score),
            f"{_share(row.low)} to {_share(row.high)}",
            DASH if row.yap is None else f"{_number(row.yap.index)} ± {_number(row.yap.half_width)}",
        )
        for row in standings
    ]
    text = (
        "Balanced accuracy, cut counted wrong, with the bounds whatever the cut and missing answers would "
        "have been; a rank is the interval those bounds allow. They are no sampling error: one battery."
    )
    header = ("rank", "endpoint", "run", "where", "score", "bounds", "YapIndex")
    grid = Grid("Leaderboard", header, columns(rows), right=frozenset({4}))
    return Section("leaderboard", "EXPLORATORY: leaderboard", (Paragraph(text), grid))


def verbosity_section(run: str, found: Sequence[Verbosity]) -> Section:
    """YapBench's measures and verbosity compensation, one row per endpoint."""
    lengths, tokens = [], []
    for one in found:
        name, yap, told = clean(one.endpoint), one.yap, one.compensation
        percentiles = [DASH] * 3 if yap is None else [_number(yap.percentiles[k]) for k in (50, 90, 99)]
        lengths.append(
            (
                name,
                str(one.responses),
                str(one.cut),
                DASH if yap is None else f"{_number(yap.index)} ± {_number(yap.half_width)}",
                *percentiles,
                DASH if one.excess_tokens is None else _number(one.excess_tokens),
                DASH if one.refusals is None else _number(one.refusals),
            )
        )
        tokens.append((name, *_compensation(told)))
    blocks: list[Block] = [
        Paragraph(
            "YapScore: characters of the visible answer beyond the minimal one, markdown not counted. Index: "
            "mean over categories of the median, ± half the 95% bootstrap interval within categories (1000 "
            "seeded draws). Cut answers are shorter than they would have been. Excess tokens per 1,000 "
            f"responses; the minimal answer's tokens are estimated at one per 4 characters. {_TOKENS}"
        ),
        Grid(
            f"YapBench, run {clean(run)}",
            ("endpoint", "n", "cut", "YapIndex", "p50", "p90", "p99", "excess tokens", "refusal"),
            columns(lengths),
            right=frozenset(range(1, 9)),
        ),
        Grid(
            "Verbose: a first line of 4 tokens or more",
            ("endpoint", "verbose", "long steps", "Δ right", "δ"),
            columns(tokens),
            right=frozenset(range(1, 5)),
        ),
        *_categories(found),
        Bullets(
            (
                "Δ is the share right of the concise minus that of the verbose answers, δ is Δ over all's.",
                "Not covered: graph-Laplacian uncertainty, capability correlations, the five types.",
            )
        ),
    ]
    cap = found[0].cap if found else 0
    return Section("verbosity", f"EXPLORATORY: verbosity at cap {cap}", tuple(blocks))


def _compensation(told: Compensation) -> tuple[str, ...]:
    count = told.responses
    return (
        f"{told.verbose}/{count}",
        f"{told.long_steps}/{count}",
        DASH if told.delta is None else _signed("accuracy", told.delta),
        DASH if told.relative is None else _number(told.relative, 2),
    )


def _categories(found: Sequence[Verbosity]) -> list[Block]:
    rows = sorted(
        (category, score, clean(one.endpoint))
        for one in found
        if one.yap is not None
        for category, score in one.yap.medians.items()
    )
    cells = [(clean(category), name, _number(score)) for category, score, name in rows]
    header = ("category", "endpoint", "median YapScore")
    return (
        [Grid("Ranking per category, shortest first", header, columns(cells), frozenset({2}))]
        if cells
        else []
    )


def cascade_section(run: str, found: Cascade) -> Section:
    """The cascade beside each endpoint alone and random routing of equal cost."""
    rows = [
        (clean(name), _share(right), _number(tokens))
        for name, (right, tokens) in zip(found.endpoints, found.alone, strict=True)
    ]
    rows.append(("cascade", _share(found.right), _number(found.tokens)))
    rows.append(("random routing of that cost", _share(found.random_right), _number(found.tokens)))
    text = (
        f"Algorithm 1: the next endpoint is asked where the answer is verbose, cut, missing or empty; "
        f"{found.escalated} of {found.calls} calls. Random routing is its exact expectation. "
        "Tokens of different providers do not cost the same; the sum is only a count."
    )
    blocks: list[Block] = [
        Paragraph(text),
        Grid(
            f"Cascade, run {clean(run)}",
            ("who", "right", "tokens per call"),
            columns(rows),
            frozenset({1, 2}),
        ),
    ]
    if found.unpriced:
        blocks.append(
            Paragraph(f"{found.unpriced} calls report no usage and count as 0 tokens.", strong=True)
        )
    return Section("cascade", "EXPLORATORY: cascade", tuple(blocks))


def across_document(sections: Sequence[Section], limits: Sequence[str]) -> Document:
    """The sections as one document, closed by what none of it proves."""
    last = Section("limits", "What this does not prove", (Bullets(tuple(dict.fromkeys(limits))),))
    return Document("EXPLORATORY: across runs and endpoints", (), (*sections, last))


def _share(value: Fraction | None) -> str:
    return DASH if value is None else f"{float(100 * value):.1f}%"


def _number(value: Fraction, digits: int = 1) -> str:
    return str(int(value)) if value.denominator == 1 else f"{float(value):.{digits}f}"


def _value(measure: str, value: Fraction) -> str:
    return _number(value) if measure == "charged_tokens" else _share(value)


def _signed(measure: str, value: Fraction) -> str:
    return ("+" if value > 0 else "") + _value(measure, value)


def _p(value: PValue | None) -> str:
    return DASH if value is None else value.text()
