"""Calls that several endpoints were asked: what a rule that chooses among their answers scores and costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sealbench.analysis.endpoint_facts import Facts, cost_of, price_of
from sealbench.analysis.verbosity import is_verbose
from sealbench.errors import UsageError
from sealbench.formats.run import LogLine

Call = tuple[str, int, int]  # item, cap, repeat
Choice = tuple[LogLine, tuple[LogLine, ...]]  # the answer taken, and every call paid for it


@dataclass(frozen=True)
class Outcome:
    """What a rule gives per call.

    Attributes
    ----------
    right : share right; missing, cut and empty answers count as wrong.
    f1 : mean of `answer_f1`.
    tokens, usd : charged tokens, prompts aside; USD, or None unless every endpoint has a price.
    """

    right: Fraction
    f1: Fraction
    tokens: Fraction
    usd: Fraction | None

    @property
    def cost(self) -> Fraction:
        """USD where known, else tokens."""
        return self.tokens if self.usd is None else self.usd


@dataclass(frozen=True)
class Shared:
    """The graded calls that all of these endpoints were asked at one cap, in order: one line of each."""

    endpoints: tuple[str, ...]
    cap: int
    calls: tuple[tuple[LogLine, ...], ...]

    @property
    def without_usage(self) -> int:
        """How many of the lines report no usage: they count as 0 tokens."""
        return sum(line.charged_tokens is None for lines in self.calls for line in lines)


def shared_calls(lines: Sequence[LogLine], endpoints: Sequence[str], cap: int | None = None) -> Shared:
    """The calls to replay, at one cap (by default the largest).

    Raises
    ------
    UsageError : fewer than two endpoints, one not in the log, or no call asked of all of them.
    """
    known = sorted({line.endpoint for line in lines})
    unknown = [name for name in endpoints if name not in known]
    if len(set(endpoints)) < 2 or len(set(endpoints)) != len(endpoints) or unknown:
        told = (
            f"no endpoint {unknown[0]} in this run" if unknown else "a cascade needs two different endpoints"
        )
        raise UsageError(told, hint=f"--cascade A,B with two of: {', '.join(known)}")
    size = max(line.cap for line in lines) if cap is None else cap
    asked: list[dict[Call, LogLine]] = [
        {
            (line.item, line.cap, line.repeat): line
            for line in lines
            if line.endpoint == name and line.cap == size and line.answer != "ungraded"
        }
        for name in endpoints
    ]
    calls = sorted(set.intersection(*(set(own) for own in asked)))
    if not calls:
        raise UsageError(
            f"no graded call at cap {size} was asked of all of {', '.join(endpoints)}", hint="seal report RUN"
        )
    return Shared(tuple(endpoints), size, tuple(tuple(own[call] for own in asked) for call in calls))


def is_good_enough(line: LogLine) -> bool:
    """Whether a rule keeps this answer: there is one, whole and not verbose."""
    return not (is_verbose(line) or line.censored or line.missing or line.answer == "empty")


def answer_f1(line: LogLine) -> Fraction:
    """Precision and recall of the answer's characters against the minimal answer's, from counts alone.

    A right answer holds the minimal one, a wrong one shares nothing with it: F1 = 2·min(B, L)/(B + L) with
    L the visible characters without markdown and B the minimal answer's, or 0.
    """
    shared, total = _overlap(line)
    return Fraction(2 * shared, total)


def _overlap(line: LogLine) -> tuple[int, int]:
    own, minimal = line.characters_without_markdown, line.minimal_characters
    return (min(own, minimal), own + minimal) if line.answer == "right" and own + minimal else (0, 1)


def outcome(choices: Sequence[Choice], facts: Facts) -> Outcome:
    """What these choices give per call; there must be at least one."""
    count = len(choices)
    # Few answers differ in both lengths: adding up like ones first keeps the fractions small.
    overlaps = Counter(_overlap(line) for line, _ in choices)
    prompts: Counter[str] = Counter()
    charged: Counter[str] = Counter()
    for _, calls in choices:
        for line in calls:
            prompts[line.endpoint] += line.prompt_tokens or 0
            charged[line.endpoint] += line.charged_tokens or 0
    usd: Fraction | None = Fraction(0)
    for name, tokens in charged.items():
        price = price_of(facts, name)
        usd = None if usd is None or price is None else usd + cost_of(price, prompts[name], tokens)
    return Outcome(
        Fraction(sum(line.answer == "right" for line, _ in choices), count),
        sum((Fraction(2 * own * n, total) for (own, total), n in overlaps.items()), Fraction(0)) / count,
        Fraction(charged.total(), count),
        None if usd is None else usd / count,
    )


def alone(shared: Shared, facts: Facts) -> tuple[Outcome, ...]:
    """Each endpoint by itself; in USD only where all of them have a price."""
    found = [
        outcome([(lines[place], (lines[place],)) for lines in shared.calls], facts)
        for place in range(len(shared.endpoints))
    ]
    priced = all(one.usd is not None for one in found)
    return tuple(one if priced else Outcome(one.right, one.f1, one.tokens, None) for one in found)


def random_routing(first: Outcome, last: Outcome, cost: Fraction) -> Outcome | None:
    """The exact expectation of asking the last endpoint, not the first, so often that a call costs `cost`.

    None where no share of the last endpoint has that cost.
    """
    if first.cost == last.cost:
        return None
    share = (cost - first.cost) / (last.cost - first.cost)
    if not 0 <= share <= 1:
        return None

    def between(low: Fraction, high: Fraction) -> Fraction:
        return low + share * (high - low)

    usd = None if first.usd is None or last.usd is None else between(first.usd, last.usd)
    return Outcome(
        between(first.right, last.right),
        between(first.f1, last.f1),
        between(first.tokens, last.tokens),
        usd,
    )
