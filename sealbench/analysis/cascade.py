"""What a cascade of endpoints would have scored and cost, computed from the log, without a call.

Algorithm 1 of arXiv 2411.07858: ask the first endpoint; where its answer is verbose, cut or missing, ask the
next. Beside it stands random routing of the same mean cost between the first and the last endpoint, as its
exact expectation: a cascade is worth something only above that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sealbench.analysis.endpoint_facts import Facts
from sealbench.analysis.replay import (
    Choice,
    Outcome,
    Shared,
    alone,
    is_good_enough,
    outcome,
    random_routing,
)
from sealbench.formats.run import LogLine


@dataclass(frozen=True)
class Cascade:
    """One cascade over the calls that all its endpoints were asked.

    Attributes
    ----------
    shared : the calls compared, each asked of every endpoint at the same cap and repeat.
    escalated : answered by another endpoint than the first.
    outcome, alone : of the cascade, and of each endpoint by itself.
    random : of random routing at the cascade's cost; None where no share of the last endpoint has it.
    """

    shared: Shared
    escalated: int
    outcome: Outcome
    alone: tuple[Outcome, ...]
    random: Outcome | None


def cascade(shared: Shared, facts: Facts | None = None) -> Cascade:
    """Replay the cascade over these calls (`replay.shared_calls`).

    Parameters
    ----------
    facts : prices by endpoint; where all have one, equal cost is USD, else charged tokens.
    """
    known = facts or {}
    singles = alone(shared, known)
    choices = [_first_good(lines) for lines in shared.calls]
    # In tokens where one endpoint has no price, even if the calls paid for would all have one.
    found = outcome(choices, known if singles[0].usd is not None else {})
    return Cascade(
        shared,
        sum(len(paid) > 1 for _, paid in choices),
        found,
        singles,
        random_routing(singles[0], singles[-1], found.cost),
    )


def _first_good(lines: Sequence[LogLine]) -> Choice:
    """The first answer that is good enough, else the last one; all before it are paid for."""
    for place, line in enumerate(lines):
        if is_good_enough(line):
            return line, tuple(lines[: place + 1])
    return lines[-1], tuple(lines)
