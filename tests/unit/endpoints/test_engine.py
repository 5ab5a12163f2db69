"""The engine over real loopback HTTP and over a mock transport: nothing lost, nothing twice."""

from __future__ import annotations

import asyncio
import dataclasses
from collections import Counter
from typing import Any

import httpx
import pytest
from engine_calls import FAST, PROMPT, SECRET, Log, chat, mock, plan, reference, run

from sealbench.endpoints.base import Limits, resolve
from sealbench.endpoints.engine import Budget, Call, Outcome, run_calls
from sealbench.errors import InternalError
from sealbench.testing.faulty import ALL_FAULTS, FaultScript
from sealbench.testing.server import ReferenceServer


def test_three_endpoints_two_caps_over_loopback() -> None:
    with ReferenceServer() as server:
        endpoints = {model: reference(server, model) for model in ("solver", "reasoner", "constant")}
        calls = [
            Call((number, model, cap), model, PROMPT, cap)
            for number in range(20)
            for cap in (300, 4000)
            for model in endpoints
        ]
        summary, log = run(calls, endpoints)
        assert sum(server.requests.values()) == len(log.journal) == 120
    assert summary.complete
    assert log.keys() == sorted(call.key for call in calls)
    ends = Counter((o.call.endpoint, o.call.cap, o.parsed.end) for o in log.outcomes)
    assert ends == {
        ("solver", 300, "cut_reported"): 20,
        ("solver", 4000, "finished"): 20,
        ("reasoner", 300, "cut_reported"): 20,
        ("reasoner", 4000, "finished"): 20,
        ("constant", 300, "finished"): 20,
        ("constant", 4000, "finished"): 20,
    }
    hidden = [o for o in log.outcomes if o.call.endpoint == "reasoner" and o.call.cap == 300]
    assert all(o.parsed.text == "" and o.parsed.reasoning_tokens == 300 for o in hidden)


def test_scripted_faults_every_call_once_and_every_request_in_the_journal() -> None:
    script = FaultScript([*ALL_FAULTS, *ALL_FAULTS[:4], "none"] * 3, pause=0.005)
    calls = plan(600, "faulty")
    with ReferenceServer(script=script) as server:
        summary, log = run(calls, {"faulty": reference(server, "faulty")}, environ={})
        assert server.requests["faulty"] == len(log.journal)
    assert summary.complete
    assert log.keys() == list(range(600))
    assert sum(len(o.attempts) for o in log.outcomes) == len(log.journal)
    assert sum(script.dealt.values()) == len(log.journal)
    empties = [o for o in log.outcomes if o.parsed.text == "" and o.parsed.fault is None]
    # An empty answer is data: as many of them as the server dealt out.
    assert len(empties) == script.dealt["empty"] + script.dealt["stop_at_cap"]
    assert sum(o.parsed.end == "unknown" for o in log.outcomes) == script.dealt["unknown_stop"]
    seen = Counter(attempt.outcome for o in log.outcomes for attempt in o.attempts)
    assert seen["lost"] == script.dealt["dropped"] + script.dealt["truncated_body"]
    assert seen["malformed"] == script.dealt["malformed"]
    assert seen["error_body"] == script.dealt["error_body"] + script.dealt["choice_error"]
    for outcome in log.outcomes:
        assert [attempt.number for attempt in outcome.attempts] == list(range(1, len(outcome.attempts) + 1))
        assert all(a.ended_at is not None and a.ended_at >= a.started_at for a in outcome.attempts)


def test_the_key_is_sent_and_never_seen_again() -> None:
    def echo(request: httpx.Request) -> httpx.Response:
        assert request.headers["authorization"] == f"Bearer {SECRET}"
        body = chat(f"Your key is {SECRET}")
        return httpx.Response(200, json=body, headers={"x-request-id": SECRET, "set-cookie": SECRET})

    _, log = run(plan(1), **mock(echo))
    (outcome,) = log.outcomes
    assert SECRET not in repr(outcome)
    assert SECRET.encode() not in (outcome.body or b"")
    assert outcome.headers["x-request-id"] == "[KEY REDACTED]"


@pytest.mark.parametrize("text", ["", " ", "<think>never closed"])
def test_empty_answers_are_never_asked_again(text: str) -> None:
    _, log = run(plan(4), **mock(lambda _: httpx.Response(200, json=chat(text, "stop", 300))))
    assert all(len(o.attempts) == 1 and o.parsed.end == "finished" for o in log.outcomes)


def test_budget_of_requests_is_exact() -> None:
    summary, log = run(plan(50), **mock(lambda _: httpx.Response(200, json=chat())), budget=Budget(calls=17))
    assert len(log.outcomes) == len(log.journal) == 17
    assert summary.budget_exhausted
    assert summary.undone == 33


def test_budget_of_tokens_is_never_exceeded_and_well_used() -> None:
    # One call costs 15 tokens but may cost over 300: reservations must be given back.
    summary, _ = run(
        plan(200), **mock(lambda _: httpx.Response(200, json=chat())), budget=Budget(tokens=1500)
    )
    assert 1100 <= summary.tokens <= 1500
    assert summary.budget_exhausted


def test_calls_are_consumed_lazily_and_in_order() -> None:
    handed_out = 0
    furthest_ahead = 0
    log = Log()

    def calls() -> Any:
        nonlocal handed_out
        for call in plan(2000, "c"):
            handed_out += 1
            yield call

    def done(outcome: Outcome) -> None:
        nonlocal furthest_ahead
        log.done(outcome)
        furthest_ahead = max(furthest_ahead, handed_out - len(log.outcomes))

    async def main() -> None:
        with ReferenceServer() as server:
            endpoints = {"c": reference(server, "constant", Limits(max_connections=4))}
            await run_calls(calls(), endpoints, before_attempt=log.before, on_outcome=done)

    asyncio.run(main())
    assert furthest_ahead <= 16
    assert [key for key, _ in log.journal] == list(range(2000))


def test_a_call_to_an_unknown_endpoint_is_a_bug() -> None:
    with pytest.raises(InternalError):
        run(plan(1, "nobody"), **mock(lambda _: httpx.Response(200, json=chat())))


def test_no_more_calls_are_in_flight_than_the_endpoint_may_get() -> None:
    in_flight = most = 0

    async def handler(_: httpx.Request) -> httpx.Response:
        nonlocal in_flight, most
        in_flight += 1
        most = max(most, in_flight)
        await asyncio.sleep(0.002)
        in_flight -= 1
        return httpx.Response(200, json=chat())

    run(plan(40), **mock(handler, Limits(max_connections=3)))
    assert most == 3


def test_proxy_variables_are_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    with ReferenceServer() as server:
        # The reference server is no proxy: it refuses the foreign address, and so shows that it was asked.
        monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        endpoint = dataclasses.replace(resolve("http://model.invalid/v1#m", {}), limits=FAST)
        summary, _ = run(plan(1, "m"), {"m": endpoint})
    assert "no POST http://model.invalid/v1/chat/completions here" in summary.stopped[0].reason
