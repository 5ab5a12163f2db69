"""The engine over real loopback HTTP and over a mock transport: nothing lost, nothing twice."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import signal
import ssl
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import aiohttp
import httpx
import pytest

from sealbench.endpoints.base import EndpointSettings, Limits, resolve
from sealbench.endpoints.engine import Attempt, Budget, Call, Outcome, Summary, run_calls
from sealbench.endpoints.failures import classify
from sealbench.errors import InternalError, MissingKey
from sealbench.testing.faulty import ALL_FAULTS, FaultScript
from sealbench.testing.server import ReferenceServer

PROMPT = "Is 999983 a prime number?"
SECRET = "sk-verysecretkey0123456789"
FAST = Limits(max_connections=8, timeout=5.0, max_attempts=5)


class Log:
    """Journal and outcomes of a run."""

    def __init__(self) -> None:
        self.journal: list[tuple[Any, int]] = []
        self.outcomes: list[Outcome] = []

    def before(self, call: Call, attempt: Attempt) -> None:
        assert attempt.outcome == "sent"
        assert attempt.started_at.tzinfo is not None
        self.journal.append((call.key, attempt.number))

    def done(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)

    def keys(self) -> list[Any]:
        return sorted(outcome.call.key for outcome in self.outcomes)


def run(
    calls: list[Call], endpoints: dict[str, EndpointSettings], log: Log | None = None, **options: Any
) -> tuple[Summary, Log]:
    log = log or Log()
    options.setdefault("backoff", 0.002)
    options.setdefault("environ", {"OPENAI_API_KEY": SECRET})
    summary = asyncio.run(
        run_calls(calls, endpoints, before_attempt=log.before, on_outcome=log.done, **options)
    )
    return summary, log


def reference(server: ReferenceServer, model: str, limits: Limits = FAST) -> EndpointSettings:
    found = resolve(f"reference/{model}", {})
    return dataclasses.replace(found, base_url=server.url, limits=limits)


def mock(handler: Callable[[httpx.Request], httpx.Response], limits: Limits = FAST) -> dict[str, Any]:
    endpoint = dataclasses.replace(resolve("openai/gpt-5.5", {}), limits=limits)
    return {"endpoints": {"gpt": endpoint}, "transport": httpx.MockTransport(handler)}


def chat(text: str = "Answer: Yes", stop: str | None = "stop", completion: int = 5) -> dict[str, Any]:
    return {
        "choices": [{"message": {"content": text}, "finish_reason": stop}],
        "usage": {"prompt_tokens": 10, "completion_tokens": completion, "total_tokens": 10 + completion},
    }


def plan(count: int, endpoint: str = "gpt", cap: int = 300) -> list[Call]:
    return [Call(number, endpoint, PROMPT, cap) for number in range(count)]


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


def test_timeouts_are_first_attempt_losses() -> None:
    with ReferenceServer(script=FaultScript(["slow_body", "none"], pause=0.5)) as server:
        limits = Limits(max_connections=1, timeout=0.1)
        _, log = run(plan(2, "f"), {"f": reference(server, "faulty", limits)})
    assert [[a.outcome for a in o.attempts] for o in log.outcomes] == [["timeout", "answered"]] * 2
    assert all(o.first_attempt_lost for o in log.outcomes)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_an_unusable_endpoint_stops_at_once_and_the_other_one_goes_on(status: int) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        if request.url.host == "api.openai.com":
            message = f"no: {request.headers['authorization']}"
            return httpx.Response(status, json={"error": {"message": message, "code": "invalid"}})
        return httpx.Response(200, json=chat())

    options = mock(refuse)
    options["endpoints"]["other"] = resolve("http://127.0.0.1:9/v1#m", {})
    calls = [Call((name, number), name, PROMPT, 300) for number in range(50) for name in ("gpt", "other")]
    summary, log = run(calls, **options)
    assert summary.endpoints["gpt"].done == 0
    assert summary.endpoints["gpt"].undone == 50
    assert summary.endpoints["gpt"].attempts <= FAST.max_connections
    assert summary.endpoints["other"].done == 50
    (stopped,) = summary.stopped
    assert stopped.endpoint == "openai/gpt-5.5"
    assert f"HTTP {status}" in stopped.reason
    assert stopped.hint
    assert SECRET not in repr(summary) + repr(log.outcomes)


def test_a_missing_key_is_an_error_before_any_request() -> None:
    requests: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(200, json=chat())

    with pytest.raises(MissingKey) as caught:
        run(plan(3), **mock(handler), environ={})
    assert "OPENAI_API_KEY" in caught.value.message
    assert requests == []


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


def test_retry_after_is_honoured_and_every_status_is_in_the_attempts() -> None:
    answers = iter([429, 500, 200])

    def handler(_: httpx.Request) -> httpx.Response:
        status = next(answers)
        headers = {"retry-after-ms": "120"} if status == 429 else {}
        return httpx.Response(status, json=chat() if status == 200 else {"error": {}}, headers=headers)

    _, log = run(plan(1), **mock(handler))
    attempts = log.outcomes[0].attempts
    assert [(a.status, a.outcome) for a in attempts] == [(429, "retry"), (500, "retry"), (200, "answered")]
    assert (attempts[1].started_at - attempts[0].ended_at).total_seconds() >= 0.119


def test_retries_are_bounded_and_the_call_is_then_missing() -> None:
    _, log = run(plan(3), **mock(lambda _: httpx.Response(503, text="<html>busy</html>")))
    assert log.keys() == [0, 1, 2]
    assert all(o.missing and len(o.attempts) == 5 and o.status == 503 for o in log.outcomes)


def test_an_outage_does_not_use_up_the_plan() -> None:
    answers = 0

    def handler(_: httpx.Request) -> httpx.Response:
        nonlocal answers
        answers += 1
        return httpx.Response(200, json=chat()) if answers <= 20 else httpx.Response(503)

    limits = Limits(max_connections=4, max_attempts=2)
    summary, log = run(plan(500), **mock(handler, limits))
    missing = [o for o in log.outcomes if o.missing]
    assert len(log.outcomes) == 20 + len(missing)
    assert len(missing) == 10
    assert summary.undone == 500 - 30
    assert "out of order" in summary.stopped[0].hint


def test_endless_rate_limits_leave_calls_undone_rather_than_missing() -> None:
    limits = Limits(max_connections=4, max_attempts=2, max_elapsed=0.1)
    handler = lambda _: httpx.Response(429, headers={"retry-after-ms": "10"}, json={"error": {}})  # noqa: E731
    summary, log = run(plan(50), **mock(handler, limits))
    assert log.outcomes == []
    assert summary.undone == 50
    assert "requests_per_minute" in summary.stopped[0].hint


def test_a_gateways_time_out_is_a_loss() -> None:
    answers = iter([504, 200])

    def handler(_: httpx.Request) -> httpx.Response:
        status = next(answers)
        return httpx.Response(status, json=chat() if status == 200 else {})

    _, log = run(plan(1), **mock(handler))
    assert [(a.status, a.outcome) for a in log.outcomes[0].attempts] == [(504, "timeout"), (200, "answered")]
    assert log.outcomes[0].first_attempt_lost


@pytest.mark.parametrize("text", ["", " ", "<think>never closed"])
def test_empty_answers_are_never_asked_again(text: str) -> None:
    _, log = run(plan(4), **mock(lambda _: httpx.Response(200, json=chat(text, "stop", 300))))
    assert all(len(o.attempts) == 1 and o.parsed.end == "finished" for o in log.outcomes)


def test_a_request_refused_before_any_answer_stops_that_cap_only() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        if json.loads(request.content)["max_completion_tokens"] > 1000:
            return httpx.Response(400, json={"error": {"message": "max_tokens is too large", "code": "x"}})
        return httpx.Response(200, json=chat())

    calls = [Call((number, cap), "gpt", PROMPT, cap) for number in range(30) for cap in (300, 9999)]
    summary, log = run(calls, **mock(handler))
    assert {o.call.cap for o in log.outcomes} == {300}
    assert (summary.done, summary.undone) == (30, 30)
    assert [(s.cap, "too large" in s.reason) for s in summary.stopped] == [(9999, True)]


def test_a_request_refused_after_answers_is_an_outcome() -> None:
    answers = iter([200, 400, 200])

    def handler(_: httpx.Request) -> httpx.Response:
        status = next(answers)
        return httpx.Response(status, json=chat() if status == 200 else {"error": {"message": "bad prompt"}})

    summary, log = run(plan(3), **mock(handler, Limits(max_connections=1)))
    assert summary.complete
    assert [o.parsed.end for o in log.outcomes] == ["finished", "error", "finished"]
    assert log.outcomes[1].attempts[-1].outcome == "rejected"


def test_nobody_listening_leaves_all_undone_with_a_hint() -> None:
    endpoint = dataclasses.replace(resolve("http://127.0.0.1:9/v1#m", {}), limits=FAST)
    summary, log = run(plan(20, "m"), {"m": endpoint})
    assert log.outcomes == []
    assert summary.undone == 20
    assert "http://127.0.0.1:9/v1" in summary.stopped[0].hint


def test_a_wrong_certificate_is_not_tried_again() -> None:
    def handler(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("certificate") from ssl.SSLCertVerificationError("does not match")

    summary, log = run(plan(3), **mock(handler, Limits(max_connections=1)))
    assert len(log.journal) == 1
    assert summary.undone == 3


def test_a_server_that_vanishes_mid_run_ends_it_cleanly() -> None:
    server = ReferenceServer().__enter__()
    log = Log()
    seen = 0

    def done(outcome: Outcome) -> None:
        nonlocal seen
        seen += 1
        log.done(outcome)
        if seen == 50:
            server.__exit__(None, None, None)

    async def main() -> Summary:
        endpoints = {"c": reference(server, "constant")}
        return await run_calls(
            plan(500, "c"), endpoints, before_attempt=log.before, on_outcome=done, backoff=0.001
        )

    summary = asyncio.run(main())
    assert summary.done + summary.undone == 500
    assert summary.undone > 0
    assert summary.stopped
    assert len(set(log.keys())) == summary.done


def test_stop_lets_calls_in_flight_finish_and_counts_the_rest() -> None:
    async def main() -> tuple[Summary, Log]:
        stop = asyncio.Event()
        log = Log()

        def done(outcome: Outcome) -> None:
            log.done(outcome)
            if len(log.outcomes) == 20:
                stop.set()

        summary = await run_calls(
            plan(1000, "c"),
            {"c": reference(server, "constant")},
            before_attempt=log.before,
            on_outcome=done,
            stop=stop,
        )
        return summary, log

    with ReferenceServer(latency=0.002) as server:
        summary, log = asyncio.run(main())
        assert server.requests["constant"] == len(log.journal) == len(log.outcomes)
    assert summary.interrupted
    assert summary.done < 60
    assert summary.done + summary.undone == 1000


def test_calls_that_outlast_the_grace_are_left_undone() -> None:
    async def main() -> Summary:
        stop = asyncio.Event()
        asyncio.get_running_loop().call_later(0.1, stop.set)
        return await run_calls(
            plan(5, "c"),
            {"c": reference(server, "constant")},
            before_attempt=lambda *_: None,
            on_outcome=lambda _: None,
            stop=stop,
            grace=0.1,
        )

    with ReferenceServer(latency=30) as server:
        summary = asyncio.run(asyncio.wait_for(main(), 5))
    assert (summary.done, summary.undone, summary.interrupted) == (0, 5, True)


@pytest.mark.parametrize("where", ["before", "done"])
def test_a_full_disk_ends_the_run_with_that_error(where: str) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    class FullLog(Log):
        pass

    log = FullLog()
    setattr(log, where, full)
    with ReferenceServer() as server, pytest.raises(OSError, match="No space left"):
        run(plan(100, "c"), {"c": reference(server, "constant")}, log)


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


def test_max_connections_lowers_the_ceiling() -> None:
    in_flight = most = 0

    async def handler(_: httpx.Request) -> httpx.Response:
        nonlocal in_flight, most
        in_flight += 1
        most = max(most, in_flight)
        await asyncio.sleep(0.002)
        in_flight -= 1
        return httpx.Response(200, json=chat())

    run(plan(40), **mock(handler), max_connections=3)  # type: ignore[arg-type]
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


SIGNALLED = """
import asyncio, dataclasses, sys
from sealbench.endpoints.base import Limits, resolve
from sealbench.endpoints.engine import Call, run_calls, stop_on_signals

async def main():
    stop = asyncio.Event()
    endpoint = dataclasses.replace(resolve("reference/constant", {}), base_url=sys.argv[1])
    def done(outcome):
        print("done", outcome.call.key, flush=True)
    with stop_on_signals(stop):
        summary = await run_calls((Call(n, "c", "Is 7 prime?", 300) for n in range(100_000)), {"c": endpoint},
                                  before_attempt=lambda *_: None, on_outcome=done, stop=stop)
    print("summary", summary.done, summary.undone, summary.interrupted, flush=True)

asyncio.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_a_run_cleanly(number: signal.Signals) -> None:
    with ReferenceServer() as server:
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", SIGNALLED, server.url], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(50)]
        process.send_signal(number)
        # Not communicate(): it would miss what readline has buffered.
        rest = process.stdout.read()
        process.stdout.close()
        assert process.wait(timeout=20) == 0
    everything = [*"".join(lines).splitlines(), *rest.splitlines()]
    word, done, undone, interrupted = everything[-1].split()
    assert (word, interrupted) == ("summary", "True")
    assert len(everything) - 1 == int(done) == server.requests["constant"]
    assert int(done) + int(undone) == 100_000


@pytest.mark.parametrize(
    ("error", "cause", "expected"),
    [
        (httpx.ConnectError("refused"), None, ("connection", False)),
        (httpx.ConnectTimeout("slow"), None, ("connection", False)),
        (httpx.ConnectTimeout("gone"), aiohttp.ServerDisconnectedError(), ("lost", False)),
        (httpx.ConnectTimeout("reset"), aiohttp.ClientOSError(104, "reset"), ("lost", False)),
        (httpx.ConnectTimeout("slow"), aiohttp.ConnectionTimeoutError(), ("connection", False)),
        (httpx.ReadTimeout("slow"), aiohttp.SocketTimeoutError(), ("timeout", False)),
        (httpx.ReadError("broken"), aiohttp.ClientPayloadError(), ("lost", False)),
        (httpx.RemoteProtocolError("broken"), None, ("lost", False)),
        (httpx.ConnectError("tls"), ssl.SSLCertVerificationError("host"), ("connection", True)),
        (httpx.UnsupportedProtocol("x"), None, ("connection", True)),
        (OSError("odd"), None, ("lost", False)),
    ],
)
def test_what_broke_is_told_from_the_cause(
    error: Exception, cause: Exception | None, expected: tuple[str, bool]
) -> None:
    error.__cause__ = cause
    assert classify(error) == expected
