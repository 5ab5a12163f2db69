"""Values out of records that may hold anything: each accessor gives None where the log does not say."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_LONGEST_LABEL = 80
_NUMBER = re.compile(r"(?<![\w.,])\d{2,}(?![\w]|[.,]\d)")


def dig(record: Any, *path: str | int) -> Any:
    """The value at a path of keys and places, None where any step is missing."""
    for step in path:
        if isinstance(record, Mapping) and isinstance(step, str):
            record = record.get(step)
        elif isinstance(record, list) and isinstance(step, int) and -len(record) <= step < len(record):
            record = record[step]
        else:
            return None
    return record


def field_of(record: Any, name: str) -> Any:
    """A field by its name, by a dotted path, or inside the usual places of free fields."""
    if isinstance(record, Mapping) and name in record:
        return record[name]
    path = [int(step) if step.isdigit() else step for step in name.split(".")]
    found = dig(record, *path)
    if found is not None:
        return found
    for place in ("metadata", "doc", "vars", "params"):
        found = dig(record, place, *path)
        if found is not None:
            return found
    return None


def integer(value: Any) -> int | None:
    """A count that is not negative; None for anything else (a boolean included)."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        try:
            value = float(value) if not value.strip().isdigit() else int(value)
        except ValueError:
            return None
    if isinstance(value, float):
        value = int(value) if math.isfinite(value) and value == int(value) else None
    return value if isinstance(value, int) and 0 <= value < 2**62 else None


def score(value: Any) -> float | None:
    """A score between 0 and 1 from a number, a boolean, or the marks C, I, P and N."""
    if isinstance(value, str):
        marks = {"c": 1.0, "i": 0.0, "n": 0.0, "p": 0.5, "true": 1.0, "false": 0.0}
        if value.strip().lower() in marks:
            return marks[value.strip().lower()]
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, (bool, int, float)) and 0 <= value <= 1:
        return float(value)
    return None


def label(value: Any) -> str | None:
    """A class label: short text; a list's only member; None for null and structures."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if value is None or isinstance(value, (list, Mapping)):
        return None
    text = str(value).strip()
    if not text:
        return None
    return text if len(text) <= _LONGEST_LABEL else f"{text[:_LONGEST_LABEL]}… ({len(text)} characters)"


def seconds(value: Any) -> float | None:
    """A time as seconds since the epoch, from ISO 8601 text or a number."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return float(value) if math.isfinite(value) else None
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def only_number(text: str | None) -> int | None:
    """The integer a prompt is about, if it names exactly one of two digits or more.

    >>> only_number("Is 17077 a prime number?"), only_number("17 and 19")
    (17077, None)
    """
    if text is None or len(text) > 4000:
        return None
    found = {number for number in _NUMBER.findall(text) if len(number) <= 400}
    return int(found.pop()) if len(found) == 1 else None


def unnamed_model(path: Path) -> str:
    """What stands for a model that the log does not name: files are never pooled by accident."""
    return f"model not in log [{path.stem}]"


def prompt_text(prompt: Any) -> str | None:
    """A prompt as one text: a string, or the contents of chat messages."""
    if isinstance(prompt, str):
        return prompt
    if isinstance(prompt, list):
        from sealbench.logs.endings import content_text

        parts = [content_text(dig(message, "content")) for message in prompt]
        return "\n".join(part for part in parts if part)
    return None
