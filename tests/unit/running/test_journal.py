"""The run's journal: a process may die at any byte of any of its three files, and nothing logged is lost."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sealbench.crypto.digest import sha256_hex
from sealbench.errors import FormatError
from sealbench.formats.run import LogLine, RawResponse, read_log
from sealbench.running.journal import CallKey, Journal, read_responses

FIRST = "ab" * 32
VECTOR = Path(__file__).parents[2] / "vectors" / "log" / "good" / "log.jsonl"
FIELDS: dict[str, Any] = {
    key: value
    for key, value in json.loads(VECTOR.read_bytes().split(b"\n")[0]).items()
    if key not in ("seq", "prev")
}
CALLS: list[CallKey] = [(f"{number:016x}", "reference/solver", 300, 1) for number in range(5)]
AT = "2026-12-01T00:00:00.000001Z"


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here turns the power off, so nothing needs to wait for the disk."""
    monkeypatch.setattr("sealbench.running.journal.os.fsync", lambda _: None)


def open_journal(root: Path) -> Journal:
    return Journal(root / "public", root / "private", FIRST)


def record(journal: Journal, key: CallKey, text: str = "an answer") -> LogLine:
    item, endpoint, cap, repeat = key
    fields = {**FIELDS, "item": item, "endpoint": endpoint, "cap": cap, "repeat": repeat}
    return journal.record(fields, RawResponse(seq=journal.size, response_id=item, body="{}", text=text))


def fill(root: Path, calls: list[CallKey] = CALLS) -> None:
    with open_journal(root) as journal:
        for key in calls:
            journal.attempt(key, 1, AT)
            record(journal, key)


def contents(root: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in (
            root / "public" / "log.jsonl",
            root / "private" / "responses.jsonl",
            root / "private" / "attempts.jsonl",
        )
    }


def restore(root: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        folder = root / ("public" if name == "log.jsonl" else "private")
        (folder / name).write_bytes(data)


def logged(root: Path) -> list[str]:
    return [line.item for line in read_log((root / "public" / "log.jsonl").read_bytes(), FIRST)]


def test_calls_are_logged_in_a_chain_with_their_responses(tmp_path: Path) -> None:
    fill(tmp_path)
    lines = list(read_log((tmp_path / "public" / "log.jsonl").read_bytes(), FIRST))
    assert [line.key for line in lines] == CALLS
    assert lines[0].prev == FIRST
    assert lines[1].prev == sha256_hex(lines[0].to_bytes())
    stored = list(read_responses(tmp_path / "private" / "responses.jsonl"))
    assert [one.raw.response_id for one in stored] == [key[0] for key in CALLS]
    assert [one.line for one in stored] == [line.to_value() for line in lines]
    assert (tmp_path / "private").stat().st_mode & 0o077 == 0
    with open_journal(tmp_path) as journal:
        assert journal.done == set(CALLS)
        assert journal.size == 5
        assert journal.interrupted(CALLS[0]) == ()


def test_a_death_at_any_byte_of_the_log_loses_nothing(tmp_path: Path) -> None:
    fill(tmp_path)
    whole = contents(tmp_path)
    size = len(whole["log.jsonl"])
    for cut in sorted({*range(0, size, 37), *range(size - 60, size + 1)}):
        restore(tmp_path, {**whole, "log.jsonl": whole["log.jsonl"][:cut]})
        with open_journal(tmp_path) as journal:
            assert journal.done == set(CALLS)
        assert contents(tmp_path) == whole


def test_a_death_at_any_byte_of_the_last_response_asks_that_call_again(tmp_path: Path) -> None:
    """The order of writing: a response that is not whole has no log line yet."""
    fill(tmp_path)
    whole = contents(tmp_path)
    log_before = whole["log.jsonl"][: whole["log.jsonl"].rindex(b"\n", 0, -1) + 1]
    start = whole["responses.jsonl"].rindex(b"\n", 0, -1) + 1
    size = len(whole["responses.jsonl"])
    for cut in sorted({*range(start, size, 41), size - 1}):
        restore(
            tmp_path, {**whole, "log.jsonl": log_before, "responses.jsonl": whole["responses.jsonl"][:cut]}
        )
        with open_journal(tmp_path) as journal:
            assert journal.done == set(CALLS[:4])
            (interrupted,) = journal.interrupted(CALLS[4])
            assert (interrupted.at, interrupted.ended_at, interrupted.status) == (AT, None, None)
            assert interrupted.outcome == "interrupted"
            record(journal, CALLS[4])
            assert journal.interrupted(CALLS[4]) == ()
        assert contents(tmp_path) == whole


def test_a_death_between_response_and_log_recovers_the_response(tmp_path: Path) -> None:
    fill(tmp_path)
    whole = contents(tmp_path)
    for lines in range(5):
        log = b"".join(whole["log.jsonl"].splitlines(keepends=True)[:lines])
        restore(tmp_path, {**whole, "log.jsonl": log})
        with open_journal(tmp_path) as journal:
            assert journal.size == 5
        assert contents(tmp_path) == whole


def test_a_death_at_any_byte_of_the_attempts_keeps_the_whole_ones(tmp_path: Path) -> None:
    fill(tmp_path, CALLS[:3])
    with open_journal(tmp_path) as journal:
        for number in (1, 2):
            journal.attempt(CALLS[3], number, AT)
    whole = contents(tmp_path)
    size = len(whole["attempts.jsonl"])
    line = whole["attempts.jsonl"].index(b"\n") + 1
    for cut in range(0, size + 1, 7):
        restore(tmp_path, {**whole, "attempts.jsonl": whole["attempts.jsonl"][:cut]})
        with open_journal(tmp_path) as journal:
            assert journal.done == set(CALLS[:3])
            assert len(journal.interrupted(CALLS[3])) == max(0, cut // line - 3)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_deaths_in_a_row_never_break_the_chain(tmp_path: Path, data: st.DataObject) -> None:
    """Stop at any byte of what a process writes, in the order it writes it; open, go on, stop again."""
    for folder in ("public", "private"):
        shutil.rmtree(tmp_path / folder, ignore_errors=True)
    done: list[str] = []
    for _ in range(data.draw(st.integers(1, 4))):
        with open_journal(tmp_path) as journal:
            assert logged(tmp_path)[: len(done)] == done
            todo = [key for key in CALLS if key not in journal.done]
            before = contents(tmp_path)
            if todo:
                journal.attempt(todo[0], 1, AT)
                record(journal, todo[0])
        after = contents(tmp_path)
        order = ["attempts.jsonl", "responses.jsonl", "log.jsonl"]
        written = sum(len(after[name]) - len(before[name]) for name in order)
        left = data.draw(st.integers(0, written))
        kept = {}
        for name in order:
            step = min(left, len(after[name]) - len(before[name]))
            kept[name] = after[name][: len(before[name]) + step]
            left -= step
        restore(tmp_path, kept)
        done = [LogLine.from_bytes(line).item for line in kept["log.jsonl"].split(b"\n")[:-1]]
    with open_journal(tmp_path) as journal:
        for key in CALLS:
            if key not in journal.done:
                record(journal, key)
    assert logged(tmp_path) == [key[0] for key in CALLS]
    assert [one.raw.seq for one in read_responses(tmp_path / "private" / "responses.jsonl")] == list(range(5))


def test_a_log_with_fewer_responses_than_lines_is_refused(tmp_path: Path) -> None:
    fill(tmp_path)
    whole = contents(tmp_path)
    responses = whole["responses.jsonl"].splitlines(keepends=True)
    for kept in (responses[:4], responses[:0]):
        restore(tmp_path, {**whole, "responses.jsonl": b"".join(kept)})
        with pytest.raises(FormatError, match="fewer responses than the log has lines") as caught:
            open_journal(tmp_path)
        assert "backup" in caught.value.hint
        assert contents(tmp_path)["log.jsonl"] == whole["log.jsonl"]


def test_responses_of_another_log_are_refused(tmp_path: Path) -> None:
    fill(tmp_path)
    whole = contents(tmp_path)
    log = whole["log.jsonl"].splitlines(keepends=True)
    responses = whole["responses.jsonl"].splitlines(keepends=True)
    restore(
        tmp_path,
        {"log.jsonl": b"".join(log[:3]), "responses.jsonl": b"".join([*responses[:3], responses[4]])},
    )
    with pytest.raises(FormatError, match="is response 4"):
        open_journal(tmp_path)
    other = json.loads(responses[3])
    other["line"]["prev"] = "00" * 32
    bent = json.dumps(other, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode() + b"\n"
    restore(tmp_path, {"log.jsonl": b"".join(log[:3]), "responses.jsonl": b"".join([*responses[:3], bent])})
    with pytest.raises(FormatError, match="does not follow the log"):
        open_journal(tmp_path)


def test_a_broken_chain_and_a_call_twice_are_refused(tmp_path: Path) -> None:
    fill(tmp_path)
    whole = contents(tmp_path)
    lines = whole["log.jsonl"].splitlines(keepends=True)
    restore(tmp_path, {**whole, "log.jsonl": b"".join([lines[0], *lines[2:]])})
    with pytest.raises(FormatError, match="line 2: does not follow"):
        open_journal(tmp_path)
    restore(tmp_path, whole)
    with open_journal(tmp_path) as journal:
        record(journal, CALLS[0])
    with pytest.raises(FormatError, match="line 6: a call that is there already"):
        open_journal(tmp_path)


@pytest.mark.parametrize(
    "line", [b"", b"{}", b"[]", b"not json", b'{"at":1}', b'{"item":"x"}', b"\xff", b"null"]
)
@pytest.mark.parametrize("name", ["attempts.jsonl", "responses.jsonl", "log.jsonl"])
def test_a_line_that_does_not_parse_is_the_projects_error(tmp_path: Path, name: str, line: bytes) -> None:
    fill(tmp_path, CALLS[:1])
    whole = contents(tmp_path)
    restore(tmp_path, {name: whole[name] + line + b"\n"})
    with pytest.raises(FormatError, match=name):
        open_journal(tmp_path)


def test_a_disk_that_takes_only_a_part_is_an_error_and_is_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, CALLS[:2])
    whole = contents(tmp_path)
    with open_journal(tmp_path) as journal:
        stream = journal._responses._stream

        class Half:
            def write(self, data: bytes) -> int:
                return stream.write(data[: len(data) // 2])

            def __getattr__(self, name: str) -> Any:
                return getattr(stream, name)

        monkeypatch.setattr(journal._responses, "_stream", Half())
        with pytest.raises(OSError, match="the disk is full"):
            record(journal, CALLS[2])
    with open_journal(tmp_path) as journal:
        assert journal.done == set(CALLS[:2])
    assert contents(tmp_path) == whole


def test_the_disk_is_waited_for_now_and_then_and_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    now = [100.0]
    monkeypatch.setattr("sealbench.running.journal.time.monotonic", lambda: now[0])
    with open_journal(tmp_path) as journal:
        monkeypatch.setattr("sealbench.running.journal.os.fsync", synced.append)
        for number in range(7):
            journal.attempt(CALLS[0], number, AT)
            now[0] += 0.4
        # At the fourth line 1.2 s have passed since the first wait, at the seventh 1.2 s since the second.
        assert len(synced) == 2
    assert len(synced) == 5
