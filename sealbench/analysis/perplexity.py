"""Is the longer answer the less certain one? Perplexity of the visible answer against its length.

Only where the host returned log-probabilities. Cut answers are left out: their length is not known. Unit: the
instance, with its mean over wordings and repeats, exchanged within family, stratum and pattern of wordings.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from sealbench.analysis.quantities import mean
from sealbench.formats.run import LogLine
from sealbench.stats.correlation import RankCorrelation, rank_correlation

_SHORTEST = 16  # characters: the first bin ends here, each further one is twice as wide


@dataclass(frozen=True)
class LengthBin:
    """Answers of `low` to `high` characters without markdown.

    Attributes
    ----------
    mean_logprob : mean over the answers of their mean log-probability per token, natural logarithm.
    right : share right of the graded ones; None if none is graded.
    """

    low: int
    high: int
    responses: int
    mean_logprob: Fraction
    right: Fraction | None


@dataclass(frozen=True)
class Perplexity:
    """One endpoint at one cap; `correlation` is of perplexity with length, positive if they rise together.

    `without` whole answers came without log-probabilities.
    """

    endpoint: str
    responses: int
    without: int
    bins: tuple[LengthBin, ...]
    correlation: RankCorrelation


def perplexity(lines: Iterable[LogLine], endpoint: str, cap: int) -> Perplexity | None:
    """Bins and rank correlation; None if not one answer came with log-probabilities."""
    whole = [
        line
        for line in lines
        if line.endpoint == endpoint
        and line.cap == cap
        and not (line.missing or line.censored or line.answer == "empty")
    ]
    known = [(line, Fraction(Decimal(line.mean_logprob))) for line in whole if line.mean_logprob is not None]
    if not known:
        return None
    grouped: dict[int, list[tuple[LogLine, Fraction]]] = defaultdict(list)
    for line, logprob in known:
        grouped[_bin_of(line.characters_without_markdown)].append((line, logprob))
    bins = tuple(_bin(place, own) for place, own in sorted(grouped.items()))
    return Perplexity(endpoint, len(known), len(whole) - len(known), bins, _correlation(known))


def _bin_of(characters: int) -> int:
    return (characters // _SHORTEST).bit_length()


def _bin(place: int, own: Sequence[tuple[LogLine, Fraction]]) -> LengthBin:
    graded = [Fraction(line.answer == "right") for line, _ in own if line.answer != "ungraded"]
    return LengthBin(
        _SHORTEST << place - 1 if place else 0,
        (_SHORTEST << place) - 1,
        len(own),
        sum((logprob for _, logprob in own), Fraction(0)) / len(own),
        mean(graded),
    )


def _correlation(known: Sequence[tuple[LogLine, Fraction]]) -> RankCorrelation:
    """Perplexity falls as the log-probability rises, so ranks of the negated one are ranks of perplexity."""
    instances: dict[str, list[tuple[LogLine, Fraction]]] = defaultdict(list)
    for line, logprob in known:
        instances[line.instance].append((line, logprob))
    strata: dict[tuple[str, str, str], tuple[list[object], list[object]]] = defaultdict(lambda: ([], []))
    for _, own in sorted(instances.items()):
        first = own[0][0]
        pattern = str(sorted(Counter(line.wording for line, _ in own).items()))
        surprise, length = strata[first.family, first.stratum, pattern]
        surprise.append(-sum((logprob for _, logprob in own), Fraction(0)) / len(own))
        length.append(Fraction(sum(line.characters_without_markdown for line, _ in own), len(own)))
    return rank_correlation(strata=[pair for _, pair in sorted(strata.items())])
