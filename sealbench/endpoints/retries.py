"""Which responses are asked for again, how long to wait, and which end an endpoint: rules without I/O.

An answer is never asked for again, however empty: that would resample on the very event under test.
Asked again are 408, 409, 429, 5xx, errors under HTTP 200, unreadable bodies and broken connections.
"""

from __future__ import annotations

import email.utils
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from sealbench.endpoints.ending import Parsed

RETRIED_STATUSES = frozenset({408, 409, 425, 429})
LONGEST_WAIT = 60.0
Verdict = Literal["accept", "retry", "rejected", "stop"]

_FATAL_CODES = frozenset(
    {
        "insufficient_quota",
        "invalid_api_key",
        "model_not_found",
        "billing_hard_limit_reached",
        "api_key_invalid",
    }
)
_FATAL_WORDS = re.compile(
    r"api key not valid|incorrect api key|invalid api key|insufficient balance"
    r"|model\b.{0,80}\b(?:not found|does not exist)",
    re.IGNORECASE,
)
_BODY_DELAY = re.compile(rb'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')


def judge(status: int, headers: Mapping[str, str], parsed: Parsed) -> Verdict:
    """What to do with a response.

    `accept`: it is the outcome. `retry`: ask again. `rejected`: the request itself was refused.
    `stop`: no call to this endpoint can succeed.
    """
    if parsed.fault is None:
        return "accept"
    effective = status if status >= 400 else parsed.error_status or 500
    if _is_fatal(effective, parsed):
        return "stop"
    if headers.get("x-should-retry") == "false" and effective >= 500:
        return "accept"
    if effective in RETRIED_STATUSES or effective >= 500:
        return "retry"
    return "rejected"


def _is_fatal(status: int, parsed: Parsed) -> bool:
    if status in (401, 402, 403, 404):
        return True
    if status >= 500 or status == 408:
        return False
    if (parsed.stop or "").lower() in _FATAL_CODES:
        return True
    return status == 400 and bool(_FATAL_WORDS.search(parsed.error or ""))


def stated_delay(headers: Mapping[str, str], body: bytes, now: datetime) -> float | None:
    """Seconds the server asks to wait, at most 60; None if it asks for nothing.

    The larger of `retry-after` and `retry-after-ms` counts where one of them is 0 and the other is
    not (a recorded server says 1 and 0); otherwise the milliseconds, which are finer.
    """
    seconds = _seconds(headers.get("retry-after"), now)
    milliseconds = _decimal(headers.get("retry-after-ms"))
    if milliseconds:
        delay: float | None = milliseconds / 1000
    elif seconds is not None:
        delay = seconds
    elif milliseconds is not None:
        delay = 0.0
    else:
        found = _BODY_DELAY.search(body)
        delay = float(found.group(1)) if found else None
    return None if delay is None else min(max(delay, 0.0), LONGEST_WAIT)


def _seconds(value: str | None, now: datetime) -> float | None:
    if value is None:
        return None
    number = _decimal(value)
    if number is not None:
        return number
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if moment.tzinfo is None:
        return None
    return (moment - now).total_seconds()


def _decimal(value: str | None) -> float | None:
    if value is None or not re.fullmatch(r"\s*\d{1,12}(?:\.\d{1,9})?\s*", value):
        return None
    return float(value)


def refuses_key(status: int | None, parsed: Parsed) -> bool:
    """Whether an endpoint was stopped for its key: HTTP 401, or in words (Google says it under 400)."""
    words = f"{parsed.stop or ''} {parsed.error or ''}".lower()
    named = "api key" in words or "api_key" in words
    return not _lacks_credit(status, parsed) and ((parsed.error_status or status) == 401 or named)


def _lacks_credit(status: int | None, parsed: Parsed) -> bool:
    words = f"{parsed.stop or ''} {parsed.error or ''}".lower()
    return (parsed.error_status or status) == 402 or bool(re.search("quota|billing|balance", words))


def stop_hint(status: int | None, parsed: Parsed, name: str, model: str, key_name: str | None) -> str:
    """The exact next thing to try when an endpoint has been stopped."""
    words = f"{parsed.stop or ''} {parsed.error or ''}".lower()
    effective = parsed.error_status or status
    if _lacks_credit(status, parsed):
        return f"the account behind {key_name or name} has no credit left; top it up, then run again"
    if refuses_key(status, parsed):
        if key_name is None:
            return f"{name} wants a key: give api_key_env for it in sealbench.toml"
        return f"check the key in {key_name}, then run again: what is done is kept"
    if effective == 404 or "model" in words:
        return f"check the model name {model} and the address of {name}, then run again"
    if effective == 403:
        return f"the key in {key_name or 'use'} may not use {model}; ask for access or take another endpoint"
    return f"try one call with --exploratory on {name} to see what it accepts"
