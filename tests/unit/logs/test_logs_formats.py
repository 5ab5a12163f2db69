"""The readers that no published log here covers, streaming, and what stop reasons mean."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sealbench
from sealbench.errors import FormatError, UsageError
from sealbench.logs.base import ReadOptions, Row, detect_format, format_names, get_format
from sealbench.logs.endings import ending, text_state
from sealbench.logs.json_stream import array_elements, other_members


def _read(path: Path, **options: object) -> tuple[str, list[Row], list[str]]:
    found = detect_format(path)
    assert found is not None
    notes: list[str] = []
    return found.name, list(found.read(path, ReadOptions(**options), notes)), notes  # type: ignore[arg-type]


@pytest.mark.parametrize("name", format_names())
def test_every_format_is_found_by_its_name(name: str) -> None:
    assert get_format(name).name == name


@pytest.mark.parametrize(
    ("reason", "end"),
    [
        ("length", "cut_reported"),
        ("MAX_TOKENS", "cut_reported"),
        ("model_length", "cut_other"),
        ("stop", "finished"),
        ("refusal", "refused"),
        ("banana", "unknown"),
        ("", "unknown"),
        (None, "unknown"),
        (7, "unknown"),
    ],
)
def test_endings(reason: object, end: str) -> None:
    assert ending(reason) == end


def test_text_states() -> None:
    assert [
        text_state(t) for t in (None, " ", "<think>2", "<think>2</think>", "<think>2</think> No", "No")
    ] == [
        "unknown",
        "empty",
        "unclosed",
        "empty",
        "text",
        "text",
    ]


def test_promptfoo(tmp_path: Path) -> None:
    result = {
        "testIdx": 3,
        "promptIdx": 0,
        "provider": {"id": "openai:x"},
        "prompt": {"raw": "Is 10007 prime?"},
        "response": {"output": "", "finishReason": "length", "tokenUsage": {"completion": 50}},
        "testCase": {"assert": [{"type": "equals", "value": "Yes"}], "vars": {"n": 10007}},
        "success": False,
        "score": 0,
        "failureReason": 1,
    }
    log = {
        "evalId": "eval-1",
        "results": {"version": 3, "results": [result]},
        "config": {"providers": [{"id": "openai:x", "config": {"max_tokens": 50}}]},
    }
    (tmp_path / "results.json").write_text(json.dumps(log))
    name, (row,), _ = _read(tmp_path / "results.json")
    assert name == "promptfoo"
    assert (row.item, row.model, row.end, row.text, row.tokens) == (
        "3",
        "openai:x",
        "cut_reported",
        "empty",
        50,
    )
    assert (row.cap, row.target, row.number, row.score) == (50, "Yes", 10007, 0.0)


def test_helm(tmp_path: Path) -> None:
    state = {
        "instance": {
            "id": "id7",
            "input": {"text": "Is 10007 prime?"},
            "references": [{"output": {"text": "Yes"}, "tags": ["correct"]}],
        },
        "train_trial_index": 0,
        "request": {"prompt": "Is 10007 prime?", "max_tokens": 5},
        "result": {"success": True, "completions": [{"text": "We", "finish_reason": {"reason": "length"}}]},
    }
    log = {"adapter_spec": {"model": "org/m", "max_tokens": 5}, "request_states": [state]}
    stats = [
        {
            "instance_id": "id7",
            "train_trial_index": 0,
            "stats": [
                {"name": {"name": "exact_match"}, "mean": 0.0},
                {"name": {"name": "num_output_tokens"}, "mean": 5.0},
            ],
        }
    ]
    (tmp_path / "scenario_state.json").write_text(json.dumps(log))
    (tmp_path / "per_instance_stats.json").write_text(json.dumps(stats))
    name, (row,), notes = _read(tmp_path / "scenario_state.json")
    assert (name, notes) == ("helm", [])
    assert (row.item, row.model, row.end, row.tokens, row.cap) == ("id7", "org/m", "cut_reported", 5, 5)
    assert (row.target, row.score) == ("Yes", 0.0)
    assert detect_format(tmp_path / "per_instance_stats.json") is None


def test_batch_is_joined_to_its_requests(tmp_path: Path) -> None:
    body = {
        "model": "m",
        "max_completion_tokens": 9,
        "messages": [{"role": "user", "content": "Is 10007 prime?"}],
    }
    request = {"custom_id": "a", "url": "/v1/chat/completions", "body": body}
    choice = {"message": {"content": "No"}, "finish_reason": "stop"}
    answer = {"model": "m", "choices": [choice], "usage": {"completion_tokens": 3}}
    line = {"custom_id": "a", "response": {"status_code": 200, "body": answer}}
    (tmp_path / "in.jsonl").write_text(json.dumps(request) + "\n")
    (tmp_path / "out.jsonl").write_text(json.dumps(line) + "\n")
    name, (row,), notes = _read(tmp_path / "out.jsonl")
    assert (name, row.cap, row.number, row.tokens) == ("openai-batch", 9, 10007, 3)
    assert "joined to its request file in.jsonl" in notes[0]


def test_responses_api_in_a_batch(tmp_path: Path) -> None:
    body = {
        "object": "response",
        "model": "m",
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [{"type": "reasoning"}],
        "usage": {"output_tokens": 16},
    }
    path = tmp_path / "out.jsonl"
    path.write_text(json.dumps({"custom_id": "a", "response": {"status_code": 200, "body": body}}) + "\n")
    _, (row,), _ = _read(path)
    assert (row.end, row.text, row.tokens) == ("cut_reported", "empty", 16)


def test_long_arrays_are_streamed_whole(tmp_path: Path) -> None:
    elements = [{"place": place, "text": "x" * 997} for place in range(1500)]
    path = tmp_path / "long.json"
    path.write_text(json.dumps({"before": 1, "items": elements, "after": [12345]}))
    assert list(array_elements(path, "items")) == elements
    assert other_members(path, "items") == {"before": 1, "after": [12345]}
    path.write_text(path.read_text()[:-3])
    with pytest.raises(FormatError, match=r"middle of a value|expected"):
        other_members(path, "items")


def test_unknown_columns_and_roles(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,target\n1,x\n")
    with pytest.raises(UsageError, match="no column"):
        _read(path, columns={"tokens": "absent"})
    with pytest.raises(UsageError, match="no role"):
        _read(path, columns={"banana": "id"})


def test_python_entry(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    lines = [f"{n},{'yes' if n % 2 else 'no'},{'length' if n % 2 else 'stop'},{n}\n" for n in range(40)]
    path.write_text("id,target,finish_reason,tokens\n" + "".join(lines))
    found = sealbench.audit(path)
    assert found.is_asymmetric
    assert found.groups[0].test.items1 == (20, 20)


def _inspect_log(path: Path, samples: list[dict[str, object]], **header: object) -> Path:
    log: dict[str, object] = {
        "version": 2,
        "status": "success",
        "eval": {"task": "t", "model": "m"},
        **header,
    }
    path.write_text(json.dumps({**log, "samples": samples}))
    return path


def test_inspect_limits_and_errors_are_no_token_cap(tmp_path: Path) -> None:
    choice = {"message": {"content": "thinking"}, "stop_reason": "max_tokens"}
    samples: list[dict[str, object]] = [
        {"id": 1, "target": "a", "output": {"choices": [choice]}},
        {"id": 2, "target": "a", "output": {"choices": [choice]}, "limit": {"type": "time", "limit": 60}},
        {"id": 3, "target": "a", "output": {"choices": []}, "limit": {"type": "token", "limit": 9}},
        {"id": 4, "target": "a", "output": {"choices": [choice]}, "error": {"message": "refused connection"}},
        {"id": 5, "target": "a", "output": {"choices": [{"stop_reason": "model_length"}]}},
    ]
    name, rows, notes = _read(_inspect_log(tmp_path / "log.json", samples))
    assert (name, notes) == ("inspect-json", [])
    assert [row.end for row in rows] == ["cut_reported", "cut_other", "cut_other", "error", "cut_other"]
    found = sealbench.audit(tmp_path / "log.json")
    (counts,) = found.groups[0].classes.values()
    assert (counts.cut_reported, counts.cut_other, counts.missing, counts.responses) == (1, 3, 1, 4)


def test_what_an_inspect_header_alone_says(tmp_path: Path) -> None:
    sample: dict[str, object] = {"id": 1, "target": "a", "output": {"choices": []}}
    log = tmp_path / "log.json"
    _inspect_log(
        log, [sample], status="error", plan={"config": {"max_tokens": 9, "system_message": "Be brief."}}
    )
    _, (row,), notes = _read(log)
    assert row.cap == 9
    assert notes == [
        "log.json: the run did not finish (status error); what it wrote is read",
        "log.json: the model was sent a system message besides every prompt",
    ]
    _inspect_log(log, [], eval={"task": "t", "model": "m", "model_generate_config": {"max_tokens": 7}})
    _, rows, notes = _read(log)
    assert (rows, notes) == ([], ["log.json: holds no samples (the log was written without them)"])
