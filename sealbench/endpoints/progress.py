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
    """Counts of one endpoint at one cap.

    `errors` are calls without a response, `uncounted` answers whose tokens nobody told: the sums of
    tokens and USD are without them.
    """

    planned: int | None = None
    done: int = 0
    cut: int = 0
    errors: int = 0
    charged_tokens: int = 0
    uncounted: int = 0
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
        self._begun = clock()
        self._recent: dict[tuple[str, int] | None, deque[float]] = {}

    def add(self, outcome: Outcome) -> None:
        """Count one outcome; a cut that no API reported is not known yet."""
        parsed = outcome.parsed
        self.count(
            outcome.call.endpoint,
            outcome.call.cap,
            cut=parsed.end == "cut_reported",
            missing=outcome.missing,
            charged_tokens=parsed.charged_tokens,
            prompt_tokens=parsed.prompt_tokens,
        )

    def count(
        self,
        endpoint: str,
        cap: int,
        *,
        cut: bool,
        missing: bool,
        charged_tokens: int | None,
        prompt_tokens: int | None,
    ) -> None:
        """Count one call that has ended."""
        line = self.lines.setdefault((endpoint, cap), Line())
        line.done += 1
        line.cut += cut
        line.errors += missing
        line.charged_tokens += charged_tokens or 0
        line.uncounted += charged_tokens is None and not missing
        price = self._endpoints[endpoint].price
        if price is not None:
            line.usd += price.cost(prompt_tokens or 0, charged_tokens or 0)
        now = self._clock()
        for key in ((endpoint, cap), None):
            self._recent.setdefault(key, deque([self._begun], maxlen=_WINDOW)).append(now)

    @property
    def done(self) -> int:
        """Outcomes so far."""
        return sum(line.done for line in self.lines.values())

    @property
    def rate(self) -> float:
        """Calls per second over the last outcomes; 0 before there are two."""
        return self.rate_of(None)

    def rate_of(self, key: tuple[str, int] | None) -> float:
        """The same for one endpoint at one cap; None is all of them."""
        recent = self._recent.get(key)
        if recent is None:
            return 0.0
        elapsed = self._clock() - recent[0]
        return (len(recent) - 1) / elapsed if elapsed > 0 else 0.0

    @property
    def time_left(self) -> float | None:
        """Seconds until the last line is done; None if a plan's size or a rate is not known."""
        left = [self.time_left_of(key) for key in self.lines]
        return None if not left or None in left else max(one for one in left if one is not None)

    def time_left_of(self, key: tuple[str, int]) -> float | None:
        """Seconds to go for one endpoint at one cap, at its own rate."""
        line = self.lines[key]
        if line.planned is None:
            return None
        if line.done >= line.planned:
            return 0.0
        rate = self.rate_of(key)
        return (line.planned - line.done) / rate if rate > 0 else None
