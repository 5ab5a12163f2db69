"""reasoning-gym-eval: one JSON file per task with all completions of every prompt.

These files hold neither stop reasons, token counts nor the model's name: the name is taken from the run's
folder (MODEL_DATE_TIME) or its summary.json, and an empty response is all there is to see.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from sealbench.errors import FormatError
from sealbench.logs.base import ReadOptions, Row
from sealbench.logs.endings import text_state
from sealbench.logs.json_stream import array_elements, other_members
from sealbench.logs.values import dig, label, only_number, score, unnamed_model

_RUN_FOLDER = re.compile(r"(.+?)_\d{8}(?:_\d{6})?")
_LARGEST_SUMMARY = 1 << 24


class ReasoningGym:
    """The reader; completions of one prompt are rows of one item."""

    name = "reasoning-gym"

    def detect(self, path: Path, head: bytes) -> bool:
        """An object with completions per prompt."""
        start = head.lstrip(b"\xef\xbb\xbf \r\n\t")
        return start.startswith(b"{") and b'"completions_per_prompt"' in head and b'"results"' in head

    def is_companion(self, path: Path, head: bytes) -> bool:
        """The run's summary."""
        return path.name == "summary.json" and head.lstrip().startswith(b"{")

    def read(self, path: Path, options: ReadOptions, notes: list[str]) -> Iterator[Row]:
        """One row per completion; the item is the prompt's place in the file."""
        header = other_members(path, "results")
        model = _model(path) or unnamed_model(path)
        task = header.get("name")
        for place, result in enumerate(array_elements(path, "results")):
            if not isinstance(result, dict):
                raise FormatError(f"{path}: result {place} is not an object", hint="export the log again")
            question = result.get("question")
            question = question if isinstance(question, str) else None
            for completion in result.get("completions") or ():
                text = dig(completion, "full_model_response")
                yield Row(
                    item=str(place),
                    model=model,
                    task=task if isinstance(task, str) else path.stem,
                    end="error" if dig(completion, "error") else "unknown",
                    text=text_state(text if isinstance(text, str) else None),
                    target=label(result.get("expected_answer")),
                    record=result,
                    score=score(dig(completion, "score")),
                    prompt_length=None if question is None else len(question),
                    number=only_number(question),
                )


def _model(path: Path) -> str | None:
    for folder in list(path.absolute().parents)[:3]:
        summary = folder / "summary.json"
        if summary.is_file() and summary.stat().st_size < _LARGEST_SUMMARY:
            try:
                name = dig(json.loads(summary.read_bytes()), "model")
            except ValueError:
                name = None
            if isinstance(name, str):
                return name
        found = _RUN_FOLDER.fullmatch(folder.name)
        if found:
            return found.group(1)
    return None


FORMAT = ReasoningGym()
