"""Scripted faults: what real servers do wrong, on purpose and in a known order.

`reference/faulty` answers like `reference/constant` and then spoils the answer as its script says.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Any, Literal

FaultName = Literal[
    "none",
    "rate_limited",
    "rate_limited_ms",
    "server_error",
    "overloaded",
    "malformed",
    "truncated_body",
    "stop_at_cap",
    "empty",
    "no_usage",
    "unknown_stop",
    "slow_body",
    "error_body",
    "choice_error",
    "dropped",
]
ALL_FAULTS: tuple[FaultName, ...] = FaultName.__args__  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Reply:
    """What the server sends. `pause`: seconds in the middle of the body; `drop`: hang up at once."""

    status: int
    body: dict[str, Any] | bytes
    headers: dict[str, str] = field(default_factory=dict)
    pause: float = 0.0
    drop: bool = False
    truncate: bool = False


class FaultScript:
    """The faults in the order given, then again from the start; counts what it has dealt out."""

    def __init__(self, faults: Iterable[FaultName] = ALL_FAULTS, *, pause: float = 0.05) -> None:
        self._faults: Iterator[FaultName] = cycle(tuple(faults) or ("none",))
        self._lock = threading.Lock()
        self.pause = pause
        self.dealt: Counter[str] = Counter()

    def next(self) -> FaultName:
        """The fault for the next request."""
        with self._lock:
            fault = next(self._faults)
            self.dealt[fault] += 1
        return fault

    def apply(self, fault: FaultName, reply: Reply, cap: int | None) -> Reply:
        """`reply`, a good answer in the chat format, spoilt by one fault."""
        if fault in _ERRORS:
            return _ERRORS[fault]
        if fault == "slow_body":
            return replace(reply, pause=self.pause)
        if fault == "dropped":
            return replace(reply, drop=True)
        if fault == "truncated_body":
            return replace(reply, truncate=True)
        if isinstance(reply.body, bytes) or fault == "none":
            return reply
        return replace(reply, body=_spoilt(fault, reply.body, cap))


def _error(status: int, message: str, code: str | int, headers: dict[str, str] | None = None) -> Reply:
    return Reply(status, {"error": {"message": message, "type": "error", "code": code}}, headers or {})


_ERRORS: dict[FaultName, Reply] = {
    "rate_limited": _error(429, "rate limit reached", "rate_limit_exceeded", {"retry-after": "0"}),
    "rate_limited_ms": _error(
        429, "rate limit reached", "rate_limit_exceeded", {"retry-after": "1", "retry-after-ms": "5"}
    ),
    "server_error": _error(500, "the server had an error", "server_error"),
    "overloaded": _error(529, "overloaded", "overloaded_error"),
    "malformed": Reply(200, b'{"choices": [{"message": {"content": "Ans'),
    "error_body": _error(200, "provider returned error", 502),
}


def _spoilt(fault: FaultName, body: dict[str, Any], cap: int | None) -> dict[str, Any]:
    choice = dict(body["choices"][0])
    usage = dict(body["usage"])
    changed = {**body, "choices": [choice], "usage": usage}
    if fault == "stop_at_cap":
        choice["message"] = {**choice["message"], "content": ""}
        choice["finish_reason"] = "stop"
        if cap is not None:
            usage.update(completion_tokens=cap, total_tokens=usage["prompt_tokens"] + cap)
    elif fault == "empty":
        choice["message"] = {**choice["message"], "content": ""}
        choice["finish_reason"] = "stop"
        usage.update(completion_tokens=1, total_tokens=usage["prompt_tokens"] + 1)
    elif fault == "no_usage":
        changed.pop("usage")
    elif fault == "unknown_stop":
        choice["finish_reason"] = "because"
    elif fault == "choice_error":
        choice["finish_reason"] = "error"
        choice["error"] = {"code": 502, "message": "provider disconnected"}
        changed.pop("usage")
    return changed
