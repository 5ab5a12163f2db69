"""What `seal report` says beyond each report: several runs, leaderboard, verbosity, cascade, annotations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sealbench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sealbench.analysis.endpoint_facts import EndpointFacts
    from sealbench.analysis.verbosity import Verbosity
    from sealbench.config import Settings
    from sealbench.endpoints.settings import Price
    from sealbench.formats.annotation_sheet import Annotation
    from sealbench.formats.run import Run
    from sealbench.render.document import Document, Section
    from sealbench.render.svg import Figure
    from sealbench.stages.report import Reported


@dataclass(frozen=True)
class Wanted:
    """The sections asked for beyond the reports themselves.

    `prices` are texts NAME=INPUT,OUTPUT; `annotations` are sheets that raters filled in.
    """

    leaderboard: bool
    verbosity: bool
    cascade: str | None
    prices: tuple[str, ...] = ()
    annotations: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Overview:
    """The sections as one document, with their figures."""

    document: Document
    figures: tuple[Figure, ...]


def across(found: Sequence[Reported], wanted: Wanted, settings: Settings) -> Overview | None:
    """The sections over these runs; None where nothing is to be said beyond each report.

    Raises
    ------
    UsageError : a price, or an endpoint of a cascade, that means nothing in these runs.
    FormatError : an annotation sheet that cannot be read, or does not belong to these runs.
    """
    from sealbench.render import across as render

    if wanted.prices and not (wanted.verbosity or wanted.cascade):
        raise UsageError(
            "--price changes nothing here: only --verbosity and --cascade count in USD",
            hint=f"seal report {found[0].run.name} --verbosity --price {wanted.prices[0]}",
        )
    prices = _prices(wanted.prices, {endpoint.name for one in found for endpoint in one.run.endpoints})
    sections: list[Section] = []
    if len(found) > 1:
        from sealbench.analysis.trend import trend

        sections.append(render.summary_section([one.report for one in found]))
        sections.append(render.trend_section(trend([(one.run, one.lines) for one in found])))
    if wanted.leaderboard:
        from sealbench.analysis.leaderboard import leaderboard

        sections.append(render.leaderboard_section(leaderboard([(one.report, one.lines) for one in found])))
    sheets = _sheets(found, wanted.annotations)
    known = [_facts(one.run, settings, prices) for one in found]
    measured = [_measured(one, facts) for one, facts in zip(found, known, strict=True) if wanted.verbosity]
    for place, (one, facts) in enumerate(zip(found, known, strict=True)):
        told = _verbosity(one, measured[place], facts) if wanted.verbosity else []
        if wanted.cascade is not None:
            told += _cascade(one, wanted.cascade, facts)
        if sheets:
            told.append(_annotations(one, sheets))
        several = f", run {one.run.name}" if len(found) > 1 else ""
        sections += [replace(section, title=section.title + several) for section in told]
    figures: tuple[Figure, ...] = ()
    if wanted.verbosity:
        section, figures = _releases(found, measured, known)
        sections.append(section)
    limits = [limit for one in found for limit in one.report.not_proved]
    return Overview(render.across_document(sections, limits), figures) if sections else None


def _measured(one: Reported, facts: Mapping[str, EndpointFacts]) -> list[Verbosity]:
    from sealbench.analysis.verbosity import verbosity

    cap = max(one.run.caps, default=0)
    return [verbosity(one.lines, endpoint.name, cap, facts[endpoint.name]) for endpoint in one.run.endpoints]


def _verbosity(
    one: Reported, measured: Sequence[Verbosity], facts: Mapping[str, EndpointFacts]
) -> list[Section]:
    """The measures of one run at its largest cap."""
    from sealbench.analysis.perplexity import perplexity
    from sealbench.analysis.reasoning_pairs import compare_reasoning
    from sealbench.render import verbosity_relations as relations
    from sealbench.render.verbosity import verbosity_section

    names = [endpoint.name for endpoint in one.run.endpoints]
    certain = [perplexity(one.lines, name, max(one.run.caps, default=0)) for name in names]
    return [
        verbosity_section(one.run.name, measured, facts),
        relations.perplexity_section([told for told in certain if told is not None]),
        relations.reasoning_section(compare_reasoning(one.run, one.lines)),
    ]


def _releases(
    found: Sequence[Reported],
    measured: Sequence[Sequence[Verbosity]],
    known: Sequence[Mapping[str, EndpointFacts]],
) -> tuple[Section, tuple[Figure, ...]]:
    """All runs together: models of different dates are seldom asked in one run."""
    from sealbench.analysis.releases import releases
    from sealbench.render.release_figure import release_figure
    from sealbench.render.verbosity_relations import releases_section

    groups = releases(list(zip((one.run for one in found), measured, known, strict=True)))
    return releases_section(groups), tuple(map(release_figure, groups))


def _cascade(one: Reported, names: str, facts: Mapping[str, EndpointFacts]) -> list[Section]:
    from sealbench.analysis.cascade import cascade
    from sealbench.analysis.replay import shared_calls
    from sealbench.analysis.routing import routing
    from sealbench.render.cascades import cascade_section, routing_section

    shared = shared_calls(one.lines, [name.strip() for name in names.split(",")])
    return [
        cascade_section(one.run.name, cascade(shared, facts)),
        routing_section(one.run.name, routing(shared, facts)),
    ]


def _sheets(found: Sequence[Reported], paths: Sequence[Path]) -> dict[str, tuple[Annotation, ...]]:
    if not paths:
        return {}
    from sealbench.stages.annotate import read_sheets

    return read_sheets(paths, [one.run.name for one in found])


def _annotations(one: Reported, sheets: Mapping[str, Sequence[Annotation]]) -> Section:
    from sealbench.analysis.annotations import tabulate
    from sealbench.render.annotations import annotations_section

    return annotations_section(tabulate(one.run, one.lines, sheets))


def _facts(run: Run, settings: Settings, prices: Mapping[str, Price]) -> dict[str, EndpointFacts]:
    """By endpoint: a price of the command line, else what is configured today for the same model."""
    from sealbench.analysis.endpoint_facts import EndpointFacts
    from sealbench.endpoints.base import resolve

    found = {}
    for endpoint in run.endpoints:
        today = None
        if endpoint.name in settings.endpoints:
            today = resolve(endpoint.name, settings.endpoints)
            # A configured name may mean another model by now.
            if (today.provider, today.model) != (endpoint.provider, endpoint.model):
                today = None
        told = prices.get(endpoint.name)
        configured = None if today is None else today.price
        found[endpoint.name] = EndpointFacts(
            price=configured if told is None else told,
            price_source="sealbench.toml today" if told is None else "--price",
            release_date=None if today is None else today.release_date,
            baseline_tokens=None if today is None else today.baseline_tokens,
        )
    return found


def _prices(texts: Sequence[str], endpoints: set[str]) -> dict[str, Price]:
    """NAME=INPUT,OUTPUT in USD per million tokens."""
    from decimal import Decimal, InvalidOperation

    from sealbench.endpoints.settings import Price

    found = {}
    for text in texts:
        name, _, amounts = text.rpartition("=")
        try:
            first, last = (Decimal(part.strip()) for part in amounts.split(","))
            usable = first.is_finite() and last.is_finite() and min(first, last) >= 0
        except (InvalidOperation, ValueError):
            usable = False
        if not usable:
            raise UsageError(
                f"--price {text}: not NAME=INPUT,OUTPUT in USD per million tokens",
                hint=f"--price {name or sorted(endpoints)[0]}=1.25,10",
            )
        if name not in endpoints:
            raise UsageError(
                f"--price {text}: no endpoint {name} in these runs",
                hint=f"one of: {', '.join(sorted(endpoints))}",
            )
        found[name] = Price(first, last)
    return found
