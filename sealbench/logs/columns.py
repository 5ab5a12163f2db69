"""Rows out of flat records: which column plays which role, named by the user or taken by a usual name.

Roles: item, model, task, target, text, stop, tokens, cap, score, error, cut, time, number, prompt,
characters.
A column called `truncated` is never taken by name: it may be somebody's computation. `--column
cut=truncated` takes it as the log's own word.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sealbench.errors import UsageError
from sealbench.logs.base import ReadOptions, Row
from sealbench.logs.endings import content_text, ending, text_state
from sealbench.logs.values import field_of, integer, label, only_number, score, seconds, unnamed_model

USUAL = {
    "item": ("item", "item_id", "id", "sample_id", "question_id", "doc_id", "idx", "index", "custom_id"),
    "model": ("model", "model_name", "endpoint", "model_id"),
    "task": ("task", "task_name", "dataset", "benchmark", "subset"),
    "target": ("target", "expected_answer", "gold", "reference", "label", "class", "class_label", "expected"),
    "text": ("response", "output", "completion", "full_model_response", "model_response", "generated_text"),
    "stop": ("finish_reason", "stop_reason", "stop", "done_reason"),
    "tokens": ("output_tokens", "completion_tokens", "tokens", "num_output_tokens", "eval_count"),
    "cap": ("max_tokens", "max_output_tokens", "max_completion_tokens", "cap", "max_new_tokens"),
    "score": ("score", "correct", "is_correct", "accuracy"),
    "error": ("error",),
    "cut": (),
    "time": ("ran_at", "timestamp", "created_at", "started_at", "time"),
    "number": ("number", "n"),
    "prompt": ("prompt", "question", "input"),
    "characters": ("output_chars", "visible_chars", "output_characters"),
}
_YES = ("1", "true", "yes")


def choose_columns(names: list[str], options: ReadOptions, path: Path, notes: list[str]) -> dict[str, str]:
    """Role to column; what was taken by its name alone is told in the notes."""
    unknown = set(options.columns) - set(USUAL)
    if unknown:
        raise UsageError(
            f"there is no role {sorted(unknown)[0]!r} for a column", hint=f"roles: {', '.join(USUAL)}"
        )
    absent = [name for name in options.columns.values() if name.partition(".")[0] not in names]
    if absent:
        raise UsageError(f"{path}: no column {absent[0]!r}", hint=f"columns there: {', '.join(names[:40])}")
    lowered = {name.lower(): name for name in reversed(names)}
    chosen = {
        role: next(lowered[name] for name in usual if name in lowered)
        for role, usual in USUAL.items()
        if any(name in lowered for name in usual)
    }
    guessed = {role: name for role, name in chosen.items() if role not in options.columns}
    chosen.update(options.columns)
    if guessed:
        told = ", ".join(f"{role}={name}" for role, name in guessed.items())
        notes.append(f"{path.name}: columns taken by their names: {told} (--column ROLE=NAME changes one)")
    if "item" not in chosen:
        notes.append(
            f"{path.name}: no item column, so every row counts as an item of its own (--column item=…)"
        )
    return chosen


def row_of(record: Mapping[str, Any], columns: Mapping[str, str], place: int, path: Path) -> Row:
    """One flat record as a row."""

    def value(role: str) -> Any:
        found = field_of(record, columns[role]) if role in columns else None
        return None if found == "" and role != "text" else found

    prompt = value("prompt")
    prompt = prompt if isinstance(prompt, str) else None
    number = value("number")
    item, model, task = value("item"), value("model"), value("task")
    return Row(
        item=str(place if item is None else item),
        model=str(model) if model is not None else unnamed_model(path),
        task=str(task) if task is not None else path.stem,
        end=_end(value("error"), value("cut"), value("stop")),
        text=_text(columns, value("text"), value("characters")),
        target=label(value("target")),
        record=record,
        tokens=integer(value("tokens")),
        score=score(value("score")),
        cap=integer(value("cap")),
        prompt_length=None if prompt is None else len(prompt),
        number=integer(number) if number is not None else only_number(prompt),
        time=seconds(value("time")),
    )


def _end(error: Any, cut: Any, stop: Any) -> str:
    if error not in (None, False) and str(error).lower() not in ("", "0", "false", "none", "null"):
        return "error"
    if cut is not None:
        return "cut_reported" if str(cut).strip().lower() in _YES else "finished"
    return ending(stop)


def _text(columns: Mapping[str, str], text: Any, characters: Any) -> str:
    if "text" in columns:
        return text_state(content_text(text))
    count = integer(characters)
    if count is None:
        return "unknown"
    return "text" if count else "empty"
