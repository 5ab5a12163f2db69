"""Reading JSON bodies that may hold anything: small tolerant accessors and the error forms of all APIs.

`error` can be an object, a string, a list or absent, `code` a string, a number or null, the whole
body an HTML page. Nothing here raises on bad input.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from sealbench.endpoints.ending import Fault, Parsed

_ERROR_LENGTH = 300
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_LONGEST_NAME = 500
_LARGEST_COUNT = 2**53 - 1
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "responsibleaipolicyviolation"})


def decode_body(body: bytes) -> Any:
    """The JSON value of a body; None if it is not JSON (a body of `null` is no answer either).

    Lone surrogates, which JSON can escape but no file can hold, become question marks.
    """
    try:
        value = json.loads(body)
        if _SURROGATE.search(body):
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value


def get(value: Any, *path: str | int) -> Any:
    """The value at a path of keys and list positions; None where any step is missing."""
    for step in path:
        if isinstance(step, int):
            if not isinstance(value, list) or len(value) <= step:
                return None
            value = value[step]
        else:
            if not isinstance(value, dict):
                return None
            value = value.get(step)
    return value


def get_count(value: Any, *path: str | int) -> int | None:
    """A token count: a non-negative integer, else None (missing is not 0)."""
    found = get(value, *path)
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    if isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= _LARGEST_COUNT:
        return found
    return None


def get_text(value: Any, *path: str | int) -> str | None:
    """A non-empty string, else None."""
    found = get(value, *path)
    return found[:_LONGEST_NAME] if isinstance(found, str) and found else None


def stop_text(value: Any) -> str | None:
    """A stop field as text: enum numbers are kept as their digits, "" and null are None."""
    if isinstance(value, bool) or value is None:
        return None
    return str(value)[:_LONGEST_NAME] or None if isinstance(value, (str, int)) else None


def parse_error(status: int, headers: Mapping[str, str], data: Any, body: bytes) -> Parsed:
    """The `error` or `filtered` reading of a response that holds no answer."""
    found = _error_object(data)
    fault: Fault = "status" if status >= 400 else "error_body"
    if data is None:
        fault = "status" if status >= 400 else "malformed"
    code = _error_code(found, data)
    if code is None and (kind := headers.get("x-amzn-errortype")):
        code = kind.split(":")[0]
    inner = get(found, "innererror", "code")
    filtered = any(isinstance(word, str) and word.lower() in _FILTER_CODES for word in (code, inner))
    if get(found, "metadata", "flagged_input") is not None:  # OpenRouter's moderation, under 403
        filtered = True
    message = _error_message(found, data)
    if message is None:
        message = "the body is not JSON" if data is None else "the error has no message"
        if body and data is None and status >= 400:
            message = f"the body is not JSON ({len(body)} bytes)"
    return Parsed(
        end="filtered" if filtered else "error",
        stop=code,
        error=one_line(message),
        fault=None if filtered else fault,
        error_status=_numeric_status(found) if status < 400 else None,
    )


def one_line(text: str) -> str:
    """Text from outside on one line, safe for a terminal, cut to a length fit for an error."""
    return "".join(char if char.isprintable() else " " for char in text[:_ERROR_LENGTH])


def not_this_api(what: str) -> Parsed:
    """JSON under a good status from which no answer can be read."""
    return Parsed(end="error", error=f"not this API's answer: {what}", fault="shape")


def _error_object(data: Any) -> Any:
    if isinstance(data, list) and data:  # Google streams wrap errors into a list
        data = data[0]
    found = get(data, "error")
    return found if found is not None else data


def _error_code(found: Any, data: Any) -> str | None:
    if isinstance(found, dict):
        status = found.get("status")
        if isinstance(status, str) and status:
            return status
        for key in ("code", "type"):
            value = found.get(key)
            if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
                return str(value)
        return None
    value = get(data, "code")
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else None


def _error_message(found: Any, data: Any) -> str | None:
    if isinstance(found, str):
        return found
    for holder in (found, data):
        for key in ("message", "detail", "error_description", "msg"):
            value = get(holder, key)
            if isinstance(value, str) and value:
                return value
            if isinstance(value, (list, dict)) and value:
                return json.dumps(value)[:_ERROR_LENGTH]
    return None


def _numeric_status(found: Any) -> int | None:
    code = get(found, "code")
    if isinstance(code, str) and code.isascii() and code.isdigit() and len(code) == 3:
        code = int(code)
    return code if isinstance(code, int) and 400 <= code <= 599 else None
