"""What the engine is given and what it gives back: calls, attempts, outcomes, the summary of a run."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal

from sealbench.endpoints.ending import Parsed

# sent        written before the request leaves; stays so only where a run was killed
# answered    an answer came (empty ones included)
# retry       an HTTP status that is asked again
# rejected    an HTTP status, or an error under 200, that is not
# error_body  an error under HTTP 200
# malformed   a body that is not JSON or not this API's
# timeout     no whole answer within the time limit, ours or the server's (408, 504, 524)
# lost        the connection broke after the request was sent
# interrupted the process that waited for the answer went away: a killed run, a worker that died
# connection  there was no connection to send it over
# cancelled   the run was stopped while waiting
AttemptOutcome = Literal[
    "sent",
    "answered",
    "retry",
    "rejected",
    "error_body",
    "malformed",
    "timeout",
    "lost",
    "interrupted",
    "connection",
    "cancelled",
]
# First attempts that ended so are tested by class like censoring: long thoughts time out.
LOSS_OUTCOMES: frozenset[AttemptOutcome] = frozenset({"timeout", "lost", "interrupted"})


@dataclass(frozen=True)
class Call:
    """One planned request: `key` tells it from all others, `endpoint` is a name, `cap` is in tokens."""

    key: Hashable
    endpoint: str
    prompt: str
    cap: int


@dataclass(frozen=True)
class Attempt:
    """One request of a call; `number` counts from 1, times are UTC."""

    number: int
    started_at: datetime
    ended_at: datetime | None = None
    status: int | None = None
    outcome: AttemptOutcome = "sent"


@dataclass(frozen=True)
class Outcome:
    """A call that is done. `body` and `headers` are redacted; None and {} if no response ever came."""

    call: Call
    attempts: tuple[Attempt, ...]
    status: int | None
    headers: Mapping[str, str]
    body: bytes | None
    parsed: Parsed

    @property
    def missing(self) -> bool:
        """No answer after all attempts: neither wrong nor censored."""
        return self.parsed.end == "error"

    @property
    def first_attempt_lost(self) -> bool:
        """The first attempt timed out, its connection broke, or whoever waited for it went away."""
        return self.attempts[0].outcome in LOSS_OUTCOMES


@dataclass(frozen=True)
class Stopped:
    """An endpoint, or one cap of it, to which no call can succeed; its calls are left undone.

    `status` and `parsed` are those of the response that said so; None where none came.
    """

    endpoint: str
    cap: int | None
    reason: str
    hint: str
    status: int | None = None
    parsed: Parsed | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Tally:
    """Figures of one endpoint: calls done, calls left undone, requests sent."""

    done: int = 0
    undone: int = 0
    attempts: int = 0


@dataclass(frozen=True)
class Summary:
    """How a run ended. `complete` if every call given is done."""

    endpoints: Mapping[str, Tally]
    stopped: tuple[Stopped, ...] = ()
    interrupted: bool = False
    budget_exhausted: bool = False
    tokens: int = 0
    usd: Decimal = field(default_factory=lambda: Decimal(0))

    @property
    def done(self) -> int:
        """Calls done in this run."""
        return sum(tally.done for tally in self.endpoints.values())

    @property
    def undone(self) -> int:
        """Calls given but left undone."""
        return sum(tally.undone for tally in self.endpoints.values())

    @property
    def complete(self) -> bool:
        """Whether nothing is left."""
        return self.undone == 0
