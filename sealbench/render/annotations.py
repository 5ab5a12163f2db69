"""The types of verbosity that people saw, and how far they agree."""

from __future__ import annotations

from sealbench.analysis.annotations import Annotations, RatersAgreement
from sealbench.formats.annotation_sheet import TYPES
from sealbench.render.document import DASH, Block, Grid, Paragraph, Section, clean, columns
from sealbench.render.numbers import share
from sealbench.stats.pvalue import fraction_text

_WORDS = {kind: kind.replace("_", " ") for kind in TYPES} | {"none": "none of these"}


def annotations_section(found: Annotations) -> Section:
    """Per endpoint and type what each rater counted; the raters' agreement where there are several."""
    raters = list(dict.fromkeys(own.rater for own in found.counts))
    counts = {(own.endpoint, own.rater): own for own in found.counts}
    rows: list[tuple[str, ...]] = []
    for endpoint in dict.fromkeys(own.endpoint for own in found.counts):
        told = [counts[endpoint, rater] for rater in raters]
        rows += [
            (clean(endpoint), _WORDS[kind], *(str(own.types.get(kind, 0)) for own in told)) for kind in TYPES
        ]
        rows.append((clean(endpoint), "not judged", *(str(own.unrated) for own in told)))
    text = (
        f"People judged which type of verbosity each of the {found.verbose} verbose answers shows, without "
        "being told the endpoint. The sheets' texts stay private; counts cannot be verified without them."
    )
    header = ("endpoint", "type", *map(clean, raters))
    caption = f"Types of verbosity by rater, run {clean(found.run)}"
    blocks: list[Block] = [
        Paragraph(text),
        Grid(caption, header, columns(rows), frozenset(range(2, len(header)))),
    ]
    if found.agreements:
        header = ("raters", "kappa", "answers", "agreeing", "by chance", "kappa, exact")
        cells = [_agreement(own) for own in found.agreements]
        kappas = Grid("Agreement of the raters", header, columns(cells), frozenset({2, 3, 4}))
        note = (
            "Kappa: agreement beyond chance, over the answers all raters of the row judged. Cohen's of two, "
            "Fleiss' of more. 1 is full agreement, 0 is what chance gives."
        )
        blocks += [kappas, Paragraph(note)]
    return Section("annotations", "EXPLORATORY: types of verbosity, judged by people", tuple(blocks))


def _agreement(own: RatersAgreement) -> tuple[str, ...]:
    told = own.agreement
    kappa = "not defined" if told.kappa is None else f"{float(told.kappa):.2f}"
    return (
        ", ".join(map(clean, own.raters)),
        f"{'Cohen' if len(own.raters) == 2 else 'Fleiss'} {kappa}",
        str(told.subjects),
        share(told.observed),
        share(told.expected),
        DASH if told.kappa is None else fraction_text(told.kappa),
    )
