"""How many calls to one endpoint may be in flight, and how fast they may start.

`Gate` halves its width when the server says 429 and creeps up again by one call per width of
successes (additive increase, multiplicative decrease). `Pacer` spreads starts over the minute.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable

Clock = Callable[[], float]


class Gate:
    """Adaptive ceiling of calls in flight, between 1 and `ceiling`."""

    def __init__(self, ceiling: int, clock: Clock = time.monotonic) -> None:
        self.ceiling = ceiling
        self.width = float(ceiling)
        self.in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._clock = clock
        self._narrowed_at = float("-inf")

    async def enter(self) -> None:
        """Wait for a place."""
        while self.in_flight >= int(self.width):
            place = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            try:
                await place
            except asyncio.CancelledError:
                if place in self._waiting:
                    self._waiting.remove(place)
                self._wake()
                raise
        self.in_flight += 1

    def leave(self) -> None:
        """Give the place back."""
        self.in_flight -= 1
        self._wake()

    def succeeded(self) -> None:
        """An answer came: widen a little."""
        if self.width < self.ceiling:
            self.width = min(float(self.ceiling), self.width + 1 / self.width)
            self._wake()

    def limited(self, started: float) -> None:
        """A call that started at `started` (this clock) met 429: halve, once for all that flew together."""
        if started >= self._narrowed_at:
            self.width = max(1.0, self.width / 2)
            self._narrowed_at = self._clock()

    def _wake(self) -> None:
        free = int(self.width) - self.in_flight
        while self._waiting and free > 0:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                free -= 1


class Pacer:
    """At most `per_minute` units a minute, evenly; None is no limit."""

    def __init__(self, per_minute: int | None, clock: Clock = time.monotonic) -> None:
        self._seconds_each = 60.0 / per_minute if per_minute else 0.0
        self._clock = clock
        self._free_at = float("-inf")

    def delay(self, units: int) -> float:
        """Take `units` and return the seconds to wait before starting."""
        if not self._seconds_each:
            return 0.0
        now = self._clock()
        start = max(now, self._free_at)
        self._free_at = start + units * self._seconds_each
        return start - now

    def give_back(self, units: int) -> None:
        """Return units that were taken but not used."""
        self._free_at -= units * self._seconds_each
