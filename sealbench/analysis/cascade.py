"""What a cascade of endpoints would have scored and cost, computed from the log, without a call.

Algorithm 1 of arXiv 2411.07858: ask the first endpoint; where its answer is verbose, cut or missing, ask the
next. Beside it stands random routing of the same mean cost between the first and the last endpoint, as its
exact expectation: a cascade is worth something only above that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sealbench.analysis.verbosity import is_verbose
from sealbench.errors import UsageError
from sealbench.formats.run import LogLine

Call = tuple[str, int, int]  # item, cap, repeat


@dataclass(frozen=True)
class Cascade:
    """One cascade over the calls that all its endpoints were asked.

    Attributes
    ----------
    calls : compared, each asked of every endpoint at the same cap and repeat.
    escalated : answered by another endpoint than the first.
    right, tokens : share right (missing and cut answers count as wrong) and charged tokens per call.
    alone : per endpoint (share right, charged tokens per call).
    random_right : expected share right of random routing at the cascade's cost; None where no share of the
        last endpoint has that cost.
    unpriced : calls without reported usage, counted as 0 tokens.
    """

    endpoints: tuple[str, ...]
    calls: int
    escalated: int
    right: Fraction
    tokens: Fraction
    alone: tuple[tuple[Fraction, Fraction], ...]
    random_right: Fraction | None
    unpriced: int


def cascade(lines: Sequence[LogLine], endpoints: Sequence[str], cap: int | None = None) -> Cascade:
    """Replay the cascade at one cap (by default the largest).

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
    return _replay(tuple(endpoints), asked, calls)


def _replay(
    endpoints: tuple[str, ...], asked: Sequence[dict[Call, LogLine]], calls: Sequence[Call]
) -> Cascade:
    right = tokens = escalated = 0
    for call in calls:
        for place, own in enumerate(asked):
            line = own[call]
            tokens += line.charged_tokens or 0
            if _good_enough(line) or place == len(asked) - 1:
                right += line.answer == "right"
                escalated += place > 0
                break
    count = len(calls)
    alone = tuple(
        (
            Fraction(sum(own[call].answer == "right" for call in calls), count),
            Fraction(sum(own[call].charged_tokens or 0 for call in calls), count),
        )
        for own in asked
    )
    mean_tokens = Fraction(tokens, count)
    unpriced = sum(own[call].charged_tokens is None for own in asked for call in calls)
    return Cascade(
        endpoints,
        count,
        escalated,
        Fraction(right, count),
        mean_tokens,
        alone,
        _random(alone[0], alone[-1], mean_tokens),
        unpriced,
    )


def _good_enough(line: LogLine) -> bool:
    return not (is_verbose(line) or line.censored or line.missing or line.answer == "empty")


def _random(
    first: tuple[Fraction, Fraction], last: tuple[Fraction, Fraction], tokens: Fraction
) -> Fraction | None:
    """The share right of asking the last endpoint at random, so often that the mean cost is `tokens`."""
    if first[1] == last[1]:
        return None
    share = (tokens - first[1]) / (last[1] - first[1])
    return first[0] + share * (last[0] - first[0]) if 0 <= share <= 1 else None
