"""How a response ended and what is to be seen of it, from the words of many tools and providers.

An unknown word stays unknown: it is not "finished".
"""

from __future__ import annotations

import re
from typing import Any

FINISHED = frozenset(
    (
        "stop", "end_turn", "stop_sequence", "eos", "eos_token", "endoftext", "completed", "complete",
        "tool_calls", "tool_use", "function_call", "reason_stop", "stop_str", "success",
    )
)  # fmt: skip
CUT = frozenset(
    (
        "length", "max_tokens", "max_output_tokens", "max_length", "reason_max_len", "token_limit",
        "max_new_tokens",
    )
)  # fmt: skip
CUT_OTHER = frozenset(
    (
        "model_length", "model_context_window_exceeded", "context_length", "context_length_exceeded",
        "reason_max_context", "reason_time_limit", "time_limit", "timeout", "insufficient_system_resource",
    )
)  # fmt: skip
FILTERED = frozenset(("content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii"))
REFUSED = frozenset(("refusal", "refused"))

_THINK_OPEN = re.compile(r"<(think|thinking|reasoning)>", re.IGNORECASE)
_THINK_CLOSED = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.IGNORECASE | re.DOTALL)


def ending(reason: Any) -> str:
    """The normalised end of a raw stop reason; "unknown" for an absent or unknown one.

    >>> ending("MAX_TOKENS"), ending("stop"), ending(""), ending("banana")
    ('cut_reported', 'finished', 'unknown', 'unknown')
    """
    if not isinstance(reason, str):
        return "unknown"
    word = reason.strip().lower()
    for names, end in (
        (FINISHED, "finished"),
        (CUT, "cut_reported"),
        (CUT_OTHER, "cut_other"),
        (FILTERED, "filtered"),
        (REFUSED, "refused"),
    ):
        if word in names:
            return end
    return "unknown"


def text_state(text: str | None) -> str:
    """What is to be seen of a response's text.

    >>> text_state(None), text_state(" "), text_state("<think>2, 3, 5"), text_state("<think>x</think> No")
    ('unknown', 'empty', 'unclosed', 'text')
    """
    if text is None:
        return "unknown"
    if not text or text.isspace():
        return "empty"
    if "<" not in text:
        return "text"
    rest = _THINK_CLOSED.sub("", text)
    opened = _THINK_OPEN.search(rest)
    if opened is not None:
        return "text" if rest[: opened.start()].strip() else "unclosed"
    return "text" if rest.strip() else "empty"


def content_text(content: Any) -> str | None:
    """The visible text of a message: a string, or parts of which only those of text count.

    Null content is an empty answer: the message is there, and nothing is in it.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict)]
        texts = [part.get("text") for part in parts if part.get("type") in ("text", "output_text", None)]
        return "".join(text for text in texts if isinstance(text, str))
    return None
