"""Sections over several runs: summary, trend, leaderboard. All of it is exploratory."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby

from sealbench.analysis.leaderboard import Standing
from sealbench.analysis.trend import TrendRow
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
from sealbench.render.numbers import number, p_value, share


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
                    share(None if balanced is None else fraction(balanced)),
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
                p_value(row.p),
                p_value(row.p_adjusted),
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
            share(row.score),
            f"{share(row.low)} to {share(row.high)}",
            DASH if row.yap is None else f"{number(row.yap.index)} ± {number(row.yap.half_width)}",
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


def across_document(sections: Sequence[Section], limits: Sequence[str]) -> Document:
    """The sections as one document, closed by what none of it proves."""
    last = Section("limits", "What this does not prove", (Bullets(tuple(dict.fromkeys(limits))),))
    return Document("EXPLORATORY: across runs and endpoints", (), (*sections, last))


def _value(measure: str, value: Fraction) -> str:
    return number(value) if measure == "charged_tokens" else share(value)


def _signed(measure: str, value: Fraction) -> str:
    return ("+" if value > 0 else "") + _value(measure, value)
