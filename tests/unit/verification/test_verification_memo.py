"""The memo: outcomes by content, errors included, bounded."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from sealbench.errors import CheckFailed
from sealbench.verification.memo import Memo


def test_each_content_is_computed_once() -> None:
    seen: list[bytes] = []

    def length(data: bytes) -> int:
        seen.append(data)
        return len(data)

    memo = Memo()
    # Equal content counts, not the object.
    assert [memo.call(length, data) for data in (b"ab", bytes(bytearray(b"ab")), b"c", b"ab")] == [2, 2, 1, 2]
    assert seen == [b"ab", b"c"]


def test_functions_do_not_share_outcomes() -> None:
    memo = Memo()
    assert memo.call(len, b"abc") == 3
    assert memo.call(bytes.hex, b"abc") == "616263"


def test_errors_are_outcomes() -> None:
    calls = 0

    def refuse(data: bytes) -> None:
        nonlocal calls
        calls += 1
        raise CheckFailed(data.decode())

    memo = Memo()
    for _ in range(3):
        with pytest.raises(CheckFailed, match="no"):
            memo.call(refuse, b"no")
    assert calls == 1


def test_bugs_are_not_remembered() -> None:
    outcomes = iter([ZeroDivisionError(), None])

    def once(_: bytes) -> str:
        error = next(outcomes)
        if error is not None:
            raise error
        return "fine"

    memo = Memo()
    with pytest.raises(ZeroDivisionError):
        memo.call(once, b"x")
    assert memo.call(once, b"x") == "fine"


def test_old_content_is_forgotten_and_used_content_kept() -> None:
    seen: list[bytes] = []

    def note(data: bytes) -> bytes:
        seen.append(data)
        return data[:1]

    memo = Memo(limit=3_000)
    memo.call(note, b"k" * 1_000)
    for number in range(10):
        memo.call(note, bytes([number]) * 1_000)
        memo.call(note, b"k" * 1_000)
    assert seen.count(b"k" * 1_000) == 1
    memo.call(note, bytes([0]) * 1_000)
    assert seen.count(bytes([0]) * 1_000) == 2


def test_one_entry_may_exceed_the_limit() -> None:
    memo = Memo(limit=10)
    assert memo.call(len, b"x" * 1_000) == 1_000
    assert memo.call(len, b"y" * 1_000) == 1_000


def test_what_one_thread_computes_the_others_wait_for() -> None:
    seen: list[bytes] = []
    threads = 8
    asked, go_on = threading.Barrier(threads + 1), threading.Event()

    def slow(data: bytes) -> int:
        seen.append(data)
        assert go_on.wait(10)
        return len(data)

    memo = Memo()

    def ask(_: int) -> int:
        asked.wait(10)
        return memo.call(slow, b"abc")

    with ThreadPoolExecutor(threads) as pool:
        answers = pool.map(ask, range(threads))
        asked.wait(10)
        go_on.set()
        assert list(answers) == [3] * threads
    assert seen == [b"abc"]


def test_a_bug_in_one_thread_is_a_bug_in_those_that_waited_for_it() -> None:
    memo, begun, go_on = Memo(), threading.Event(), threading.Event()

    def broken(_: bytes) -> None:
        begun.set()
        assert go_on.wait(10)
        raise ZeroDivisionError

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(memo.call, broken, b"x")
        assert begun.wait(10)
        second = pool.submit(memo.call, broken, b"x")
        go_on.set()
        for one in (first, second):
            with pytest.raises(ZeroDivisionError):
                one.result(10)
    with pytest.raises(ZeroDivisionError):  # and not remembered
        memo.call(broken, b"x")
