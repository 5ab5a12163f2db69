"""How much longer than needed the visible answers are, from the counts in the log alone.

YapBench's measures: the score of an answer is max(0, L − B) characters, L its length without markdown, B
that of the item's minimal answer; the index is the mean over categories of the category's median. And
verbosity compensation (arXiv 2411.07858): an answer is verbose when its first line has 4 tokens or more.
Reasoning is no part of the visible answer. Unit: the item (its mean over repeats), at one cap.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sealbench.analysis.endpoint_facts import EndpointFacts, cost_of
from sealbench.analysis.quantities import mean
from sealbench.formats.run import LogLine
from sealbench.stats.sampling import bootstrap_rows

DRAWS = 1000
VERBOSE_TOKENS = 4  # the authors' rule: the paper words it "more than 3 words", their code counts tokens
LONG_STEP_TOKENS = 10
_CHARACTERS_PER_TOKEN = 4  # for the minimal answer's tokens, which no log holds: labelled an estimate


@dataclass(frozen=True)
class Yap:
    """YapBench's measures of one group of responses.

    Attributes
    ----------
    index : mean over categories of the category's median score, in characters.
    half_width : of the 95% percentile bootstrap within categories, 1000 draws from the SHAKE stream.
    medians : category -> its median score.
    percentiles : of the items' scores: 50, 90, 99 -> characters (nearest rank).
    """

    index: Fraction
    half_width: Fraction
    medians: Mapping[str, Fraction]
    percentiles: Mapping[int, Fraction]


@dataclass(frozen=True)
class Compensation:
    """Verbose answers and what they are worth.

    Attributes
    ----------
    responses, verbose : with a visible answer; of these with a first line of 4 tokens or more.
    long_steps : with a line of more than 10 tokens (the rule for answers with their steps written out).
    delta : share right of the concise minus that of the verbose answers; None if either is missing.
    relative : delta over the share right of all.
    """

    responses: int
    verbose: int
    long_steps: int
    delta: Fraction | None
    relative: Fraction | None


@dataclass(frozen=True)
class Verbosity:
    """The measures of one endpoint at one cap; `cut` responses are shorter than they would have been.

    Attributes
    ----------
    excess_tokens : per 1,000 responses, visible tokens above the minimal answer's; None where no visible
        tokens are reported.
    baseline : tokens of every minimal answer as configured, or None: estimated at one per four characters.
    yap_tax : USD per 1,000 responses for the excess tokens; None without a price or without tokens.
    price_source : who told the price; empty if nobody did.
    refused, refusals : how many were refused, and their median characters.
    """

    endpoint: str
    cap: int
    responses: int
    cut: int
    yap: Yap | None
    compensation: Compensation
    excess_tokens: Fraction | None
    baseline: int | None
    yap_tax: Fraction | None
    price_source: str
    refused: int
    refusals: Fraction | None


def yap_score(line: LogLine) -> int:
    """Characters beyond the minimal answer, markdown not counted."""
    return max(0, line.characters_without_markdown - line.minimal_characters)


def is_verbose(line: LogLine) -> bool:
    """By the authors' rule on the first line."""
    return line.first_line_tokens >= VERBOSE_TOKENS


def verbosity(
    lines: Iterable[LogLine], endpoint: str, cap: int, facts: EndpointFacts | None = None
) -> Verbosity:
    """The measures of one endpoint at one cap.

    Parameters
    ----------
    facts : the endpoint's price and the tokens of its minimal answers, where known.
    """
    known = facts or EndpointFacts()
    own = [line for line in lines if line.endpoint == endpoint and line.cap == cap and not line.missing]
    answered = [line for line in own if line.answer != "empty"]
    refusals = sorted(Fraction(line.visible_characters) for line in own if line.end == "refused")
    excess = _excess_tokens(answered, known.baseline_tokens)
    tax = None if excess is None or known.price is None else cost_of(known.price, 0, 1) * excess
    return Verbosity(
        endpoint,
        cap,
        len(own),
        sum(line.censored for line in own),
        yap(answered),
        compensation(answered),
        excess,
        known.baseline_tokens,
        tax,
        known.price_source if known.price is not None else "",
        len(refusals),
        median(refusals) if refusals else None,
    )


def _excess_tokens(answered: Sequence[LogLine], baseline: int | None) -> Fraction | None:
    """Visible tokens above the minimal answer's, per 1,000 responses that report them."""
    excess = [
        max(0, line.visible_tokens - (_minimal_tokens(line) if baseline is None else baseline))
        for line in answered
        if line.visible_tokens is not None
    ]
    return Fraction(1000 * sum(excess), len(excess)) if excess else None


def yap(lines: Sequence[LogLine], *, draws: int = DRAWS) -> Yap | None:
    """YapBench's index with its interval; None without a response."""
    scores: dict[tuple[str, str], list[int]] = defaultdict(list)
    for line in lines:
        scores[line.category, line.item].append(yap_score(line))
    categories: dict[str, list[Fraction]] = defaultdict(list)
    for (category, _), own in sorted(scores.items()):
        categories[category].append(Fraction(sum(own), len(own)))
    return index(categories, draws=draws) if categories else None


def index(categories: Mapping[str, Sequence[Fraction]], *, draws: int = DRAWS) -> Yap:
    """The index of scores by category (each with at least one).

    Examples
    --------
    >>> index({"a": [Fraction(3), Fraction(5)], "b": [Fraction(10)]}).index
    Fraction(7, 1)
    """
    names = sorted(categories)
    medians = {name: median(sorted(categories[name])) for name in names}
    pooled = sorted(score for name in names for score in categories[name])
    half = _half_width([sorted(categories[name]) for name in names], draws)
    return Yap(
        sum(medians.values(), Fraction(0)) / len(medians),
        half,
        medians,
        {share: pooled[-(-share * len(pooled) // 100) - 1] for share in (50, 90, 99)},
    )


def _half_width(categories: Sequence[Sequence[Fraction]], draws: int) -> Fraction:
    """Half the width of the 95% percentile interval; items drawn again within their category."""
    seed = "yapindex " + " ".join(",".join(map(str, scores)) for scores in categories)
    found: list[Fraction] = []
    for row in bootstrap_rows([len(scores) for scores in categories], draws, seed):
        start, total = 0, Fraction(0)
        for scores in categories:
            # Scores are sorted, so sorted places give sorted scores.
            places = sorted(row[start : start + len(scores)])
            total += median([scores[place] for place in places])
            start += len(scores)
        found.append(total / len(categories))
    found.sort()
    low, high = found[draws * 25 // 1000], found[draws * 975 // 1000 - 1]
    return (high - low) / 2


def compensation(lines: Sequence[LogLine]) -> Compensation:
    """How often answers are verbose, and whether the verbose ones are right less often."""
    graded = [line for line in lines if line.answer != "ungraded"]
    verbose, concise = (
        mean([Fraction(line.answer == "right") for line in graded if is_verbose(line) == kind])
        for kind in (True, False)
    )
    overall = mean([Fraction(line.answer == "right") for line in graded])
    delta = None if verbose is None or concise is None else concise - verbose
    return Compensation(
        len(lines),
        sum(is_verbose(line) for line in lines),
        sum(line.longest_step > LONG_STEP_TOKENS for line in lines),
        delta,
        delta / overall if delta is not None and overall else None,
    )


def median(scores: Sequence[Fraction]) -> Fraction:
    """The middle of sorted scores, or the mean of the two middle ones."""
    middle = len(scores) // 2
    return scores[middle] if len(scores) % 2 else (scores[middle - 1] + scores[middle]) / 2


def _minimal_tokens(line: LogLine) -> int:
    return -(-line.minimal_characters // _CHARACTERS_PER_TOKEN)
