"""Adaptive concurrency, pacing, ledger, dry runs and progress, on a clock of the test's own."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from sealbench.endpoints.base import EndpointSettings, Parsed, Price
from sealbench.endpoints.budget import Budget, Cost, Ledger, ceiling, estimate
from sealbench.endpoints.calls import Attempt, Call, Outcome
from sealbench.endpoints.limits import Gate, Pacer
from sealbench.endpoints.progress import Progress

PRICED = EndpointSettings("p", "openai", "m", price=Price(Decimal(1), Decimal(10)))


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_gate_halves_once_for_all_calls_that_flew_together_and_creeps_up() -> None:
    clock = Clock()
    gate = Gate(16, clock)
    for _ in range(5):
        gate.limited(started=99.0)
    assert gate.width == 8
    clock.now = 101.0
    gate.limited(started=100.5)
    assert gate.width == 4
    for _ in range(4):
        gate.succeeded()
    assert 4.9 < gate.width <= 5
    for _ in range(10_000):
        gate.succeeded()
    assert gate.width == 16
    for _ in range(50):
        clock.now += 1
        gate.limited(started=clock.now)
    assert gate.width == 1


def test_gate_never_lets_more_in_than_its_width() -> None:
    async def main() -> int:
        gate = Gate(8)
        gate.limited(started=0.0)
        most = 0

        async def work() -> None:
            nonlocal most
            await gate.enter()
            most = max(most, gate.in_flight)
            await asyncio.sleep(0)
            gate.leave()

        await asyncio.gather(*(work() for _ in range(100)))
        assert gate.in_flight == 0
        return most

    assert asyncio.run(main()) == 4


def test_a_cancelled_waiter_loses_nobodys_place() -> None:
    async def main() -> None:
        gate = Gate(1)
        await gate.enter()
        waiters = [asyncio.create_task(gate.enter()) for _ in range(3)]
        await asyncio.sleep(0)
        gate.leave()  # wakes the first
        waiters[0].cancel()
        await asyncio.wait_for(waiters[1], 1)
        waiters[2].cancel()
        assert gate.in_flight == 1

    asyncio.run(main())


def test_pacer_spreads_starts_and_takes_back_what_was_not_used() -> None:
    clock = Clock()
    pacer = Pacer(60, clock)
    assert [pacer.delay(1) for _ in range(3)] == [0.0, 1.0, 2.0]
    clock.now += 10
    assert pacer.delay(30) == 0.0
    pacer.give_back(29)
    assert pacer.delay(1) == pytest.approx(1.0)
    assert Pacer(None, clock).delay(10**9) == 0.0


def test_ledger_waits_for_open_reservations_before_it_gives_up() -> None:
    async def main() -> None:
        ledger = Ledger(Budget(tokens=100))
        first = Cost(80, Decimal(0))
        assert await ledger.reserve(first)
        waiting = asyncio.create_task(ledger.reserve(Cost(50, Decimal(0))))
        await asyncio.sleep(0)
        assert not waiting.done()
        ledger.settle(first, Cost(20, Decimal(0)))
        assert await waiting
        ledger.settle(Cost(50, Decimal(0)), Cost(50, Decimal(0)))
        assert not await ledger.reserve(Cost(31, Decimal(0)))
        assert await ledger.reserve(Cost(30, Decimal(0)))

    asyncio.run(main())


def test_budget_in_usd() -> None:
    async def main() -> list[bool]:
        ledger = Ledger(Budget(usd=Decimal("0.01")))
        cost = ceiling("x" * 84, 390, PRICED)  # 100 prompt tokens at most
        assert cost == Cost(490, Decimal("0.004"))
        taken = []
        for _ in range(3):
            taken.append(await ledger.reserve(cost))
            if taken[-1]:
                ledger.settle(cost, cost)
        return taken

    assert asyncio.run(main()) == [True, True, False]


def test_dry_run_counts_exactly_and_bounds_from_above() -> None:
    free = EndpointSettings("f", "ollama", "m")
    calls = [("p", "x" * 84, 300), ("p", "x" * 84, 4000), ("f", "é", 300)]
    found = estimate(calls, {"p": PRICED, "f": free})
    assert (found["p"].calls, found["p"].prompt_tokens, found["p"].answer_tokens) == (2, 200, 4300)
    assert found["p"].usd == Decimal("0.0432")
    assert (found["f"].calls, found["f"].prompt_tokens, found["f"].usd) == (1, 18, None)


def test_progress_counts_by_endpoint_and_cap() -> None:
    clock = Clock()
    progress = Progress({"p": PRICED}, {("p", 300): 10}, clock)
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    for end in ("cut_reported", "finished", "error"):
        clock.now += 2
        parsed = Parsed(end, charged_tokens=300, prompt_tokens=100)  # type: ignore[arg-type]
        progress.add(Outcome(Call(end, "p", "x", 300), (Attempt(1, moment),), 200, {}, b"", parsed))
    line = progress.lines["p", 300]
    assert (line.done, line.cut, line.errors, line.charged_tokens) == (3, 1, 1, 900)
    assert line.usd == Decimal("0.0093")
    assert progress.rate == pytest.approx(0.5)
    assert progress.time_left == pytest.approx(14.0)
