"""promptfoo's results JSON (`promptfoo eval -o results.json`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sealbench.errors import FormatError
from sealbench.logs.base import ReadOptions, Row
from sealbench.logs.endings import ending, text_state
from sealbench.logs.json_stream import array_elements, other_members
from sealbench.logs.values import dig, integer, label, only_number, score, seconds, unnamed_model


class Promptfoo:
    """The reader; the target is the test's one `equals` (or like) assertion, classes else by `--class`."""

    name = "promptfoo"

    def detect(self, path: Path, head: bytes) -> bool:
        """An object with results inside results, or with an evaluation id."""
        start = head.lstrip(b"\xef\xbb\xbf \r\n\t")
        if not start.startswith(b"{"):
            return False
        return b'"evalId"' in head or (b'"testCase"' in head and b'"results"' in head)

    def is_companion(self, path: Path, head: bytes) -> bool:
        """Nothing else belongs to such a log."""
        return False

    def read(self, path: Path, options: ReadOptions, notes: list[str]) -> Iterator[Row]:
        """One row per test, prompt and provider; tests answered from the cache are rows like others."""
        caps = _caps(other_members(path, "results", "results").get("config"))
        for result in array_elements(path, "results", "results"):
            if not isinstance(result, dict):
                raise FormatError(f"{path}: a result is not an object", hint="promptfoo eval -o results.json")
            yield _row(result, caps, path)


def _row(result: Mapping[str, Any], caps: Mapping[str, int | None], path: Path) -> Row:
    provider = dig(result, "provider", "id") or dig(result, "provider")
    model = provider if isinstance(provider, str) else unnamed_model(path)
    prompt = dig(result, "prompt", "raw")
    prompt = prompt if isinstance(prompt, str) else None
    output = dig(result, "response", "output")
    # failureReason 2 is an error of the call; 1 is a failed assertion.
    failed = result.get("failureReason") == 2 or bool(dig(result, "response", "error"))
    answered = result.get("score", result.get("success"))
    return Row(
        item=f"{result.get('testIdx')}",
        model=model,
        task=f"{path.stem}, prompt {result['promptIdx']}" if result.get("promptIdx") else path.stem,
        end="error" if failed else ending(dig(result, "response", "finishReason")),
        text=text_state(output if isinstance(output, str) else "" if output is None and not failed else None),
        target=_target(result),
        record={**result, "vars": result.get("vars", dig(result, "testCase", "vars"))},
        tokens=integer(dig(result, "response", "tokenUsage", "completion")),
        score=None if failed else score(answered),
        cap=caps.get(model),
        prompt_length=None if prompt is None else len(prompt),
        number=only_number(prompt),
        time=seconds(dig(result, "testCase", "metadata", "time")),
    )


def _target(result: Mapping[str, Any]) -> str | None:
    asserted = dig(result, "testCase", "assert")
    values = [
        dig(one, "value") for one in asserted or () if dig(one, "type") in ("equals", "iequals", "icontains")
    ]
    return label(values[0]) if len(values) == 1 else None


def _caps(config: Any) -> dict[str, int | None]:
    caps: dict[str, int | None] = {}
    for provider in dig(config, "providers") or ():
        name = dig(provider, "id")
        if isinstance(name, str):
            named = ("max_tokens", "max_completion_tokens", "max_output_tokens")
            found = [integer(dig(provider, "config", key)) for key in named]
            caps[name] = next((cap for cap in found if cap is not None), None)
    return caps


FORMAT = Promptfoo()
