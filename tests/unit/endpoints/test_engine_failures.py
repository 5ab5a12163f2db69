"""The engine when endpoints fail: what is lost, what is tried again, what stops an endpoint."""

from __future__ import annotations

import dataclasses
import json
import ssl

import aiohttp
import httpx
import pytest
from engine_calls import FAST, PROMPT, SECRET, chat, mock, plan, reference, run

from sealbench.endpoints.base import Limits, resolve
from sealbench.endpoints.engine import Call
from sealbench.endpoints.failures import classify
from sealbench.errors import MissingKey
from sealbench.testing.faulty import FaultScript
from sealbench.testing.server import ReferenceServer


def test_timeouts_are_first_attempt_losses() -> None:
    with ReferenceServer(script=FaultScript(["slow_body", "none"], pause=1.0)) as server:
        limits = Limits(max_connections=1, timeout=0.4)
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
