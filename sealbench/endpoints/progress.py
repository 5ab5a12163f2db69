"""Figures of a running run, by endpoint and cap: done, cut, errors, tokens, rate, time left.

Counts only; drawing them is the command's business.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from sealbench.endpoints.calls import Outcome
from sealbench.endpoints.settings import EndpointSettings

_WINDOW = 256  # outcomes over which the rate is taken


@dataclass
class Line:
    """Counts of one endpoint at one cap. `cut` counts reported cuts: inferring needs the answer read."""

    planned: int | None = None
    done: int = 0
    cut: int = 0
    errors: int = 0
    charged_tokens: int = 0
    usd: Decimal = field(default_factory=lambda: Decimal(0))


class Progress:
    """Feed it every outcome; read `lines`, `rate` and `time_left` whenever something is to be drawn."""

    def __init__(
        self,
        endpoints: Mapping[str, EndpointSettings],
        planned: Mapping[tuple[str, int], int] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.lines: dict[tuple[str, int], Line] = {
            key: Line(planned=count) for key, count in (planned or {}).items()
        }
        self._endpoints = endpoints
        self._clock = clock
        self._recent: deque[float] = deque([clock()], maxlen=_WINDOW)

    def add(self, outcome: Outcome) -> None:
        """Count one outcome."""
        call, parsed = outcome.call, outcome.parsed
        line = self.lines.setdefault((call.endpoint, call.cap), Line())
        line.done += 1
        line.cut += parsed.end == "cut_reported"
        line.errors += outcome.missing
        line.charged_tokens += parsed.charged_tokens or 0
        price = self._endpoints[call.endpoint].price
        if price is not None:
            line.usd += price.cost(parsed.prompt_tokens or 0, parsed.charged_tokens or 0)
        self._recent.append(self._clock())

    @property
    def done(self) -> int:
        """Outcomes so far."""
        return sum(line.done for line in self.lines.values())

    @property
    def rate(self) -> float:
        """Calls per second over the last outcomes; 0 before there are two."""
        elapsed = self._clock() - self._recent[0]
        return (len(self._recent) - 1) / elapsed if elapsed > 0 else 0.0

    @property
    def time_left(self) -> float | None:
        """Seconds to go at that rate; None if the plan's size or the rate is not known."""
        plans = [line.planned for line in self.lines.values()]
        rate = self.rate
        if rate <= 0 or not plans or any(count is None for count in plans):
            return None
        return max(0, sum(count or 0 for count in plans) - self.done) / rate
