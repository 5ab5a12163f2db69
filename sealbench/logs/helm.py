"""HELM: `scenario_state.json`, joined to `per_instance_stats.json` beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sealbench.errors import FormatError
from sealbench.logs.base import ReadOptions, Row
from sealbench.logs.endings import ending, text_state
from sealbench.logs.json_stream import array_elements, other_members
from sealbench.logs.values import dig, integer, label, only_number, score, unnamed_model

_METRICS = ("exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match")


class Helm:
    """The reader; train trials of one instance are rows of one item."""

    name = "helm"

    def detect(self, path: Path, head: bytes) -> bool:
        """An object with an adapter and request states."""
        return head.lstrip().startswith(b"{") and b'"adapter_spec"' in head

    def is_companion(self, path: Path, head: bytes) -> bool:
        """The other files of a HELM run."""
        return path.name in (
            "per_instance_stats.json",
            "stats.json",
            "run_spec.json",
            "scenario.json",
            "instances.json",
            "display_predictions.json",
            "display_requests.json",
        )

    def read(self, path: Path, options: ReadOptions, notes: list[str]) -> Iterator[Row]:
        """One row per request state with a generated completion."""
        adapter = other_members(path, "request_states").get("adapter_spec")
        stats = _stats(path.with_name("per_instance_stats.json"), options.metric)
        if not stats:
            notes.append(
                f"{path.name}: no per_instance_stats.json beside it, so no scores and no token counts"
            )
        for state in array_elements(path, "request_states"):
            if not isinstance(state, dict):
                raise FormatError(f"{path}: a request state is not an object", hint="copy the run again")
            yield _row(state, adapter, stats, path)


def _row(
    state: Mapping[str, Any],
    adapter: Any,
    stats: Mapping[tuple[str, int], tuple[float | None, int | None]],
    path: Path,
) -> Row:
    item, trial = str(dig(state, "instance", "id")), integer(state.get("train_trial_index")) or 0
    value, tokens = stats.get((item, trial), (None, None))
    completion = dig(state, "result", "completions", 0)
    text = dig(completion, "text")
    prompt = dig(state, "request", "prompt")
    prompt = prompt if isinstance(prompt, str) else None
    failed = dig(state, "result", "success") is False
    model = dig(adapter, "model") or dig(state, "request", "model")
    reason = dig(completion, "finish_reason", "reason") or dig(completion, "finish_reason")
    correct = [
        dig(one, "output", "text")
        for one in dig(state, "instance", "references") or ()
        if "correct" in (dig(one, "tags") or ())
    ]
    return Row(
        item=item,
        model=model if isinstance(model, str) else unnamed_model(path),
        task=path.absolute().parent.name,
        end="error" if failed else ending(reason),
        text=text_state(text if isinstance(text, str) and not failed else None),
        target=label(correct[0]) if correct else None,
        record=state,
        tokens=tokens,
        score=value,
        cap=integer(dig(state, "request", "max_tokens") or dig(adapter, "max_tokens")),
        prompt_length=None if prompt is None else len(prompt),
        number=only_number(dig(state, "instance", "input", "text")),
    )


def _stats(path: Path, metric: str | None) -> dict[tuple[str, int], tuple[float | None, int | None]]:
    """(instance, trial) to (score, output tokens)."""
    if not path.is_file():
        return {}
    wanted = (metric,) if metric else _METRICS
    found: dict[tuple[str, int], tuple[float | None, int | None]] = {}
    for one in array_elements(path):
        named = {
            dig(stat, "name", "name"): dig(stat, "mean")
            for stat in dig(one, "stats") or ()
            if dig(stat, "name", "perturbation") is None
        }
        value = next((score(named[name]) for name in wanted if name in named), None)
        tokens = named.get("num_output_tokens", named.get("num_completion_tokens"))
        found[(str(dig(one, "instance_id")), integer(dig(one, "train_trial_index")) or 0)] = (
            value,
            integer(tokens),
        )
    return found


FORMAT = Helm()
