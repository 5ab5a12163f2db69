"""Batch files: written for open calls, read back into the same log; what does not belong is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sealbench.store import Workspace
from tests.cli.run_support import all_bytes, chat, configure, log_of, scripted_server
from tests.conftest import Seal
from tests.workshop import planned

OPENAI = "openai/gpt-5.5"
ANTHROPIC = "anthropic/claude-opus-5"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return planned(tmp_path / "workspace", endpoints=(OPENAI, ANTHROPIC), caps=(300, 4000))[0]


def _write(seal: Seal, workspace: Workspace, *more: str) -> list[dict[str, Any]]:
    done = seal("run", "--batch", "write", "--no-stamp", "--json", *more, cwd=workspace.root)
    assert done.code == 3, done.err
    return list(json.loads(done.out)["files"])


def _ids(path: str) -> list[str]:
    text = Path(path).read_text()
    if text.startswith('{"requests"'):
        return [one["custom_id"] for one in json.loads(text)["requests"]]
    return [json.loads(line)["custom_id"] for line in text.splitlines()]


def _openai(custom_id: str, status: int = 200, **answer: Any) -> dict[str, Any]:
    response = {"status_code": status, "request_id": "r", "body": chat(**answer)}
    return {"custom_id": custom_id, "response": response, "error": None}


def _anthropic(custom_id: str) -> dict[str, Any]:
    message = {
        "id": f"msg_{custom_id[:8]}",
        "model": "claude-opus-5",
        "content": [{"type": "text", "text": "Answer: No"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 30, "output_tokens": 4},
    }
    return {"custom_id": custom_id, "result": {"type": "succeeded", "message": message}}


def _results(folder: Path, results: list[dict[str, Any]], name: str = "results.jsonl") -> str:
    path = folder / name
    path.write_text("".join(json.dumps(one) + "\n" for one in results))
    return str(path)


def _read(seal: Seal, *files: str) -> Any:
    return seal(
        "run", "--batch", "read", "--no-stamp", *(part for one in files for part in ("--batch-file", one))
    )


def test_there_and_back_for_both_providers(tmp_path: Path, seal: Seal, workspace: Workspace) -> None:
    files = _write(seal, workspace)
    assert [(one["provider"], one["calls"]) for one in files] == [("openai", 8), ("anthropic", 8)]
    paths = [Path(one["path"]) for one in files]
    assert all(path.is_relative_to(workspace.private) and path.stat().st_mode & 0o077 == 0 for path in paths)
    noted = (workspace.private_run("plan-1") / "attempts.jsonl").read_text().splitlines()
    assert len(noted) == 16
    first, second = (_ids(one["path"]) for one in files)
    openai = _results(
        tmp_path, [_openai(one, tokens=300, stop="length") for one in reversed(first)], "o.jsonl"
    )
    half = _read(seal, openai)
    assert (half.code, "8 results logged, 8 of 16 calls" in half.out) == (3, True)
    whole = _read(seal, _results(tmp_path, [_anthropic(one) for one in second], "a.jsonl"))
    assert (whole.code, "16 of 16 calls" in whole.out) == (0, True)
    lines = log_of(workspace.root)
    assert len({line.key for line in lines}) == 16
    assert {(line.endpoint, line.end) for line in lines} == {
        (OPENAI, "cut_reported"),
        (ANTHROPIC, "finished"),
    }
    at = {json.loads(line)["at"] for line in noted}
    for line in lines:
        assert len(line.attempts) == 1
        assert line.attempts[0].at in at
        assert line.attempts[0].outcome == "answered"
    assert seal("verify", "--network", "regtest", "--json").code in (0, 3, 4)


def test_results_that_do_not_belong_are_refused_whole(
    tmp_path: Path, seal: Seal, workspace: Workspace
) -> None:
    ids = _ids(_write(seal, workspace, "--endpoint", OPENAI)[0]["path"])
    assert _read(seal, _results(tmp_path, [_openai(one) for one in ids[:2]], "first.jsonl")).code == 3
    before = all_bytes(workspace.root)
    for results, words in (
        ([_openai(ids[2]), _openai("0123456789abcdef-0-300-1")], "line 2: the result of no call"),
        ([_openai(ids[2]), _openai(ids[0])], "a call that is in the log already"),
        ([_openai(ids[2]), _openai(ids[2])], "two results of one call"),
        ([_openai(ids[2]), {"error": "x"}], "line 2: no result line"),
    ):
        refused = _read(seal, _results(tmp_path, results, "wrong.jsonl"))
        assert refused.code == 1, words
        assert words in refused.err
    again = _read(seal, str(tmp_path / "first.jsonl"))
    assert (again.code, "has been read already" in again.err) == (2, True)
    assert all_bytes(workspace.root) == before
    assert len(log_of(workspace.root)) == 2


def test_expired_and_failed_calls_are_open_again(tmp_path: Path, seal: Seal, workspace: Workspace) -> None:
    part = ("--endpoint", OPENAI, "--cap", "300")
    ids = _ids(_write(seal, workspace, *part)[0]["path"])
    assert seal("run", "--batch", "write", "--no-stamp", *part).code == 3  # all of them wait already
    expired = {"custom_id": ids[1], "response": None, "error": {"code": "batch_expired"}}
    failed = _openai(ids[2], status=500)
    failed["response"]["body"] = {"error": {"message": "server had an error"}}
    read = _read(seal, _results(tmp_path, [_openai(ids[0]), expired, failed]))
    assert "2 calls expired or failed" in read.err
    assert len(log_of(workspace.root)) == 1
    assert sorted(_ids(_write(seal, workspace, *part)[0]["path"])) == sorted(ids[1:3])
    rest = _read(seal, _results(tmp_path, [_openai(one) for one in ids[1:]], "rest.jsonl"))
    assert "3 results logged" in rest.out
    attempts = {line.key[0]: [one.outcome for one in line.attempts] for line in log_of(workspace.root)}
    assert sorted(attempts.values()) == [
        ["answered"],
        ["answered"],
        ["interrupted", "answered"],
        ["interrupted", "answered"],
    ]


def test_reading_that_was_killed_is_finished(
    tmp_path: Path, seal: Seal, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sealbench.running.recording import Recorder

    ids = _ids(_write(seal, workspace, "--endpoint", OPENAI)[0]["path"])
    results = _results(tmp_path, [_openai(one) for one in ids])
    record = Recorder.outcome

    def dies(self: Recorder, *arguments: Any, **more: Any) -> None:
        if len(log_of(workspace.root)) == 3:
            raise KeyboardInterrupt
        record(self, *arguments, **more)

    monkeypatch.setattr(Recorder, "outcome", dies)
    assert _read(seal, results).code == 130
    monkeypatch.setattr(Recorder, "outcome", record)
    assert len(log_of(workspace.root)) == 3
    assert "5 results logged, 8 of 16" in _read(seal, results).out


def test_calls_that_wait_in_a_batch_are_not_asked_live(tmp_path: Path, seal: Seal) -> None:
    with scripted_server(lambda _body, _key: (200, chat())) as url:
        root = tmp_path / "workspace"
        root.mkdir()
        (tmp_path / "configuration").mkdir()
        workspace, _ = planned(root, endpoints=(f"{url}#m",))
        configure(
            root,
            f'[endpoints.e]\nprovider = "openai"\nmodel = "m"\nbase_url = "{url}"\napi_key_env = "K_E_Y"',
        )
        pilot = ("run", "primes", "--exploratory", "--endpoint", "e", "--cap", "50")
        written = seal(*pilot, "--batch", "write", "--json", cwd=workspace.root)
        assert written.code == 3, written.err
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("K_E_Y", "any-key-will-do")
            live = seal(*pilot)
            assert (live.code, "4 calls wait in batch files" in live.err) == (3, True)
            batches = workspace.private_run("primes-exploratory-1") / "batches"
            (batches / "001.open.json").unlink()  # the batch is given up
            assert seal(*pilot).code == 0
    lines = log_of(workspace.root, "primes-exploratory-1")
    assert {tuple(one.outcome for one in line.attempts) for line in lines} == {("interrupted", "answered")}


def test_providers_without_batches(tmp_path: Path, seal: Seal) -> None:
    workspace, _ = planned(tmp_path / "workspace", endpoints=("reference/solver",))
    result = seal("run", "--batch", "write", "--no-stamp", cwd=workspace.root)
    assert (result.code, "batches exist for" in result.err) == (2, True)
