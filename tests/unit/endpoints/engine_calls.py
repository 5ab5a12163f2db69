"""Calls, endpoints and a log for tests of the engine."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from typing import Any

import httpx

from sealbench.endpoints.base import EndpointSettings, Limits, resolve
from sealbench.endpoints.engine import Attempt, Call, Outcome, Summary, run_calls
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
