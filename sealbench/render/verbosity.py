"""How much longer than needed the visible answers are: YapBench's measures and verbosity compensation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

from sealbench.analysis.endpoint_facts import Facts, price_of
from sealbench.analysis.verbosity import Compensation, Verbosity
from sealbench.render.document import DASH, Block, Bullets, Grid, Paragraph, Section, clean, columns
from sealbench.render.numbers import number, share, signed_share, usd


def verbosity_section(run: str, found: Sequence[Verbosity], facts: Facts) -> Section:
    """Lengths, their price, verbose answers and the ranking per category, one row per endpoint."""
    blocks: list[Block] = [
        Paragraph(
            "YapScore: characters of the visible answer beyond the minimal one, markdown not counted. Index: "
            "mean over categories of the median, ± half the 95% bootstrap interval within categories (1000 "
            "seeded draws). Cut answers are shorter than they would have been."
        ),
        _lengths(run, found),
        *_taxes(found, facts),
        Grid(
            "Verbose: a first line of 4 tokens or more",
            ("endpoint", "verbose", "long steps", "Δ right", "δ"),
            columns([(clean(one.endpoint), *_compensation(one.compensation)) for one in found]),
            right=frozenset(range(1, 5)),
        ),
        *_ranking(found),
        Bullets(
            (
                "Δ is the share right of the concise minus that of the verbose answers, δ is Δ over all's.",
                "Refusal: median characters of the responses that the host calls refused.",
                "Not covered: graph-Laplacian uncertainty, capability correlations.",
            )
        ),
    ]
    cap = found[0].cap if found else 0
    return Section("verbosity", f"EXPLORATORY: verbosity at cap {cap}", tuple(blocks))


def _lengths(run: str, found: Sequence[Verbosity]) -> Grid:
    rows = []
    for one in found:
        yap = one.yap
        percentiles = [DASH] * 3 if yap is None else [number(yap.percentiles[k]) for k in (50, 90, 99)]
        index = DASH if yap is None else f"{number(yap.index)} ± {number(yap.half_width)}"
        refusal = DASH if one.refusals is None else f"{number(one.refusals)} ({one.refused})"
        rows.append((clean(one.endpoint), str(one.responses), str(one.cut), index, *percentiles, refusal))
    header = ("endpoint", "n", "cut", "YapIndex", "p50", "p90", "p99", "refusal (n)")
    return Grid(f"YapBench, run {clean(run)}", header, columns(rows), right=frozenset(range(1, 8)))


def _taxes(found: Sequence[Verbosity], facts: Facts) -> list[Block]:
    rows = []
    for one in found:
        price = price_of(facts, one.endpoint)
        rows.append(
            (
                clean(one.endpoint),
                number(one.excess_tokens),
                "estimated" if one.baseline is None else str(one.baseline),
                "no price known" if price is None else f"${price.output} ({one.price_source})",
                usd(one.yap_tax),
            )
        )
    text = (
        "YapTax: USD per 1,000 prompts for visible tokens beyond the minimal answer's. The minimal answer's "
        "tokens are those configured (baseline_tokens), else estimated at one per 4 characters. Prices are "
        "no part of the log: they are as told. Token counts of different providers are never compared."
    )
    header = ("endpoint", "excess tokens", "minimal answer", "USD per million", "YapTax")
    grid = Grid("YapTax, per 1,000 prompts", header, columns(rows), right=frozenset({1, 2, 4}))
    return [Paragraph(text), grid]


def _compensation(told: Compensation) -> tuple[str, ...]:
    return (
        _of(told.verbose, told.responses),
        _of(told.long_steps, told.responses),
        signed_share(told.delta),
        number(told.relative, 2),
    )


def _of(part: int, whole: int) -> str:
    """A count of a count, with the share they make."""
    return f"{part}/{whole} = {share(Fraction(part, whole))}" if whole else f"{part}/{whole}"


def _ranking(found: Sequence[Verbosity]) -> list[Block]:
    """Per category the endpoints by their median score, the shortest first; equal scores share a rank."""
    categories: dict[str, list[tuple[Fraction, str]]] = defaultdict(list)
    for one in found:
        if one.yap is not None:
            for category, score in one.yap.medians.items():
                categories[category].append((score, clean(one.endpoint)))
    rows = []
    for category, scores in sorted(categories.items()):
        for score, name in sorted(scores):
            rank = 1 + sum(other < score for other, _ in scores)
            tied = sum(other == score for other, _ in scores) > 1
            rows.append((clean(category), f"{rank}=" if tied else str(rank), name, number(score)))
    if not rows:
        return []
    header = ("category", "rank", "endpoint", "median YapScore")
    return [Grid("Ranking per category, shortest first", header, columns(rows), frozenset({1, 3}))]
