"""lm-evaluation-harness: `samples_TASK_DATE.jsonl`, with the model's name from the results file beside it.

These logs hold neither stop reasons nor token counts; an empty response is all there is to see.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sealbench.errors import FormatError
from sealbench.logs.base import ReadOptions, Row
from sealbench.logs.endings import text_state
from sealbench.logs.json_stream import json_lines
from sealbench.logs.values import dig, integer, label, only_number, score, unnamed_model

_TASK = re.compile(r"^(?:.*_)?samples_(.+?)(?:_\d{4}-\d{2}-\d{2}T[\d.\-]+)?$")
_LARGEST_RESULTS = 1 << 26


class LmEval:
    """The reader; one row per response (a repeat is one more row of the same item)."""

    name = "lm-eval"

    def detect(self, path: Path, head: bytes) -> bool:
        """Lines with the harness's own fields."""
        line = head.partition(b"\n")[0]
        return line.lstrip().startswith(b"{") and all(
            word in line for word in (b'"doc_id"', b'"resps"', b'"target"')
        )

    def is_companion(self, path: Path, head: bytes) -> bool:
        """The results file: aggregated scores, no responses."""
        start = head.lstrip()
        return (
            start.startswith(b"{") and path.suffix == ".json" and b'"results"' in head and b"n-shot" in head
        )

    def read(self, path: Path, options: ReadOptions, notes: list[str]) -> Iterator[Row]:
        """One row per response; of several filters over the same responses the first is read."""
        found = _TASK.match(path.stem)
        task = found.group(1) if found else path.stem
        model = _model(path, task) or unnamed_model(path)
        first_filter: str | None = None
        scored_only = False
        for _, record in json_lines(path):
            name = str(record.get("filter", "none"))
            if first_filter is None:
                first_filter = name
            if name != first_filter:
                if not scored_only:
                    notes.append(
                        f"{path.name}: filter {first_filter!r} is read; others score the same responses"
                    )
                scored_only = True
                continue
            yield from self._rows(record, task, model, options)

    def _rows(self, record: Mapping[str, Any], task: str, model: str, options: ReadOptions) -> Iterator[Row]:
        prompt = _prompt(record)
        metrics = record.get("metrics")
        named = options.metric or (metrics[0] if isinstance(metrics, list) and metrics else None)
        value = score(record.get(named)) if isinstance(named, str) else None
        generated = dig(record, "resps", 0)
        texts = generated if isinstance(generated, list) else [generated]
        for text in texts:
            yield Row(
                item=str(record.get("doc_id")),
                model=model,
                task=task,
                end="unknown",
                # Log-likelihoods are pairs, not texts: nothing was generated.
                text=text_state(text if isinstance(text, str) else None),
                target=label(record.get("target")),
                record=record,
                score=value,
                cap=integer(dig(record, "arguments", "gen_args_0", "arg_1", "max_gen_toks")),
                prompt_length=None if prompt is None else len(prompt),
                number=only_number(prompt),
            )


def _prompt(record: Mapping[str, Any]) -> str | None:
    prompt = dig(record, "arguments", "gen_args_0", "arg_0")
    if isinstance(prompt, list) and prompt:
        prompt = prompt[0]
    return prompt if isinstance(prompt, str) else None


def _model(path: Path, task: str) -> str | None:
    """The model's name from the results files of the folder, if they agree about this task."""
    names = set()
    try:
        for other in sorted(path.parent.glob("*results*.json")):
            if other.stat().st_size > _LARGEST_RESULTS:
                continue
            results = json.loads(other.read_bytes())
            name = dig(results, "config", "model_args", "model")
            name = name if isinstance(name, str) else dig(results, "model_name")
            if isinstance(name, str) and dig(results, "results", task) is not None:
                names.add(name)
    except OSError as error:
        raise FormatError(f"{path.parent}: cannot be read ({error.strerror})") from error
    except ValueError:
        return None
    return names.pop() if len(names) == 1 else None


FORMAT = LmEval()
