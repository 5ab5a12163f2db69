"""How a call ended: one vocabulary for every provider, and the rules that lead to it.

The API's own words are mapped by one table; a word that is not in it stays `unknown` and is never
taken for a stop. Whether a cut that nobody reported must be inferred is known only once the answer
has been read, so that last step is `settle_end`. Source: protocol section 7.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

End = Literal[
    "error", "filtered", "refused", "cut_reported", "cut_other", "cut_inferred", "finished", "unknown"
]
AnswerStatus = Literal["answer", "empty", "unparseable", "unclosed_reasoning"]
# Why there is no answer in a response: the HTTP status, an error object under a good status, bytes
# that are not JSON, or JSON that is not this API's.
Fault = Literal["status", "error_body", "malformed", "shape"]


@dataclass(frozen=True)
class Parsed:
    """What one response says, before the answer is read.

    end : never `cut_inferred` here; see `settle_end`.
    stop : the API's own string, for an error its code; None if it gave none.
    text : visible text as delivered, without reasoning; "" if nothing is visible, None if there is
        no answer to speak of (errors).
    charged_tokens : all tokens of the answer, thoughts included; null is not 0.
    reasoning_outside_cap : this API does not count reasoning against the cap.
    error_status : the status an error stands for, where it came under HTTP 200.
    """

    end: End
    stop: str | None = None
    text: str | None = None
    unclosed_reasoning: bool = False
    charged_tokens: int | None = None
    visible_tokens: int | None = None
    reasoning_tokens: int | None = None
    prompt_tokens: int | None = None
    model: str | None = None
    response_id: str | None = None
    fingerprint: str | None = None
    mean_logprob: str | None = None
    error: str | None = None
    fault: Fault | None = None
    error_status: int | None = None
    reasoning_outside_cap: bool = False


_ENDS: dict[End, tuple[str, ...]] = {
    "finished": (
        *("stop", "end_turn", "stop_sequence", "completed", "complete", "eos", "eos_token", "end", "finish"),
        *("tool_calls", "function_call", "tool_use", "pause_turn", "reason_stop", "model_stop"),
    ),
    "cut_reported": ("length", "max_tokens", "max_output_tokens", "reason_max_len", "max_length"),
    "cut_other": (
        *("model_length", "model_context_window_exceeded", "reason_max_context", "reason_time_limit"),
        *("context_length", "context_length_exceeded", "time_limit", "max_time"),
    ),
    "filtered": (
        *("content_filter", "content_filtered", "guardrail_intervened", "safety", "recitation", "blocklist"),
        *("prohibited_content", "spii", "image_safety", "model_armor", "sensitive"),
    ),
    "refused": ("refusal", "refused"),
    "error": ("error", "abort", "aborted", "failed", "insufficient_system_resource"),
}
_END_OF_STOP: dict[str, End] = {word: end for end, words in _ENDS.items() for word in words}


def end_of_stop(stop: str | None) -> End:
    """The normalised end of an API's stop string, case ignored; `unknown` for any other and for none."""
    return _END_OF_STOP.get(stop.lower(), "unknown") if stop else "unknown"


@dataclass(frozen=True)
class Settled:
    """The final `end`, and the two flags a finished answer at or above its cap carries."""

    end: End
    at_cap: bool
    not_binding: bool

    def __iter__(self) -> Any:
        return iter((self.end, self.at_cap, self.not_binding))


def settle_end(parsed: Parsed, cap: int, answer_status: AnswerStatus) -> Settled:
    """The end of a call once its answer has been read; unpacks as (end, at_cap, not_binding).

    `cut_inferred`: the tokens that count reach the cap and there is no final answer. Where reasoning
    escaped the cap (more tokens than cap + 1, or an API that says so), visible tokens are compared.
    A missing stop word with a final answer below the cap is `finished`: nothing else could have cut it.
    """
    end = parsed.end
    if end not in ("finished", "unknown"):
        return Settled(end, False, False)
    charged = parsed.charged_tokens
    counted = charged
    escaped = charged is not None and charged > cap + 1
    if (
        (escaped or parsed.reasoning_outside_cap)
        and parsed.reasoning_tokens
        and parsed.visible_tokens is not None
    ):
        counted = parsed.visible_tokens
    if answer_status != "answer" and counted is not None and counted >= cap:
        return Settled("cut_inferred", False, False)
    if end == "unknown" and not parsed.stop and answer_status == "answer" and counted is not None:
        end = "finished" if counted < cap else "unknown"
    at_cap = end == "finished" and charged is not None and cap <= charged <= cap + 1
    return Settled(end, at_cap, end == "finished" and escaped)


_TAG_NAMES = r"(?:think|thinking)"
_OPEN = re.compile(rf"<{_TAG_NAMES}>|\[THINK\]", re.IGNORECASE)
_CLOSE = re.compile(rf"</{_TAG_NAMES}>|\[/THINK\]", re.IGNORECASE)


def strip_reasoning(text: str) -> tuple[str, bool]:
    """Visible text without inline reasoning, and whether an opened tag never closes.

    A closing tag without an opening one ends reasoning that the prompt's template had opened.
    """
    if "<" not in text and "[" not in text:
        return text, False
    first_close = _CLOSE.search(text)
    first_open = _OPEN.search(text)
    if first_close and (first_open is None or first_close.start() < first_open.start()):
        text = text[first_close.end() :]
    visible: list[str] = []
    position = 0
    while opened := _OPEN.search(text, position):
        visible.append(text[position : opened.start()])
        closed = _CLOSE.search(text, opened.end())
        if closed is None:
            return "".join(visible), True
        position = closed.end()
    return "".join([*visible, text[position:]]), False
