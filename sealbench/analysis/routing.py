"""Routing by verbosity, replayed from the log: how much of the second endpoint buys how much score.

Algorithm 3 of arXiv 2411.07858, as the design gives it: ask the first endpoint; where its answer is verbose
(or cut, missing, empty) ask the second with probability p_v, where it is concise with probability p_c, and
take that answer. From p_v = p_c = 0 up, verbose answers are passed on first, then concise ones too. Ten
draws from the SHAKE stream are averaged. Beside each stands random routing of equal cost, as its exact
expectation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sealbench.analysis.endpoint_facts import Facts
from sealbench.analysis.replay import Outcome, Shared, alone, is_good_enough, outcome, random_routing
from sealbench.crypto.digest import sha256_hex
from sealbench.crypto.stream import Stream

DRAWS = 10
_QUARTERS = tuple(Fraction(step, 4) for step in range(5))
# (p_v, p_c): first verbose answers alone, then all of these and concise ones too.
SETTINGS = (
    *((share, Fraction(0)) for share in _QUARTERS),
    *((Fraction(1), share) for share in _QUARTERS[1:]),
)
_UNIT = 1 << 32


@dataclass(frozen=True)
class RoutingRow:
    """One setting of the rule.

    Attributes
    ----------
    verbose_share, concise_share : p_v and p_c.
    second : share of the calls that the second endpoint answered, mean over the draws.
    outcome : mean over the draws; `least`, `most` the share right of the worst and the best draw.
    random : random routing of the same cost; None where no share of the second endpoint has it.
    """

    verbose_share: Fraction
    concise_share: Fraction
    second: Fraction
    outcome: Outcome
    least: Fraction
    most: Fraction
    random: Outcome | None


@dataclass(frozen=True)
class Routing:
    """The rule between the first and the last of some endpoints; `verbose` first answers can be passed on."""

    shared: Shared
    verbose: int
    alone: tuple[Outcome, Outcome]
    rows: tuple[RoutingRow, ...]


def routing(shared: Shared, facts: Facts | None = None, *, draws: int = DRAWS) -> Routing:
    """Replay all settings over these calls (`replay.shared_calls`), between their first and last endpoint.

    Parameters
    ----------
    facts : prices by endpoint; where both have one, equal cost is USD, else charged tokens.
    """
    ends = Shared(
        (shared.endpoints[0], shared.endpoints[-1]),
        shared.cap,
        tuple((lines[0], lines[-1]) for lines in shared.calls),
    )
    first, second = alone(ends, facts or {})
    known = (facts or {}) if first.usd is not None else {}
    rolls = [_rolls(ends, draw) for draw in range(draws)]
    rows = tuple(_row(ends, known, setting, rolls, (first, second)) for setting in SETTINGS)
    return Routing(ends, sum(not is_good_enough(lines[0]) for lines in ends.calls), (first, second), rows)


def _rolls(shared: Shared, draw: int) -> list[int]:
    """One uniform 32-bit integer per call, the same for every setting: more probability never asks less."""
    calls = ",".join(f"{lines[0].item}:{lines[0].repeat}" for lines in shared.calls)
    seed = sha256_hex(f"{shared.endpoints} {shared.cap} {calls}".encode())
    stream = Stream("sealbench/v1/routing", seed, draw)
    return [stream.below(_UNIT) for _ in shared.calls]


def _row(
    shared: Shared,
    facts: Facts,
    setting: tuple[Fraction, Fraction],
    rolls: Sequence[Sequence[int]],
    ends: tuple[Outcome, Outcome],
) -> RoutingRow:
    verbose_share, concise_share = setting
    found: list[Outcome] = []
    passed = 0
    for own in rolls:
        choices = []
        for (line, other), roll in zip(shared.calls, own, strict=True):
            share = concise_share if is_good_enough(line) else verbose_share
            asked = roll < share * _UNIT
            passed += asked
            choices.append((other, (line, other)) if asked else (line, (line,)))
        found.append(outcome(choices, facts))
    average = _average(found)
    return RoutingRow(
        verbose_share,
        concise_share,
        Fraction(passed, len(rolls) * len(shared.calls)),
        average,
        min(one.right for one in found),
        max(one.right for one in found),
        random_routing(*ends, average.cost),
    )


def _average(found: Sequence[Outcome]) -> Outcome:
    count = len(found)
    dollars = [one.usd for one in found if one.usd is not None]
    return Outcome(
        sum((one.right for one in found), Fraction(0)) / count,
        sum((one.f1 for one in found), Fraction(0)) / count,
        sum((one.tokens for one in found), Fraction(0)) / count,
        sum(dollars, Fraction(0)) / count if len(dollars) == count else None,
    )
