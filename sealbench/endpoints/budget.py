"""Budgets and dry runs: what a run may cost at most, counted before each request is sent.

A request is reserved at its ceiling (every byte of the prompt a token, the whole cap charged) and
settled at what the server counted. Unknown usage stays at the ceiling: missing is not 0.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from sealbench.endpoints.settings import EndpointSettings

_MESSAGE_OVERHEAD = 16  # tokens a chat template may add around one message


@dataclass(frozen=True)
class Budget:
    """Ceilings for the whole run; None is no ceiling. `calls` counts requests, retries included."""

    calls: int | None = None
    tokens: int | None = None
    usd: Decimal | None = None


@dataclass(frozen=True)
class Cost:
    """Tokens of prompt and answer, and USD where the price is known (else 0)."""

    tokens: int
    usd: Decimal


def ceiling(prompt: str, cap: int, settings: EndpointSettings) -> Cost:
    """The most that one request can cost if the server honours its cap."""
    prompt_tokens = prompt_ceiling(prompt, settings)
    return Cost(prompt_tokens + cap, _usd(settings, prompt_tokens, cap))


def prompt_ceiling(prompt: str, settings: EndpointSettings) -> int:
    """More tokens than any tokenizer makes of this prompt: no token is shorter than a byte."""
    system = settings.settings.get("system")
    size = len(prompt.encode()) + _MESSAGE_OVERHEAD
    return size + (len(str(system).encode()) + _MESSAGE_OVERHEAD if system else 0)


def actual(prompt_tokens: int, charged_tokens: int, settings: EndpointSettings) -> Cost:
    """What one answered request cost by the server's own count."""
    return Cost(prompt_tokens + charged_tokens, _usd(settings, prompt_tokens, charged_tokens))


def _usd(settings: EndpointSettings, prompt_tokens: int, charged_tokens: int) -> Decimal:
    return settings.price.cost(prompt_tokens, charged_tokens) if settings.price else Decimal(0)


class Ledger:
    """Reserved and spent, against a budget."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.calls = 0
        self.tokens = 0
        self.usd = Decimal(0)
        self._reserved_tokens = 0
        self._reserved_usd = Decimal(0)
        self._open = 0
        self._changed: asyncio.Future[None] | None = None

    async def reserve(self, cost: Cost) -> bool:
        """Reserve one request, waiting for open ones to settle if that may make room; False if it cannot."""
        while not self._fits(cost):
            calls_spent = self.budget.calls is not None and self.calls >= self.budget.calls
            if calls_spent or not self._open:
                return False
            if self._changed is None:
                self._changed = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._changed)
        self.calls += 1
        self._open += 1
        self._reserved_tokens += cost.tokens
        self._reserved_usd += cost.usd
        return True

    def settle(self, reserved: Cost, spent: Cost) -> None:
        """Replace a reservation by what was spent."""
        self._open -= 1
        self._reserved_tokens -= reserved.tokens
        self._reserved_usd -= reserved.usd
        self.tokens += spent.tokens
        self.usd += spent.usd
        if self._changed is not None:
            self._changed.set_result(None)
            self._changed = None

    def _fits(self, cost: Cost) -> bool:
        limits = self.budget
        return not (
            (limits.calls is not None and self.calls >= limits.calls)
            or (
                limits.tokens is not None
                and self.tokens + self._reserved_tokens + cost.tokens > limits.tokens
            )
            or (limits.usd is not None and self.usd + self._reserved_usd + cost.usd > limits.usd)
        )


@dataclass(frozen=True)
class Estimate:
    """A dry run's figures for one endpoint; `usd` is None where no price is given."""

    calls: int
    prompt_tokens: int
    answer_tokens: int
    usd: Decimal | None


@dataclass
class _Sums:
    calls: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    usd: Decimal = field(default_factory=lambda: Decimal(0))


def estimate(
    calls: Iterable[tuple[str, str, int]], endpoints: Mapping[str, EndpointSettings]
) -> dict[str, Estimate]:
    """Exact number of calls and ceilings of tokens and cost, by endpoint; no network.

    `calls` are (endpoint, prompt, cap). Retries are not in it: a broken call may be charged twice.
    """
    sums: dict[str, _Sums] = {name: _Sums() for name in endpoints}
    for name, prompt, cap in calls:
        tokens = prompt_ceiling(prompt, endpoints[name])
        entry = sums[name]
        entry.calls += 1
        entry.prompt_tokens += tokens
        entry.answer_tokens += cap
        entry.usd += _usd(endpoints[name], tokens, cap)
    return {
        name: Estimate(
            entry.calls,
            entry.prompt_tokens,
            entry.answer_tokens,
            entry.usd if endpoints[name].price else None,
        )
        for name, entry in sums.items()
    }
