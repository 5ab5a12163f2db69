"""What goes with verbosity: the model's release date, the answer's perplexity, reasoning on or off."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby
from math import exp

from sealbench.analysis.perplexity import LengthBin, Perplexity
from sealbench.analysis.reasoning_pairs import PairRow
from sealbench.analysis.releases import Releases
from sealbench.render.document import DASH, Block, Grid, Paragraph, Section, clean, columns
from sealbench.render.numbers import number, p_value, share, signed, signed_share
from sealbench.stats.correlation import RankCorrelation
from sealbench.stats.pvalue import fraction_text
from sealbench.stats.results import TESTED

_ALPHA = Fraction(1, 20)
_MEASURES = {"yap_score": "YapScore", "accuracy": "accuracy", "censored": "censored"}


def releases_section(found: Sequence[Releases]) -> Section:
    """YapIndex against the release date of each model, a table per battery."""
    title = "EXPLORATORY: YapIndex against release date"
    if not found:
        none = Paragraph("No endpoint here has a release_date under [endpoints.NAME] in sealbench.toml.")
        return Section("releases", title, (none,))
    text = (
        "Endpoints asked the same battery, wordings and cap; of an endpoint in several runs the latest "
        "counts. Release dates are as configured: no file proves them. No line is fitted; unit: the endpoint."
    )
    blocks: list[Block] = [Paragraph(text)]
    for group in found:
        rows = [
            (point.released.isoformat(), clean(point.endpoint), number(point.index), number(point.half_width))
            for point in group.points
        ]
        caption = f"Battery {clean(group.battery)}, cap {group.cap}: oldest model first"
        header = ("released", "endpoint", "YapIndex", "± 95%")
        blocks.append(Grid(caption, header, columns(rows), frozenset({2, 3})))
        blocks.append(Paragraph(_correlation(group.correlation, "YapIndex", "release date")))
        if group.undated:
            blocks.append(Paragraph(f"Without a date or an answer: {', '.join(map(clean, group.undated))}."))
    return Section("releases", title, tuple(blocks))


def perplexity_section(found: Sequence[Perplexity]) -> Section:
    """Perplexity by length of the answer, for the endpoints that returned log-probabilities."""
    title = "EXPLORATORY: perplexity against length"
    if not found:
        return Section(
            "perplexity", title, (Paragraph("No response of this run came with log-probabilities."),)
        )
    text = (
        "Perplexity of the visible answer: exp of minus the mean log-probability per token, over a bin its "
        "geometric mean. Only whole answers; length in characters, markdown not counted. Rank correlation "
        "over instances, exchanged within family, stratum and wordings; two-sided, uncorrected."
    )
    blocks: list[Block] = [Paragraph(text)]
    for one in found:
        header = ("characters", "answers", "perplexity", "right")
        caption = f"{clean(one.endpoint)}: {one.responses} answers, {one.without} without log-probabilities"
        rows = [_bin_cells(own) for own in one.bins]
        blocks.append(Grid(caption, header, columns(rows), frozenset({1, 2, 3})))
        blocks.append(Paragraph(_correlation(one.correlation, "perplexity", "length")))
    return Section("perplexity", title, tuple(blocks))


def _bin_cells(own: LengthBin) -> tuple[str, ...]:
    return (
        f"{own.low} to {own.high}",
        str(own.responses),
        f"{exp(min(700.0, -float(own.mean_logprob))):.3g}",
        share(own.right),
    )


def _correlation(found: RankCorrelation, one: str, other: str) -> str:
    """The test in words; nothing is claimed that this design could not show."""
    if found.status != TESTED or found.rho is None:
        return f"Spearman's rank correlation of {one} with {other}: {found.status} ({found.reason})."
    told = f"Spearman's rank correlation of {one} with {other}: {found.rho:+.2f}, p {p_value(found.p_value)}"
    told += f", {found.instances} points" + (f" in {found.strata} strata." if found.strata > 1 else ".")
    if found.smallest is not None and found.smallest > _ALPHA:
        told += f" Cannot tell: no order of so few could give less than {fraction_text(found.smallest)}."
    return told


def reasoning_section(rows: Sequence[PairRow]) -> Section:
    """Endpoints that differ in reasoning alone, compared item by item."""
    title = "EXPLORATORY: reasoning on and off"
    if not rows:
        none = Paragraph("No two endpoints of this run differ in their reasoning setting alone.")
        return Section("reasoning", title, (none,))
    text = (
        "First minus second endpoint on the same items; unit: the instance, exact sign flips, two-sided, "
        "corrected over all rows (Holm). YapScore compares whole answers only: where one of the two was cut, "
        "empty or missing the pair of calls is left out, so read it together with the cuts."
    )
    blocks: list[Block] = [Paragraph(text)]
    for pair, group in groupby(rows, key=lambda row: row.pair):
        first, second = clean(pair.first), clean(pair.second)
        caption = f"{first} ({clean(pair.first_setting)}) against {second} ({clean(pair.second_setting)})"
        header = ("measure", "cap", "n", "left out", "first", "second", "change", "p", "corrected")
        cells = [_pair_cells(row) for row in group]
        blocks.append(Grid(caption, header, columns(cells), frozenset(range(1, 7))))
    return Section("reasoning", title, tuple(blocks))


def _pair_cells(row: PairRow) -> tuple[str, ...]:
    if row.measure == "yap_score":
        values = number(row.first), number(row.second), signed(row.change)
    else:
        values = share(row.first), share(row.second), signed_share(row.change)
    counts = str(row.instances), str(row.left_out)
    corrected = DASH if row.p_adjusted is None else p_value(row.p_adjusted)
    return _MEASURES[row.measure], str(row.cap), *counts, *values, p_value(row.p), corrected
