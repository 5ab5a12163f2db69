"""The OpenAI chat format, which most servers speak with small differences: one reader for all of them.

Every difference met in recorded bodies is handled here: content as text, null, absent, list or
object; a choice without a message; stop words missing, empty, numeric, or contradicted by the
native reason; reasoning inside or beside the completion tokens; errors under HTTP 200.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sealbench.endpoints.base import EndpointSettings, HttpRequest, Parsed
from sealbench.endpoints.bodies import (
    decode_body,
    get,
    get_count,
    get_text,
    not_this_api,
    one_line,
    parse_error,
    stop_text,
)
from sealbench.endpoints.ending import End, end_of_stop, strip_reasoning
from sealbench.endpoints.requests import (
    base_url_of,
    json_request,
    merge_extra,
    put_numbers,
    refuse_settings,
    set_path,
)

Adjust = Callable[[dict[str, Any], EndpointSettings], None]


def default_reasoning(body: dict[str, Any], settings: EndpointSettings) -> None:
    """OpenAI's own field for the effort; a budget in tokens is not part of the format."""
    refuse_settings(settings, "thinking_budget")
    if effort := settings.settings.get("reasoning_effort"):
        body["reasoning_effort"] = effort


@dataclass(frozen=True)
class ChatProvider:
    """A server that speaks the chat format.

    `reasoning` writes the effort or budget in this server's field; `seed_field` is its name of the
    seed; `reasoning_outside_cap`: completion tokens do not hold the reasoning.
    """

    name: str
    default_base_url: str | None
    default_api_key_env: str | None
    default_cap_parameter: str = "max_tokens"
    needs_key: bool = True
    seed_field: str = "seed"
    system_role: str = "system"
    reasoning: Adjust = default_reasoning
    reasoning_outside_cap: bool = False

    def build_request(
        self, prompt: str, cap: int, settings: EndpointSettings, api_key: str | None
    ) -> HttpRequest:
        """POST {base}/chat/completions with one user message; one choice is always asked for."""
        url = base_url_of(settings, self.default_base_url) + "/chat/completions"
        return json_request(url, self.build_body(prompt, cap, settings), bearer=api_key)

    def build_body(self, prompt: str, cap: int, settings: EndpointSettings) -> dict[str, Any]:
        """The JSON body of one call."""
        refuse_settings(settings, *(() if self.name == "azure" else ("api_version",)))
        asked = settings.settings
        messages = [{"role": "user", "content": prompt}]
        if system := asked.get("system"):
            messages.insert(0, {"role": self.system_role, "content": str(system)})
        body: dict[str, Any] = {"model": settings.model, "messages": messages}
        put_numbers(body, asked, temperature="temperature", top_p="top_p", seed=self.seed_field)
        self.reasoning(body, settings)
        merge_extra(body, asked.get("extra"))
        set_path(body, settings.cap_parameter or self.default_cap_parameter, cap)
        return body

    def parse_response(self, status: int, headers: Mapping[str, str], body: bytes, cap: int) -> Parsed:
        """What a chat completion says."""
        return parse_chat(status, headers, body, reasoning_outside=self.reasoning_outside_cap)


def parse_chat(
    status: int, headers: Mapping[str, str], body: bytes, *, reasoning_outside: bool = False
) -> Parsed:
    """Read a chat completion; see the module's docstring for what is tolerated."""
    data = decode_body(body)
    choice = get(data, "choices", 0)
    if status >= 400 or data is None or (not isinstance(choice, dict) and get(data, "error") is not None):
        return parse_error(status, headers, data, body)
    if not isinstance(choice, dict):
        return not_this_api("no choices")
    message = get(choice, "message")
    text, unclosed, refusal = read_content(message)
    stop, end = _read_stop(choice)
    error = None
    choice_error = choice.get("error")
    if choice_error is not None or end == "error":
        end = "error"
        error = get_text(choice_error, "message") or f"the server ended the answer with {stop}"
    elif refusal and end != "filtered":
        end = "refused"
    prompt_tokens, charged, visible, reasoning, outside = read_usage(get(data, "usage"), reasoning_outside)
    return Parsed(
        end=end,
        stop=stop,
        text=text,
        unclosed_reasoning=unclosed,
        charged_tokens=charged,
        visible_tokens=visible,
        reasoning_tokens=reasoning,
        prompt_tokens=prompt_tokens,
        model=get_text(data, "model"),
        response_id=get_text(data, "id"),
        fingerprint=get_text(data, "system_fingerprint"),
        mean_logprob=mean_logprob(get(choice, "logprobs", "content")),
        error=one_line(error) if error else None,
        fault="error_body" if error else None,
        error_status=_status_of(choice_error),
        reasoning_outside_cap=outside,
    )


def _read_stop(choice: dict[str, Any]) -> tuple[str | None, End]:
    stop = stop_text(choice.get("finish_reason"))
    end = end_of_stop(stop)
    native = stop_text(choice.get("native_finish_reason"))
    if end in ("finished", "unknown") and end_of_stop(native) in ("cut_reported", "cut_other", "filtered"):
        # A router's translation may call a cut a stop or a tool call; the host's own word counts.
        return f"{stop or ''}/{native}", end_of_stop(native)
    return stop, end


def _status_of(choice_error: Any) -> int | None:
    code = get(choice_error, "code")
    return code if isinstance(code, int) and 400 <= code <= 599 else None


def read_content(message: Any) -> tuple[str, bool, bool]:
    """(visible text, a reasoning tag is left open, the model refused) of a message in any shape."""
    content = get(message, "content")
    refusal = bool(get_text(message, "refusal"))
    if isinstance(content, dict):
        content = [content]
    if isinstance(content, list):
        pieces = []
        for part in content:
            kind = get(part, "type")
            if kind in (None, "text", "output_text") and isinstance(get(part, "text"), str):
                pieces.append(part["text"])
            elif isinstance(part, str):
                pieces.append(part)
            elif kind == "refusal":
                refusal = True
        content = "".join(pieces)
    if not isinstance(content, str):
        return "", False, refusal
    text, unclosed = strip_reasoning(content)
    return text, unclosed, refusal


def read_usage(
    usage: Any, reasoning_outside: bool
) -> tuple[int | None, int | None, int | None, int | None, bool]:
    """(prompt, charged, visible, reasoning tokens, reasoning outside the cap); None where not said.

    Some servers count reasoning beside the completion: their total shows it.
    """
    prompt = get_count(usage, "prompt_tokens")
    completion = get_count(usage, "completion_tokens")
    reasoning = get_count(usage, "completion_tokens_details", "reasoning_tokens")
    if reasoning is None:
        reasoning = get_count(usage, "reasoning_tokens")
    if completion is None or reasoning is None:
        return prompt, completion, None, reasoning, reasoning_outside
    total = get_count(usage, "total_tokens")
    outside = reasoning_outside
    if reasoning and total is not None and prompt is not None:
        if total == prompt + completion + reasoning:
            outside = True
        elif total == prompt + completion:
            outside = False
    if reasoning > completion:
        outside = True
    if outside:
        return prompt, completion + reasoning, completion, reasoning, True
    return prompt, completion, completion - reasoning, reasoning, False


def mean_logprob(tokens: Any) -> str | None:
    """Mean log-probability of the answer's tokens as a decimal string of six places; None if not given."""
    if not isinstance(tokens, list) or not tokens:
        return None
    values = [get(token, "logprob") for token in tokens]
    numbers = [value for value in values if isinstance(value, (int, float)) and abs(value) < 1e6]
    if len(numbers) != len(values):
        return None
    return f"{sum(numbers) / len(numbers):.6f}"
