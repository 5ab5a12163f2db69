"""Where readers find the names of models and tasks, companions of a log, and formats of other packages."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

import pytest

from sealbench.errors import ConfigurationError, FormatError, UsageError
from sealbench.logs.base import ReadOptions, Row, detect_format, format_names, get_format

GYM = {"name": "t", "completions_per_prompt": 1, "eval_config": {}}


def _read(path: Path, **options: object) -> tuple[list[Row], list[str]]:
    found = detect_format(path)
    assert found is not None
    notes: list[str] = []
    return list(found.read(path, ReadOptions(**options), notes)), notes  # type: ignore[arg-type]


def _gym(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    completion = {"full_model_response": "", "score": 0.0}
    result = {"question": "Does it halt?", "expected_answer": "False", "completions": [completion]}
    path = folder / "halting.json"
    path.write_text(json.dumps({**GYM, "results": [result]}))
    return path


def test_reasoning_gym_names_its_model_by_folder_or_summary(tmp_path: Path) -> None:
    (row,), _ = _read(_gym(tmp_path / "qwen_qwq-32b_20250316_144841" / "algorithmic"))
    assert (row.model, row.task, row.item, row.text, row.target) == (
        "qwen_qwq-32b",
        "t",
        "0",
        "empty",
        "False",
    )
    folder = tmp_path / "run"
    path = _gym(folder)
    (folder / "summary.json").write_text('{"model": "org/m"}')
    assert detect_format(folder / "summary.json") is None
    assert _read(path)[0][0].model == "org/m"
    (folder / "summary.json").write_text("{")  # a summary that is broken names nobody, and stops nothing
    assert _read(path)[0][0].model == "model not in log [halting]"


def test_reasoning_gym_with_a_result_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "halting.json"
    path.write_text(json.dumps({**GYM, "results": ["x"]}))
    with pytest.raises(FormatError, match="result 0 is not an object"):
        _read(path)


def _samples(path: Path, *records: dict[str, object]) -> Path:
    known = {
        "doc_id": 1,
        "target": "Yes",
        "doc": {"level": 2},
        "metrics": ["exact_match"],
        "exact_match": 0.0,
    }
    path.write_text("".join(json.dumps({**known, "resps": [[""]], **one}) + "\n" for one in records))
    return path


def test_lm_eval_takes_the_model_of_the_results_that_hold_the_task(tmp_path: Path) -> None:
    path = _samples(tmp_path / "samples_primes_2026-11-30T10-00-00.000000.jsonl", {"filter": "none"})
    assert _read(path)[0][0].model == f"model not in log [{path.stem}]"
    results = {"model_name": "m1", "results": {"primes": {}}, "n-shot": {}}
    (tmp_path / "results_1.json").write_text(json.dumps(results))
    (tmp_path / "results_2.json").write_text(
        json.dumps({**results, "model_name": "m2", "results": {"x": {}}})
    )
    (row,), _ = _read(path)
    assert (row.model, row.task, row.text) == ("m1", "primes", "empty")
    assert detect_format(tmp_path / "results_1.json") is None
    (tmp_path / "results_2.json").write_text(json.dumps({**results, "model_name": "m2"}))
    assert _read(path)[0][0].model.startswith("model not in log")  # two results disagree: nothing is guessed


def test_lm_eval_reads_one_of_several_filters_and_the_metric_asked_for(tmp_path: Path) -> None:
    path = _samples(
        tmp_path / "samples_primes.jsonl",
        {"filter": "strict", "acc": 1.0},
        {"filter": "flexible", "exact_match": 1.0},
    )
    rows, notes = _read(path)
    assert [row.score for row in rows] == [0.0]
    assert "filter 'strict' is read; others score the same responses" in notes[0]
    assert [row.score for row in _read(path, metric="acc")[0]] == [1.0]


def test_lm_eval_log_likelihoods_are_no_texts(tmp_path: Path) -> None:
    path = _samples(tmp_path / "samples_choice.jsonl", {"resps": [[[-1.5, True]]]})
    assert [row.text for row in _read(path)[0]] == ["unknown"]


def test_jsonl_of_anybodys_making(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"q": {"id": 4}, "output": "", "finish_reason": "length", "gold": "a"}\n\n')
    rows, notes = _read(path, columns={"item": "q.id"})
    assert [(row.item, row.end, row.text, row.target) for row in rows] == [
        ("4", "cut_reported", "empty", "a")
    ]
    assert "columns taken by their names: target=gold, text=output, stop=finish_reason" in notes[0]
    rows, notes = _read(path)
    assert rows[0].item == "0"
    assert "every row counts as an item of its own" in notes[-1]
    nameless = tmp_path / "noextension"
    nameless.write_text('{"id": 1}\n{"id": 2}\n')
    assert detect_format(nameless) is get_format("jsonl")


def test_helm_without_its_statistics_says_so(tmp_path: Path) -> None:
    path = tmp_path / "scenario_state.json"
    path.write_text(json.dumps({"adapter_spec": {}, "request_states": [{"result": {"success": False}}]}))
    (row,), notes = _read(path)
    assert (row.end, row.text) == ("error", "unknown")
    assert "no per_instance_stats.json beside it" in notes[0]
    path.write_text(json.dumps({"adapter_spec": {}, "request_states": [1]}))
    with pytest.raises(FormatError, match="a request state is not an object"):
        _read(path)


def test_batches_with_several_choices_refusals_and_foreign_requests(tmp_path: Path) -> None:
    choices = [{"message": {"content": "No"}, "finish_reason": "stop"}] * 2
    body = {"model": "m", "choices": choices, "usage": {"completion_tokens": 9}}
    refusal = {"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}
    responses = {"object": "response", "model": "m", "status": "completed", "output": [refusal]}
    path = tmp_path / "out.jsonl"
    lines = [
        {"custom_id": str(n), "response": {"status_code": 200, "body": b}}
        for n, b in enumerate((body, responses))
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    rows, notes = _read(path)
    assert [(row.end, row.tokens) for row in rows] == [("finished", None), ("refused", None)]
    assert "several choices per request" in notes[1]
    other = tmp_path / "in.jsonl"
    other.write_text('{"custom_id": "7", "body": {"model": "m"}}\n')
    assert "no request file found" in _read(path)[1][0]  # its first id is in no request file of the folder
    other.write_text('{"custom_id": "7", "body": 1}\n')
    with pytest.raises(FormatError, match=r"in\.jsonl line 1: not a batch request"):
        _read(path, requests=other)


class _EntryPoint:
    name, value = "mine", "mine:FORMAT"

    def load(self) -> object:
        raise RuntimeError("no luck")


def test_a_broken_plugin_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [_EntryPoint()])
    assert format_names()[-1] == "mine"
    get_format.cache_clear()
    with pytest.raises(ConfigurationError, match=r"'mine' .* cannot be loaded: RuntimeError: no luck"):
        get_format("mine")
    with pytest.raises(UsageError, match="there is no log format 'yours'"):
        get_format("yours")
    get_format.cache_clear()
