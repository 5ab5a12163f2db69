"""What is taken out of raw responses on receipt, before anything is hashed or kept.

One fixed table, so that the same response always gives the same bytes: keys, account and
organisation ids, e-mail addresses. Of the headers only those of `KEPT_HEADERS` are kept. The key in
use is replaced wherever a server echoes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

REDACTION_VERSION = 1

KEPT_HEADERS = frozenset(
    {
        *("content-type", "date", "retry-after", "retry-after-ms", "x-should-retry", "x-amzn-errortype"),
        *("x-request-id", "request-id", "apim-request-id", "mistral-correlation-id", "x-amzn-requestid"),
        *("openai-processing-ms", "openai-version", "x-generation-id"),
        *(
            f"x-ratelimit-{what}-{of}"
            for what in ("limit", "remaining", "reset")
            for of in ("requests", "tokens")
        ),
    }
)

# A placeholder such as "EMPTY", which local servers accept, is no secret and may be a plain word.
_SHORTEST_SECRET = 8

# (a byte string that must occur for the pattern to match at all, pattern, replacement)
_TABLE: tuple[tuple[bytes, re.Pattern[bytes], bytes], ...] = (
    (b"sk-", re.compile(rb"\bsk-[A-Za-z0-9_\-*]{8,}"), b"[KEY REDACTED]"),
    (b"AIza", re.compile(rb"\bAIza[A-Za-z0-9_\-]{20,}"), b"[KEY REDACTED]"),
    (b"xai-", re.compile(rb"\bxai-[A-Za-z0-9*]{16,}"), b"[KEY REDACTED]"),
    (b"gsk_", re.compile(rb"\bgsk_[A-Za-z0-9*]{16,}"), b"[KEY REDACTED]"),
    (b"hf_", re.compile(rb"\bhf_[A-Za-z0-9*]{16,}"), b"[KEY REDACTED]"),
    (b"AKIA", re.compile(rb"\bAKIA[A-Z0-9]{12,}"), b"[KEY REDACTED]"),
    (b"earer ", re.compile(rb"\b[Bb]earer [A-Za-z0-9._\-+/=]{8,}"), b"Bearer [KEY REDACTED]"),
    (b"org-", re.compile(rb"\borg-[A-Za-z0-9]{8,}"), b"[ORGANISATION REDACTED]"),
    (b"proj_", re.compile(rb"\bproj_[A-Za-z0-9]{8,}"), b"[PROJECT REDACTED]"),
    (b"projects/", re.compile(rb"\bprojects/[A-Za-z0-9\-]{4,}"), b"projects/[PROJECT REDACTED]"),
    (
        b"arn:",
        re.compile(rb"\b(arn:aws[a-z\-]*:[a-z0-9\-]*:[a-z0-9\-]*:)[^:\s\"\[]+"),
        rb"\1[ACCOUNT REDACTED]",
    ),
    (b"user", re.compile(rb'("(?:user|user_id|account_id)"\s*:\s*)"[^"\\]+"'), rb'\1"[USER REDACTED]"'),
    (b"account_id", re.compile(rb'("account_id"\s*:\s*)"[^"\\]+"'), rb'\1"[USER REDACTED]"'),
    (
        b"organization",
        re.compile(rb'("organization(?:_id)?"\s*:\s*)"[^"\\]+"'),
        rb'\1"[ORGANISATION REDACTED]"',
    ),
    (
        b"@",
        re.compile(rb"\b[A-Za-z0-9._%+\-]{1,64}@[A-Za-z0-9\-]{1,63}(?:\.[A-Za-z0-9\-]{2,63}){1,5}"),
        b"[E-MAIL REDACTED]",
    ),
)


def redact_body(body: bytes, api_key: str | None = None) -> bytes:
    """The body with everything of the table replaced; the key in use first."""
    if api_key and len(api_key) >= _SHORTEST_SECRET and (key := api_key.encode()) in body:
        body = body.replace(key, b"[KEY REDACTED]")
    for needle, pattern, replacement in _TABLE:
        if needle in body:
            body = pattern.sub(replacement, body)
    return body


def redact_text(text: str, api_key: str | None = None) -> str:
    """As `redact_body`, for error texts."""
    return redact_body(text.encode("utf-8", "replace"), api_key).decode("utf-8", "replace")


def redact_headers(headers: Mapping[str, str], api_key: str | None = None) -> dict[str, str]:
    """Only the headers worth keeping, in lower case, their values redacted like bodies."""
    return {
        name.lower(): redact_text(value, api_key)
        for name, value in headers.items()
        if name.lower() in KEPT_HEADERS
    }
